//! A table written as CSV, TSV or JSON Lines, whole or not at all.

use crate::atomic::AtomicFile;
use crate::error::io_reason;
use crate::{ExchangeError, Format};
use std::io::{self, Write};
use std::path::Path;

/// One row's values in the order of the columns; `None` is an empty cell, `null` in JSON.
pub(crate) type Values<'a> = [Option<&'a str>];

/// A table being written. Every row has every column.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<String>,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Separated(Box<csv::Writer<AtomicFile>>),
    Json(AtomicFile),
}

impl Table {
    pub(crate) fn create(path: &Path, format: Format, columns: Vec<String>) -> Result<Self, ExchangeError> {
        let file = AtomicFile::create(path)?;
        let sink = match format {
            Format::Jsonl => Sink::Json(file),
            Format::Csv | Format::Tsv => {
                let delimiter = if format == Format::Tsv { b'\t' } else { b',' };
                let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(file);
                writer.write_record(&columns).map_err(|e| ExchangeError::writing(path, io_reason(e)))?;
                Sink::Separated(Box::new(writer))
            }
        };
        Ok(Self { columns, sink })
    }

    pub(crate) fn write(&mut self, values: &Values<'_>) -> Result<(), ExchangeError> {
        debug_assert_eq!(values.len(), self.columns.len());
        let written = match &mut self.sink {
            Sink::Separated(writer) => {
                writer.write_record(values.iter().map(|v| v.unwrap_or_default())).map_err(io_reason)
            }
            Sink::Json(file) => write_object(file, &self.columns, values),
        };
        written.map_err(|e| ExchangeError::writing(self.target(), e))
    }

    pub(crate) fn finish(self) -> Result<(), ExchangeError> {
        let target = self.target().to_owned();
        match self.sink {
            Sink::Json(file) => file.finish(),
            Sink::Separated(writer) => {
                let file = writer.into_inner().map_err(|e| {
                    let error = e.into_error();
                    ExchangeError::writing(&target, error)
                })?;
                file.finish()
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

fn write_object(out: &mut AtomicFile, columns: &[String], values: &Values<'_>) -> io::Result<()> {
    for (index, (column, value)) in columns.iter().zip(values).enumerate() {
        out.write_all(if index == 0 { b"{" } else { b"," })?;
        serde_json::to_writer(&mut *out, column)?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, value)?;
    }
    out.write_all(b"}\n")
}
