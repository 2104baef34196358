//! Which file a name leads to: two names of one file have one identity, and a file that takes another's name has its own.

use std::fmt;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The number of a file on its volume (Unix: device and inode; Windows: volume serial number and file index).
///
/// No two files have the same one at the same time. A number may be given again once a file is gone.
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

/// A file as its name shows it at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    /// Which file it is.
    pub(crate) id: FileId,
    /// Its length.
    pub(crate) bytes: u64,
    /// When it was last written, where the file system notes it.
    pub(crate) modified: Option<SystemTime>,
    /// When it was made, where the file system notes it: tells a file from an earlier one with the same number.
    pub(crate) created: Option<SystemTime>,
}

impl FileState {
    /// The file called `path`. A link in its last place is not followed: it is itself what has the name.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where nothing has the name, or what the system says.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let about = std::fs::symlink_metadata(path)?;
        Ok(Self::new(file_id(path, &about)?, &about))
    }

    /// The file that `path` leads to, links followed.
    ///
    /// # Errors
    /// As [`FileState::of`].
    pub(crate) fn behind(path: &Path) -> io::Result<Self> {
        let about = std::fs::metadata(path)?;
        Ok(Self::new(file_id(path, &about)?, &about))
    }

    fn new(id: FileId, about: &Metadata) -> Self {
        Self { id, bytes: about.len(), modified: about.modified().ok(), created: about.created().ok() }
    }
}

/// Whether two paths lead to one file, by whatever names.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let id = |path| FileState::behind(path).ok().map(|of| of.id);
    id(one).is_some_and(|one| Some(one) == id(other))
}

#[cfg(unix)]
fn file_id(_path: &Path, about: &Metadata) -> io::Result<FileId> {
    use std::os::unix::fs::MetadataExt;
    Ok(FileId { volume: about.dev(), number: about.ino() })
}

/// The standard library does not show these numbers, and only an open file has them.
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

/// Holds on to a file without opening it to read or write, so that it can be found again when it has been renamed.
///
/// On Unix, closing any ordinary handle drops the locks that the process holds on the file through other handles. This one
/// (`O_PATH`) does not, and there is nothing like it elsewhere than on Linux.
#[derive(Debug)]
pub(crate) struct FilePin {
    #[cfg(target_os = "linux")]
    file: std::fs::File,
}

#[cfg(target_os = "linux")]
impl FilePin {
    /// Holds on to the file called `path`, a link in its last place not followed. `None` where that cannot be done.
    pub(crate) fn on(path: &Path) -> Option<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = std::fs::OpenOptions::new();
        options.read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW);
        options.open(path).ok().map(|file| Self { file })
    }

    /// The file as it is now, whatever its name.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn state(&self) -> io::Result<FileState> {
        let about = self.file.metadata()?;
        Ok(FileState::new(file_id(Path::new(""), &about)?, &about))
    }

    /// True where the file has a name somewhere.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn has_name(&self) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        Ok(self.file.metadata()?.nlink() > 0)
    }

    /// Where the file is now, as far as that can be found out.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        use std::os::fd::AsRawFd;
        let path = std::fs::read_link(format!("/proc/self/fd/{}", self.file.as_raw_fd())).ok()?;
        let id = self.state().ok()?.id;
        // Of a file that is gone the system says "NAME (deleted)".
        FileState::of(&path).is_ok_and(|there| there.id == id).then_some(path)
    }
}

#[cfg(not(target_os = "linux"))]
impl FilePin {
    /// `None`: it cannot be done here.
    pub(crate) fn on(_path: &Path) -> Option<Self> {
        None
    }

    /// The file as it is now, whatever its name.
    ///
    /// # Errors
    /// Always: it cannot be found out here.
    pub(crate) fn state(&self) -> io::Result<FileState> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// True where the file has a name somewhere.
    ///
    /// # Errors
    /// Always: it cannot be found out here.
    pub(crate) fn has_name(&self) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Where the file is now: unknown here.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_one_file_are_one_and_a_file_that_takes_a_name_is_another() {
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
    fn a_pinned_file_is_found_under_its_new_name_and_known_to_be_gone() {
        let folder = tempfile::tempdir().unwrap();
        // The system names the folder without links.
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
