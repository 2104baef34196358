//! A folder that appears with all of its files or not at all.

use crate::atomic_file::without_temporary_name;
use crate::paths::{folder_of, sync_folder};
use crate::stale;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that is filled under a temporary name next to its target and takes the target's name in
/// [`AtomicFolder::finish_new`]. If dropped before that, it is removed with its contents.
#[derive(Debug)]
pub struct AtomicFolder {
    target: PathBuf,
    folder: TempDir,
    /// Signals to other processes that the folder is in use, as long as it is open.
    _mark: Option<File>,
}

impl AtomicFolder {
    /// Starts a folder that will become `target`. Also removes temporary files and folders that a
    /// killed process left next to it.
    ///
    /// # Errors
    /// The parent folder is missing or not writable, or the disk is full.
    pub fn create(target: &Path) -> io::Result<Self> {
        let place = folder_of(target);
        stale::remove_stale_parts(place);
        let mut builder = tempfile::Builder::new();
        builder.prefix(stale::PREFIX).suffix(stale::SUFFIX);
        let folder = builder.tempdir_in(place).map_err(without_temporary_name)?;
        Ok(Self { target: target.to_owned(), _mark: stale::mark_folder_in_use(folder.path()), folder })
    }

    /// The temporary path to write files to.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Syncs all files to disk and renames the folder to the target, which must not exist.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the target exists, or an I/O error; the target is then
    /// unchanged.
    pub fn finish_new(self) -> io::Result<()> {
        sync_all_in(self.folder.path())?;
        if std::fs::symlink_metadata(&self.target).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        std::fs::rename(self.folder.path(), &self.target)?;
        // The folder was renamed: prevents the handle from deleting it.
        let _ = self.folder.keep();
        sync_folder(folder_of(&self.target))
    }

    /// Like [`AtomicFolder::finish_new`], but replaces and removes an existing folder. If the
    /// process is killed in between, there is no folder under the target's name.
    ///
    /// # Errors
    /// Syncing or renaming fails; the target is then unchanged.
    pub fn finish(self) -> io::Result<()> {
        sync_all_in(self.folder.path())?;
        let place = folder_of(&self.target).to_owned();
        let mut before = None;
        if std::fs::symlink_metadata(&self.target).is_ok() {
            let mut builder = tempfile::Builder::new();
            builder.prefix(stale::PREFIX).suffix(stale::SUFFIX);
            let aside = builder.tempdir_in(&place).map_err(without_temporary_name)?;
            let mark = stale::mark_folder_in_use(aside.path());
            std::fs::rename(&self.target, aside.path().join("before"))?;
            before = Some((aside, mark));
        }
        if let Err(error) = std::fs::rename(self.folder.path(), &self.target) {
            if let Some((aside, _)) = before {
                std::fs::rename(aside.path().join("before"), &self.target)?;
            }
            return Err(error);
        }
        let _ = self.folder.keep();
        sync_folder(&place)
    }
}

fn sync_all_in(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_all_in(&entry.path())?;
        } else if kind.is_file() {
            // Windows only syncs files that are open for writing.
            File::options().read(true).write(cfg!(windows)).open(entry.path())?.sync_all()?;
        }
    }
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_appears_only_when_finished() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("step-1");
        let half = AtomicFolder::create(&target).unwrap();
        std::fs::write(half.path().join("a"), "1").unwrap();
        drop(half);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
        let whole = AtomicFolder::create(&target).unwrap();
        std::fs::create_dir(whole.path().join("inner")).unwrap();
        std::fs::write(whole.path().join("inner/a"), "1").unwrap();
        assert!(!target.exists());
        whole.finish_new().unwrap();
        assert_eq!(std::fs::read_to_string(target.join("inner/a")).unwrap(), "1");
        let again = AtomicFolder::create(&target).unwrap();
        assert_eq!(again.finish_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let other = AtomicFolder::create(&target).unwrap();
        std::fs::write(other.path().join("b"), "2").unwrap();
        other.finish().unwrap();
        assert!(target.join("b").exists() && !target.join("inner").exists());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
