//! A temporary file that cannot fill the disk.

use super::Step;
use super::held_folder::HeldFolder;
use crate::ExchangeError;
use crate::annotations::Findings;
use crate::unpacking::{beyond_limit, unpacking_limit};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const BUFFER: usize = 1 << 20;

/// A file in a folder of its own, being written.
#[derive(Debug)]
pub(super) struct Limited {
    out: BufWriter<File>,
    left: u64,
    limit: u64,
    path: PathBuf,
    folder: HeldFolder,
}

impl Limited {
    /// Begins a file of that name, which may grow to the size that a file (or a folder of files) of `packed`
    /// bytes may unpack to.
    pub(super) fn create(name: impl Into<OsString>, packed: u64) -> io::Result<Self> {
        let folder = HeldFolder::create()?;
        let path = folder.path().join(name.into());
        let out = BufWriter::with_capacity(BUFFER, File::create(&path)?);
        let limit = unpacking_limit(packed);
        Ok(Self { out, left: limit, limit, path, folder })
    }

    /// Completes the file.
    pub(super) fn finish(mut self, inside: String, findings: Vec<Findings>) -> io::Result<Step> {
        self.out.flush()?;
        Ok(Step { path: self.path, inside, findings, rows: None, encoding: None, _folder: self.folder })
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.left.checked_sub(bytes.len() as u64) {
            Some(left) => self.left = left,
            None => return Err(too_much(self.limit)),
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the error of a file that holds more than `limit` bytes or values.
pub(super) fn too_much(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, beyond_limit(limit))
}

/// Returns the error of rewriting `path`, with `damaged` if that is the reason.
pub(super) fn failed(path: &Path, error: &io::Error, damaged: &str) -> ExchangeError {
    let why = match error.kind() {
        io::ErrorKind::StorageFull => {
            "there is no room on the disk of temporary files for what is in it: free some space".to_owned()
        }
        io::ErrorKind::FileTooLarge => error.to_string(),
        _ => format!("{damaged} ({error}): fetch or export it again"),
    };
    ExchangeError::Package { path: path.to_owned(), why }
}

/// Returns `labels` of `folder/labels.csv` with another extension.
pub(super) fn renamed(path: &Path, ending: &str) -> OsString {
    PathBuf::from(path.file_name().unwrap_or_default()).with_extension(ending).into_os_string()
}
