//! Which format a file is in: by the ending of its name, then by its first bytes.

use crate::ExchangeError;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A format that can be read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableFormat {
    /// Values between commas, semicolons or tabs; the first line names the columns.
    Csv,
    /// Values between tabs; the first line names the columns; quotes as in CSV.
    Tsv,
    /// One JSON object a line.
    Jsonl,
    /// One word a line with a tag, a blank line between texts, comments such as `# text_id = 1`.
    Conll,
}

impl TableFormat {
    /// The format that the ending of `path` stands for (`.csv`, `.tsv`, `.tab`, `.jsonl`, `.ndjson`, `.conll`,
    /// `.conllu`), whatever is in it.
    pub fn of(path: &Path) -> Option<Self> {
        match ending(path).as_str() {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "conll" | "conllu" | "conllup" | "iob" | "iob2" | "bio" => Some(Self::Conll),
            _ => None,
        }
    }

    /// As [`TableFormat::of`], for a file that is to be written.
    ///
    /// # Errors
    /// An ending that stands for no format of ours.
    pub fn of_path(path: &Path) -> Result<Self, ExchangeError> {
        let otherwise =
            || unknown(path, "no kind of file that can be written", "name it .csv, .tsv, .jsonl or .conll");
        Self::of(path).ok_or_else(otherwise)
    }

    /// The format of the file at `path`, of which `head` holds the first bytes (any byte order mark removed).
    ///
    /// # Errors
    /// A format known by its first bytes or its ending to be another one, UTF-16, or one that cannot be told.
    pub(crate) fn detect(path: &Path, head: &[u8]) -> Result<Self, ExchangeError> {
        Self::readable(path, head)?;
        if let Some(format) = Self::of(path) {
            return if format == Self::Jsonl {
                refuse_json_array(path, head).map(|()| format)
            } else {
                Ok(format)
            };
        }
        Self::by_content(path, head)
    }

    /// Makes sure that a file is text that can be read, whatever format it has.
    ///
    /// # Errors
    /// A format known by its first bytes or its ending to be another one, UTF-16, or lines that end in a carriage return alone.
    pub(crate) fn readable(path: &Path, head: &[u8]) -> Result<(), ExchangeError> {
        refuse_other_encodings(path, head)?;
        refuse_known_strangers(path, head)?;
        refuse_old_line_ends(path, head)
    }

    fn by_content(path: &Path, head: &[u8]) -> Result<Self, ExchangeError> {
        refuse_json_array(path, head)?;
        let line = head.split(|b| *b == b'\n').find(|l| !l.trim_ascii().is_empty()).unwrap_or_default();
        if line.trim_ascii_start().starts_with(b"{") {
            let whole = serde_json::from_slice::<serde_json::Value>(line).is_ok();
            return if whole { Ok(Self::Jsonl) } else { Err(spread_json(path)) };
        }
        if std::str::from_utf8(line).is_ok() && line.iter().any(|b| b",;\t".contains(b)) {
            return Ok(Self::Csv);
        }
        Err(unknown(path, "in a format that cannot be told", "name it .csv, .tsv, .jsonl or .conll"))
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn unknown(path: &Path, what: &str, advice: &str) -> ExchangeError {
    ExchangeError::UnknownFormat { path: path.to_owned(), what: what.to_owned(), advice: advice.to_owned() }
}

fn spread_json(path: &Path) -> ExchangeError {
    unknown(
        path,
        "one JSON value over several lines",
        "write one object a line (JSON Lines) and name it .jsonl",
    )
}

fn refuse_json_array(path: &Path, head: &[u8]) -> Result<(), ExchangeError> {
    if head.trim_ascii_start().starts_with(b"[") {
        let advice = "write one object a line, without the brackets and the commas between (JSON Lines)";
        return Err(unknown(path, "a JSON array", advice));
    }
    Ok(())
}

/// UTF-16 has its mark, or a zero in every second byte of plain Latin text.
fn refuse_other_encodings(path: &Path, head: &[u8]) -> Result<(), ExchangeError> {
    let pairs = head.len().min(64) / 2;
    let zeros = |from: usize| (0..pairs).filter(|i| head[2 * i + from] == 0).count();
    let encoding = match head {
        [0xFF, 0xFE, ..] => "UTF-16 (little endian)",
        [0xFE, 0xFF, ..] => "UTF-16 (big endian)",
        _ if pairs >= 2 && zeros(1) * 4 >= pairs * 3 && zeros(0) == 0 => "UTF-16 (little endian)",
        _ if pairs >= 2 && zeros(0) * 4 >= pairs * 3 && zeros(1) == 0 => "UTF-16 (big endian)",
        _ => return Ok(()),
    };
    Err(ExchangeError::Utf16 { path: path.to_owned(), encoding })
}

const SAVE: &str = "open it where it was made and save it as CSV";

/// First bytes, what they mean, what to do.
const STRANGERS: [(&[u8], &str, &str); 12] = [
    (b"PAR1", "a Parquet file", "convert it to CSV, for example with pandas: read_parquet(...).to_csv(...)"),
    (b"ARROW1", "an Arrow file", "convert it to CSV"),
    (b"Obj\x01", "an Avro file", "convert it to CSV"),
    (b"ORC", "an ORC file", "convert it to CSV"),
    (b"\xD0\xCF\x11\xE0", "an old Excel or Word file", SAVE),
    (b"\x1F\x8B", "compressed with gzip", "unpack it first"),
    (b"BZh", "compressed with bzip2", "unpack it first"),
    (b"\x28\xB5\x2F\xFD", "compressed with zstd", "unpack it first"),
    (b"7z\xBC\xAF", "a 7-Zip archive", "unpack it first"),
    (b"\xFD7zXZ\0", "compressed with xz", "unpack it first"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"SQLite format 3\0", "a database", "open it as a project if it is one, or export its table as CSV"),
];

fn refuse_known_strangers(path: &Path, head: &[u8]) -> Result<(), ExchangeError> {
    if head.starts_with(b"PK\x03\x04") {
        return Err(zipped(path, head));
    }
    if let Some((_, what, advice)) = STRANGERS.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(unknown(path, what, advice));
    }
    match ending(path).as_str() {
        "xlsx" | "xls" | "ods" | "numbers" => Err(unknown(path, "named like a spreadsheet", SAVE)),
        "parquet" => Err(unknown(path, "named like a Parquet file", "convert it to CSV")),
        "xml" | "html" | "htm" => Err(unknown(path, "named like a marked-up document", "convert it to CSV")),
        _ => Ok(()),
    }
}

/// Spreadsheets are zip archives; the names inside tell which.
fn zipped(path: &Path, head: &[u8]) -> ExchangeError {
    let holds = |name: &[u8]| memchr::memmem::find(head, name).is_some();
    if holds(b"xl/") || ending(path) == "xlsx" {
        unknown(path, "an Excel workbook", "open it in a spreadsheet and save it as CSV (\"CSV UTF-8\")")
    } else if holds(b"opendocument.spreadsheet") || ending(path) == "ods" {
        unknown(path, "an OpenDocument spreadsheet", SAVE)
    } else {
        unknown(path, "a zip archive", "unpack it and name one CSV or JSON Lines file of it")
    }
}

fn refuse_old_line_ends(path: &Path, head: &[u8]) -> Result<(), ExchangeError> {
    let alone = memchr::memchr(b'\n', head).is_none() && head.iter().filter(|b| **b == b'\r').count() > 1;
    if alone { Err(ExchangeError::LineEnds { path: path.to_owned() }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(name: &str, head: &[u8]) -> Result<TableFormat, String> {
        TableFormat::detect(Path::new(name), head).map_err(|e| e.to_string())
    }

    #[test]
    fn the_ending_decides_and_then_the_content() {
        let cases: [(&str, &[u8], TableFormat); 8] = [
            ("a.csv", b"text\nx\n", TableFormat::Csv),
            ("a.CSV", b"text\nx\n", TableFormat::Csv),
            ("a.tsv", b"text\tid\nx\ty\n", TableFormat::Tsv),
            ("a.ndjson", b"{\"a\":1}\n", TableFormat::Jsonl),
            ("a.jsonl", b"oops\n", TableFormat::Jsonl),
            ("a.txt", b"\n{\"a\":1}\n{\"a\":2}\n", TableFormat::Jsonl),
            ("a.json", b"{\"a\":1}\n", TableFormat::Jsonl),
            ("labels", b"a;b\n1;2\n", TableFormat::Csv),
        ];
        for (name, head, format) in cases {
            assert_eq!(detect(name, head), Ok(format), "{name}");
        }
    }

    #[test]
    fn other_formats_are_named_with_what_to_do() {
        let cases: [(&str, &[u8], &str); 13] = [
            ("a.xlsx", b"PK\x03\x04....[Content_Types].xml", "an Excel workbook"),
            ("a.csv", b"PK\x03\x04....xl/workbook.xml", "save it as CSV"),
            ("a.zip", b"PK\x03\x04....a.csv", "a zip archive"),
            ("a.parquet", b"PAR1\x15\x04", "Parquet"),
            ("a.xls", b"\xD0\xCF\x11\xE0\xA1", "old Excel"),
            ("a.csv.gz", b"\x1F\x8B\x08", "gzip"),
            ("a.dissensus", b"SQLite format 3\0", "a database"),
            ("a.json", b" [{\"a\":1}]", "JSON array"),
            ("a.jsonl", b"[{\"a\":1}]", "JSON array"),
            ("a.json", b"{\n \"a\": 1\n}\n", "several lines"),
            ("a.txt", b"just words\n", "cannot be told"),
            ("a.csv", b"\xFF\xFEt\0e\0x\0t\0", "UTF-16 (little endian)"),
            ("a.csv", b"\0t\0e\0x\0t\0,", "UTF-16 (big endian)"),
        ];
        for (name, head, says) in cases {
            let message = detect(name, head).unwrap_err();
            assert!(message.contains(says), "{name}: {message}");
        }
    }

    #[test]
    fn an_ending_that_cannot_be_written_is_explained() {
        assert_eq!(TableFormat::of_path(Path::new("out.jsonl")).unwrap(), TableFormat::Jsonl);
        let message = TableFormat::of_path(Path::new("out.xlsx")).unwrap_err().to_string();
        assert_eq!(
            message,
            "out.xlsx is no kind of file that can be written: name it .csv, .tsv, .jsonl or .conll"
        );
    }

    #[test]
    fn lone_carriage_returns_are_explained() {
        assert!(detect("a.csv", b"text,id\rx,1\ry,2\r").unwrap_err().contains("carriage return"));
        assert!(detect("a.csv", b"text,id\r\nx,1\r\n").is_ok());
    }
}
