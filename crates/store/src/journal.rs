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
use crate::identity::feed;
use crate::lock::{Opening, opening_beside, opening_of_file};
use crate::{Result, StoreError, rollback};
use dissensus_files::{beside, folder_of, sync_folder};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The setting that holds the mark.
const KEY: &str = "journal";

/// Behind the name of a journal that was put aside; a date follows.
const ASIDE: &str = ".of-another-file-";

/// How many states a mark names at most.
const TRAIL: usize = 64;

/// A state of a project: the word of a stretch of writing, and how many transactions of it there are.
type State = (Uuid, u64);

/// Tells every state that a file was in from every other one. One program that has the file open writes one stretch, which ends
/// where the file has become whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    state: State,
    /// The stretches since the file was last whole, with their ends. The first is that state of the file, unless there is a `base`.
    trail: Vec<State>,
    /// What the file was, see [`fingerprint`], that had no mark when the first stretch began; empty where that is not known.
    base: Option<String>,
}

impl Mark {
    /// The first mark of a file. `base` is the fingerprint of what had none, in another place than the journal that this mark is
    /// written to; none for a file that had its mark from its beginning.
    pub(crate) fn first(base: Option<String>) -> Self {
        Self { state: (Uuid::now_v7(), 1), trail: Vec::new(), base }
    }

    /// The mark of the next transaction of the same stretch.
    pub(crate) fn next(&self) -> Self {
        Self { state: (self.state.0, self.state.1.saturating_add(1)), ..self.clone() }
    }

    /// The mark of the first transaction of a new stretch, where the file holds this one (`whole`) or is behind it.
    pub(crate) fn next_stretch(&self, whole: bool) -> Self {
        let mut trail = if whole { Vec::new() } else { self.trail.clone() };
        trail.push(self.state);
        if trail.len() > TRAIL {
            trail.remove(1); // not the first: a file that a reader keeps from becoming whole holds that one
        }
        let base = if whole { None } else { self.base.clone() };
        Self { state: (Uuid::now_v7(), 1), trail, base }
    }

    /// True where a journal whose newest mark this is can have begun with a file that holds the mark `alone`, or have been brought
    /// into it in part.
    pub(crate) fn goes_on_from(&self, alone: &Self) -> bool {
        let (word, count) = alone.state;
        let began = if self.base.is_none() { self.trail.first() } else { None };
        if began.is_some_and(|began| began.0 == word) {
            return began == Some(&alone.state);
        }
        self.trail.iter().chain([&self.state]).any(|state| state.0 == word && count <= state.1)
    }

    /// True where this is the mark of the transaction after the one of `before`.
    pub(crate) fn follows(&self, before: &Self) -> bool {
        match self.state {
            (_, 1) => self.trail.last() == Some(&before.state),
            (word, count) => (word, count.saturating_sub(1)) == before.state,
        }
    }

    /// Sets this mark.
    pub(crate) fn write(&self, conn: &Connection) -> rusqlite::Result<()> {
        let value = serde_json::to_string(&Written {
            word: self.state.0,
            before: self.trail.last().map(|state| state.0),
            count: Some(self.state.1),
            trail: self.trail.clone(),
            base: self.base.clone(),
            again: self.state.0,
            count_again: Some(self.state.1),
        })
        .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
        conn.prepare_cached(
            "INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        )?
        .execute((KEY, value))
        .map(drop)
    }
}

/// A mark as it is written. Word and count are there twice: of a page that was cut by a power cut, the two differ. Without a count
/// it is of a program that marked only what was written first after the file had become whole.
#[derive(Serialize, Deserialize)]
struct Written {
    word: Uuid,
    before: Option<Uuid>,
    count: Option<u64>,
    #[serde(default)]
    trail: Vec<State>,
    base: Option<String>,
    again: Uuid,
    count_again: Option<u64>,
}

/// The mark that `conn` sees; an error where it cannot be read.
pub(crate) fn mark(conn: &Connection) -> rusqlite::Result<Option<Mark>> {
    let sql = "SELECT value FROM settings WHERE key = ?1";
    let Some(value) = conn.query_row(sql, [KEY], |r| r.get::<_, String>(0)).optional()? else {
        return Ok(None);
    };
    let written: Written = serde_json::from_str(&value).map_err(|_| rusqlite::Error::InvalidQuery)?;
    if written.word != written.again || written.count != written.count_again {
        return Err(rusqlite::Error::InvalidQuery);
    }
    Ok(Some(match (written.count, written.before) {
        (Some(count), _) => Mark { state: (written.word, count), trail: written.trail, base: written.base },
        (None, Some(before)) => Mark { state: (written.word, 0), trail: vec![(before, 0)], base: None },
        (None, None) => Mark { state: (written.word, 0), trail: Vec::new(), base: Some(String::new()) },
    }))
}

/// What tells a file without a mark, which `alone` sees, from other ones: how it is laid out, the ends of its tables, its settings
/// and its last event. Not all of its contents: it may be large, and somebody waits.
pub(crate) fn fingerprint(alone: &Connection) -> rusqlite::Result<String> {
    let mut hash = Sha256::new_with_prefix("dissensus file");
    let mut add = |sql: &str| feed(alone, &mut hash, sql).map(drop);
    for pragma in ["page_count", "freelist_count", "schema_version", "user_version"] {
        add(&format!("SELECT * FROM pragma_{pragma}"))?;
    }
    let tables: Vec<String> = alone
        .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT wr ORDER BY name")?
        .query_map([], |r| r.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for table in &tables {
        add(&format!("SELECT max(rowid) FROM \"{}\"", table.replace('"', "\"\"")))?;
    }
    for (table, sql) in [
        ("events", "SELECT * FROM events ORDER BY id DESC LIMIT 1"),
        ("project", "SELECT * FROM project"),
        ("copies", "SELECT * FROM copies ORDER BY id"),
    ] {
        if tables.iter().any(|known| known == table) {
            add(sql)?;
        }
    }
    add("SELECT * FROM settings ORDER BY key")?;
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
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

/// Puts the journals beside `file` away under names that SQLite does not look for. Returns the new name.
pub(crate) fn set_aside(file: &Path, shown: &Path) -> Result<PathBuf> {
    set_aside_of(file, shown, &["-wal", rollback::ENDING])
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
