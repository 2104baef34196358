//! A folder for temporary files that says that somebody uses it, so that the next one removes what a process left that was killed.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use tempfile::TempDir;

const PREFIX: &str = "dissensus-reading-";
/// The file in it that is locked while it is used.
const HELD: &str = "held";
const MAKING: &str = "making";

/// A folder that goes when this does.
#[derive(Debug)]
pub(super) struct HeldFolder {
    // Let go of first: some systems remove no file that is open.
    _held: File,
    folder: TempDir,
}

impl Drop for HeldFolder {
    fn drop(&mut self) {
        // What is held goes last: whoever is killed on the way leaves a folder that is known as left.
        empty(self.folder.path());
    }
}

impl HeldFolder {
    /// Makes one among the temporary files of the system, and removes those of processes that are gone.
    pub(super) fn create() -> io::Result<Self> {
        Self::create_in(&std::env::temp_dir())
    }

    fn create_in(place: &Path) -> io::Result<Self> {
        remove_left(place);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
        // Under its name only once it is locked: else the next one might take the folder for one that was left.
        let making = folder.path().join(MAKING);
        let held = File::create(&making)?;
        // Where the disk knows no locks it stays unnamed, and nobody removes it but this process.
        if held.try_lock().is_ok() {
            fs::rename(&making, folder.path().join(HELD))?;
        }
        Ok(Self { _held: held, folder })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes folders of ours that nobody holds. What cannot be looked at stays: it may be somebody else's.
fn remove_left(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // A link of that name is none of ours.
        if ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_left(&entry.path()) {
            empty(&entry.path());
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// Removes all but the file that says whether a folder is held.
fn empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name() != HELD {
            drop(fs::remove_file(entry.path()));
        }
    }
}

fn is_left(folder: &Path) -> bool {
    let held = folder.join(HELD);
    // One that is being made has no such file yet; what is no plain file is none of ours, and may not even be opened.
    if !fs::symlink_metadata(&held).is_ok_and(|about| about.is_file()) {
        return false;
    }
    File::open(held).is_ok_and(|held| held.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_folder_removes_those_of_processes_that_are_gone_and_no_other() {
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
        // One that was being removed when its process was killed, and one in which the file is none.
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
