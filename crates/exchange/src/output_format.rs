//! The format of a table to write, by its file extension.

use crate::ExchangeError;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A format that tables are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputFormat {
    /// Values between commas; the first line names the columns.
    Csv,
    /// Values between tabs; the first line names the columns; quotes as in CSV.
    Tsv,
    /// One JSON object a line.
    Jsonl,
    /// One word a line with a tag, a blank line between texts, comments such as `# text_id = 1`.
    Conll,
    /// Columns with types, in groups of rows, compressed.
    Parquet,
    /// A workbook of Excel with one sheet.
    Xlsx,
}

impl OutputFormat {
    /// Returns the format for the extension of `path` (`.csv`, `.tsv`, `.tab`, `.jsonl`, `.ndjson`, `.conll`,
    /// `.parquet`, `.xlsx`).
    pub fn new(path: &Path) -> Option<Self> {
        let ending =
            path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
        match ending.as_str() {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "conll" | "conllu" | "conllup" | "iob" | "iob2" | "bio" => Some(Self::Conll),
            "parquet" => Some(Self::Parquet),
            "xlsx" => Some(Self::Xlsx),
            _ => None,
        }
    }

    /// Returns the format for the extension of `path`, see [`OutputFormat::new`].
    ///
    /// # Errors
    /// The extension belongs to no format that can be written.
    pub fn of_path(path: &Path) -> Result<Self, ExchangeError> {
        Self::new(path).ok_or_else(|| ExchangeError::UnknownFormat {
            path: path.to_owned(),
            what: "no kind of file that can be written".to_owned(),
            advice: "name it .csv, .tsv, .jsonl, .parquet, .xlsx or .conll".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_output_extension_is_explained() {
        assert_eq!(OutputFormat::of_path(Path::new("out.jsonl")).unwrap(), OutputFormat::Jsonl);
        assert_eq!(OutputFormat::of_path(Path::new("out.XLSX")).unwrap(), OutputFormat::Xlsx);
        let message = OutputFormat::of_path(Path::new("out.docx")).unwrap_err().to_string();
        assert_eq!(
            message,
            "out.docx is no kind of file that can be written: name it .csv, .tsv, .jsonl, .parquet, .xlsx or .conll"
        );
    }
}
