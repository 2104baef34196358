//! Whether the journal beside a project file is its own.
//!
//! SQLite takes whatever lies beside a file under the name of its journal for a part of it. After a restore, a sync or a
//! crash that may be the journal of another file, and the two together are damaged or, worse, an older state that seems sound.
//! Two things tell:
//!
//! - The lock file of an opening that did not close says which file and which journal it had ([`Opening`]). The same journal
//!   beside another file: the file was replaced. Copying a project with all its side files changes both.
//! - Every transaction that writes brings its own [`Mark`] with it: a random word and a count, beside the states that came before
//!   it since the file was last whole. A journal goes on from a file whose mark is one of these, and from no newer, older or other
//!   one. This holds wherever the two were copied. A copy that the program makes has a mark of its own.
//!
//! A journal that is not the file's own is put away under another name, never used and never removed.

use crate::connect::{Access, connect, has_journal};
use crate::file_id::FileState;
use crate::journal_mark::{Belongs, Mark, fingerprint, mark};
use crate::lock::{Opening, opening_beside, opening_of_file};
use crate::side_files::{ASIDE, remove_index};
use crate::{Result, StoreError};
use dissensus_files::{beside, folder_of, sync_folder};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// What the lock file says of the journal beside `file`, before SQLite has looked at either.
pub(crate) fn by_identity(file: &Path, left: Option<&Opening>) -> Belongs {
    let (Some(left), Ok(now)) = (left, FileState::of(file)) else { return Belongs::Unknown };
    if left.is_of(&now) {
        return Belongs::Unknown; // it may have been written over in place all the same
    }
    let at_home = match (&left.journal, FileState::of(&beside(file, "-wal"))) {
        (Some(_), Ok(beside)) => left.had_journal(&beside) == Some(true),
        // The older journal is a new file each time: it is at home where the path is.
        (None, _) => left.path.as_deref() == Some(file),
        _ => false,
    };
    if at_home { Belongs::No } else { Belongs::Unknown }
}

/// What the marks say of the journal beside `file`; `together` sees both. Unknown where they change meanwhile.
pub(crate) fn by_marks(file: &Path, together: &Connection) -> Belongs {
    let journal = beside(file, "-wal");
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
        (Some(alone), Some(both)) => its(both.goes_on_from(&alone)),
        (None, Some(Mark { base: None, .. })) => Belongs::No,
        (None, Some(Mark { base: Some(base), .. })) if base.is_empty() => Belongs::Unknown,
        (None, Some(Mark { base: Some(base), .. })) => its(base == fingerprint(&alone)?),
    })
}

/// Refuses to read a file whose journal is known to be elsewhere, or beside which another file's journal is known to lie, before
/// SQLite has looked at either. `locks` is the folder of locks by file.
pub(crate) fn must_be_readable(file: &Path, shown: &Path, locks: Option<&Path>) -> Result<()> {
    if has_journal(file) && by_identity(file, opening_beside(file).as_ref()) == Belongs::No {
        return Err(StoreError::ForeignJournal(shown.to_owned()));
    }
    let now = state_of(file, shown)?;
    let left = locks.and_then(|folder| opening_of_file(now.id, folder)).filter(|left| left.is_of(&now));
    match left.and_then(|left| journal_elsewhere(file, &left)) {
        Some(journal) => Err(StoreError::JournalElsewhere { path: shown.to_owned(), journal }),
        None => Ok(()),
    }
}

/// As [`must_be_readable`], by what is in both, which `together` sees. A file that is not `sound_alone` has been written to in
/// part, as by a power cut, and says nothing by itself.
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

/// True where a live program has `file` open to write with the journal that lies beside it. Marks then change under our eyes; it
/// compares file and path itself.
pub(crate) fn is_written_to(file: &Path, shown: &Path) -> Result<bool> {
    let now = state_of(file, shown)?;
    let journal = FileState::of(&beside(file, "-wal")).ok();
    let its = |left: &Opening| match (&left.journal, &journal) {
        (None, None) => true,
        (Some(_), Some(journal)) => left.had_journal(journal) != Some(false),
        _ => false,
    };
    Ok(opening_beside(file).is_some_and(|left| left.is_of(&now) && its(&left)) && is_held(file))
}

fn state_of(file: &Path, shown: &Path) -> Result<FileState> {
    FileState::of(file).map_err(|e| StoreError::from_io(shown, "looking at the project", &e))
}

/// True where a live program has the lock beside `file`. Only asked about in doubt: a program that takes the lock at this very
/// moment finds it taken.
pub(crate) fn is_held(file: &Path) -> bool {
    let lock = std::fs::File::open(beside(file, ".lock"));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
}

/// The journal that `left`, an opening of the very file `file`, has under another name.
fn journal_elsewhere(file: &Path, left: &Opening) -> Option<PathBuf> {
    left.journal.as_ref()?;
    let is_it = |path: &Path| FileState::of(path).ok().filter(|there| left.had_journal(there) != Some(false));
    if is_it(&beside(file, "-wal")).is_some() {
        return None; // two names of one folder, or of one file where capitals do not count
    }
    let journal = beside(left.path.as_ref()?, "-wal");
    let holds_something = |path: &Path| is_it(path).is_some_and(|there| there.bytes > 0);
    if holds_something(&journal) {
        return Some(journal);
    }
    // It may have been put aside meanwhile, by whoever opened the file that has the earlier name now.
    let aside = beside(&journal, ASIDE);
    let start = aside.file_name()?.to_str()?;
    let others = std::fs::read_dir(folder_of(&journal)).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let named =
        |path: &PathBuf| path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(start));
    others.filter(named).find(|path| holds_something(path))
}

/// Brings the journal that was left under an earlier name of `file` to its name now. `left` is the opening of this very file
/// that did not close; the file is locked.
pub(crate) fn fetch(file: &Path, shown: &Path, left: Option<&Opening>) -> Result<()> {
    let now = state_of(file, shown)?;
    let Some(journal) = left.filter(|left| left.is_of(&now)).and_then(|left| journal_elsewhere(file, left))
    else {
        return Ok(());
    };
    let elsewhere = || StoreError::JournalElsewhere { path: shown.to_owned(), journal: journal.clone() };
    // Two journals for one file: which of them is right is for a person to say.
    if has_journal(file) {
        return Err(elsewhere());
    }
    std::fs::rename(&journal, beside(file, "-wal")).map_err(|_| elsewhere())?;
    tracing::warn!("the journal of a project that was moved while it was open was brought to its new name");
    remove_index(file);
    sync_folder(folder_of(file)).map_err(|e| StoreError::from_io(shown, "moving the journal", &e))
}
