//! Complete copies of a project, also while it is in use.

use crate::connect::has_journal;
use crate::copy_pages::copy_pages;
use crate::journal_mark::Mark;
use crate::{Result, StoreError};
use dissensus_files::{AtomicFile, folder_of};
use rusqlite::Connection;
use std::ops::ControlFlow;
use std::path::Path;

/// What may exist at the target of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyTarget {
    /// Nothing.
    New,
    /// A file, which is replaced once the copy is complete.
    Replace,
}

/// Copies the contents visible to `conn`; error messages name the project `shown`.
pub(crate) fn copy_to(
    conn: &Connection,
    shown: &Path,
    target: &Path,
    what: CopyTarget,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<()> {
    let explain_io = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Exists(target.to_owned()),
        std::io::ErrorKind::NotFound => StoreError::NoFolder(folder_of(target).to_owned()),
        std::io::ErrorKind::IsADirectory => StoreError::Directory(target.to_owned()),
        _ => StoreError::from_io(target, "copying the project", &e),
    };
    if what == CopyTarget::New && std::fs::symlink_metadata(target).is_ok() {
        return Err(StoreError::Exists(target.to_owned()));
    }
    // SQLite would treat the journal of another project as a part of the copy.
    if has_journal(target) {
        return Err(StoreError::JournalInTheWay(target.to_owned()));
    }
    // The copy is private; users who share a project can share the copy too.
    let file = AtomicFile::create_private(target).map_err(explain_io)?;
    // A copy is a different file: if it replaces this one, it must not use the journal that remains
    // next to it.
    let mark = |copy: &Connection| Mark::first(None).write(copy);
    match copy_pages(conn, file.temporary_path(), mark, progress) {
        Ok(ControlFlow::Continue(())) => {}
        Ok(ControlFlow::Break(())) => return Err(StoreError::CopyCancelled(shown.to_owned())),
        Err(e) => return Err(StoreError::explain(target, "copying the project", e)),
    }
    match what {
        CopyTarget::New => file.finish_new(),
        CopyTarget::Replace => file.finish(),
    }
    .map_err(explain_io)
}
