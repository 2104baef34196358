//! Reads the re-annotations of format 18 from their four tables.

use crate::level_order::LevelOrder;
use crate::row::{json, source};
use crate::tx::all;
use dissensus_domain::{Answer, LabelSource, QuestionId};
use rusqlite::{Connection, Row};
use std::collections::HashMap;
use uuid::Uuid;

/// Question, text, annotator and annotation round.
pub(super) type Round = (u32, u32, u32, u16);
/// An answer of format 18: its round, time and JSON.
pub(super) type Known = (Round, i64, String);

/// The note and guideline version of an answer, in the order in which the greater one holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Note {
    pub(super) note: String,
    /// As JSON.
    pub(super) reasons: String,
    pub(super) confidence: u8,
    pub(super) guideline: Vec<u8>,
}

impl Note {
    /// The reasons as an event has them.
    pub(super) fn reasons(&self) -> Option<&str> {
        Some(self.reasons.as_str()).filter(|reasons| !["", "[]"].contains(reasons))
    }

    /// What it says, without the guideline.
    pub(super) fn says(&self) -> (&str, Option<&str>, u8) {
        (&self.note, self.reasons(), self.confidence)
    }
}

/// An answer with what was recorded about it.
pub(super) struct Reannotation {
    pub(super) round: Round,
    pub(super) at_ms: i64,
    pub(super) answer: Answer,
    pub(super) source: LabelSource,
    /// The wording that was on screen; empty if unknown.
    pub(super) wording: Vec<u8>,
    /// The note given with the answer.
    pub(super) own: Option<Note>,
    /// Other notes, by time.
    pub(super) notes: Vec<(i64, Note)>,
    /// The events of these: time, copy and note.
    pub(super) marks: Vec<(i64, Uuid, Note)>,
    /// When it was retracted (false) or restored (true).
    pub(super) changes: Vec<(i64, bool)>,
    /// The answer of the same time that it overrides.
    pub(super) over: Option<Moved>,
    /// Its events: the answer itself, and again for each time that it was restored.
    pub(super) moved: Vec<Moved>,
}

/// An answer among the events.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    pub(super) row: u32,
    pub(super) copy: Uuid,
    pub(super) retracted: bool,
}

fn known(row: &Row<'_>) -> rusqlite::Result<Known> {
    Ok(((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?), row.get(4)?, row.get(5)?))
}

/// Reads what a table says about each answer, sorted.
fn about<T: Ord>(
    conn: &Connection,
    table: &str,
    columns: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<HashMap<Known, Vec<T>>> {
    let sql = format!("SELECT question, text, annotator, occasion, at_ms, answer, {columns} FROM {table}");
    let mut found: HashMap<Known, Vec<T>> = HashMap::new();
    for (of, one) in all(conn, &sql, [], |row| Ok((known(row)?, read(row)?)))? {
        found.entry(of).or_default().push(one);
    }
    found.values_mut().for_each(|all| all.sort_unstable());
    Ok(found)
}

/// Reads the four tables. The answers of a round are ordered by time, then by the order that decided
/// which of them counts.
pub(super) fn read(conn: &Connection) -> rusqlite::Result<Vec<Reannotation>> {
    let note = |row: &Row<'_>| {
        let note = Note {
            note: row.get(7)?,
            reasons: row.get(8)?,
            confidence: row.get(9)?,
            guideline: row.get(10)?,
        };
        Ok((row.get::<_, i64>(6)?, note))
    };
    let mut notes = about(conn, "repeat_remarks", "said_at_ms, note, reasons, confidence, guideline", note)?;
    let mut changes =
        about(conn, "repeat_changes", "changed_at_ms, counts", |row| Ok((row.get(6)?, row.get(7)?)))?;
    // An answer that one of its sources gave was given, and of several wordings the greatest holds.
    let origin = |row: &Row<'_>| {
        let from = source(row, 6)?;
        Ok((from.is_given(), from.name(), row.get::<_, Vec<u8>>(7)?))
    };
    let origins = about(conn, "repeat_origins", "source, wording", origin)?;
    let order = LevelOrder::read(conn)?;
    let sql = "SELECT question, text, annotator, occasion, at_ms, answer, source FROM repeats";
    let mut found = all(conn, sql, [], |row| {
        let (of, answer, own_source) = (known(row)?, json::<Answer>(row, 5)?, source(row, 6)?);
        let own_origin = (own_source.is_given(), own_source.name(), Vec::new());
        let origins = origins.get(&of).into_iter().flatten().chain([&own_origin]);
        let source = origins.clone().max().map_or(own_source.name(), |(_, name, _)| name);
        let wording = origins.map(|(.., wording)| wording.clone()).max().unwrap_or_default();
        let mut notes = notes.remove(&of).unwrap_or_default();
        let own = notes.iter().rposition(|(at_ms, _)| *at_ms == of.1).map(|at| notes.remove(at).1);
        Ok(Reannotation {
            round: of.0,
            at_ms: of.1,
            source: LabelSource::from_name(source).unwrap_or(own_source),
            wording,
            own,
            notes,
            marks: Vec::new(),
            changes: changes.remove(&of).unwrap_or_default(),
            over: None,
            moved: Vec::new(),
            answer,
        })
    })?;
    found.sort_by_cached_key(|one| (one.round, one.at_ms, order.key(QuestionId(one.round.0), &one.answer)));
    Ok(found)
}
