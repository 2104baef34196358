//! A table of texts, numbers, flags and vectors, written row by row: CSV, TSV, JSON Lines, Parquet or XLSX by
//! its file extension.

use crate::error::io_reason;
use crate::parquet_writer::ParquetWriter;
use crate::typed_column::{ColumnKind, TypedColumn, Value};
use crate::xlsx_writer::XlsxWriter;
use crate::{ExchangeError, OutputFormat};
use dissensus_files::AtomicFile;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A table being written. The file appears at the path only with [`TypedTable::finish`]; if the table is
/// dropped or fails before that, nothing changes there. Memory does not grow with the rows.
///
/// A missing number is an empty cell in CSV and XLSX, `null` in JSON Lines, NaN in Parquet. Numbers have the
/// shortest form that reads back to the same single-precision value.
#[derive(Debug)]
pub struct TypedTable {
    path: PathBuf,
    columns: Vec<TypedColumn>,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Separated(Box<csv::Writer<AtomicFile>>),
    Json(AtomicFile),
    Parquet(Box<ParquetWriter<AtomicFile>>),
    Xlsx(Box<XlsxWriter>, AtomicFile),
}

impl TypedTable {
    /// Checks that a table with such columns can be written to a file of this name.
    ///
    /// # Errors
    /// The extension belongs to no format, or to one that cannot hold vectors.
    pub fn check(path: &Path, vectors: bool) -> Result<(), ExchangeError> {
        let unknown = |what: &str, advice: &str| {
            let (path, what, advice) = (path.to_owned(), what.to_owned(), advice.to_owned());
            Err(ExchangeError::UnknownFormat { path, what, advice })
        };
        match (OutputFormat::new(path), vectors) {
            (Some(OutputFormat::Parquet | OutputFormat::Jsonl), _) => Ok(()),
            (Some(OutputFormat::Csv | OutputFormat::Tsv | OutputFormat::Xlsx), false) => Ok(()),
            (_, true) => unknown("no kind of file for vectors", "name it .npy, .parquet or .jsonl"),
            _ => unknown(
                "no kind of file that can be written",
                "name it .csv, .tsv, .jsonl, .parquet or .xlsx",
            ),
        }
    }

    /// Begins a table.
    ///
    /// # Errors
    /// The same as [`TypedTable::check`]; a folder that is missing or cannot be written.
    pub fn create(path: &Path, columns: Vec<TypedColumn>) -> Result<Self, ExchangeError> {
        Self::check(path, columns.iter().any(|c| matches!(c.kind, ColumnKind::Vector(_))))?;
        let writing = |e| ExchangeError::writing(path, e);
        let file = AtomicFile::create(path).map_err(writing)?;
        let sink = match OutputFormat::of_path(path)? {
            OutputFormat::Parquet => {
                Sink::Parquet(Box::new(ParquetWriter::new(file, &columns).map_err(writing)?))
            }
            OutputFormat::Xlsx => Sink::Xlsx(Box::new(XlsxWriter::new(&columns).map_err(writing)?), file),
            OutputFormat::Jsonl => Sink::Json(file),
            format @ (OutputFormat::Csv | OutputFormat::Tsv | OutputFormat::Conll) => {
                let delimiter = if format == OutputFormat::Tsv { b'\t' } else { b',' };
                let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(file);
                let names = columns.iter().map(|c| c.name.as_str());
                writer.write_record(names).map_err(|e| writing(io_reason(e)))?;
                Sink::Separated(Box::new(writer))
            }
        };
        Ok(Self { path: path.to_owned(), columns, sink })
    }

    /// Writes a row: a value for each column, of its kind.
    pub fn write(&mut self, row: &[Value<'_>]) -> Result<(), ExchangeError> {
        debug_assert!(self.columns.iter().zip(row).all(|(c, v)| fits(c.kind, v)));
        debug_assert_eq!(self.columns.len(), row.len());
        let written = match &mut self.sink {
            Sink::Parquet(file) => file.write(row),
            Sink::Xlsx(file, _) => file.write(row),
            Sink::Json(file) => write_object(file, &self.columns, row),
            Sink::Separated(writer) => row
                .iter()
                .try_for_each(|value| writer.write_field(cell(value)))
                .and_then(|()| writer.write_record(None::<&[u8]>))
                .map_err(io_reason),
        };
        written.map_err(|e| ExchangeError::writing(&self.path, e))
    }

    /// Flushes the file to disk and moves it to its path; with `replace`, an existing file is replaced.
    ///
    /// # Errors
    /// The disk refuses, or without `replace` a file of that name exists by now; an existing file is then
    /// unchanged.
    pub fn finish(self, replace: bool) -> Result<(), ExchangeError> {
        let file = match self.sink {
            Sink::Parquet(file) => file.finish(),
            Sink::Xlsx(sheet, file) => sheet.finish(file),
            Sink::Json(file) => Ok(file),
            Sink::Separated(writer) => writer.into_inner().map_err(csv::IntoInnerError::into_error),
        };
        let named = if replace { AtomicFile::finish } else { AtomicFile::finish_new };
        file.and_then(named).map_err(|e| ExchangeError::writing(&self.path, e))
    }
}

fn fits(kind: ColumnKind, value: &Value<'_>) -> bool {
    match (kind, value) {
        (ColumnKind::Text | ColumnKind::Level, Value::Text(_) | Value::Missing)
        | (ColumnKind::Integer | ColumnKind::Moment, Value::Integer(_) | Value::Missing)
        | (ColumnKind::Number, Value::Number(_))
        | (ColumnKind::Flag, Value::Flag(_) | Value::Missing) => true,
        (ColumnKind::Vector(length), Value::Vector(x)) => x.len() == length,
        _ => false,
    }
}

fn cell(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => (*text).to_owned(),
        Value::Number(x) if x.is_finite() => x.to_string(),
        Value::Integer(x) => x.to_string(),
        Value::Flag(flag) => flag.to_string(),
        // Files of separated values have no vectors.
        Value::Number(_) | Value::Vector(_) | Value::Missing => String::new(),
    }
}

fn write_object(out: &mut impl Write, columns: &[TypedColumn], row: &[Value<'_>]) -> io::Result<()> {
    for (index, (column, value)) in columns.iter().zip(row).enumerate() {
        out.write_all(if index == 0 { b"{" } else { b"," })?;
        serde_json::to_writer(&mut *out, &column.name)?;
        out.write_all(b":")?;
        match value {
            Value::Text(text) => serde_json::to_writer(&mut *out, text)?,
            // A number that is not finite becomes null.
            Value::Number(x) => serde_json::to_writer(&mut *out, x)?,
            Value::Integer(x) => serde_json::to_writer(&mut *out, x)?,
            Value::Flag(flag) => serde_json::to_writer(&mut *out, flag)?,
            Value::Missing => out.write_all(b"null")?,
            Value::Vector(x) => serde_json::to_writer(&mut *out, x)?,
        }
    }
    out.write_all(b"}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(vector: bool) -> Vec<TypedColumn> {
        let mut columns = vec![
            TypedColumn::new("text_id", ColumnKind::Text),
            TypedColumn::new("p \"x\"", ColumnKind::Number),
            TypedColumn::new("observed", ColumnKind::Flag),
        ];
        columns.extend(vector.then(|| TypedColumn::new("v", ColumnKind::Vector(2))));
        columns
    }

    fn written(name: &str, vector: bool) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let mut table = TypedTable::create(&path, columns(vector)).unwrap();
        for (id, p, flag) in [("a,b", 0.1, true), ("c\nd", f32::NAN, false)] {
            let row = [Value::Text(id), Value::Number(p), Value::Flag(flag), Value::Vector(&[0.5, -1e-9])];
            table.write(&row[..if vector { 4 } else { 3 }]).unwrap();
        }
        assert!(!path.exists());
        table.finish(false).unwrap();
        std::fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn missing_values_are_written_by_format() {
        let csv = written("a.csv", false);
        assert_eq!(csv, "text_id,\"p \"\"x\"\"\",observed\n\"a,b\",0.1,true\n\"c\nd\",,false\n");
        let tsv = written("a.tsv", false);
        assert!(tsv.contains("a,b\t0.1\ttrue\n"), "{tsv}");
        let json = written("a.jsonl", true);
        assert_eq!(
            json,
            concat!(
                r#"{"text_id":"a,b","p \"x\"":0.1,"observed":true,"v":[0.5,-1e-9]}"#,
                "\n",
                r#"{"text_id":"c\nd","p \"x\"":null,"observed":false,"v":[0.5,-1e-9]}"#,
                "\n"
            )
        );
    }

    #[test]
    fn unsupported_extension_is_refused_early() {
        let message_of = |name: &str, vectors| {
            TypedTable::check(Path::new(name), vectors).err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert!(message_of("a.docx", false).contains(".csv, .tsv, .jsonl, .parquet or .xlsx"));
        assert!(message_of("a.csv", true).contains("no kind of file for vectors"));
        for (name, vectors) in [("a.csv", false), ("a.xlsx", false), ("a.JSONL", true), ("a.Parquet", true)] {
            assert_eq!(message_of(name, vectors), "", "{name}");
        }
        assert!(TypedTable::create(Path::new("no/such/folder/a.csv"), columns(false)).is_err());
    }
}
