//! Files that SQLite makes beside a project's: putting them away, and removing what holds nothing.

use crate::{Result, StoreError};
use dissensus_files::{beside, folder_of, sync_folder};
use std::path::{Path, PathBuf};

/// Behind the name of a journal that was put aside; a date follows.
pub(crate) const ASIDE: &str = ".of-another-file-";

/// The end of the name of a rollback journal.
pub(crate) const ROLLBACK: &str = "-journal";

/// Puts the journals beside `file` away under names that SQLite does not look for. Returns the new name.
pub(crate) fn set_aside(file: &Path, shown: &Path) -> Result<PathBuf> {
    set_aside_of(file, shown, &["-wal", ROLLBACK])
}

/// As [`set_aside`], of those with these ends of names alone.
pub(crate) fn set_aside_of(file: &Path, shown: &Path, endings: &[&str]) -> Result<PathBuf> {
    let failed = |e: std::io::Error| StoreError::from_io(shown, "putting another file's journal aside", &e);
    let mut last = None;
    for ending in endings {
        let journal = beside(file, ending);
        match std::fs::metadata(&journal) {
            Ok(about) if about.len() > 0 => {}
            _ => continue,
        }
        let name = format!("{ending}{ASIDE}{}", jiff::Timestamp::now().strftime("%Y-%m-%d"));
        let mut names = std::iter::once(String::new())
            .chain((2..).map(|n| format!("-{n}")))
            .map(|n| beside(file, &format!("{name}{n}")));
        let target = names.find(|to| std::fs::symlink_metadata(to).is_err()).unwrap_or_default();
        std::fs::rename(&journal, &target).map_err(failed)?;
        last = Some(target);
    }
    remove_index(file);
    sync_folder(folder_of(file)).map_err(failed)?;
    tracing::warn!("a journal that belongs to another file was put aside");
    Ok(last.unwrap_or_default())
}

/// Removes the index of a journal that is not there any more; SQLite makes it anew from the journal.
pub(crate) fn remove_index(file: &Path) {
    remove(&beside(file, "-shm"));
}

/// Removes a side file that holds nothing.
pub(crate) fn remove(path: &Path) {
    if let Err(e) = std::fs::remove_file(path)
        && e.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(kind = %e.kind(), "a side file of a project stays behind");
    }
}
