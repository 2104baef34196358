//! Marks: skips, flags and notes on texts.

use crate::events::NewEvent;
use crate::row::{EVENT_COLUMNS, EVENT_TABLES, event};
use crate::tx::all;
use crate::{Result, Snapshot, Store, WriteTx};
use dissensus_domain::{
    AnnotatorId, Event, EventId, EventKind, FIRST_OCCASION, GuidelineId, LabelSource, MarkKind, Marks, Note,
    QuestionId, TextId, current_answer, marks,
};
use rusqlite::Connection;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMark {
    pub annotator: AnnotatorId,
    pub question: QuestionId,
    pub text: TextId,
    /// Skip, flag, ...
    pub kind: MarkKind,
    /// Current time, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub source: LabelSource,
    /// A note given with the mark.
    pub note: Note,
    /// The version of the guideline that the annotator has on screen.
    pub guideline: Option<GuidelineId>,
}

impl WriteTx<'_> {
    /// Appends a mark.
    ///
    /// # Errors
    /// The question, text or annotator is not in the project.
    pub fn add_mark(&mut self, new: &NewMark) -> Result<EventId> {
        self.add_mark_in(new, FIRST_OCCASION)
    }

    /// Like [`WriteTx::add_mark`], in an annotation round.
    pub fn add_mark_in(&mut self, new: &NewMark, occasion: u16) -> Result<EventId> {
        // A mark one millisecond after an answer would count as given with it, and the clock may stand
        // still: see `dissensus_domain::current_note`.
        self.mark_after(2, new, occasion)
    }

    /// Appends the mark that clears the note with an answer that was appended just now.
    pub(crate) fn add_mark_of_answer(&mut self, new: &NewMark, occasion: u16) -> Result<EventId> {
        self.mark_after(1, new, occasion)
    }

    fn mark_after(&mut self, gap_ms: i64, new: &NewMark, occasion: u16) -> Result<EventId> {
        let NewMark { annotator, question, text, kind, at_ms, source, ref note, guideline } = *new;
        let at_ms = self.time_with_gap(gap_ms, at_ms, source, (question, text, annotator, occasion))?;
        let kind = EventKind::Mark(kind);
        self.append_event(&NewEvent {
            question,
            text,
            annotator,
            occasion,
            at_ms,
            source,
            kind: &kind,
            note,
            guideline,
            wording: None,
        })
    }
}

/// The current marks and notes of all annotators, by text, then annotator.
pub(crate) fn all_marks(c: &Connection, question: QuestionId) -> rusqlite::Result<Vec<Marked>> {
    let sql = format!(
        "SELECT {EVENT_COLUMNS} FROM (
             SELECT DISTINCT annotator, text FROM events WHERE question = ?1 AND occasion = 1
             AND (kind <> 'answer' AND kind <> 'retraction' OR note IS NOT NULL OR reasons IS NOT NULL OR confidence IS NOT NULL)
         ) AS m CROSS JOIN {EVENT_TABLES}
         WHERE e.annotator = m.annotator AND e.question = ?1 AND e.text = m.text AND e.occasion = 1
         ORDER BY e.text, e.annotator, e.id"
    );
    let found: Vec<Event> = all(c, &sql, [question.0], event)?;
    let marked = found.chunk_by(|a, b| (a.text, a.annotator) == (b.text, b.annotator)).filter_map(|events| {
        let first = events.first()?;
        let marks = marks(events);
        let any = marks.skipped || marks.flagged || !marks.note.is_empty();
        any.then(|| Marked {
            text: first.text,
            annotator: first.annotator,
            at_ms: events
                .iter()
                .filter(|e| e.retracts().is_none())
                .map(|e| e.at_ms)
                .max()
                .unwrap_or(first.at_ms),
            current: current_answer(events).cloned(),
            marks,
        })
    });
    Ok(marked.collect())
}

/// The marks and note of one annotator on a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    pub text: TextId,
    pub annotator: AnnotatorId,
    /// Time of the last change, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// The current answer, if any.
    pub current: Option<Event>,
    /// The marks in effect.
    pub marks: Marks,
}

impl Snapshot<'_> {
    /// Like [`Store::all_marks`], from the snapshot.
    pub fn all_marks(&self, question: QuestionId) -> Result<Vec<Marked>> {
        self.read(|c| all_marks(c, question))
    }
}

impl Store {
    /// The current marks and notes of all annotators, by text, then annotator. Texts whose marks
    /// were all cancelled are omitted.
    pub fn all_marks(&self, question: QuestionId) -> Result<Vec<Marked>> {
        self.read("reading marks and notes", |c| all_marks(c, question))
    }

    /// Appends a mark; it is on disk when this returns.
    ///
    /// # Errors
    /// Like [`WriteTx::add_mark`].
    pub fn mark(&self, new: &NewMark) -> Result<EventId> {
        let new = new.clone();
        self.write(move |tx| tx.add_mark(&new))
    }

    /// The current marks on every text that the annotator ever marked or gave a note on.
    pub fn marks(&self, annotator: AnnotatorId, question: QuestionId) -> Result<BTreeMap<TextId, Marks>> {
        let mut by_text: BTreeMap<TextId, Vec<Event>> = BTreeMap::new();
        for event in self.events_of(annotator, question)? {
            by_text.entry(event.text).or_default().push(event);
        }
        by_text.retain(|_, events| {
            events.iter().any(|e| matches!(e.kind, EventKind::Mark(_)) || !e.note.is_empty())
        });
        Ok(by_text.into_iter().map(|(text, events)| (text, marks(&events))).collect())
    }
}
