//! Whether the journal beside a project file is its own.
//!
//! SQLite takes whatever lies beside a file under the name of its journal for a part of it. After a restore, a sync or a
//! crash that may be the journal of another file, and the two together are damaged or, worse, an older state that seems sound.
//! Two things tell:
//!
//! - The lock file of an opening that did not close says which file and which journal it had ([`Opening`]). The same journal
//!   beside another file: the file was replaced. Copying a project with all its side files changes both.
//! - Whatever is written first after a checkpoint brings a new [`Mark`] with it, a random word beside the word before it. A
//!   journal goes on from a file that holds either of its newest two words. This holds wherever the two were copied.
//!
//! A journal that is not the file's own is put away under another name, never used and never removed.

use crate::connect::{Access, connect, has_journal};
use crate::file_id::FileState;
use crate::lock::{Opening, opening_beside, opening_of_file};
use crate::{Result, StoreError};
use dissensus_files::{beside, folder_of, sync_folder};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The setting that holds the mark.
const KEY: &str = "journal";

/// Behind the name of a journal that was put aside; a date follows.
const ASIDE: &str = ".of-another-file-";

/// Tells one part of the history of a file, between two checkpoints, from every other one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    word: Uuid,
    before: Option<Uuid>,
}

impl Mark {
    /// True where a journal whose newest mark this is can have begun with a file that holds the mark `alone`.
    pub(crate) fn goes_on_from(&self, alone: &Self) -> bool {
        alone.word == self.word || Some(alone.word) == self.before
    }
}

/// A mark as it is written. The word is there twice: of a page that was cut by a power cut, the two differ.
#[derive(Serialize, Deserialize)]
struct Written {
    word: Uuid,
    before: Option<Uuid>,
    again: Uuid,
}

/// The mark that `conn` sees; an error where it cannot be read.
pub(crate) fn mark(conn: &Connection) -> rusqlite::Result<Option<Mark>> {
    let sql = "SELECT value FROM settings WHERE key = ?1";
    let Some(value) = conn.query_row(sql, [KEY], |r| r.get::<_, String>(0)).optional()? else {
        return Ok(None);
    };
    match serde_json::from_str(&value) {
        Ok(Written { word, before, again }) if word == again => Ok(Some(Mark { word, before })),
        _ => Err(rusqlite::Error::InvalidQuery),
    }
}

/// Sets a new mark.
pub(crate) fn set_mark(conn: &Connection) -> rusqlite::Result<Mark> {
    let before = mark(conn).ok().flatten().map(|mark| mark.word);
    let word = Uuid::now_v7();
    let value = serde_json::to_string(&Written { word, before, again: word })
        .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
    conn.execute(
        "INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (KEY, value),
    )?;
    Ok(Mark { word, before })
}

/// What can be said of a file and the journal beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belongs {
    /// The journal goes on from this file.
    Yes,
    /// It is another file's.
    No,
    /// Neither has a mark: whether the two are sound together decides.
    Unknown,
}

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
        let alone = connect(file, Access::Immutable).and_then(|conn| mark(&conn));
        let both = mark(together);
        if look() != before {
            continue;
        }
        return match (alone, both) {
            (Ok(None), Ok(None)) | (Err(_), _) | (_, Err(_)) => Belongs::Unknown,
            (Ok(None), Ok(Some(both))) if both.before.is_none() => Belongs::Yes,
            (Ok(Some(alone)), Ok(Some(both))) if both.goes_on_from(&alone) => Belongs::Yes,
            _ => Belongs::No,
        };
    }
    Belongs::Unknown
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
) -> Result<()> {
    if !has_journal(file) || by_marks(file, together) != Belongs::No || !sound_alone() {
        return Ok(());
    }
    let now = state_of(file, shown)?;
    let journal = FileState::of(&beside(file, "-wal")).ok();
    let its = |left: &Opening| match (&left.journal, &journal) {
        (None, None) => true,
        (Some(_), Some(journal)) => left.had_journal(journal) != Some(false),
        _ => false,
    };
    let ours = opening_beside(file).is_some_and(|left| left.is_of(&now) && its(&left));
    // While a program writes to it, marks change under our eyes; it compares file and path itself.
    if ours && is_held(file) { Ok(()) } else { Err(StoreError::ForeignJournal(shown.to_owned())) }
}

fn state_of(file: &Path, shown: &Path) -> Result<FileState> {
    FileState::of(file).map_err(|e| StoreError::from_io(shown, "looking at the project", &e))
}

/// True where a live program has the lock beside `file`. Only asked about in doubt: a program that takes the lock at this very
/// moment finds it taken.
fn is_held(file: &Path) -> bool {
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

/// Puts the journals beside `file` away under names that SQLite does not look for. Returns the new name.
pub(crate) fn set_aside(file: &Path, shown: &Path) -> Result<PathBuf> {
    let failed = |e: std::io::Error| StoreError::from_io(shown, "putting another file's journal aside", &e);
    let mut last = None;
    for ending in ["-wal", "-journal"] {
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
fn remove_index(file: &Path) {
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

/// Closes a connection that must not bring any journal into the file.
pub(crate) fn leave_alone(conn: Connection) {
    if conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).is_err() {
        tracing::warn!("a connection may bring the journal into the file");
    }
}
