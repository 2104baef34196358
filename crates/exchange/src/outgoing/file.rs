//! The file of a tool: written whole, or not at all.

use super::{ToolFormat, ToolLabels};
use crate::ExchangeError;
use dissensus_domain::Progress;
use dissensus_files::AtomicFile;
use std::io;
use std::path::Path;

impl ToolFormat {
    /// Checks that a file of this format can have this name.
    ///
    /// # Errors
    /// The extension is not that of the format.
    pub fn check_name(self, path: &Path) -> Result<(), ExchangeError> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        if ending.as_deref() == Some(self.ending()) {
            return Ok(());
        }
        let (path, format, ending) = (path.to_owned(), self.title(), self.ending());
        Err(ExchangeError::OtherEnding { path, format, ending })
    }

    /// Writes the remaining labels ([`super::divide`]) to a file, which appears whole or not at all; an
    /// existing file is replaced only with `replace`.
    ///
    /// # Errors
    /// No labels remain, the extension is wrong, a file of that name exists by now, the disk is full or
    /// refuses, or cancellation.
    pub fn write(
        self,
        path: &Path,
        kept: &ToolLabels,
        replace: bool,
        progress: &dyn Progress,
    ) -> Result<(), ExchangeError> {
        self.check_name(path)?;
        if kept.answers.is_empty() {
            return Err(ExchangeError::NothingToWrite { path: path.to_owned(), format: self.title() });
        }
        let writing = |error: io::Error| match error.kind() {
            io::ErrorKind::Interrupted => ExchangeError::Cancelled { path: path.to_owned() },
            _ => ExchangeError::writing(path, error),
        };
        let mut file = AtomicFile::create(path).map_err(writing)?;
        self.writer().write(kept, &mut file, progress).map_err(writing)?;
        let finished = if replace { file.finish() } else { file.finish_new() };
        finished.map_err(writing)
    }
}
