//! Which events a file has, or had before an import was removed.

use crate::tx::{all, first};
use crate::{Result, Store};
use rusqlite::Connection;
use std::collections::HashMap;
use uuid::Uuid;

/// The setting with the highest sequence numbers of events that were removed with an import, by copy: a
/// comparison with a backup tells them from events that this file never had.
pub(crate) const REMOVED: &str = "removed_events";

/// Which events a file has. Those of one copy are appended in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedEvents {
    /// The number of events.
    pub count: u32,
    /// The event that was recorded last: its copy and sequence number.
    pub last: Option<(Uuid, u32)>,
    highest: HashMap<Uuid, u32>,
}

impl RecordedEvents {
    /// Reads which events a file has. Scans indexes only.
    pub fn of(store: &Store) -> Result<Self> {
        store.read("counting the events", |c| {
            let last = "SELECT c.uid, e.sequence FROM events AS e JOIN copies AS c ON c.id = e.copy
                        ORDER BY e.id DESC LIMIT 1";
            Ok(Self {
                count: c.query_row("SELECT count(*) FROM events", [], |r| r.get(0))?,
                last: first(c, last, [], |r| Ok((r.get(0)?, r.get(1)?)))?,
                highest: highest(c)?,
            })
        })
    }

    /// Whether an event of this copy, with this sequence number, is or was in the file.
    pub fn knows(&self, (copy, sequence): (Uuid, u32)) -> bool {
        self.highest.get(&copy).is_some_and(|highest| sequence <= *highest)
    }
}

/// The highest sequence number of each copy.
pub(crate) fn highest(c: &Connection) -> rusqlite::Result<HashMap<Uuid, u32>> {
    let sql =
        "SELECT c.uid, max(e.sequence) FROM events AS e JOIN copies AS c ON c.id = e.copy GROUP BY e.copy";
    Ok(all(c, sql, [], |r| Ok((r.get(0)?, r.get(1)?)))?.into_iter().collect())
}
