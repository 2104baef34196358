//! Re-annotations: answers of the same annotator to the same text in a later annotation round. They
//! are events of a round after the first one, and no labels.

use crate::events::Key;
use crate::labels::{AnswerDetails, NewLabel};
use crate::marks::NewMark;
use crate::row::{EVENT_COLUMNS, EVENT_TABLES, event};
use crate::tx::all;
use crate::{Result, Snapshot, Store, StoreError, WriteTx};
use dissensus_domain::{
    AnnotatorId, Answer, Event, EventKind, FIRST_OCCASION, LabelSource, MarkKind, QuestionId, TextId,
    WordingId, current_answer, current_note, unretracted_answers,
};
use rusqlite::Connection;

/// An answer of a later annotation round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    pub question: QuestionId,
    pub text: TextId,
    pub annotator: AnnotatorId,
    /// Annotation round, from 2.
    pub occasion: u16,
    pub answer: Answer,
    /// Time of the answer, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub source: LabelSource,
    /// The note in effect and the guideline version.
    pub details: AnswerDetails,
    /// The wording of the question that was on screen, if known. Of a new answer it is found.
    pub wording: Option<WordingId>,
}

/// The result of adding a re-annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatAdded {
    /// It was new.
    New,
    /// It existed. If added without a time: it is the one that counts for its annotation round.
    Known,
    /// It was added without a time and existed, but another answer counts for its annotation round
    /// by now.
    Outdated,
}

impl Repeat {
    fn key(&self) -> Key {
        (self.question, self.text, self.annotator, self.occasion)
    }

    fn label(&self) -> NewLabel {
        NewLabel {
            question: self.question,
            text: self.text,
            annotator: self.annotator,
            answer: self.answer.clone(),
            at_ms: self.at_ms,
            duration_ms: None,
            source: self.source,
        }
    }

    /// The answer that counts after the events of one annotation round.
    fn from_events(question: QuestionId, events: &[Event]) -> Option<Self> {
        let current = current_answer(events)?;
        let note = current_note(events).cloned().unwrap_or_default();
        Some(Self {
            question,
            text: current.text,
            annotator: current.annotator,
            occasion: current.occasion,
            answer: current.answer()?.clone().to(question),
            at_ms: current.at_ms,
            source: current.source,
            details: AnswerDetails { note, guideline: current.guideline, removes_note: false },
            wording: current.wording,
        })
    }
}

/// The events of the later annotation rounds of a question, on one text or on all texts, by text,
/// annotator and round.
fn later_events(c: &Connection, question: QuestionId, text: Option<TextId>) -> rusqlite::Result<Vec<Event>> {
    let sql = format!(
        "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES}
         WHERE e.occasion > 1 AND e.question = ?1 AND (?2 IS NULL OR e.text = ?2)
         ORDER BY e.text, e.annotator, e.occasion, e.id"
    );
    all(c, &sql, (question.row().0, text.map(|text| text.0)), event)
}

/// The events of each text, annotator and annotation round.
fn by_round(events: &[Event]) -> impl Iterator<Item = &[Event]> {
    let of = |event: &Event| (event.text, event.annotator, event.occasion);
    events.chunk_by(move |a, b| of(a) == of(b))
}

/// The re-annotations of a question that count, on one text or on all texts.
fn counting(c: &Connection, question: QuestionId, text: Option<TextId>) -> rusqlite::Result<Vec<Repeat>> {
    let events = later_events(c, question, text)?;
    Ok(by_round(&events).filter_map(|round| Repeat::from_events(question, round)).collect())
}

impl WriteTx<'_> {
    /// Adds a re-annotation of a file, unless it exists. If `timed`, it exists if there is an equal
    /// answer with the same time. Otherwise it exists if there is an equal answer with any time, and a
    /// new one gets a time after the existing ones, so that an answer without a time that was
    /// overridden does not count again. A retracted answer is treated as not existing, and counts
    /// again.
    ///
    /// # Errors
    /// The question, text or annotator is not in the project, the answer is not on the scale, or
    /// the annotation round is the first one.
    pub fn add_repeat(&mut self, new: &Repeat, timed: bool) -> Result<RepeatAdded> {
        is_later(new)?;
        let events = self.events_of_key(new.key())?;
        let unretracted = unretracted_answers(&events);
        let equal = |event: &Event| event.answer() == Some(&new.answer);
        let mut label = new.label();
        let known = match timed {
            true => unretracted.iter().any(|event| event.at_ms == new.at_ms && equal(event)),
            false => current_answer(&events).is_some_and(equal),
        };
        if known {
            self.add_note_of_known(new, &events)?;
            return Ok(RepeatAdded::Known);
        }
        if !timed {
            if unretracted.into_iter().any(equal) {
                return Ok(RepeatAdded::Outdated);
            }
            let newest = events.iter().map(|event| event.at_ms).max();
            label.at_ms = newest.map_or(new.at_ms, |newest| new.at_ms.max(newest.saturating_add(1)));
        }
        self.label_appender()?.append_in(&label, new.occasion, &new.details)?;
        Ok(RepeatAdded::New)
    }

    /// Adds a re-annotation given now. It counts for its annotation round, whatever the clock shows
    /// and whatever was given before, and its note replaces the previous one.
    ///
    /// # Errors
    /// Like [`WriteTx::add_repeat`].
    pub fn give_repeat(&mut self, new: &Repeat) -> Result<()> {
        is_later(new)?;
        let details = AnswerDetails { removes_note: true, ..new.details.clone() };
        self.give(&new.label(), new.occasion, &details).map(drop)
    }

    /// Retracts all re-annotations of a question in one annotation round, or in all rounds with
    /// `None`, including overridden ones, so that none of these takes their place. They remain in
    /// the history. Returns how many counted until now.
    pub fn remove_repeats(
        &mut self,
        question: QuestionId,
        occasion: Option<u16>,
        now_ms: i64,
    ) -> Result<u32> {
        let events = later_events(self.conn, question, None);
        let events = events.map_err(|e| self.explain("taking back repeated answers", e))?;
        let mut counted = 0;
        for round in by_round(&events).filter(|round| occasion.is_none_or(|n| round[0].occasion == n)) {
            let unretracted = unretracted_answers(round);
            counted += u32::from(!unretracted.is_empty());
            for answer in unretracted {
                self.retract(answer.id, now_ms, LabelSource::Command)?;
            }
        }
        Ok(counted)
    }

    /// Adds the note of an answer that exists, if its annotation round never had a note.
    fn add_note_of_known(&mut self, new: &Repeat, events: &[Event]) -> Result<()> {
        let noted = |event: &Event| !event.note.is_empty() || event.kind == EventKind::Mark(MarkKind::Note);
        if new.details.note.is_empty() || events.iter().any(noted) {
            return Ok(());
        }
        let note = NewMark {
            annotator: new.annotator,
            question: new.question,
            text: new.text,
            kind: MarkKind::Note,
            at_ms: new.at_ms,
            source: new.source,
            note: new.details.note.clone(),
            guideline: new.details.guideline,
        };
        self.add_mark_in(&note, new.occasion).map(drop)
    }
}

/// Refuses the first annotation round, whose answers are labels.
fn is_later(new: &Repeat) -> Result<()> {
    if new.occasion > FIRST_OCCASION {
        return Ok(());
    }
    Err(StoreError::Invalid {
        what: format!("annotation round {}", new.occasion),
        why: "re-annotations begin with the second round".to_owned(),
    })
}

impl Store {
    /// The re-annotations that count, by text, annotator and annotation round.
    pub fn repeats(&self, question: QuestionId) -> Result<Vec<Repeat>> {
        self.read("reading repeated answers", |c| counting(c, question, None))
    }

    /// Like [`Store::repeats`], for one text.
    pub fn repeats_on_text(&self, question: QuestionId, text: TextId) -> Result<Vec<Repeat>> {
        self.read("reading repeated answers", |c| counting(c, question, Some(text)))
    }
}

impl Snapshot<'_> {
    /// Like [`Store::repeats`], from the snapshot.
    pub fn repeats(&self, question: QuestionId) -> Result<Vec<Repeat>> {
        self.read(|c| counting(c, question, None))
    }
}
