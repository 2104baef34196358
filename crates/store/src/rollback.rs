//! Whether the older kind of journal beside a project file, the rollback journal, is its own.
//!
//! Whoever reads a file beside such a journal through SQLite has the file taken back to what the journal says, whichever file that
//! was of. So it is judged before, on a copy. It holds pages as they were before a transaction, and with them the mark of the state
//! that the transaction began with (`journal_mark.rs`). It is the file's own where the file is in that state, or in the next one. We leave
//! such a journal only where the file system knows no other one.

use crate::connect::{Access, connect};
use crate::copy_pages::copy_pages;
use crate::journal_mark::{Belongs, Mark, mark};
use crate::side_files::{ROLLBACK, remove};
use crate::{Result, StoreError};
use dissensus_files::{AtomicFile, beside};
use rusqlite::Connection;
use std::ops::ControlFlow;
use std::path::Path;

/// True where such a journal lies beside the file.
pub(crate) fn is_beside(file: &Path) -> bool {
    std::fs::metadata(beside(file, ROLLBACK)).is_ok_and(|about| about.len() > 0)
}

/// Whether the journal beside `file`, which no program has open to write, is its own. `check` says what is wrong with what a
/// connection sees. Changes nothing.
///
/// # Errors
/// The file is no project, with the journal or without.
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
    // The file was written to in part, and the marks say nothing: what the two make together decides.
    let together = taken_back(file, &alone, |_| Ok(()), |conn| check(conn).is_ok());
    match now.is_none() || before.is_none() {
        true if together.unwrap_or(false) => Ok(Belongs::Yes),
        _ => Err(error),
    }
}

/// The mark that is in the journal itself, if there is one.
fn mark_in_journal(file: &Path, alone: &Connection) -> Option<Mark> {
    let another = Mark::first(None);
    let set = |copy: &Connection| another.write(copy);
    let found = taken_back(file, alone, set, |conn| mark(conn).unwrap_or_default());
    found.flatten().filter(|mark| mark != &another)
}

/// What `look` finds in a copy of the file, prepared by `prepare`, that the journal is then applied to. None where there can be no such
/// copy.
fn taken_back<T>(
    file: &Path,
    alone: &Connection,
    prepare: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    look: impl FnOnce(&Connection) -> T,
) -> Option<T> {
    let copy = AtomicFile::create_private(&beside(file, ".judged")).ok()?;
    let path = copy.temporary_path();
    let journal = beside(path, ROLLBACK);
    let made = copy_pages(alone, path, prepare, &mut |_, _| ControlFlow::Continue(()));
    let found = match made {
        Ok(_) => std::fs::copy(beside(file, ROLLBACK), &journal)
            .ok()
            .and_then(|_| connect(path, Access::Read).ok())
            .map(|conn| look(&conn)),
        Err(_) => None,
    };
    remove(&journal);
    found
}
