//! A temporary folder that only its owner can read.

use crate::atomic_file::without_temporary_name;
use crate::stale;
use std::fs::File;
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// A temporary folder readable only by its owner, regardless of the umask. It is removed with its
/// contents when dropped; if the process is killed, it is removed when the next temporary file or
/// folder is created in the same place.
#[derive(Debug)]
pub struct PrivateFolder {
    folder: TempDir,
    /// Signals to other processes that the folder is in use, as long as it is open.
    _mark: Option<File>,
}

impl PrivateFolder {
    /// Creates a folder in `place`. Also removes temporary files and folders that a killed process
    /// left there.
    ///
    /// # Errors
    /// The place is missing or not writable, or the disk is full.
    pub fn create_in(place: &Path) -> io::Result<Self> {
        stale::remove_stale_parts(place);
        let mut builder = tempfile::Builder::new();
        builder.prefix(stale::PREFIX).suffix(stale::SUFFIX);
        for_owner(&mut builder);
        let folder = builder.tempdir_in(place).map_err(without_temporary_name)?;
        Ok(Self { _mark: stale::mark_folder_in_use(folder.path()), folder })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(unix)]
fn for_owner(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o700));
}

#[cfg(not(unix))]
fn for_owner(_builder: &mut tempfile::Builder<'_, '_>) {}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn private_folder_of_a_killed_process_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let left = place.path().join(".dissensus-left.part");
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("packet"), "key").unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        File::open(&left).unwrap().set_modified(old).unwrap();
        let folder = PrivateFolder::create_in(place.path()).unwrap();
        assert!(!left.exists());
        assert_eq!(std::fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
        drop(folder);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
