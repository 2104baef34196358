//! Identity of files: two names of one file have the same identity, and a file that takes another's
//! name has a different one.

use std::fmt;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The number of a file on its volume (Unix: device and inode; Windows: volume serial number and
/// file index).
///
/// No two files have the same number at the same time, but the number of a deleted file may be
/// reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    volume: u64,
    number: u64,
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}", self.volume, self.number)
    }
}

/// The state of a file at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    pub(crate) id: FileId,
    /// Length in bytes.
    pub(crate) bytes: u64,
    /// Modification time, if the file system records it.
    pub(crate) modified: Option<SystemTime>,
    /// Creation time, if the file system records it. Distinguishes a file from an earlier one with
    /// the same number.
    pub(crate) created: Option<SystemTime>,
}

impl FileState {
    /// The state of the file `path`. If it is a symbolic link, the link itself, not its target.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is no such file, or an I/O error.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let about = std::fs::symlink_metadata(path)?;
        Ok(Self::new(file_id(path, &about)?, &about))
    }

    /// The state of the file that `path` resolves to, following links.
    ///
    /// # Errors
    /// Like [`FileState::of`].
    pub(crate) fn behind(path: &Path) -> io::Result<Self> {
        let about = std::fs::metadata(path)?;
        Ok(Self::new(file_id(path, &about)?, &about))
    }

    fn new(id: FileId, about: &Metadata) -> Self {
        Self { id, bytes: about.len(), modified: about.modified().ok(), created: about.created().ok() }
    }
}

/// Whether two paths resolve to the same file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let id = |path| FileState::behind(path).ok().map(|of| of.id);
    id(one).is_some_and(|one| Some(one) == id(other))
}

#[cfg(unix)]
fn file_id(_path: &Path, about: &Metadata) -> io::Result<FileId> {
    use std::os::unix::fs::MetadataExt;
    Ok(FileId { volume: about.dev(), number: about.ino() })
}

/// The standard library does not expose these numbers, and reading them requires an open file.
#[cfg(windows)]
fn file_id(path: &Path, _about: &Metadata) -> io::Result<FileId> {
    let file = winapi_util::Handle::from_path_any(path)?;
    let about = winapi_util::file::information(&file)?;
    Ok(FileId { volume: about.volume_serial_number(), number: about.file_index() })
}

#[cfg(not(any(unix, windows)))]
fn file_id(_path: &Path, _about: &Metadata) -> io::Result<FileId> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Refers to a file without opening it for reading or writing, so that it can be found after it was
/// renamed.
///
/// On Unix, closing an ordinary handle releases the locks that the process holds on the file
/// through other handles. This one (`O_PATH`) does not; only Linux has an equivalent.
#[derive(Debug)]
pub(crate) struct FilePin {
    #[cfg(target_os = "linux")]
    file: std::fs::File,
}

#[cfg(target_os = "linux")]
impl FilePin {
    /// Refers to the file `path`, without following a symbolic link. `None` if that is not
    /// possible.
    pub(crate) fn on(path: &Path) -> Option<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = std::fs::OpenOptions::new();
        options.read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW);
        options.open(path).ok().map(|file| Self { file })
    }

    /// The current state of the file, whatever its name.
    pub(crate) fn state(&self) -> io::Result<FileState> {
        let about = self.file.metadata()?;
        Ok(FileState::new(file_id(Path::new(""), &about)?, &about))
    }

    /// Whether the file still has a name.
    pub(crate) fn has_name(&self) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        Ok(self.file.metadata()?.nlink() > 0)
    }

    /// The current path of the file, if it can be determined.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        use std::os::fd::AsRawFd;
        let path = std::fs::read_link(format!("/proc/self/fd/{}", self.file.as_raw_fd())).ok()?;
        let id = self.state().ok()?.id;
        // For a deleted file the system returns "NAME (deleted)".
        FileState::of(&path).is_ok_and(|there| there.id == id).then_some(path)
    }
}

#[cfg(not(target_os = "linux"))]
impl FilePin {
    /// Always `None` on this system.
    pub(crate) fn on(_path: &Path) -> Option<Self> {
        None
    }

    /// The current state of the file, whatever its name.
    ///
    /// # Errors
    /// Always: it cannot be determined on this system.
    pub(crate) fn state(&self) -> io::Result<FileState> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether the file still has a name.
    ///
    /// # Errors
    /// Always: it cannot be determined on this system.
    pub(crate) fn has_name(&self) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Always `None` on this system.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_identity_follows_the_file_not_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "1").unwrap();
        std::fs::hard_link(at("a"), at("b")).unwrap();
        let id = |name: &str| FileState::of(&at(name)).unwrap().id;
        assert_eq!(id("a"), id("b"));
        let before = id("a");
        std::fs::write(at("c"), "2").unwrap();
        std::fs::rename(at("c"), at("a")).unwrap();
        assert_ne!(id("a"), before);
        assert_eq!(id("b"), before);
        assert_eq!(FileState::of(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pinned_file_is_found_after_renaming() {
        let folder = tempfile::tempdir().unwrap();
        // The system returns the folder's path without links.
        let folder_path = dissensus_files::real_path(folder.path()).unwrap();
        let at = |name: &str| folder_path.join(name);
        std::fs::write(at("a"), "1").unwrap();
        let pin = FilePin::on(&at("a")).unwrap();
        assert_eq!(pin.state().unwrap(), FileState::of(&at("a")).unwrap());
        std::fs::rename(at("a"), at("b")).unwrap();
        assert_eq!(pin.path(), Some(at("b")));
        std::fs::remove_file(at("b")).unwrap();
        assert_eq!((pin.path(), pin.has_name().unwrap()), (None, false));
    }
}
