//! A table written as CSV, TSV or JSON Lines, whole or not at all.

use crate::error::io_reason;
use crate::{ExchangeError, TableFormat};
use dissensus_files::AtomicFile;
use std::io::{self, Write};
use std::path::Path;

/// One row's values in the order of the columns; `None` is an empty cell.
pub(crate) type Values<'a> = [Option<&'a str>];

/// A table being written. In a separated file every row has every column; a JSON object leaves out what is not there, but for
/// the first columns that it always has.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<String>,
    required: usize,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Separated(Box<csv::Writer<AtomicFile>>),
    Json(AtomicFile),
}

impl Table {
    /// Begins a table. The first `required` columns are in every JSON object, as `null` where they are empty.
    pub(crate) fn create(
        path: &Path,
        format: TableFormat,
        columns: Vec<String>,
        required: usize,
    ) -> Result<Self, ExchangeError> {
        let file = AtomicFile::create(path).map_err(|e| ExchangeError::writing(path, e))?;
        let sink = match format {
            TableFormat::Jsonl => Sink::Json(file),
            // Blocks of words are no table, and have a writer of their own.
            TableFormat::Csv | TableFormat::Tsv | TableFormat::Conll => {
                let delimiter = if format == TableFormat::Tsv { b'\t' } else { b',' };
                let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(file);
                writer.write_record(&columns).map_err(|e| ExchangeError::writing(path, io_reason(e)))?;
                Sink::Separated(Box::new(writer))
            }
        };
        Ok(Self { columns, required, sink })
    }

    /// Writes a row. `more` are keys and values of a JSON object that have no column.
    pub(crate) fn write(&mut self, values: &Values<'_>, more: &[(&str, &str)]) -> Result<(), ExchangeError> {
        self.write_with_json(values, more, None)
    }

    /// As [`Table::write`]; the value in the column `json` is JSON, and stands in an object as what it is.
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
        }
    }

    fn target(&self) -> &Path {
        match &self.sink {
            Sink::Separated(writer) => writer.get_ref().target(),
            Sink::Json(file) => file.target(),
        }
    }
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
