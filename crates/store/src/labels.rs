//! Labels: appending and retracting answers, and reading current labels.

use crate::NewMark;
use crate::current::NOT_CURRENT;
use crate::error::is_constraint;
use crate::events::{Appended, NewEvent, answer_columns};
use crate::row::{answer, reasons_column};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    AnnotatorId, Answer, AnswerError, CurrentLabel, Event, EventId, EventKind, FIRST_OCCASION, GuidelineId,
    LabelSource, MarkKind, Note, QuestionId, Scale, TextId, current_note,
};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLabel {
    pub question: QuestionId,
    pub text: TextId,
    pub annotator: AnnotatorId,
    pub answer: Answer,
    /// Time in milliseconds since 1970-01-01 UTC. Answers given in the window or by the command
    /// never get an earlier time than existing events of the same annotator, question and text,
    /// whatever the clock shows.
    pub at_ms: i64,
    /// How long the annotator viewed the text, in milliseconds, if known.
    pub duration_ms: Option<u32>,
    pub source: LabelSource,
}

/// Additional data of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerDetails {
    /// The annotator's note on the answer.
    pub note: Note,
    /// The version of the guideline that the annotator has on screen.
    pub guideline: Option<GuidelineId>,
    /// Whether an empty note clears the annotator's previous note on the text; otherwise that is
    /// unchanged.
    pub removes_note: bool,
}

/// Appends labels within a transaction; see [`WriteTx::label_appender`].
pub struct LabelAppender<'a> {
    tx: WriteTx<'a>,
    event: CachedStatement<'a>,
    current: CachedStatement<'a>,
    new_current: CachedStatement<'a>,
    scales: HashMap<QuestionId, Scale>,
}

impl LabelAppender<'_> {
    /// Appends a label. It becomes current, unless the current label has a later time.
    ///
    /// # Errors
    /// Like [`WriteTx::add_label`].
    pub fn append(&mut self, new: &NewLabel) -> Result<EventId> {
        self.append_over(new, FIRST_OCCASION, &AnswerDetails::default(), EventId(u32::MAX))
    }

    /// Like [`LabelAppender::append`], for a label that follows the previous one in its file even
    /// if its time does not: it also replaces a current label with a later time if that was
    /// appended after the event `before`.
    ///
    /// # Errors
    /// Like [`WriteTx::add_label`].
    pub fn append_following(
        &mut self,
        new: &NewLabel,
        details: &AnswerDetails,
        before: EventId,
    ) -> Result<EventId> {
        self.append_over(new, FIRST_OCCASION, details, before)
    }

    /// Like [`LabelAppender::append`], with additional data.
    ///
    /// # Errors
    /// Like [`WriteTx::add_label`], or the guideline version is not in the project.
    pub fn append_with(&mut self, new: &NewLabel, details: &AnswerDetails) -> Result<EventId> {
        self.append_over(new, FIRST_OCCASION, details, EventId(u32::MAX))
    }

    /// Like [`LabelAppender::append_with`], in an annotation round.
    pub(crate) fn append_in(
        &mut self,
        new: &NewLabel,
        occasion: u16,
        details: &AnswerDetails,
    ) -> Result<EventId> {
        self.append_over(new, occasion, details, EventId(u32::MAX))
    }

    fn append_over(
        &mut self,
        new: &NewLabel,
        occasion: u16,
        details: &AnswerDetails,
        before: EventId,
    ) -> Result<EventId> {
        self.check(new)?;
        let (reasons, guideline) =
            (reasons_column(&details.note)?, self.tx.guideline_row(details.guideline)?);
        let of = (new.question, new.text, new.annotator, occasion);
        let key = (new.question.0, new.text.0, new.annotator.0, occasion);
        let explain = |e| StoreError::explain(self.tx.path, "appending a label", e);
        let at_ms = self.tx.time_of_new(new.at_ms, new.source, of)?;
        let (level, content) = answer_columns(&new.answer)?;
        let place = self.tx.next_place()?;
        // If there is no current label, this one becomes current, whatever was retracted before.
        // This is the case for nearly all labels of an import, so it is tried without a lookup.
        let row = (key.0, key.1, key.2, occasion, place.event, level, &content);
        let alone = self.new_current.execute(row).map_err(explain)? == 1;
        let current: Option<(u32, i64)> = match alone {
            true => None,
            false => {
                self.current.query_row(key, |r| Ok((r.get(0)?, r.get(1)?))).optional().map_err(explain)?
            }
        };
        let replaces = current.and_then(|(id, at)| (at_ms >= at || id > before.0).then_some(id));
        // Imported and simulated answers were given elsewhere, so their wording is unknown.
        let wording = match new.source.is_given() {
            true => self.tx.current_wording(new.question)?,
            false => None,
        };
        let inserted = self.event.execute(params![
            place.event,
            place.copy,
            place.sequence,
            key.0,
            key.1,
            key.2,
            at_ms,
            new.duration_ms,
            new.source.name(),
            level,
            &content,
            replaces,
            &details.note.note,
            &reasons,
            details.note.confidence,
            guideline,
            wording,
            occasion,
        ]);
        if let Err(e) = inserted {
            if alone {
                self.tx.run(NOT_CURRENT, key).map_err(explain)?; // the transaction may continue without this label
            }
            let wrong =
                is_constraint(&e).then(|| self.tx.must_exist(new.question, new.text, new.annotator).err());
            return Err(wrong.flatten().unwrap_or_else(|| self.tx.explain("appending a label", e)));
        }
        let id = self.tx.appended_at(place);
        if !alone {
            self.tx.refresh_current(of)?;
        }
        Ok(id)
    }

    fn check(&mut self, new: &NewLabel) -> Result<()> {
        if !self.scales.contains_key(&new.question) {
            let question = self
                .tx
                .question(new.question)?
                .ok_or_else(|| StoreError::Unknown { what: "question", name: new.question.0.to_string() })?;
            self.scales.insert(new.question, question.scale);
        }
        let fits = self.scales.get(&new.question).map_or(Ok(()), |scale| new.answer.check(scale));
        fits.map_err(|source| self.tx.off_scale(new.question, source))?;
        self.tx.spans_within(new.question, new.text, &new.answer)
    }
}

impl WriteTx<'_> {
    /// Checks that the spans of an answer are inside its text. A missing text is not an error here.
    pub(crate) fn spans_within(&self, question: QuestionId, text: TextId, answer: &Answer) -> Result<()> {
        let Answer::Spans(spans) = answer else { return Ok(()) };
        let body: Option<String> =
            self.first("SELECT body FROM texts WHERE id = ?1", [text.0], |r| r.get(0))?;
        let within = body.map_or(Ok(()), |body| spans.check_within(&body));
        within.map_err(|source| self.off_scale(question, source))
    }

    /// The error of an answer that does not fit its question, with the question's name.
    pub(crate) fn off_scale(&self, question: QuestionId, source: AnswerError) -> StoreError {
        let asked = self.question(question).ok().flatten();
        let question = asked.map_or_else(|| question.0.to_string(), |asked| asked.name);
        StoreError::OffScale { question, source }
    }
}

/// Inserts an event, with constants for what is the same in all answers.
const INSERT_ANSWER: &str =
    "INSERT INTO events (id, copy, sequence, kind, question, text, annotator, at_ms, duration_ms, source, level, content, replaces,
     note, reasons, confidence, guideline, wording, occasion)
     VALUES (?1, ?2, ?3, 'answer', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

fn current(row: &Row<'_>) -> rusqlite::Result<CurrentLabel> {
    Ok(CurrentLabel {
        id: EventId(row.get(0)?),
        text: TextId(row.get(1)?),
        annotator: AnnotatorId(row.get(2)?),
        answer: answer(row, 3)?,
    })
}

/// Like [`current`], for an option of a multi-label question with whether the answer includes it.
pub(crate) fn current_of(question: QuestionId) -> impl Fn(&Row<'_>) -> rusqlite::Result<CurrentLabel> {
    move |row| {
        let label = current(row)?;
        Ok(CurrentLabel { answer: label.answer.to(question), ..label })
    }
}

fn one_current(
    c: &Connection,
    question: QuestionId,
    text: TextId,
    annotator: AnnotatorId,
) -> rusqlite::Result<Option<CurrentLabel>> {
    first(c, ONE_CURRENT, (question.row().0, text.0, annotator.0), current_of(question))
}

const ONE_CURRENT: &str = "SELECT event, text, annotator, level, content FROM current_answers
     WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = 1";

impl<'a> WriteTx<'a> {
    /// Appends a label.
    ///
    /// # Errors
    /// The question, text or annotator is not in the project, or the answer is not on the
    /// question's scale.
    pub fn add_label(&mut self, new: &NewLabel) -> Result<EventId> {
        self.label_appender()?.append(new)
    }

    /// Creates an appender for many labels, which looks up statements and scales only once.
    pub fn label_appender(&self) -> Result<LabelAppender<'a>> {
        let prepare = |sql| self.conn.prepare_cached(sql).map_err(|e| self.explain("appending a label", e));
        Ok(LabelAppender {
            tx: WriteTx { conn: self.conn, path: self.path, appending: self.appending },
            event: prepare(INSERT_ANSWER)?,
            current: prepare(
                "SELECT c.event, e.at_ms FROM current_answers AS c CROSS JOIN events AS e ON e.id = c.event
                 WHERE c.question = ?1 AND c.text = ?2 AND c.annotator = ?3 AND c.occasion = ?4",
            )?,
            new_current: prepare(
                "INSERT INTO current_answers (question, text, annotator, occasion, event, level, content)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
            )?,
            scales: HashMap::new(),
        })
    }

    /// Retracts an answer by appending a retraction. The answer that it replaced becomes current
    /// again, unless that was retracted too.
    ///
    /// # Errors
    /// There is no such event, it is not an answer, or it was retracted before.
    pub fn retract(&mut self, id: EventId, at_ms: i64, source: LabelSource) -> Result<EventId> {
        let event =
            self.event(id)?.ok_or_else(|| StoreError::Unknown { what: "label", name: id.0.to_string() })?;
        if event.answer().is_none() {
            return Err(StoreError::NotALabel(id.0));
        }
        let Event { question, text, annotator, occasion, .. } = event;
        let key = (question, text, annotator, occasion);
        if self.events_of_key(key)?.iter().any(|e| e.retracts() == Some(id)) {
            return Err(StoreError::AlreadyRetracted(id.0));
        }
        let at_ms = self.time_of_new(at_ms, source, key)?;
        let (kind, none) = (EventKind::Retraction { of: id }, Note::default());
        let new = NewEvent {
            question,
            text,
            annotator,
            occasion,
            at_ms,
            source,
            kind: &kind,
            note: &none,
            guideline: None,
            wording: None,
        };
        let retraction = self.append_event(&new)?;
        self.refresh_current(key)?;
        Ok(retraction)
    }

    /// Appends an answer in an annotation round. An empty note clears the previous one if the details
    /// say so.
    ///
    /// # Errors
    /// Like [`WriteTx::add_label`], or the guideline version is not in the project.
    pub fn give(&mut self, new: &NewLabel, occasion: u16, details: &AnswerDetails) -> Result<EventId> {
        let id = self.label_appender()?.append_in(new, occasion, details)?;
        let NewLabel { question, text, annotator, at_ms, source, .. } = *new;
        let (kind, guideline) = (MarkKind::Note, details.guideline);
        if details.removes_note
            && details.note.is_empty()
            && current_note(&self.events_of_key((question, text, annotator, occasion))?)
                .is_some_and(|note| !note.is_empty())
        {
            let note = Note::default();
            let cleared = NewMark { annotator, question, text, kind, at_ms, source, note, guideline };
            self.add_mark_of_answer(&cleared, occasion)?;
        }
        Ok(id)
    }

    /// The current label of one annotator for one question on one text.
    pub fn current_label(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<Option<CurrentLabel>> {
        one_current(self.conn, question, text, annotator).map_err(|e| self.explain("reading a label", e))
    }
}

/// SQL condition that excludes [`Answer::CannotSay`], in the form in which it is stored.
pub(crate) const IS_LABEL: &str = "content IS NOT '{\"kind\":\"cannot-say\"}'";

/// All current labels, by text, then annotator. "Cannot say" answers are excluded.
pub(crate) fn current_in(c: &Connection, question: QuestionId) -> rusqlite::Result<Vec<CurrentLabel>> {
    let sql = format!(
        "SELECT event, text, annotator, level, content FROM current_answers
         WHERE question = ?1 AND occasion = 1 AND {IS_LABEL} ORDER BY text, annotator"
    );
    all(c, &sql, [question.row().0], current_of(question))
}

impl Store {
    /// Appends a label; it is on disk when this returns.
    ///
    /// # Errors
    /// Like [`WriteTx::add_label`], or an I/O error. Nothing is written then.
    pub fn append_label(&self, new: &NewLabel) -> Result<Appended> {
        let new = new.clone();
        self.append(move |tx| tx.add_label(&new))
    }

    /// Like [`Store::append_label`], with additional data.
    ///
    /// # Errors
    /// Like [`Store::append_label`], or the guideline version is not in the project.
    pub fn append_label_with(&self, new: &NewLabel, details: &AnswerDetails) -> Result<Appended> {
        let (new, details) = (new.clone(), details.clone());
        self.append(move |tx| tx.give(&new, FIRST_OCCASION, &details))
    }

    /// Retracts an answer; the retraction is on disk when this returns.
    ///
    /// # Errors
    /// Like [`WriteTx::retract`], or an I/O error. Nothing is written then.
    pub fn retract(&self, id: EventId, at_ms: i64, source: LabelSource) -> Result<Appended> {
        self.append(move |tx| tx.retract(id, at_ms, source))
    }

    /// The current label of one annotator for one question on one text.
    pub fn current_label(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<Option<CurrentLabel>> {
        self.read("reading a label", |c| one_current(c, question, text, annotator))
    }

    /// All current labels, by text, then annotator. "Cannot say" answers are excluded.
    pub fn current_labels(&self, question: QuestionId) -> Result<Vec<CurrentLabel>> {
        self.read("reading the labels", |c| current_in(c, question))
    }

    /// The "cannot say" answers, by text, then annotator. They are answers, but not labels.
    pub fn cannot_say(&self, question: QuestionId) -> Result<Vec<(TextId, AnnotatorId)>> {
        self.read("reading who cannot say", |c| {
            let sql = format!(
                "SELECT text, annotator FROM current_answers WHERE question = ?1 AND occasion = 1 AND NOT ({IS_LABEL}) ORDER BY text, annotator"
            );
            all(c, &sql, [question.row().0], |r| Ok((TextId(r.get(0)?), AnnotatorId(r.get(1)?))))
        })
    }

    /// The current labels on one text, by annotator.
    pub fn current_labels_on(&self, text: TextId, question: QuestionId) -> Result<Vec<CurrentLabel>> {
        self.read("reading the labels of a text", |c| {
            let sql = format!(
                "SELECT event, text, annotator, level, content FROM current_answers
                 WHERE question = ?1 AND occasion = 1 AND text = ?2 AND {IS_LABEL} ORDER BY annotator"
            );
            all(c, &sql, (question.row().0, text.0), current_of(question))
        })
    }

    /// The current labels of one annotator, by text.
    pub fn current_labels_of(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
    ) -> Result<Vec<CurrentLabel>> {
        self.read("reading an annotator's labels", |c| {
            // Uses the index of this annotator's events; without it, the answers of all annotators
            // would be scanned.
            let sql = format!(
                "SELECT a.event, a.text, a.annotator, a.level, a.content
                 FROM events AS e INDEXED BY events_by_annotator CROSS JOIN current_answers AS a
                 ON a.question = e.question AND a.text = e.text AND a.annotator = e.annotator AND a.occasion = 1 AND a.event = e.id
                 WHERE e.annotator = ?1 AND e.question = ?2 AND a.{IS_LABEL} ORDER BY e.text"
            );
            all(c, &sql, (annotator.0, question.row().0), current_of(question))
        })
    }
}
