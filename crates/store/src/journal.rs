//! Determines whether the journal next to a project file belongs to it.
//!
//! SQLite treats any file under the name of the journal as a part of the database. After a restore,
//! a sync or a crash that may be the journal of another file, and both together are damaged or,
//! worse, an older state that seems sound. Two things allow to detect that:
//!
//! - The lock file of a session that was not closed states the file and the journal that it had
//!   ([`Opening`]). If the same journal is next to a different file, the file was replaced. Copying
//!   a project with all of its side files changes both.
//! - Every write transaction includes a [`Mark`]: a random word and a count, together with the
//!   states that preceded it since the file was last complete. A journal can only continue a file
//!   whose mark is one of these, and no newer, older or different one. This holds wherever both
//!   were copied. A copy made by the program has its own mark.

use crate::connect::{Access, connect, has_journal};
use crate::file_id::FileState;
use crate::journal_mark::{Belongs, Mark, fingerprint, mark};
use crate::lock::{Opening, opening_next_to, opening_of_file};
use crate::side_files::{ASIDE, remove_index};
use crate::{Result, StoreError};
use dissensus_files::{folder_of, sync_folder, with_suffix};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Compares the file and the journal next to it with the lock file, before SQLite opens either.
pub(crate) fn by_identity(file: &Path, left: Option<&Opening>) -> Belongs {
    let (Some(left), Ok(now)) = (left, FileState::of(file)) else { return Belongs::Unknown };
    if left.is_of(&now) {
        return Belongs::Unknown; // it may still have been overwritten in place
    }
    let at_home = match (&left.journal, FileState::of(&with_suffix(file, "-wal"))) {
        (Some(_), Ok(journal)) => left.had_journal(&journal) == Some(true),
        // A rollback journal is a new file each time: it belongs to the path.
        (None, _) => left.path.as_deref() == Some(file),
        _ => false,
    };
    if at_home { Belongs::No } else { Belongs::Unknown }
}

/// Compares the marks in `file` and in its journal, which the connection `together` reads.
/// `Unknown` if they change meanwhile.
pub(crate) fn by_marks(file: &Path, together: &Connection) -> Belongs {
    let journal = with_suffix(file, "-wal");
    let look = || [file, &journal].map(|path| FileState::of(path).ok());
    for _ in 0..3 {
        let before = look();
        let found = compare(file, together);
        if look() == before {
            return found.unwrap_or(Belongs::Unknown);
        }
    }
    Belongs::Unknown
}

fn compare(file: &Path, together: &Connection) -> rusqlite::Result<Belongs> {
    let alone = connect(file, Access::Immutable)?;
    let its = |own: bool| if own { Belongs::Yes } else { Belongs::No };
    Ok(match (mark(&alone)?, mark(together)?) {
        (None, None) => Belongs::Unknown,
        (Some(_), None) => Belongs::No,
        (Some(alone), Some(both)) => its(both.continues(&alone)),
        (None, Some(Mark { base: None, .. })) => Belongs::No,
        (None, Some(Mark { base: Some(base), .. })) if base.is_empty() => Belongs::Unknown,
        (None, Some(Mark { base: Some(base), .. })) => its(base == fingerprint(&alone)?),
    })
}

/// Refuses to read a file whose journal is known to be elsewhere, or whose neighbouring journal is
/// known to belong to another file, before SQLite opens either. `locks` is the folder with locks by
/// file.
pub(crate) fn must_be_readable(file: &Path, shown: &Path, locks: Option<&Path>) -> Result<()> {
    if has_journal(file) && by_identity(file, opening_next_to(file).as_ref()) == Belongs::No {
        return Err(StoreError::ForeignJournal(shown.to_owned()));
    }
    let now = state_of(file, shown)?;
    let left = locks.and_then(|folder| opening_of_file(now.id, folder)).filter(|left| left.is_of(&now));
    match left.and_then(|left| journal_elsewhere(file, &left)) {
        Some(journal) => Err(StoreError::JournalElsewhere { path: shown.to_owned(), journal }),
        None => Ok(()),
    }
}

/// Like [`must_be_readable`], based on the contents of both, which the connection `together` reads.
/// A file that is not `sound_alone` was only partially written, for example because of a power cut,
/// and is not conclusive by itself.
pub(crate) fn must_fit(
    file: &Path,
    shown: &Path,
    together: &Connection,
    sound_alone: impl FnOnce() -> bool,
) -> Result<Belongs> {
    if !has_journal(file) {
        return Ok(Belongs::Unknown);
    }
    let found = by_marks(file, together);
    match found == Belongs::No && sound_alone() && !is_written_to(file, shown)? {
        true => Err(StoreError::ForeignJournal(shown.to_owned())),
        false => Ok(found),
    }
}

/// Whether a running program has `file` open for writing with the journal next to it. Marks may
/// then change at any time; that program compares file and path itself.
pub(crate) fn is_written_to(file: &Path, shown: &Path) -> Result<bool> {
    let now = state_of(file, shown)?;
    let journal = FileState::of(&with_suffix(file, "-wal")).ok();
    let its = |left: &Opening| match (&left.journal, &journal) {
        (None, None) => true,
        (Some(_), Some(journal)) => left.had_journal(journal) != Some(false),
        _ => false,
    };
    Ok(opening_next_to(file).is_some_and(|left| left.is_of(&now) && its(&left)) && is_held(file))
}

fn state_of(file: &Path, shown: &Path) -> Result<FileState> {
    FileState::of(file).map_err(|e| StoreError::from_io(shown, "looking at the project", &e))
}

/// Whether a running program holds the lock next to `file`. Only called if in doubt: a program that
/// tries to take the lock at this moment will find it taken.
pub(crate) fn is_held(file: &Path) -> bool {
    let lock = std::fs::File::open(with_suffix(file, ".lock"));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
}

/// The journal that `left`, an opening of this same file, has under another name.
fn journal_elsewhere(file: &Path, left: &Opening) -> Option<PathBuf> {
    left.journal.as_ref()?;
    let is_it = |path: &Path| FileState::of(path).ok().filter(|there| left.had_journal(there) != Some(false));
    if is_it(&with_suffix(file, "-wal")).is_some() {
        return None; // two names of one folder, or of one file on a case-insensitive file system
    }
    let journal = with_suffix(left.path.as_ref()?, "-wal");
    let holds_something = |path: &Path| is_it(path).is_some_and(|there| there.bytes > 0);
    if holds_something(&journal) {
        return Some(journal);
    }
    // A program that opened the file that now has the earlier name may have put it aside.
    let aside = with_suffix(&journal, ASIDE);
    let start = aside.file_name()?.to_str()?;
    let others = std::fs::read_dir(folder_of(&journal)).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let named =
        |path: &PathBuf| path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(start));
    others.filter(named).find(|path| holds_something(path))
}

/// Renames the journal that remained under an earlier name of `file` to match its current name.
/// `left` is the opening of this file that was not closed; the file is locked.
pub(crate) fn fetch(file: &Path, shown: &Path, left: Option<&Opening>) -> Result<()> {
    let now = state_of(file, shown)?;
    let Some(journal) = left.filter(|left| left.is_of(&now)).and_then(|left| journal_elsewhere(file, left))
    else {
        return Ok(());
    };
    let elsewhere = || StoreError::JournalElsewhere { path: shown.to_owned(), journal: journal.clone() };
    // There are two journals for one file; a person must decide which of them is right.
    if has_journal(file) {
        return Err(elsewhere());
    }
    std::fs::rename(&journal, with_suffix(file, "-wal")).map_err(|_| elsewhere())?;
    tracing::warn!("the journal of a project that was moved while it was open was brought to its new name");
    remove_index(file);
    sync_folder(folder_of(file)).map_err(|e| StoreError::from_io(shown, "moving the journal", &e))
}
