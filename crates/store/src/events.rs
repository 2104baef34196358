//! Events: appending them under an identity of their own, and reading them back.

use crate::appending::Place;
use crate::deleting::next_row;
use crate::error::is_constraint;
use crate::identity::made_at_ms;
use crate::places::{events, first_event};
use crate::row::{EVENT_COLUMNS, EVENT_TABLES, GIVEN, reasons_column};
use crate::tx::first;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    AnnotatorId, Answer, CopyId, Event, EventId, EventKind, GuidelineId, LabelSource, QuestionId, Remark,
    TextId,
};
use rusqlite::{Connection, params};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// What an event says, as it is appended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewEvent<'a> {
    pub(crate) question: QuestionId,
    pub(crate) text: TextId,
    pub(crate) annotator: AnnotatorId,
    pub(crate) at_ms: i64,
    pub(crate) source: LabelSource,
    pub(crate) kind: &'a EventKind,
    pub(crate) remark: &'a Remark,
    pub(crate) guideline: Option<GuidelineId>,
    /// Its row.
    pub(crate) wording: Option<u32>,
}

/// An event that is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its row.
    pub id: EventId,
    /// How long the commit took, which waits for the disk to confirm.
    pub sync: Duration,
    /// How long it took in all, waiting for other writes included.
    pub total: Duration,
}

const INSERT: &str =
    "INSERT INTO events (id, copy, sequence, kind, question, text, annotator, at_ms, duration_ms, source, level, content, replaces, note, reasons,
     confidence, guideline, wording) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

/// All events of one annotator on one text, oldest first.
fn on_text() -> String {
    format!(
        "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.annotator = ?1 AND e.question = ?2 AND e.text = ?3 ORDER BY e.id"
    )
}

/// All events of one annotator on one text, oldest first.
pub(crate) fn of_text(
    c: &Connection,
    (question, text, annotator): (QuestionId, TextId, AnnotatorId),
) -> rusqlite::Result<Vec<Event>> {
    events(c, &on_text(), (annotator.0, question.0, text.0))
}

/// An answer as it lies in the file, in the columns `level` and `content`.
pub(crate) fn answer_columns(answer: &Answer) -> Result<(Option<u16>, Option<String>)> {
    match answer {
        Answer::Level(level) => Ok((Some(*level), None)),
        other => Ok((None, Some(crate::row::to_json("an answer", other)?))),
    }
}

impl<'a> WriteTx<'a> {
    /// Where the next event goes. The first time that a store appends, this makes a copy id for it.
    pub(crate) fn next_place(&self) -> Result<Place> {
        let last = match self.appending.last() {
            Some(last) => last,
            None => self.begin_appending()?,
        };
        let full = || StoreError::Invalid {
            what: "project".to_owned(),
            why: "it holds as many events as a project can hold (4,294,967,295)".to_owned(),
        };
        Ok(Place {
            event: last.event.checked_add(1).ok_or_else(full)?,
            sequence: last.sequence.checked_add(1).ok_or_else(full)?,
            ..last
        })
    }

    fn begin_appending(&self) -> Result<Place> {
        let known = self.appending.copy();
        let copy = known.unwrap_or_else(|| CopyId(Uuid::now_v7()));
        let row = self.copy_row(copy, made_at_ms(copy.0))?;
        let event = self.first(&format!("SELECT {} - 1", next_row("events")), [], |r| r.get(0))?;
        let sequence =
            self.first("SELECT coalesce(max(sequence), 0) FROM events WHERE copy = ?1", [row], |r| r.get(0))?;
        let last = Place { event: event.unwrap_or(0), copy: row, sequence: sequence.unwrap_or(0) };
        self.appending.begin(copy);
        Ok(last)
    }

    /// Notes that the event at `place` was appended.
    pub(crate) fn appended_at(&self, place: Place) -> EventId {
        self.appending.appended_at(place);
        EventId(place.event)
    }

    /// Appends one event under this store's copy.
    pub(crate) fn append_event(&self, new: &NewEvent<'_>) -> Result<EventId> {
        let place = self.next_place()?;
        self.insert_event(place, new)?;
        Ok(self.appended_at(place))
    }

    /// Inserts one event where it belongs.
    pub(crate) fn insert_event(&self, place: Place, new: &NewEvent<'_>) -> Result<()> {
        let (name, duration_ms, (level, content), replaces) = match new.kind {
            EventKind::Answer { answer, duration_ms, replaces } => {
                let stored = self.places()?;
                ("answer", *duration_ms, answer_columns(&stored.stored(new.question, answer))?, *replaces)
            }
            EventKind::Retraction { of } => ("retraction", None, (None, None), Some(*of)),
            EventKind::Mark(mark) => (mark.name(), None, (None, None), None),
        };
        let (reasons, guideline) = (reasons_column(new.remark)?, self.guideline_row(new.guideline)?);
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
                new.remark.note,
                reasons,
                new.remark.confidence,
                guideline,
                new.wording,
            ])
        });
        inserted.map(drop).map_err(|e| {
            let wrong =
                is_constraint(&e).then(|| self.must_exist(new.question, new.text, new.annotator).err());
            wrong.flatten().unwrap_or_else(|| self.explain("appending an event", e))
        })
    }

    /// The time that something done now gets: the clock's, but after everything that this copy has seen of the same person, question
    /// and text, so that a clock that jumped back cannot put it before what the person saw; and after what the person answered on later
    /// occasions, so that undo knows the order.
    pub(crate) fn time_of_new(
        &self,
        clock_ms: i64,
        source: LabelSource,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<i64> {
        if !source.is_given() {
            return Ok(clock_ms); // read from a file or made up: the time is part of what it says
        }
        let seen: Option<i64> = self
            .first(
                "SELECT max(at_ms) FROM events WHERE annotator = ?1 AND question = ?2 AND text = ?3",
                (annotator.0, question.0, text.0),
                |r| r.get(0),
            )?
            .flatten();
        let seen = seen.max(self.newest_repeat_at(annotator)?);
        // What is given after something was shown comes after it, whatever the clock says.
        let seen = seen.max(self.newest_shown_at(question, text, annotator)?);
        Ok(seen.map_or(clock_ms, |seen| clock_ms.max(seen.saturating_add(1))))
    }

    /// When this annotator last gave an answer of a later occasion in the window or by the command.
    pub(crate) fn newest_repeat_at(&self, annotator: AnnotatorId) -> Result<Option<i64>> {
        let sql = format!("SELECT max(at_ms) FROM repeats AS r WHERE annotator = ?1 AND {GIVEN}");
        Ok(self.first(&sql, [annotator.0], |r| r.get(0))?.flatten())
    }

    /// Makes sure that the three rows that every event points to are there.
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

    /// The newest event of the project; `EventId(0)` where there is none.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn last_event(&self) -> Result<EventId> {
        last_event(self.conn).map_err(|e| self.explain("reading the newest event", e))
    }

    /// As [`Store::events_since`], within the transaction.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn events_since(&self, cursor: EventId, limit: u32) -> Result<Vec<Event>> {
        events_after(self.conn, cursor, limit).map_err(|e| self.explain("reading what happened", e))
    }

    /// The event with this row.
    pub(crate) fn event(&self, id: EventId) -> Result<Option<Event>> {
        event_at(self.conn, id).map_err(|e| self.explain("reading an event", e))
    }

    /// The event that a copy appended as its `sequence`th.
    pub(crate) fn event_with_key(&self, copy: u32, sequence: u32) -> Result<Option<Event>> {
        let sql = format!("SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.copy = ?1 AND e.sequence = ?2");
        first_event(self.conn, &sql, (copy, sequence)).map_err(|e| self.explain("reading an event", e))
    }

    /// All events of one annotator on one text, oldest first.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn events_on(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<Vec<Event>> {
        of_text(self.conn, (question, text, annotator))
            .map_err(|e| self.explain("reading the history of a text", e))
    }
}

impl Store {
    /// All events of everybody on one text for a question, by annotator, each one's oldest first.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn events_on_text(&self, question: QuestionId, text: TextId) -> Result<Vec<Event>> {
        // By annotator, as the index is: with many labels that is quicker than reading all of them.
        let sql = format!(
            "SELECT {EVENT_COLUMNS} FROM annotators AS a CROSS JOIN {EVENT_TABLES}
             WHERE e.annotator = a.id AND e.question = ?1 AND e.text = ?2 ORDER BY a.id, e.id"
        );
        self.read("reading the history of a text", |c| events(c, &sql, (question.0, text.0)))
    }

    pub(crate) fn append(
        &self,
        event: impl FnOnce(&mut WriteTx<'_>) -> Result<EventId> + Send + 'static,
    ) -> Result<Appended> {
        let start = Instant::now();
        let (id, sync) = self.write_timed(event)?;
        Ok(Appended { id, sync, total: start.elapsed() })
    }

    /// Up to `limit` events appended or taken in after `cursor`, oldest first; after `EventId(0)` from the beginning.
    ///
    /// This is how live models, counts and views learn what happened: they keep the id of the last event they have seen and ask for
    /// those after it, their own writes included.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn events_since(&self, cursor: EventId, limit: u32) -> Result<Vec<Event>> {
        self.read("reading what happened", |c| events_after(c, cursor, limit))
    }

    /// The newest event of the project; `EventId(0)` where there is none. What has seen it is up to date.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn last_event(&self) -> Result<EventId> {
        self.read("reading the newest event", last_event)
    }

    /// How many answers have a later time than this, and the latest time of all of these.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn answers_after(&self, at_ms: i64) -> Result<(u32, i64)> {
        let sql = "SELECT count(*), coalesce(max(at_ms), 0) FROM events WHERE kind = 'answer' AND at_ms > ?1";
        let found =
            self.read("reading what happened", |c| first(c, sql, [at_ms], |r| Ok((r.get(0)?, r.get(1)?))))?;
        Ok(found.unwrap_or_default())
    }

    /// The event with this row.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn event(&self, id: EventId) -> Result<Option<Event>> {
        self.read("reading an event", |c| event_at(c, id))
    }

    /// Up to `limit` events of one annotator, newest first.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn history(&self, question: QuestionId, annotator: AnnotatorId, limit: u32) -> Result<Vec<Event>> {
        self.read("reading an annotator's history", |c| {
            let sql = format!(
                "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.id IN (
                     SELECT id FROM events WHERE annotator = ?1 AND question = ?2 ORDER BY id DESC LIMIT ?3
                 ) ORDER BY e.id DESC"
            );
            events(c, &sql, (annotator.0, question.0, limit))
        })
    }

    /// All events of one annotator for a question, by text, then oldest first.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn events_of(&self, annotator: AnnotatorId, question: QuestionId) -> Result<Vec<Event>> {
        self.read("reading an annotator's events", |c| {
            let sql = format!(
                "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.annotator = ?1 AND e.question = ?2 ORDER BY e.text, e.id"
            );
            events(c, &sql, (annotator.0, question.0))
        })
    }

    /// All events of one annotator on one text, oldest first.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn events(&self, question: QuestionId, text: TextId, annotator: AnnotatorId) -> Result<Vec<Event>> {
        self.read("reading the history of a text", |c| {
            events(c, &on_text(), (annotator.0, question.0, text.0))
        })
    }
}

pub(crate) fn event_at(conn: &Connection, id: EventId) -> rusqlite::Result<Option<Event>> {
    first_event(conn, &format!("SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.id = ?1"), [id.0])
}

fn events_after(conn: &Connection, cursor: EventId, limit: u32) -> rusqlite::Result<Vec<Event>> {
    let sql = format!("SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.id > ?1 ORDER BY e.id LIMIT ?2");
    events(conn, &sql, (cursor.0, limit))
}

pub(crate) fn last_event(conn: &Connection) -> rusqlite::Result<EventId> {
    let id = first(conn, "SELECT coalesce(max(id), 0) FROM events", [], |r| r.get(0))?;
    Ok(EventId(id.unwrap_or(0)))
}
