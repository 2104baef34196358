//! The format of a file: by its extension, then by its first bytes.

use crate::ExchangeError;
use std::path::Path;

/// A format of tables that are read row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableFormat {
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
    /// Returns the format for the extension of `path` (`.csv`, `.tsv`, `.tab`, `.jsonl`, `.ndjson`, `.conll`,
    /// `.conllu`), whatever the file contains.
    pub(crate) fn new(path: &Path) -> Option<Self> {
        match ending(path).as_str() {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "conll" | "conllu" | "conllup" | "iob" | "iob2" | "bio" => Some(Self::Conll),
            _ => None,
        }
    }

    /// Detects the format of the file at `path`, of which `head` holds the first bytes (any byte order mark
    /// removed).
    ///
    /// # Errors
    /// The first bytes or the extension are those of another format, or the format is ambiguous.
    pub(crate) fn detect(path: &Path, head: &[u8]) -> Result<Self, ExchangeError> {
        Self::readable(path, head)?;
        if let Some(format) = Self::new(path) {
            return if format == Self::Jsonl {
                refuse_json_array(path, head).map(|()| format)
            } else {
                Ok(format)
            };
        }
        Self::by_content(path, head)
    }

    /// Checks that a file is text that can be read, whatever format it has.
    ///
    /// # Errors
    /// The first bytes or the extension are those of another format, the bytes are not text, or lines end in
    /// a lone carriage return.
    pub(crate) fn readable(path: &Path, head: &[u8]) -> Result<(), ExchangeError> {
        refuse_recognised_formats(path, head)?;
        refuse_other_bytes(path, head)?;
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
        Err(unknown(path, "in an unknown format", "name it .csv, .tsv, .jsonl or .conll"))
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

const SAVE: &str = "open it where it was made and save it as CSV";

/// First bytes, what they mean, what to do.
const STRANGERS: [(&[u8], &str, &str); 10] = [
    (b"FEA1", "a Feather file of the first version", "write it with a version of Arrow from 2020 or later"),
    (b"Obj\x01", "an Avro file", "convert it to CSV"),
    (b"ORC", "an ORC file", "convert it to CSV"),
    (b"\xD0\xCF\x11\xE0", "an old Excel or Word file", SAVE),
    (b"BZh", "compressed with bzip2", "unpack it first"),
    (b"\x28\xB5\x2F\xFD", "compressed with zstd", "unpack it first"),
    (b"7z\xBC\xAF", "a 7-Zip archive", "unpack it first"),
    (b"\xFD7zXZ\0", "compressed with xz", "unpack it first"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"SQLite format 3\0", "a database", "open it as a project if it is one, or export its table as CSV"),
];

fn refuse_recognised_formats(path: &Path, head: &[u8]) -> Result<(), ExchangeError> {
    if head.starts_with(b"PK\x03\x04") {
        let advice = "unpack it and name one file of it; archives of one table, and those that annotation tools write, are read as they are";
        return Err(unknown(path, "a zip archive", advice));
    }
    if let Some((_, what, advice)) = STRANGERS.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(unknown(path, what, advice));
    }
    match ending(path).as_str() {
        "xlsx" | "xls" | "ods" | "numbers" => {
            Err(unknown(path, "named like a spreadsheet, and does not begin like one", SAVE))
        }
        "parquet" => {
            let advice = "fetch or export it again";
            Err(unknown(path, "named like a Parquet file, and does not begin like one", advice))
        }
        "xml" | "html" | "htm" => Err(unknown(path, "named like a marked-up document", "convert it to CSV")),
        _ => Ok(()),
    }
}

/// Refuses binary data: bytes that are not UTF-8, with more control characters than a damaged text has.
fn refuse_other_bytes(path: &Path, head: &[u8]) -> Result<(), ExchangeError> {
    let controls = head.iter().filter(|byte| matches!(byte, 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F)).count();
    let damaged = std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some());
    if damaged && controls * 50 > head.len() {
        return Err(unknown(
            path,
            "not a text file",
            "open it in the program that made it and save it as CSV",
        ));
    }
    Ok(())
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
    fn extension_decides_before_content() {
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
    fn unsupported_formats_are_named_with_advice() {
        let cases: [(&str, &[u8], &str); 7] = [
            ("a.zip", b"PK\x03\x04....a.csv", "a zip archive"),
            ("a.xls", b"\xD0\xCF\x11\xE0\xA1", "old Excel"),
            ("a.dissensus", b"SQLite format 3\0", "a database"),
            ("a.json", b" [{\"a\":1}]", "JSON array"),
            ("a.jsonl", b"[{\"a\":1}]", "JSON array"),
            ("a.json", b"{\n \"a\": 1\n}\n", "several lines"),
            ("a.txt", b"just words\n", "in an unknown format"),
        ];
        for (name, head, says) in cases {
            let message = detect(name, head).unwrap_err();
            assert!(message.contains(says), "{name}: {message}");
        }
    }

    #[test]
    fn binary_files_are_refused_as_text() {
        let bytes: Vec<u8> = (0..2048_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        assert_eq!(
            detect("a.csv", &bytes),
            Err("a.csv is not a text file: open it in the program that made it and save it as CSV".to_owned())
        );
        // A damaged letter or a stray control character does not make it binary.
        assert!(detect("a.csv", b"text,id\nna\xEFve,1\n").is_ok());
        assert!(detect("a.csv", b"text,id\nx\0y,1\n").is_ok());
    }

    #[test]
    fn lone_carriage_returns_are_explained() {
        assert!(detect("a.csv", b"text,id\rx,1\ry,2\r").unwrap_err().contains("carriage return"));
        assert!(detect("a.csv", b"text,id\r\nx,1\r\n").is_ok());
    }
}
