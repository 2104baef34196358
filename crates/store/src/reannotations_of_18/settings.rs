//! Settings that count or list rows of the former tables.

use super::former::Round;
use crate::imports::{EVENTS_OF_OLD, IMPORTS, Import};
use crate::packets::HANDED_IN;
use crate::row::bad;
use crate::tx::first;
use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeMap;

/// The rows of re-annotations, and of what happened to them.
pub(super) fn former_work(conn: &Connection) -> rusqlite::Result<[i64; 2]> {
    let count = |table: &str| conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |r| r.get(0));
    let changes: i64 = count("repeat_changes")?;
    Ok([count("repeats")?, changes + count("repeat_remarks")?])
}

/// Changes the amount of work that a packet has submitted by as much as its amount of work changed, so
/// that as much as before is left to submit.
pub(super) fn count_work_anew(conn: &Connection, [answers, changes]: [i64; 2]) -> rusqlite::Result<()> {
    let sql = "UPDATE settings SET value = json_array(
                   json_extract(value, '$[0]'),
                   max(0, json_extract(value, '$[1]') - ?2 + (SELECT count(*) FROM events WHERE occasion > 1 AND kind = 'answer')),
                   max(0, json_extract(value, '$[2]') - ?3 + (SELECT count(*) FROM events WHERE occasion > 1 AND kind <> 'answer')))
               WHERE key = ?1 AND json_array_length(value) = 3";
    conn.execute(sql, (HANDED_IN, answers, changes)).map(drop)
}

/// Records the events of re-annotations that an import added and nobody changed since, in place of the
/// rows that they had. `rows` are the events of each round.
pub(super) fn record_in_imports(
    conn: &Connection,
    rows: &BTreeMap<Round, (u32, u32)>,
) -> rusqlite::Result<()> {
    const TABLES: [&str; 4] = ["repeats", "repeat_changes", "repeat_remarks", "repeat_origins"];
    let sql = "SELECT value FROM settings WHERE key = ?1";
    let imports = first(conn, sql, [IMPORTS], |r| r.get::<_, String>(0))?;
    let Some(mut imports) = imports.and_then(|text| serde_json::from_str::<Vec<Import>>(&text).ok()) else {
        return Ok(());
    };
    let same = "question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = ?4";
    let there = TABLES.map(|table| format!("(SELECT count(*) FROM {table} WHERE {same})")).join(" + ");
    for import in &mut imports {
        let mut added: BTreeMap<Round, u32> = BTreeMap::new();
        for row in TABLES.into_iter().filter_map(|table| import.others.remove(table)).flatten() {
            let round = row.get(..4).unwrap_or_default().to_vec();
            let round: Round = serde_json::from_value(round.into()).map_err(|e| bad(0, e))?;
            *added.entry(round).or_default() += 1;
        }
        let mut events: Vec<Vec<Value>> = Vec::new();
        for (round, added) in added {
            let rows_now: u32 =
                conn.prepare_cached(&format!("SELECT {there}"))?.query_row(round, |r| r.get(0))?;
            // Otherwise somebody worked on it since.
            if rows_now <= added
                && let Some((first, end)) = rows.get(&round)
            {
                events.extend((*first..*end).map(|row| vec![row.into()]));
            }
        }
        if !events.is_empty() {
            import.others.insert(EVENTS_OF_OLD.to_owned(), events);
        }
    }
    let value = serde_json::to_string(&imports).map_err(|e| bad(0, e))?;
    conn.execute("UPDATE settings SET value = ?2 WHERE key = ?1", (IMPORTS, value)).map(drop)
}
