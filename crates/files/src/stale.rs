//! Removal of temporary files and folders that a killed process left behind.
//!
//! A process holds an advisory lock on a temporary file while writing it, and the system releases
//! the lock however the process ends: a file that can be locked is abandoned. Process numbers in
//! names would not work, since numbers are reused.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

pub(crate) const PREFIX: &str = ".dissensus-";
pub(crate) const SUFFIX: &str = ".part";

/// Minimum age of files to remove, since a file is locked only shortly after it is created. On
/// systems where a lock would prevent a second handle of the same process from writing (Windows),
/// nothing is locked, and only the age decides.
const AGE: Duration = if cfg!(unix) { Duration::from_secs(5) } else { Duration::from_secs(24 * 60 * 60) };

/// Removes our temporary files and folders in `folder` that no living process is writing. Files
/// that cannot be removed remain; they take up space but do no harm.
pub fn remove_stale_parts(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let Some(part) = part_of(name) else { continue };
        let part = folder.join(part);
        // Side files are not locked: they are in use as long as their main file is.
        if is_stale(&entry.path()) && (!part.exists() || is_stale(&part)) {
            let path = entry.path();
            let _ = match entry.file_type() {
                Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(path),
                _ => std::fs::remove_file(path),
            };
        }
    }
}

/// The name of our temporary file or folder that this name is, or is an SQLite side file of.
fn part_of(name: &str) -> Option<&str> {
    let side_of = ["-journal", "-wal", "-shm"].iter().find_map(|side| name.strip_suffix(side));
    let part = side_of.unwrap_or(name);
    (part.starts_with(PREFIX) && part.ends_with(SUFFIX)).then_some(part)
}

fn is_stale(path: &Path) -> bool {
    let Ok(about) = std::fs::symlink_metadata(path) else { return false };
    let old = |modified: SystemTime| modified.elapsed().is_ok_and(|age| age >= AGE);
    // Opening a pipe would block; a link is not ours.
    if !(about.is_file() || about.is_dir()) || !about.modified().is_ok_and(old) {
        return false;
    }
    !cfg!(unix) || File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Locks `file` as long as it is open. On network file systems without locks nobody else can lock,
/// and therefore remove, the file either.
pub(crate) fn mark_in_use(file: &File) {
    if cfg!(unix) {
        let _ = file.try_lock();
    }
}

/// Like [`mark_in_use`], for a folder.
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
    fn leftovers_of_dead_processes_are_removed() {
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
