//! Marks of a project's state, which every write transaction includes.

use crate::content_hash::feed;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The setting that stores the mark.
const KEY: &str = "journal";

/// Version of this program.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Maximum length of a version that is shown.
const MAX_VERSION: usize = 32;

/// Maximum number of states listed in a mark.
const TRAIL: usize = 64;

/// A state of a project: the random word of an epoch, and the number of its transactions.
type State = (Uuid, u64);

/// Identifies a state of a file. The writes of one program that has the file open form an epoch,
/// which ends when the journal has been completely written back to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    state: State,
    /// The epochs since the file was last complete, each with its last state. The first one is
    /// that state of the file, unless there is a `base`.
    trail: Vec<State>,
    /// The [`fingerprint`] of the file if it had no mark when the first epoch began; `None` if
    /// that is unknown.
    pub(crate) base: Option<String>,
}

impl Mark {
    /// The first mark of a file. `base` is the fingerprint of a file without a mark, in another
    /// place than the journal that this mark is written to; `None` for a file that has had a mark
    /// from the beginning.
    pub(crate) fn first(base: Option<String>) -> Self {
        Self { state: (Uuid::now_v7(), 1), trail: Vec::new(), base }
    }

    /// The mark of the next transaction of the same epoch.
    pub(crate) fn next(&self) -> Self {
        Self { state: (self.state.0, self.state.1.saturating_add(1)), ..self.clone() }
    }

    /// The mark of the first transaction of a new epoch, if the file has reached this state
    /// (`whole`) or is behind it.
    pub(crate) fn next_stretch(&self, whole: bool) -> Self {
        let mut trail = if whole { Vec::new() } else { self.trail.clone() };
        trail.push(self.state);
        if trail.len() > TRAIL {
            trail.remove(1); // not the first, which a file may hold while a reader prevents checkpoints
        }
        let base = if whole { None } else { self.base.clone() };
        Self { state: (Uuid::now_v7(), 1), trail, base }
    }

    /// Whether a journal with this newest mark can have started from a file with the mark `alone`,
    /// or have been partially written back to it.
    pub(crate) fn continues(&self, alone: &Self) -> bool {
        let (word, count) = alone.state;
        let began = if self.base.is_none() { self.trail.first() } else { None };
        if began.is_some_and(|began| began.0 == word) {
            return began == Some(&alone.state);
        }
        self.trail.iter().chain([&self.state]).any(|state| state.0 == word && count <= state.1)
    }

    /// Whether this is the mark of the transaction directly after that of `before`.
    pub(crate) fn follows(&self, before: &Self) -> bool {
        match self.state {
            (_, 1) => self.trail.last() == Some(&before.state),
            (word, count) => (word, count.saturating_sub(1)) == before.state,
        }
    }

    pub(crate) fn write(&self, conn: &Connection) -> rusqlite::Result<()> {
        let value = serde_json::to_string(&MarkContents {
            word: self.state.0,
            before: self.trail.last().map(|state| state.0),
            count: Some(self.state.1),
            trail: self.trail.clone(),
            base: self.base.clone(),
            again: self.state.0,
            count_again: Some(self.state.1),
            program: Some(PROGRAM.to_owned()),
        })
        .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
        conn.prepare_cached(
            "INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        )?
        .execute((KEY, value))
        .map(drop)
    }
}

/// The serialized form of a mark. Word and count are stored twice: they differ if a page was torn
/// by a power cut. A mark without a count was written by a program version that only marked the
/// first write after the file was complete.
#[derive(Serialize, Deserialize)]
struct MarkContents {
    word: Uuid,
    before: Option<Uuid>,
    count: Option<u64>,
    #[serde(default)]
    trail: Vec<State>,
    base: Option<String>,
    again: Uuid,
    count_again: Option<u64>,
    /// Version of the program that wrote it; absent in files of older versions.
    #[serde(default)]
    program: Option<String>,
}

/// Version of another program that wrote to the file last, if the file has it where this one writes it, and
/// it can be a version: the file may come from anywhere.
pub(crate) fn other_program(conn: &Connection) -> Option<String> {
    let sql = "SELECT json_extract(value, '$.program') FROM settings WHERE key = ?1";
    let written: String = conn.query_row(sql, [KEY], |r| r.get(0)).ok()?;
    let is_version = written.len() <= MAX_VERSION
        && written.starts_with(|c: char| c.is_ascii_digit())
        && written.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
    (is_version && written != PROGRAM).then_some(written)
}

/// The mark visible to `conn`; an error if it cannot be parsed.
pub(crate) fn mark(conn: &Connection) -> rusqlite::Result<Option<Mark>> {
    let sql = "SELECT value FROM settings WHERE key = ?1";
    let Some(value) = conn.query_row(sql, [KEY], |r| r.get::<_, String>(0)).optional()? else {
        return Ok(None);
    };
    let written: MarkContents = serde_json::from_str(&value).map_err(|_| rusqlite::Error::InvalidQuery)?;
    if written.word != written.again || written.count != written.count_again {
        return Err(rusqlite::Error::InvalidQuery);
    }
    Ok(Some(match (written.count, written.before) {
        (Some(count), _) => Mark { state: (written.word, count), trail: written.trail, base: written.base },
        (None, Some(before)) => Mark { state: (written.word, 0), trail: vec![(before, 0)], base: None },
        (None, None) => Mark { state: (written.word, 0), trail: Vec::new(), base: Some(String::new()) },
    }))
}

/// A hash that distinguishes a file without a mark, read through `alone`, from others: its layout,
/// the ends of its tables, its settings and its last event. It does not cover all contents, since
/// the file may be large and a user is waiting.
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

/// Whether a journal belongs to the file next to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belongs {
    /// The journal continues this file.
    Yes,
    /// It belongs to another file.
    No,
    /// Neither has a mark; whether both are sound together decides.
    Unknown,
}
