//! Determines, before the merge transaction, which events both copies have: a merge costs only what
//! is new, and a label given meanwhile waits only for that.

use crate::noted::hash_of;
use crate::row::{EVENT_COLUMNS, EVENT_TABLES, event, uid};
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{CopyId, Event};
use rusqlite::Connection;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hasher};

/// Events of one copy in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CopyEvents {
    row: u32,
    count: u32,
    highest: u32,
}

/// The first events of a copy in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Begun {
    hash: u64,
    count: u32,
    questions: BTreeSet<u32>,
    text: u32,
    annotator: u32,
}

/// Events that are equal in both files, up to a sequence number of one copy; they are not read
/// again.
#[derive(Clone, Debug)]
pub(crate) struct Alike {
    pub(crate) highest: u32,
    pub(crate) count: u32,
    /// The events are only equal if these questions, and all texts and annotators up to these, have
    /// the same row ids in both files.
    pub(crate) questions: BTreeSet<u32>,
    pub(crate) text: u32,
    pub(crate) annotator: u32,
    ours: CopyEvents,
}

/// What was determined before the transaction.
#[derive(Debug, Default)]
pub(crate) struct SharedParts {
    pub(crate) alike: HashMap<CopyId, Alike>,
}

fn held(c: &Connection) -> rusqlite::Result<HashMap<CopyId, CopyEvents>> {
    let sql = "SELECT c.uid, c.id, e.count, e.highest FROM copies AS c
               JOIN (SELECT copy, count(*) AS count, max(sequence) AS highest FROM events GROUP BY copy) AS e ON e.copy = c.id";
    let found = all(c, sql, [], |r| {
        Ok((CopyId(uid(r, 0)?), CopyEvents { row: r.get(1)?, count: r.get(2)?, highest: r.get(3)? }))
    })?;
    Ok(found.into_iter().collect())
}

/// Hashes all contents of events, with the row ids of this file. Ids that differ between files, of
/// replaced answers and of versions, are hashed by identity.
fn begun(c: &Connection, copy: u32, up_to: u32) -> rusqlite::Result<Begun> {
    let mut statement = c.prepare_cached(
        "SELECT e.sequence, e.question, e.text, e.annotator, e.at_ms, e.kind, e.duration_ms, e.source, e.level, e.content, e.note,
             e.reasons, e.confidence, e.occasion, rc.uid, r.sequence, g.uid, w.uid
         FROM events AS e LEFT JOIN events AS r ON r.id = e.replaces LEFT JOIN copies AS rc ON rc.id = r.copy
             LEFT JOIN guidelines AS g ON g.id = e.guideline LEFT JOIN wordings AS w ON w.id = e.wording
         WHERE e.copy = ?1 AND e.sequence <= ?2 ORDER BY e.sequence",
    )?;
    let mut rows = statement.query((copy, up_to))?;
    let mut hasher = DefaultHasher::new();
    let mut found = Begun { hash: 0, count: 0, questions: BTreeSet::new(), text: 0, annotator: 0 };
    while let Some(row) = rows.next()? {
        (0..18).try_for_each(|column| hash_of(row, column, &mut hasher))?;
        found.count += 1;
        found.questions.insert(row.get(1)?);
        found.text = found.text.max(row.get(2)?);
        found.annotator = found.annotator.max(row.get(3)?);
    }
    found.hash = hasher.finish();
    Ok(found)
}

fn all_begun(store: &Store, copies: &[(u32, u32)]) -> Result<Vec<Begun>> {
    store.read("comparing the copies", |c| {
        copies.iter().map(|(copy, up_to)| begun(c, *copy, *up_to)).collect()
    })
}

impl SharedParts {
    /// Compares both files.
    pub(crate) fn new(ours: &Store, theirs: &Store) -> Result<Self> {
        let (here, there) =
            (ours.read("reading the copies", held)?, theirs.read("reading the copies", held)?);
        let both: Vec<(CopyId, CopyEvents, CopyEvents)> =
            there.into_iter().filter_map(|(copy, there)| Some((copy, *here.get(&copy)?, there))).collect();
        let up_to = |here: &CopyEvents, there: &CopyEvents| here.highest.min(there.highest);
        let of = |row: fn(&CopyEvents, &CopyEvents) -> u32| -> Vec<(u32, u32)> {
            both.iter().map(|(_, here, there)| (row(here, there), up_to(here, there))).collect()
        };
        let (of_ours, of_theirs) = (of(|here, _| here.row), of(|_, there| there.row));
        let (one, other) = std::thread::scope(|scope| {
            let other = scope.spawn(|| all_begun(theirs, &of_theirs));
            (all_begun(ours, &of_ours), other.join())
        });
        let other = other.unwrap_or_else(|_| all_begun(theirs, &of_theirs));
        let mut alike = HashMap::new();
        for (((copy, here, there), one), other) in both.into_iter().zip(one?).zip(other?) {
            if one == other {
                let Begun { count, questions, text, annotator, .. } = one;
                let highest = up_to(&here, &there);
                alike.insert(copy, Alike { highest, count, questions, text, annotator, ours: here });
            }
        }
        Ok(Self { alike })
    }

    /// Removes copies for which something was appended or removed here since.
    pub(crate) fn still_hold(&mut self, tx: &WriteTx<'_>) -> Result<()> {
        if self.alike.is_empty() {
            return Ok(());
        }
        let now = held(tx.conn).map_err(|e| tx.explain("reading the copies", e))?;
        self.alike.retain(|copy, alike| now.get(copy) == Some(&alike.ours));
        Ok(())
    }

    /// The row ids of the other copy's events to read, in order.
    pub(crate) fn rows_to_read(&self, theirs: &Store) -> Result<Vec<u32>> {
        let copies = theirs.read("reading the copies", held)?;
        let mut rows: Vec<u32> = Vec::new();
        for (copy, held) in copies {
            let after = self.alike.get(&copy).map_or(0, |alike| alike.highest);
            if after < held.highest {
                let sql = "SELECT id FROM events WHERE copy = ?1 AND sequence > ?2";
                rows.extend(theirs.read("reading what happened", |c| {
                    all(c, sql, (held.row, after), |r| r.get::<_, u32>(0))
                })?);
            }
        }
        rows.sort_unstable();
        Ok(rows)
    }
}

impl Store {
    /// The events with these row ids.
    pub(crate) fn events_in_rows(&self, rows: &[u32]) -> Result<Vec<Event>> {
        let sql = format!("SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.id = ?1");
        self.read_with(|c, explain| {
            let mut statement = c.prepare_cached(&sql).map_err(explain)?;
            let mut found = Vec::with_capacity(rows.len());
            for row in rows {
                let mut one = statement.query([row]).map_err(explain)?;
                if let Some(row) = one.next().map_err(explain)? {
                    found.push(event(row).map_err(explain)?);
                }
            }
            Ok::<_, StoreError>(found)
        })
    }
}
