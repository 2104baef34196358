//! A table of strings written as CSV, TSV, JSON Lines, Parquet or XLSX, whole or not at all.

use crate::error::io_reason;
use crate::parquet_writer::ParquetWriter;
use crate::time::parse_ms;
use crate::typed_column::{ColumnKind, TypedColumn, Value};
use crate::xlsx_writer::XlsxWriter;
use crate::{ExchangeError, OutputFormat};
use dissensus_files::AtomicFile;
use std::io::{self, Write};
use std::path::Path;

/// One row's values in the order of the columns; `None` is an empty cell.
pub(crate) type Values<'a> = [Option<&'a str>];

/// A table being written. In a separated file every row has every column; a JSON object leaves out missing
/// values, except in the first columns, which it always has.
#[derive(Debug)]
pub(crate) struct Table {
    pub columns: Vec<String>,
    kinds: Vec<ColumnKind>,
    required: usize,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Separated(Box<csv::Writer<AtomicFile>>),
    Json(AtomicFile),
    Parquet(Box<ParquetWriter<AtomicFile>>),
    Xlsx(Box<XlsxWriter>, AtomicFile),
}

impl Table {
    /// Begins a table. The first `required` columns are in every JSON object, as `null` where they are empty.
    /// In formats with types the first columns have these `kinds`, and the others are texts.
    pub(crate) fn create(
        path: &Path,
        format: OutputFormat,
        columns: Vec<String>,
        required: usize,
        mut kinds: Vec<ColumnKind>,
    ) -> Result<Self, ExchangeError> {
        let writing = |e| ExchangeError::writing(path, e);
        let file = AtomicFile::create(path).map_err(writing)?;
        kinds.resize(columns.len(), ColumnKind::Text);
        let typed = columns.iter().zip(&kinds).map(|(name, kind)| TypedColumn::new(name, *kind));
        let sink = match format {
            OutputFormat::Jsonl => Sink::Json(file),
            OutputFormat::Parquet => {
                let typed: Vec<TypedColumn> = typed.collect();
                Sink::Parquet(Box::new(ParquetWriter::new(file, &typed).map_err(writing)?))
            }
            OutputFormat::Xlsx => {
                let typed: Vec<TypedColumn> = typed.collect();
                Sink::Xlsx(Box::new(XlsxWriter::new(&typed).map_err(writing)?), file)
            }
            // Blocks of words are not a table, and have a writer of their own.
            OutputFormat::Csv | OutputFormat::Tsv | OutputFormat::Conll => {
                let delimiter = if format == OutputFormat::Tsv { b'\t' } else { b',' };
                let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(file);
                writer.write_record(&columns).map_err(|e| writing(io_reason(e)))?;
                Sink::Separated(Box::new(writer))
            }
        };
        Ok(Self { columns, kinds, required, sink })
    }

    /// Writes a row. `more` are keys and values of a JSON object that have no column.
    pub(crate) fn write(&mut self, values: &Values<'_>, more: &[(&str, &str)]) -> Result<(), ExchangeError> {
        self.write_with_json(values, more, None)
    }

    /// Writes a row like [`Table::write`]; the value in the column `json` is JSON, and becomes a nested value
    /// in an object.
    pub(crate) fn write_with_json(
        &mut self,
        values: &Values<'_>,
        more: &[(&str, &str)],
        json: Option<usize>,
    ) -> Result<(), ExchangeError> {
        debug_assert_eq!(values.len(), self.columns.len());
        let written = match &mut self.sink {
            Sink::Separated(writer) => {
                writer.write_record(values.iter().map(|v| v.unwrap_or_default())).map_err(io_reason)
            }
            Sink::Json(file) => {
                let columns = self.columns.iter().map(String::as_str).zip(values.iter().copied()).enumerate();
                let there = columns.filter(|(nth, (_, value))| *nth < self.required || value.is_some());
                let there = there.map(|(nth, (column, value))| (column, value, json == Some(nth)));
                let more = more.iter().map(|(key, value)| (*key, Some(*value), false));
                write_object(file, there.chain(more))
            }
            Sink::Parquet(writer) => {
                typed(&self.columns, &self.kinds, values).and_then(|row| writer.write(&row))
            }
            Sink::Xlsx(writer, _) => {
                typed(&self.columns, &self.kinds, values).and_then(|row| writer.write(&row))
            }
        };
        written.map_err(|e| ExchangeError::writing(self.target(), e))
    }

    pub(crate) fn finish(self) -> Result<(), ExchangeError> {
        let target = self.target().to_owned();
        match self.sink {
            Sink::Json(file) => file.finish().map_err(|e| ExchangeError::writing(&target, e)),
            Sink::Separated(writer) => {
                let file = writer.into_inner().map_err(|e| {
                    let error = e.into_error();
                    ExchangeError::writing(&target, error)
                })?;
                file.finish().map_err(|e| ExchangeError::writing(&target, e))
            }
            Sink::Parquet(writer) => {
                writer.finish().and_then(AtomicFile::finish).map_err(|e| ExchangeError::writing(&target, e))
            }
            Sink::Xlsx(writer, file) => writer
                .finish(file)
                .and_then(AtomicFile::finish)
                .map_err(|e| ExchangeError::writing(&target, e)),
        }
    }

    fn target(&self) -> &Path {
        match &self.sink {
            Sink::Separated(writer) => writer.get_ref().target(),
            Sink::Json(file) | Sink::Xlsx(_, file) => file.target(),
            Sink::Parquet(writer) => writer.inner().target(),
        }
    }
}

/// The values of a row by the kinds of their columns.
fn typed<'a>(columns: &[String], kinds: &[ColumnKind], values: &Values<'a>) -> io::Result<Vec<Value<'a>>> {
    let one = |((column, kind), value): ((&String, &ColumnKind), &Option<&'a str>)| {
        let Some(value) = value else { return Ok(Value::Missing) };
        let number = match kind {
            ColumnKind::Integer => value.parse::<i64>().ok(),
            // A moment outside the years that are written as dates is also invalid for readers of these
            // formats: the cell is empty.
            ColumnKind::Moment => match parse_ms(value).filter(|_| value.contains('-')) {
                Some(moment) => Some(moment),
                None => return Ok(Value::Missing),
            },
            _ => return Ok(Value::Text(value)),
        };
        number.map(Value::Integer).ok_or_else(|| {
            let why = format!(
                "column \"{column}\": {value} cannot be written in this format: write .csv or .jsonl"
            );
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })
    };
    columns.iter().zip(kinds).zip(values).map(one).collect()
}

fn write_object<'a>(
    out: &mut AtomicFile,
    pairs: impl Iterator<Item = (&'a str, Option<&'a str>, bool)>,
) -> io::Result<()> {
    for (index, (column, value, is_json)) in pairs.enumerate() {
        out.write_all(if index == 0 { b"{" } else { b"," })?;
        serde_json::to_writer(&mut *out, column)?;
        out.write_all(b":")?;
        match value.filter(|_| is_json) {
            Some(json) => out.write_all(json.as_bytes())?,
            None => serde_json::to_writer(&mut *out, &value)?,
        }
    }
    out.write_all(b"}\n")
}
