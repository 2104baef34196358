//! A folder for temporary files with a lock, so that a later process can remove the folders of processes that
//! were killed.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use tempfile::TempDir;

const PREFIX: &str = "dissensus-reading-";
/// The file in it that is locked while the folder is used.
const HELD: &str = "held";
const MAKING: &str = "making";

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct HeldFolder {
    // Dropped before the folder: some systems cannot remove an open file.
    _held: File,
    folder: TempDir,
}

impl Drop for HeldFolder {
    fn drop(&mut self) {
        // Deletes the lock file last, so that an interrupted cleanup still looks stale.
        empty(self.folder.path());
    }
}

impl HeldFolder {
    /// Creates a folder among the temporary files of the system, and removes those of processes that have
    /// ended.
    pub(super) fn create() -> io::Result<Self> {
        Self::create_in(&std::env::temp_dir())
    }

    fn create_in(place: &Path) -> io::Result<Self> {
        remove_left(place);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
        // Renamed only once it is locked: otherwise another process might consider the folder stale.
        let making = folder.path().join(MAKING);
        let held = File::create(&making)?;
        // On a file system without locks it is not renamed, and only this process removes it.
        if held.try_lock().is_ok() {
            fs::rename(&making, folder.path().join(HELD))?;
        }
        Ok(Self { _held: held, folder })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes stale folders of this program. What cannot be inspected is not removed: it may belong to another
/// user.
fn remove_left(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // A link of that name was not created by this program.
        if ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_left(&entry.path()) {
            empty(&entry.path());
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// Removes everything except the lock file.
fn empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name() != HELD {
            drop(fs::remove_file(entry.path()));
        }
    }
}

fn is_left(folder: &Path) -> bool {
    let held = folder.join(HELD);
    // A folder that is being created has no such file yet; if it is not a plain file, it was not created by
    // this program, and opening it may be unsafe.
    if !fs::symlink_metadata(&held).is_ok_and(|about| about.is_file()) {
        return false;
    }
    File::open(held).is_ok_and(|held| held.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_dead_processes_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let first = HeldFolder::create_in(place.path()).unwrap();
        fs::write(first.path().join("a.csv"), "x").unwrap();
        let left = place.path().join(format!("{PREFIX}left"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join(HELD), "").unwrap();
        fs::write(left.join("b.csv"), "y").unwrap();
        let unfinished = place.path().join(format!("{PREFIX}unfinished"));
        let other = place.path().join("other");
        fs::create_dir(&unfinished).unwrap();
        fs::create_dir(&other).unwrap();
        // One whose removal was interrupted when its process was killed, and one in which the lock file is
        // not a file.
        let half = place.path().join(format!("{PREFIX}half"));
        fs::create_dir(&half).unwrap();
        fs::write(half.join(HELD), "").unwrap();
        let strange = place.path().join(format!("{PREFIX}strange"));
        fs::create_dir_all(strange.join(HELD)).unwrap();
        let second = HeldFolder::create_in(place.path()).unwrap();
        assert!(first.path().join("a.csv").exists() && second.path().exists());
        assert!(
            !left.exists() && !half.exists() && unfinished.exists() && other.exists() && strange.exists()
        );
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
    }
}
