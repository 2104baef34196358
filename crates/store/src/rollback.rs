//! Determines whether a rollback journal next to a project file belongs to it.
//!
//! Reading a file next to such a journal through SQLite rolls the file back to the contents of the
//! journal, whichever file that belongs to. The journal is therefore checked first, on a copy. It
//! contains pages from before a transaction, including the mark of the state that the transaction
//! started from (`journal_mark.rs`). It belongs to the file if the file is in that state, or in the
//! next one. We only leave such a journal on file systems that support no other kind.

use crate::connect::{Access, connect};
use crate::copy_pages::copy_pages;
use crate::journal_mark::{Belongs, Mark, mark};
use crate::side_files::{ROLLBACK, remove};
use crate::{Result, StoreError};
use dissensus_files::{AtomicFile, with_suffix};
use rusqlite::Connection;
use std::ops::ControlFlow;
use std::path::Path;

/// Whether there is such a journal next to the file.
pub(crate) fn is_next_to(file: &Path) -> bool {
    std::fs::metadata(with_suffix(file, ROLLBACK)).is_ok_and(|about| about.len() > 0)
}

/// Determines whether the journal next to `file`, which no program has open for writing, belongs to
/// it. `check` checks the database visible to a connection. Changes nothing.
///
/// # Errors
/// The file is not a sound project, with or without the journal.
pub(crate) fn judge(file: &Path, shown: &Path, check: &dyn Fn(&Connection) -> Result<()>) -> Result<Belongs> {
    let explain = |e| StoreError::explain(shown, "looking at the journal", e);
    let alone = connect(file, Access::Immutable).map_err(explain)?;
    let now = mark(&alone).unwrap_or_default();
    let before = mark_in_journal(file, &alone);
    if let (Some(now), Some(before)) = (&now, &before)
        && (now == before || now.follows(before))
    {
        return Ok(Belongs::Yes);
    }
    let Err(error) = check(&alone) else { return Ok(Belongs::No) };
    // The file was partially written, and the marks are not conclusive: the check of both together
    // decides.
    let together = rolled_back(file, &alone, |_| Ok(()), |conn| check(conn).is_ok());
    match now.is_none() || before.is_none() {
        true if together.unwrap_or(false) => Ok(Belongs::Yes),
        _ => Err(error),
    }
}

/// The mark in the journal itself, if there is one.
fn mark_in_journal(file: &Path, alone: &Connection) -> Option<Mark> {
    let another = Mark::first(None);
    let set = |copy: &Connection| another.write(copy);
    let found = rolled_back(file, alone, set, |conn| mark(conn).unwrap_or_default());
    found.flatten().filter(|mark| mark != &another)
}

/// Applies the journal to a copy of the file, prepared by `prepare`, and returns the result of
/// `look`. `None` if the copy cannot be made.
fn rolled_back<T>(
    file: &Path,
    alone: &Connection,
    prepare: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    look: impl FnOnce(&Connection) -> T,
) -> Option<T> {
    let copy = AtomicFile::create_private(&with_suffix(file, ".judged")).ok()?;
    let path = copy.temporary_path();
    let journal = with_suffix(path, ROLLBACK);
    let made = copy_pages(alone, path, prepare, &mut |_, _| ControlFlow::Continue(()));
    let found = match made {
        Ok(_) => std::fs::copy(with_suffix(file, ROLLBACK), &journal)
            .ok()
            .and_then(|_| connect(path, Access::Read).ok())
            .map(|conn| look(&conn)),
        Err(_) => None,
    };
    remove(&journal);
    found
}
