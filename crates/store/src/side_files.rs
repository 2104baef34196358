//! SQLite's side files: puts journals aside, and removes files that are no longer needed.

use crate::{Result, StoreError};
use dissensus_files::{folder_of, sync_folder, with_suffix};
use std::path::{Path, PathBuf};

/// Suffix of a journal that was put aside, followed by a date.
pub(crate) const ASIDE: &str = ".of-another-file-";

/// Suffix of a rollback journal.
pub(crate) const ROLLBACK: &str = "-journal";

/// Renames the journals next to `file` to names that SQLite does not look for. Returns the new
/// name.
pub(crate) fn set_aside(file: &Path, shown: &Path) -> Result<PathBuf> {
    set_aside_with_endings(file, shown, &["-wal", ROLLBACK])
}

/// Like [`set_aside`], for journals with these suffixes only.
pub(crate) fn set_aside_with_endings(file: &Path, shown: &Path, endings: &[&str]) -> Result<PathBuf> {
    let failed = |e: std::io::Error| StoreError::from_io(shown, "putting another file's journal aside", &e);
    let mut last = None;
    for ending in endings {
        let journal = with_suffix(file, ending);
        match std::fs::metadata(&journal) {
            Ok(about) if about.len() > 0 => {}
            _ => continue,
        }
        let name = format!("{ending}{ASIDE}{}", jiff::Timestamp::now().strftime("%Y-%m-%d"));
        let mut names = std::iter::once(String::new())
            .chain((2..).map(|n| format!("-{n}")))
            .map(|n| with_suffix(file, &format!("{name}{n}")));
        let target = names.find(|to| std::fs::symlink_metadata(to).is_err()).unwrap_or_default();
        std::fs::rename(&journal, &target).map_err(failed)?;
        last = Some(target);
    }
    remove_index(file);
    sync_folder(folder_of(file)).map_err(failed)?;
    tracing::warn!("a journal that belongs to another file was put aside");
    Ok(last.unwrap_or_default())
}

/// Removes the index of a journal that no longer exists; SQLite recreates it from the journal.
pub(crate) fn remove_index(file: &Path) {
    remove(&with_suffix(file, "-shm"));
}

/// Removes an empty side file.
pub(crate) fn remove(path: &Path) {
    if let Err(e) = std::fs::remove_file(path)
        && e.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(kind = %e.kind(), "a side file of a project stays behind");
    }
}
