//! Temporary files and folders that a process left behind when it was killed.
//!
//! While one is written its process holds an advisory lock on it, which the system releases however the process ends: what
//! can be locked is nobody's any more. Names with a process number would not do: numbers are used again.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

pub(crate) const PREFIX: &str = ".dissensus-";
pub(crate) const SUFFIX: &str = ".part";

/// Nothing younger is removed: there is a moment between making a file and locking it. Where locks would keep a second
/// handle of the same process from writing (Windows), nothing is locked, and only the age tells.
const AGE: Duration = if cfg!(unix) { Duration::from_secs(5) } else { Duration::from_secs(24 * 60 * 60) };

/// Removes temporary files and folders of ours in `folder` that no living process writes. What cannot be removed stays: it
/// takes room and does no harm.
pub fn remove_stale_parts(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let Some(part) = part_of(name) else { continue };
        let part = folder.join(part);
        // Nobody holds a lock on a side file: it is in use as long as its file is.
        if is_stale(&entry.path()) && (!part.exists() || is_stale(&part)) {
            let path = entry.path();
            let _ = match entry.file_type() {
                Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(path),
                _ => std::fs::remove_file(path),
            };
        }
    }
}

/// The temporary file or folder of ours that has this name, or beside which SQLite made a file of this name.
fn part_of(name: &str) -> Option<&str> {
    let side_of = ["-journal", "-wal", "-shm"].iter().find_map(|side| name.strip_suffix(side));
    let part = side_of.unwrap_or(name);
    (part.starts_with(PREFIX) && part.ends_with(SUFFIX)).then_some(part)
}

fn is_stale(path: &Path) -> bool {
    let Ok(about) = std::fs::symlink_metadata(path) else { return false };
    let old = |modified: SystemTime| modified.elapsed().is_ok_and(|age| age >= AGE);
    // Opening a pipe would wait for its other end; a link is not ours.
    if !(about.is_file() || about.is_dir()) || !about.modified().is_ok_and(old) {
        return false;
    }
    !cfg!(unix) || File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Holds `file` as long as it is open. Some network file systems know no locks: the file is then removed by nobody else
/// either, because nobody else can lock it.
pub(crate) fn mark_in_use(file: &File) {
    if cfg!(unix) {
        let _ = file.try_lock();
    }
}

/// As [`mark_in_use`], of a folder.
pub(crate) fn mark_folder_in_use(folder: &Path) -> Option<File> {
    let file = cfg!(unix).then(|| File::open(folder).ok()).flatten()?;
    mark_in_use(&file);
    Some(file)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::{AtomicFile, AtomicFolder};

    fn made_old(path: &Path) {
        let old = SystemTime::now() - Duration::from_secs(3600);
        File::open(path).unwrap().set_modified(old).unwrap();
    }

    #[test]
    fn what_a_dead_process_left_goes_and_what_is_being_written_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let file = AtomicFile::create(&at("out.csv")).unwrap();
        let inner = AtomicFolder::create(&at("step-1")).unwrap();
        let young = at(".dissensus-young.part");
        std::fs::write(&young, "x").unwrap();
        let left = [
            ".dissensus-left.part",
            ".dissensus-left2.part",
            ".dissensus-left.part-journal",
            ".dissensus-left.part-wal",
        ];
        for name in left.into_iter().chain(["mine.part", ".dissensus-mine", "mine.part-journal"]) {
            std::fs::write(at(name), "x").unwrap();
            made_old(&at(name));
        }
        std::fs::create_dir(at(".dissensus-folder.part")).unwrap();
        std::fs::write(at(".dissensus-folder.part").join("a"), "x").unwrap();
        made_old(&at(".dissensus-folder.part"));
        std::os::unix::fs::symlink(at("mine.part"), at(".dissensus-link.part")).unwrap();
        let (writing, filling) = (file.temporary_path().to_owned(), inner.path().to_owned());
        made_old(&writing);
        made_old(&filling);
        let journal =
            writing.with_file_name(format!("{}-journal", writing.file_name().unwrap().to_str().unwrap()));
        std::fs::write(&journal, "x").unwrap();
        made_old(&journal);

        remove_stale_parts(folder.path());
        for gone in left.into_iter().chain([".dissensus-folder.part"]) {
            assert!(!at(gone).exists(), "{gone} is left");
        }
        for kept in [
            "mine.part",
            ".dissensus-mine",
            "mine.part-journal",
            ".dissensus-young.part",
            ".dissensus-link.part",
        ] {
            assert!(at(kept).exists(), "{kept} was removed");
        }
        assert!(
            writing.exists() && filling.exists() && journal.exists(),
            "what is being written was removed"
        );
    }
}
