//! Appending events under a unique key, and reading them.

use crate::appending::EventPosition;
use crate::deleting::next_row;
use crate::error::is_constraint;
use crate::identity::made_at_ms;
use crate::row::{EVENT_COLUMNS, EVENT_TABLES, event, reasons_column};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    AnnotatorId, Answer, CopyId, Event, EventId, EventKey, EventKind, FIRST_OCCASION, GuidelineId,
    LabelSource, Note, QuestionId, TextId,
};
use rusqlite::{Connection, params};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Identifies the answer of one annotator to one question on one text in one annotation round.
pub(crate) type Key = (QuestionId, TextId, AnnotatorId, u16);

/// The contents of an event to append.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewEvent<'a> {
    pub(crate) question: QuestionId,
    pub(crate) text: TextId,
    pub(crate) annotator: AnnotatorId,
    /// Annotation round.
    pub(crate) occasion: u16,
    pub(crate) at_ms: i64,
    pub(crate) source: LabelSource,
    pub(crate) kind: &'a EventKind,
    pub(crate) note: &'a Note,
    pub(crate) guideline: Option<GuidelineId>,
    /// Row id of the wording.
    pub(crate) wording: Option<u32>,
}

/// An event that has been committed to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    pub id: EventId,
    /// Duration of the commit, which includes syncing to disk.
    pub sync: Duration,
    /// Total duration, including waiting for other writes.
    pub total: Duration,
}

const INSERT: &str =
    "INSERT INTO events (id, copy, sequence, kind, question, text, annotator, at_ms, duration_ms, source, level, content, replaces, note, reasons,
     confidence, guideline, wording, occasion)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";

/// All events of one annotator on one text in one annotation round, oldest first.
pub(crate) fn events_of_key(
    c: &Connection,
    (question, text, annotator, occasion): Key,
) -> rusqlite::Result<Vec<Event>> {
    let sql = format!(
        "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES}
         WHERE e.annotator = ?1 AND e.question = ?2 AND e.text = ?3 AND e.occasion = ?4 ORDER BY e.id"
    );
    all(c, &sql, (annotator.0, question.0, text.0, occasion), event)
}

/// The values of an answer for the columns `level` and `content`.
pub(crate) fn answer_columns(answer: &Answer) -> Result<(Option<u16>, Option<String>)> {
    match answer {
        Answer::Level(level) => Ok((Some(level.0), None)),
        other => Ok((None, Some(crate::row::to_json("an answer", other)?))),
    }
}

impl<'a> WriteTx<'a> {
    /// The position of the next event. On the first append of a store, this generates a copy id.
    pub(crate) fn next_place(&self) -> Result<EventPosition> {
        let last = match self.appending.last() {
            Some(last) => last,
            None => self.begin_appending()?,
        };
        let full = || StoreError::Invalid {
            what: "project".to_owned(),
            why: "it holds as many events as a project can hold (4,294,967,295)".to_owned(),
        };
        Ok(EventPosition {
            event: last.event.checked_add(1).ok_or_else(full)?,
            sequence: last.sequence.checked_add(1).ok_or_else(full)?,
            ..last
        })
    }

    fn begin_appending(&self) -> Result<EventPosition> {
        let known = self.appending.copy();
        let copy = known.unwrap_or_else(|| CopyId(Uuid::now_v7()));
        let row = self.copy_row(copy, made_at_ms(copy.0))?;
        let event = self.first(&format!("SELECT {} - 1", next_row("events")), [], |r| r.get(0))?;
        let sequence =
            self.first("SELECT coalesce(max(sequence), 0) FROM events WHERE copy = ?1", [row], |r| r.get(0))?;
        let last = EventPosition { event: event.unwrap_or(0), copy: row, sequence: sequence.unwrap_or(0) };
        self.appending.begin(copy);
        Ok(last)
    }

    /// Records that the event at `place` was appended.
    pub(crate) fn appended_at(&self, place: EventPosition) -> EventId {
        self.appending.appended_at(place);
        EventId(place.event)
    }

    /// Appends an event under this store's copy id.
    pub(crate) fn append_event(&self, new: &NewEvent<'_>) -> Result<EventId> {
        let place = self.next_place()?;
        self.insert_event(place, new)?;
        Ok(self.appended_at(place))
    }

    /// Inserts an event at a given position.
    pub(crate) fn insert_event(&self, place: EventPosition, new: &NewEvent<'_>) -> Result<()> {
        let (name, duration_ms, (level, content), replaces) = match new.kind {
            EventKind::Answer { answer, duration_ms, replaces } => {
                ("answer", *duration_ms, answer_columns(answer)?, *replaces)
            }
            EventKind::Retraction { of } => ("retraction", None, (None, None), Some(*of)),
            EventKind::Mark(mark) => (mark.name(), None, (None, None), None),
        };
        let (reasons, guideline) = (reasons_column(new.note)?, self.guideline_row(new.guideline)?);
        let inserted = self.conn.prepare_cached(INSERT).and_then(|mut statement| {
            statement.execute(params![
                place.event,
                place.copy,
                place.sequence,
                name,
                new.question.0,
                new.text.0,
                new.annotator.0,
                new.at_ms,
                duration_ms,
                new.source.name(),
                level,
                content,
                replaces.map(|id| id.0),
                new.note.note,
                reasons,
                new.note.confidence,
                guideline,
                new.wording,
                new.occasion,
            ])
        });
        inserted.map(drop).map_err(|e| {
            let wrong =
                is_constraint(&e).then(|| self.must_exist(new.question, new.text, new.annotator).err());
            wrong.flatten().unwrap_or_else(|| self.explain("appending an event", e))
        })
    }

    /// The time to record for an action taken now: the clock's time, but after everything that this
    /// copy has seen of the same annotator, question and text, so that a clock that was set back
    /// cannot place it before what the annotator saw; and after every answer that the annotator gave
    /// to any question, so that undo and the order of texts know what was given last.
    pub(crate) fn time_of_new(&self, clock_ms: i64, source: LabelSource, key: Key) -> Result<i64> {
        self.time_with_gap(1, clock_ms, source, key)
    }

    /// Like [`WriteTx::time_of_new`], but at least `gap_ms` after what was seen.
    pub(crate) fn time_with_gap(
        &self,
        gap_ms: i64,
        clock_ms: i64,
        source: LabelSource,
        (question, text, annotator, _): Key,
    ) -> Result<i64> {
        if !source.is_given() {
            return Ok(clock_ms); // imported or simulated: the time is part of the data
        }
        let on_text = "SELECT max(at_ms) FROM events WHERE annotator = ?1 AND question = ?2 AND text = ?3";
        let seen: Option<i64> =
            self.first(on_text, (annotator.0, question.0, text.0), |r| r.get(0))?.flatten();
        let clock_ms = self.after_given(annotator, clock_ms)?;
        // An answer given after something was shown is placed after it, whatever the clock shows.
        let seen = seen.max(self.newest_shown_at(question, text, annotator)?);
        Ok(seen.map_or(clock_ms, |seen| clock_ms.max(seen.saturating_add(gap_ms))))
    }

    /// The clock's time, but after every answer that the annotator gave in the window or by the command,
    /// in any annotation round, and not before their last agreement to a consent text. One look into the
    /// index for each question, however many answers there are.
    pub(crate) fn after_given(&self, annotator: AnnotatorId, clock_ms: i64) -> Result<i64> {
        let sql = "SELECT max((SELECT e.at_ms FROM events AS e INDEXED BY events_given
                 WHERE e.annotator = ?1 AND e.question = q.id AND e.kind = 'answer'
                 AND (e.source = 'window' OR e.source = 'command') ORDER BY e.at_ms DESC LIMIT 1))
             FROM questions AS q";
        let newest: Option<i64> = self.first(sql, [annotator.0], |r| r.get(0))?.flatten();
        let after = newest.map(|newest| newest.saturating_add(1)).max(self.newest_agreement_at(annotator)?);
        Ok(after.map_or(clock_ms, |after| clock_ms.max(after)))
    }

    /// Checks that the three rows that every event refers to exist.
    pub(crate) fn must_exist(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<()> {
        for (what, sql, id) in [
            ("question", "SELECT 1 FROM questions WHERE id = ?1", question.0),
            ("text", "SELECT 1 FROM texts WHERE id = ?1", text.0),
            ("annotator", "SELECT 1 FROM annotators WHERE id = ?1", annotator.0),
        ] {
            if self.first(sql, [id], |_| Ok(()))?.is_none() {
                return Err(StoreError::Unknown { what, name: id.to_string() });
            }
        }
        Ok(())
    }

    /// The newest event of the project; `EventId(0)` if there is none.
    pub fn last_event(&self) -> Result<EventId> {
        last_event(self.conn).map_err(|e| self.explain("reading the newest event", e))
    }

    /// Like [`Store::events_since`], within the transaction.
    pub fn events_since(&self, cursor: EventId, limit: u32) -> Result<Vec<Event>> {
        events_after(self.conn, cursor, limit).map_err(|e| self.explain("reading what happened", e))
    }

    pub(crate) fn event(&self, id: EventId) -> Result<Option<Event>> {
        event_at(self.conn, id).map_err(|e| self.explain("reading an event", e))
    }

    /// The event with sequence number `sequence` of a copy.
    pub(crate) fn event_with_key(&self, copy: u32, sequence: u32) -> Result<Option<Event>> {
        let sql = format!("SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.copy = ?1 AND e.sequence = ?2");
        first(self.conn, &sql, (copy, sequence), event).map_err(|e| self.explain("reading an event", e))
    }

    /// All events of one annotator on one text in the first annotation round, oldest first.
    pub fn events_on(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<Vec<Event>> {
        self.events_of_key((question, text, annotator, FIRST_OCCASION))
    }

    /// All events of one annotator on one text in one annotation round, oldest first.
    pub(crate) fn events_of_key(&self, key: Key) -> Result<Vec<Event>> {
        events_of_key(self.conn, key).map_err(|e| self.explain("reading the history of a text", e))
    }
}

impl Store {
    /// All events on one text for a question in the first annotation round, by annotator, oldest first.
    pub fn events_on_text(&self, question: QuestionId, text: TextId) -> Result<Vec<Event>> {
        // Grouped by annotator to use the index: with many labels this is faster than reading all
        // events.
        let sql = format!(
            "SELECT {EVENT_COLUMNS} FROM annotators AS a CROSS JOIN {EVENT_TABLES}
             WHERE e.annotator = a.id AND e.question = ?1 AND e.text = ?2 AND e.occasion = 1 ORDER BY a.id, e.id"
        );
        self.read("reading the history of a text", |c| all(c, &sql, (question.0, text.0), event))
    }

    pub(crate) fn append(
        &self,
        event: impl FnOnce(&mut WriteTx<'_>) -> Result<EventId> + Send + 'static,
    ) -> Result<Appended> {
        let start = Instant::now();
        let (id, sync) = self.write_timed(event)?;
        Ok(Appended { id, sync, total: start.elapsed() })
    }

    /// Up to `limit` events of the first annotation round appended or merged after `cursor`, oldest
    /// first. `EventId(0)` starts from the beginning.
    ///
    /// Live models, counts and views follow changes in this way: they store the id of the last
    /// event they have seen and request the events after it, including those they wrote themselves.
    pub fn events_since(&self, cursor: EventId, limit: u32) -> Result<Vec<Event>> {
        self.read("reading what happened", |c| events_after(c, cursor, limit))
    }

    /// The newest event of the project, of any annotation round; `EventId(0)` if there is none. A
    /// reader that has seen it is up to date.
    pub fn last_event(&self) -> Result<EventId> {
        self.read("reading the newest event", last_event)
    }

    /// The newest event of a question, of any annotation round.
    pub fn newest_of(&self, question: QuestionId) -> Result<Option<EventKey>> {
        let sql = format!(
            "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.id = (SELECT max(id) FROM events WHERE question = ?1)"
        );
        let found = self.read("reading the newest event", |c| first(c, &sql, [question.row().0], event))?;
        Ok(found.map(|event| event.key))
    }

    /// Whether a question still has an event: an import that was taken back has none, and its keys are never
    /// used again.
    pub fn has_event(&self, question: QuestionId, key: EventKey) -> Result<bool> {
        let sql = "SELECT 1 FROM events AS e JOIN copies AS c ON c.id = e.copy
                   WHERE c.uid = ?1 AND e.sequence = ?2 AND e.question = ?3";
        let of = (key.copy.0, key.sequence, question.row().0);
        Ok(self.read("reading an event", |c| first(c, sql, of, |r| r.get::<_, u32>(0)))?.is_some())
    }

    /// How many answers have a later time than this, and the latest of their times.
    pub fn answers_after(&self, at_ms: i64) -> Result<(u32, i64)> {
        let sql = "SELECT count(*), coalesce(max(at_ms), 0) FROM events WHERE kind = 'answer' AND at_ms > ?1";
        let found =
            self.read("reading what happened", |c| first(c, sql, [at_ms], |r| Ok((r.get(0)?, r.get(1)?))))?;
        Ok(found.unwrap_or_default())
    }

    /// Finds an event by row id.
    pub fn event(&self, id: EventId) -> Result<Option<Event>> {
        self.read("reading an event", |c| event_at(c, id))
    }

    /// Up to `limit` events of one annotator in the first annotation round, newest first.
    pub fn history(&self, question: QuestionId, annotator: AnnotatorId, limit: u32) -> Result<Vec<Event>> {
        self.read("reading an annotator's history", |c| {
            let sql = format!(
                "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.id IN (
                     SELECT id FROM events WHERE annotator = ?1 AND question = ?2 AND occasion = 1
                     ORDER BY id DESC LIMIT ?3
                 ) ORDER BY e.id DESC"
            );
            all(c, &sql, (annotator.0, question.0, limit), event)
        })
    }

    /// All events of one annotator for a question in the first annotation round, by text, oldest first.
    pub fn events_of(&self, annotator: AnnotatorId, question: QuestionId) -> Result<Vec<Event>> {
        self.read("reading an annotator's events", |c| {
            let sql = format!(
                "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES}
                 WHERE e.annotator = ?1 AND e.question = ?2 AND e.occasion = 1 ORDER BY e.text, e.id"
            );
            all(c, &sql, (annotator.0, question.0), event)
        })
    }

    /// All events of one annotator on one text in the first annotation round, oldest first.
    pub fn events(&self, question: QuestionId, text: TextId, annotator: AnnotatorId) -> Result<Vec<Event>> {
        let key = (question, text, annotator, FIRST_OCCASION);
        self.read("reading the history of a text", |c| events_of_key(c, key))
    }
}

pub(crate) fn event_at(conn: &Connection, id: EventId) -> rusqlite::Result<Option<Event>> {
    first(conn, &format!("SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.id = ?1"), [id.0], event)
}

fn events_after(conn: &Connection, cursor: EventId, limit: u32) -> rusqlite::Result<Vec<Event>> {
    let sql = format!(
        "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.id > ?1 AND e.occasion = 1 ORDER BY e.id LIMIT ?2"
    );
    all(conn, &sql, (cursor.0, limit), event)
}

pub(crate) fn last_event(conn: &Connection) -> rusqlite::Result<EventId> {
    let id = first(conn, "SELECT coalesce(max(id), 0) FROM events", [], |r| r.get(0))?;
    Ok(EventId(id.unwrap_or(0)))
}
