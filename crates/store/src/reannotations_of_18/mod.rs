//! Completes migration 19: the re-annotations of format 18, which had four tables, become events.
//!
//! Copies of a project that are migrated apart must agree after a merge, so an event is identified by
//! what it says: it is the only event of a copy whose id is a hash of all of its contents, with names
//! in place of row ids. A fact that both copies had is then one event, and facts of one copy are added
//! to those of the other.

mod events;
mod former;
mod settings;

use crate::deleting::next_row;
use crate::identity::project_id;
use crate::row::{EVENT_COLUMNS_OF_OLD, event};
use crate::tx::{all, first};
use dissensus_domain::current_answer;
use events::{Said, Writing};
use former::{Moved, Note, Reannotation, Round, read};
use rusqlite::Connection;
use settings::{count_work_anew, former_work, record_in_imports};
use std::collections::{BTreeMap, HashMap};

/// The format that has re-annotations among the events.
pub(crate) const OCCASION_FORMAT: usize = 19;

/// The work of [`move_reannotations`], as a statement of which the duration can be estimated.
pub(crate) const WORK: &str = "INSERT INTO events SELECT * FROM repeats, repeat_changes, repeat_remarks";

/// How much more than one insertion it takes for a row.
pub(crate) const STATEMENTS: u64 = 8;

/// Moves the rows of the four tables to the events, and drops the tables.
pub(crate) fn move_reannotations(conn: &Connection) -> rusqlite::Result<()> {
    let work = former_work(conn)?;
    let mut found = read(conn)?;
    let next = first(conn, &format!("SELECT {}", next_row("events")), [], |r| r.get(0))?.unwrap_or(1);
    let mut writing = Writing { conn, project: project_id(conn)?.0, next, levels: HashMap::new() };
    let mut rows: BTreeMap<Round, (u32, u32)> = BTreeMap::new();
    for round in found.chunk_by_mut(|a, b| a.round == b.round) {
        let begin = writing.next;
        for at in 0..round.len() {
            let (before, rest) = round.split_at_mut(at);
            let one = &mut rest[0];
            let same_time = before.last().filter(|before| before.at_ms == one.at_ms);
            one.over = same_time.and_then(|before| before.moved.last().copied());
            let moved = writing.append(one, &Said::Answer { again_since: None })?;
            one.moved.push(moved);
            writing.append_later(one)?;
        }
        if let Some(current) = keep_current(conn, (begin, writing.next))? {
            settle_note(&mut writing, round, current)?;
        }
        rows.insert(round[0].round, (begin, writing.next));
    }
    record_in_imports(conn, &rows)?;
    conn.execute_batch(
        "DROP TABLE repeat_origins; DROP TABLE repeat_remarks; DROP TABLE repeat_changes; DROP TABLE repeats;",
    )?;
    count_work_anew(conn, work)
}

/// Records the current answer of a round, which has the events from `begin` until before `end`. Returns its
/// row.
fn keep_current(conn: &Connection, (begin, end): (u32, u32)) -> rusqlite::Result<Option<u32>> {
    let sql = format!(
        "SELECT {EVENT_COLUMNS_OF_OLD}, e.occasion FROM events AS e CROSS JOIN copies AS c ON c.id = e.copy
         WHERE e.id >= ?1 AND e.id < ?2 ORDER BY e.id"
    );
    let events = all(conn, &sql, (begin, end), event)?;
    let current = current_answer(&events).map(|current| current.id.0);
    if let Some(current) = current {
        let sql = "INSERT INTO current_answers (question, occasion, text, annotator, event, level, content)
                   SELECT question, occasion, text, annotator, id, level, content FROM events WHERE id = ?1";
        conn.prepare_cached(sql)?.execute([current])?;
    }
    Ok(current)
}

/// A note belonged to one answer, and now to the round: where another one would be in effect with the
/// current answer, appends the one that was.
fn settle_note(writing: &mut Writing<'_>, round: &[Reannotation], current: u32) -> rusqlite::Result<()> {
    let is_current = |moved: &&Moved| moved.row == current;
    let found = round.iter().find_map(|one| Some((one, one.moved.iter().find(is_current)?)));
    let Some((one, moved)) = found else { return Ok(()) };
    let own = one.own.as_ref().map(|note| (one.at_ms, moved.copy, note));
    let marks = round.iter().flat_map(|one| &one.marks).map(|(at_ms, copy, note)| (*at_ms, *copy, note));
    let nothing = Note::default();
    let said = marks.chain(own.filter(|(.., note)| note.says() != nothing.says()));
    let Some((last, _, now)) = said.max_by_key(|(at_ms, copy, _)| (*at_ms, *copy)) else { return Ok(()) };
    let last_note = one.notes.last().filter(|(at_ms, _)| one.own.is_none() || *at_ms > one.at_ms);
    let held = last_note.map(|(_, note)| note).or(one.own.as_ref()).unwrap_or(&nothing);
    if now.says() != held.says() {
        writing.append(one, &Said::Note { at_ms: last.saturating_add(1), note: held })?;
    }
    Ok(())
}
