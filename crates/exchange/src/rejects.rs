//! The rows that were not imported, and why.

use crate::error::io_reason;
use crate::{ExchangeError, RowError};
use dissensus_files::AtomicFile;
use std::path::Path;

/// Writes rejected rows to a CSV file: `row, line, column, reason, record`, where `record` is the row byte
/// for byte, without its last line end. The file appears at the path only with [`RejectWriter::finish`].
#[derive(Debug)]
pub struct RejectWriter {
    out: csv::Writer<AtomicFile>,
}

impl RejectWriter {
    /// Begins the file.
    ///
    /// # Errors
    /// The folder is missing or cannot be written.
    pub fn create(path: &Path) -> Result<Self, ExchangeError> {
        let mut out =
            csv::Writer::from_writer(AtomicFile::create(path).map_err(|e| ExchangeError::writing(path, e))?);
        out.write_record(["row", "line", "column", "reason", "record"])
            .map_err(|e| ExchangeError::writing(path, io_reason(e)))?;
        Ok(Self { out })
    }

    /// Adds a row; `raw` is [`Rows::raw`](crate::Rows::raw) right after the row was rejected.
    pub fn write(&mut self, error: &RowError, raw: &[u8]) -> Result<(), ExchangeError> {
        let raw = raw.strip_suffix(b"\n").unwrap_or(raw);
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        let (row, line, reason) = (error.row.to_string(), error.line.to_string(), error.kind.to_string());
        let column = error.column.as_deref().unwrap_or_default();
        let cells = [row.as_bytes(), line.as_bytes(), column.as_bytes(), reason.as_bytes(), raw];
        self.out
            .write_record(cells)
            .map_err(|e| ExchangeError::writing(self.out.get_ref().target(), io_reason(e)))
    }

    /// Flushes the file to disk and moves it to its path.
    ///
    /// # Errors
    /// The same as [`LabelWriter::finish`](crate::LabelWriter::finish).
    pub fn finish(self) -> Result<(), ExchangeError> {
        let target = self.out.get_ref().target().to_owned();
        let file = self.out.into_inner().map_err(|e| ExchangeError::writing(&target, e.into_error()))?;
        file.finish().map_err(|e| ExchangeError::writing(&target, e))
    }
}
