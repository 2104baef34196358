//! A file that appears whole or not at all.

use crate::paths::{folder_of, sync_folder};
use crate::stale;
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Who may read the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readable {
    /// Anyone whom the umask allows.
    AsUsual,
    ByOwner,
}

/// A file that is written under a temporary name in the target's folder and takes the target's name
/// in [`AtomicFile::finish`]. If dropped before that, it is removed and the target is unchanged. If
/// the target is a link, the link is replaced.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    out: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Starts a file that will replace `target`, with the permissions of an ordinary new file. Also
    /// removes temporary files that a killed process left in the folder.
    ///
    /// # Errors
    /// The target is a folder, its folder is missing or not writable, or the disk is full.
    pub fn create(target: &Path) -> io::Result<Self> {
        Self::begin(target, Readable::AsUsual)
    }

    /// Like [`AtomicFile::create`], but readable only by the owner, for files that reveal what
    /// someone is working on.
    ///
    /// # Errors
    /// Like [`AtomicFile::create`].
    pub fn create_private(target: &Path) -> io::Result<Self> {
        Self::begin(target, Readable::ByOwner)
    }

    fn begin(target: &Path, readable: Readable) -> io::Result<Self> {
        if target.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let folder = folder_of(target);
        stale::remove_stale_parts(folder);
        let mut builder = tempfile::Builder::new();
        builder.prefix(stale::PREFIX).suffix(stale::SUFFIX);
        if readable == Readable::AsUsual {
            with_usual_permissions(&mut builder);
        }
        // tempfile opens exclusively, so a link planted under that name is never followed.
        let file = builder.tempfile_in(folder).map_err(without_temporary_name)?;
        stale::mark_in_use(file.as_file());
        Ok(Self { target: target.to_owned(), out: BufWriter::with_capacity(1 << 16, file) })
    }

    /// The path of the finished file.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The temporary path, for libraries that write to a path. The library must sync what it writes
    /// there.
    pub fn temporary_path(&self) -> &Path {
        self.out.get_ref().path()
    }

    /// Syncs the contents to disk and renames the file to the target, replacing an existing file.
    ///
    /// # Errors
    /// Writing, syncing or renaming fails; the target is then unchanged.
    pub fn finish(self) -> io::Result<()> {
        let (target, file) = self.synced()?;
        file.persist(&target).map_err(|e| e.error)?;
        sync_folder(folder_of(&target))
    }

    /// Like [`AtomicFile::finish`], but never replaces an existing file.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the target exists, or an I/O error; the target is then
    /// unchanged.
    pub fn finish_new(self) -> io::Result<()> {
        let (target, file) = self.synced()?;
        file.persist_noclobber(&target).map_err(|e| e.error)?;
        sync_folder(folder_of(&target))
    }

    /// Syncs the contents to disk, still under the temporary name.
    pub(crate) fn synced(self) -> io::Result<(PathBuf, NamedTempFile)> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        Ok((self.target, file))
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

/// Writes `bytes` to `target` atomically, replacing an existing file.
///
/// # Errors
/// Like [`AtomicFile::create`] and [`AtomicFile::finish`].
pub fn write_atomically(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(target)?;
    file.write_all(bytes)?;
    file.finish()
}

/// Writes `content` to a file that only its owner may read. An existing file is replaced if it begins with
/// `begin`, as an earlier one of the same kind does; returns false for any other, which is unchanged.
///
/// # Errors
/// Like [`AtomicFile::create_private`] and [`AtomicFile::finish`], or an existing file cannot be read.
pub fn replace_private(target: &Path, begin: &[u8], content: &[u8]) -> io::Result<bool> {
    match std::fs::File::open(target) {
        Ok(there) => {
            let mut first = Vec::new();
            there.take(begin.len() as u64).read_to_end(&mut first)?;
            if first != begin {
                return Ok(false);
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut file = AtomicFile::create_private(target)?;
    file.write_all(content)?;
    file.finish()?;
    Ok(true)
}

/// Removes the temporary file's name from an error, since users only know the target.
pub(crate) fn without_temporary_name(error: io::Error) -> io::Error {
    match (error.raw_os_error(), error.kind()) {
        (Some(number), _) => io::Error::from_raw_os_error(number),
        // tempfile wraps the system's error together with the path; only its kind is accessible.
        (None, io::ErrorKind::Other) => error,
        (None, kind) => kind.into(),
    }
}

/// Gives the file ordinary permissions (subject to the umask); temporary files are private by
/// default.
#[cfg(unix)]
fn with_usual_permissions(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn with_usual_permissions(_builder: &mut tempfile::Builder<'_, '_>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_does_not_name_the_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(&folder.path().join("missing").join("out.csv")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains("missing"), "{error}");
    }

    #[test]
    fn file_appears_only_when_finished() {
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
    fn abandoned_file_leaves_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = AtomicFile::create(&folder.path().join("out.csv")).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn new_file_does_not_replace_a_concurrent_one() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("copy");
        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"copy").unwrap();
        std::fs::write(&target, "somebody else's").unwrap();
        assert_eq!(file.finish_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "somebody else's");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn missing_or_blocking_folder_is_an_error() {
        let missing = AtomicFile::create(Path::new("no/such/folder/out.csv")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let folder = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(folder.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }

    #[cfg(unix)]
    #[test]
    fn private_file_permissions_are_restricted() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let private = folder.path().join("recent.json");
        AtomicFile::create_private(&private).unwrap().finish().unwrap();
        assert_eq!(mode(&private), 0o600);
        let (ours, usual) = (folder.path().join("a"), folder.path().join("b"));
        write_atomically(&ours, b"").unwrap();
        std::fs::write(&usual, "").unwrap();
        assert_eq!(mode(&ours), mode(&usual));
    }
}
