//! A file that appears whole or not at all.

use crate::ExchangeError;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes beside the target and takes its place in [`AtomicFile::finish`]. Dropped before that, it leaves no trace,
/// and what stood at the target is unchanged.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    target: PathBuf,
    out: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Begins a file that is to stand at `target`.
    pub(crate) fn create(target: &Path) -> Result<Self, ExchangeError> {
        if target.is_dir() {
            return Err(ExchangeError::Directory { path: target.to_owned() });
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".dissensus-").suffix(".part");
        with_usual_permissions(&mut builder);
        // The error of the temporary file names that file; people know only the target.
        let plain = |e: io::Error| e.raw_os_error().map_or(e, io::Error::from_raw_os_error);
        let file =
            builder.tempfile_in(folder_of(target)).map_err(|e| ExchangeError::writing(target, plain(e)))?;
        Ok(Self { target: target.to_owned(), out: BufWriter::with_capacity(1 << 16, file) })
    }

    /// The path the file will have.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Brings everything to the disk and takes the target's place.
    pub(crate) fn finish(self) -> Result<(), ExchangeError> {
        let Self { target, out } = self;
        let failed = |e| ExchangeError::writing(&target, e);
        let file = out.into_inner().map_err(|e| failed(e.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&target).map_err(|e| failed(e.error))?;
        sync_folder(folder_of(&target)).map_err(failed)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Temporary files are private; an export is an ordinary file (the umask still applies).
#[cfg(unix)]
fn with_usual_permissions(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn with_usual_permissions(_builder: &mut tempfile::Builder<'_, '_>) {}

/// The new name is on the disk only when the folder is.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(()) // folders cannot be opened for this there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_seen_before_the_end_and_everything_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.csv");
        std::fs::write(&target, "before").unwrap();
        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"after").unwrap();
        file.flush().unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "before");
        file.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "after");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn given_up_it_leaves_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = AtomicFile::create(&folder.path().join("out.csv")).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_explained() {
        let error = AtomicFile::create(Path::new("no/such/folder/out.csv")).unwrap_err();
        assert!(error.to_string().contains("out.csv cannot be written"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(AtomicFile::create(folder.path()), Err(ExchangeError::Directory { .. })));
    }
}
