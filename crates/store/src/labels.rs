//! Labels: appending answers, taking them back, and which of them are current.

use crate::NewMark;
use crate::error::is_constraint;
use crate::events::{Appended, NewEvent, answer_columns};
use crate::places::Places;
use crate::row::{answer, reasons_column};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    AnnotatorId, Answer, CurrentLabel, EventId, EventKind, GuidelineId, LabelSource, MarkKind, QuestionId,
    Remark, Scale, TextId, remark,
};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};
use std::collections::HashMap;

/// A label to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLabel {
    /// The question answered.
    pub question: QuestionId,
    /// The text judged.
    pub text: TextId,
    /// Who judged.
    pub annotator: AnnotatorId,
    /// The answer.
    pub answer: Answer,
    /// When, in milliseconds since 1970-01-01 UTC. What is given in the window or by the command never gets an earlier time than
    /// what is there already of the same annotator, question and text, whatever the clock says.
    pub at_ms: i64,
    /// How long the annotator looked at the text, in milliseconds, where it is known.
    pub duration_ms: Option<u32>,
    /// Where it came from.
    pub source: LabelSource,
}

/// What comes with an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerDetails {
    /// What the annotator says beside it.
    pub remark: Remark,
    /// The version of the guideline that the annotator has on screen.
    pub guideline: Option<GuidelineId>,
    /// An empty remark takes back what the annotator said of the text before; otherwise that stays.
    pub takes_back: bool,
}

/// Appends labels within a transaction; see [`WriteTx::label_appender`].
pub struct LabelAppender<'a> {
    tx: WriteTx<'a>,
    event: CachedStatement<'a>,
    current: CachedStatement<'a>,
    new_current: CachedStatement<'a>,
    scales: HashMap<QuestionId, Scale>,
    places: Places,
}

impl LabelAppender<'_> {
    /// Appends a label. It replaces the current one, unless its time is earlier: then the current one stays.
    ///
    /// # Errors
    /// As [`WriteTx::add_label`].
    pub fn append(&mut self, new: &NewLabel) -> Result<EventId> {
        self.append_over(new, &AnswerDetails::default(), EventId(u32::MAX))
    }

    /// As [`LabelAppender::append`], for a label that its file puts behind the one before it, though times do not: it also
    /// replaces a current one with a later time, if that was appended after the event `before`.
    ///
    /// # Errors
    /// As [`WriteTx::add_label`].
    pub fn append_following(
        &mut self,
        new: &NewLabel,
        details: &AnswerDetails,
        before: EventId,
    ) -> Result<EventId> {
        self.append_over(new, details, before)
    }

    /// As [`LabelAppender::append`], with what comes with it.
    ///
    /// # Errors
    /// As [`WriteTx::add_label`], and a version of the guideline that is not in the project.
    pub fn append_with(&mut self, new: &NewLabel, details: &AnswerDetails) -> Result<EventId> {
        self.append_over(new, details, EventId(u32::MAX))
    }

    fn append_over(&mut self, new: &NewLabel, details: &AnswerDetails, before: EventId) -> Result<EventId> {
        self.check(new)?;
        let (reasons, guideline) =
            (reasons_column(&details.remark)?, self.tx.guideline_row(details.guideline)?);
        let key = (new.question.0, new.text.0, new.annotator.0);
        let explain = |e| StoreError::explain(self.tx.path, "appending a label", e);
        let at_ms = self.tx.time_of_new(new.at_ms, new.source, new.question, new.text, new.annotator)?;
        let (level, content) = answer_columns(&self.places.stored(new.question, &new.answer))?;
        let place = self.tx.next_place()?;
        // Where none stands this one is current, whatever was taken back before. Nearly all labels of an import come here, so
        // this is tried instead of looked up.
        let row = (key.0, key.1, key.2, place.event, level, &content);
        let alone = self.new_current.execute(row).map_err(explain)? == 1;
        let current: Option<(u32, i64)> = match alone {
            true => None,
            false => {
                self.current.query_row(key, |r| Ok((r.get(0)?, r.get(1)?))).optional().map_err(explain)?
            }
        };
        let replaces = current.and_then(|(id, at)| (at_ms >= at || id > before.0).then_some(id));
        // What was read from a file or made up was given elsewhere: under which wording is not known.
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
            &details.remark.note,
            &reasons,
            details.remark.confidence,
            guideline,
            wording,
        ]);
        if let Err(e) = inserted {
            if alone {
                self.tx.run(NOT_CURRENT, key).map_err(explain)?; // the transaction may go on without this label
            }
            let wrong =
                is_constraint(&e).then(|| self.tx.must_exist(new.question, new.text, new.annotator).err());
            return Err(wrong.flatten().unwrap_or_else(|| self.tx.explain("appending a label", e)));
        }
        let id = self.tx.appended_at(place);
        if !alone {
            self.tx.refresh_current((new.question, new.text, new.annotator))?;
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
        fits.map_err(|source| StoreError::OffScale { question: new.question, source })?;
        self.tx.spans_within(new.question, new.text, &new.answer)
    }
}

impl WriteTx<'_> {
    /// Makes sure that the spans of an answer lie within its text; a text that is not there is not told here.
    pub(crate) fn spans_within(&self, question: QuestionId, text: TextId, answer: &Answer) -> Result<()> {
        let Answer::Spans(spans) = answer else { return Ok(()) };
        let body: Option<String> =
            self.first("SELECT body FROM texts WHERE id = ?1", [text.0], |r| r.get(0))?;
        let within = body.map_or(Ok(()), |body| spans.check_within(&body));
        within.map_err(|source| StoreError::OffScale { question, source })
    }
}

/// As every event is inserted, but for what is the same in all answers.
const INSERT_ANSWER: &str =
    "INSERT INTO events (id, copy, sequence, kind, question, text, annotator, at_ms, duration_ms, source, level, content, replaces,
     note, reasons, confidence, guideline, wording)
     VALUES (?1, ?2, ?3, 'answer', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";

const NOT_CURRENT: &str = "DELETE FROM current_answers WHERE question = ?1 AND text = ?2 AND annotator = ?3";

fn current(row: &Row<'_>) -> rusqlite::Result<CurrentLabel> {
    Ok(CurrentLabel {
        id: EventId(row.get(0)?),
        text: TextId(row.get(1)?),
        annotator: AnnotatorId(row.get(2)?),
        answer: answer(row, 3)?,
    })
}

/// As [`current`], with levels by their places, and of an option of a multi-label question whether the answer has it.
pub(crate) fn current_of(
    c: &Connection,
    question: QuestionId,
) -> rusqlite::Result<impl Fn(&Row<'_>) -> rusqlite::Result<CurrentLabel> + use<>> {
    let places = Places::read(c)?;
    Ok(move |row: &Row<'_>| Ok(places.label(question, current(row)?)))
}

fn one_current(
    c: &Connection,
    question: QuestionId,
    text: TextId,
    annotator: AnnotatorId,
) -> rusqlite::Result<Option<CurrentLabel>> {
    first(c, ONE_CURRENT, (question.row().0, text.0, annotator.0), current_of(c, question)?)
}

const ONE_CURRENT: &str = "SELECT event, text, annotator, level, content FROM current_answers
     WHERE question = ?1 AND text = ?2 AND annotator = ?3";

impl<'a> WriteTx<'a> {
    /// Appends a label.
    ///
    /// # Errors
    /// The question, text or annotator is not in the project, or the answer is not on the question's scale.
    pub fn add_label(&mut self, new: &NewLabel) -> Result<EventId> {
        self.label_appender()?.append(new)
    }

    /// What appends many labels: statements and scales are looked up once.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn label_appender(&self) -> Result<LabelAppender<'a>> {
        let prepare = |sql| self.conn.prepare_cached(sql).map_err(|e| self.explain("appending a label", e));
        Ok(LabelAppender {
            tx: WriteTx { conn: self.conn, path: self.path, appending: self.appending },
            event: prepare(INSERT_ANSWER)?,
            current: prepare(
                "SELECT c.event, e.at_ms FROM current_answers AS c CROSS JOIN events AS e ON e.id = c.event
                 WHERE c.question = ?1 AND c.text = ?2 AND c.annotator = ?3",
            )?,
            new_current: prepare(
                "INSERT INTO current_answers (question, text, annotator, event, level, content)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            )?,
            scales: HashMap::new(),
            places: self.places()?,
        })
    }

    /// Takes an answer back by appending a retraction. What the answer replaced, if that stands, is current again.
    ///
    /// # Errors
    /// There is no such event, it is no answer, or it was taken back already.
    pub fn retract(&mut self, id: EventId, at_ms: i64, source: LabelSource) -> Result<EventId> {
        let event =
            self.event(id)?.ok_or_else(|| StoreError::Unknown { what: "label", name: id.0.to_string() })?;
        if event.answer().is_none() {
            return Err(StoreError::NotALabel(id));
        }
        let (question, text, annotator) = (event.question, event.text, event.annotator);
        if self.events_on(question, text, annotator)?.iter().any(|e| e.retracts() == Some(id)) {
            return Err(StoreError::AlreadyRetracted(id));
        }
        let at_ms = self.time_of_new(at_ms, source, question, text, annotator)?;
        let (kind, none) = (EventKind::Retraction { of: id }, Remark::default());
        let new = NewEvent {
            question,
            text,
            annotator,
            at_ms,
            source,
            kind: &kind,
            remark: &none,
            guideline: None,
            wording: None,
        };
        let retraction = self.append_event(&new)?;
        self.refresh_current((question, text, annotator))?;
        Ok(retraction)
    }

    /// The current label of one annotator for one question on one text.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn current_label(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<Option<CurrentLabel>> {
        one_current(self.conn, question, text, annotator).map_err(|e| self.explain("reading a label", e))
    }
}

/// Of current answers those that are on the scale: [`Answer::CannotSay`] is written so.
pub(crate) const SAID: &str = "content IS NOT '{\"kind\":\"cannot-say\"}'";

/// The current labels of everyone, by text, then annotator; that somebody cannot say is none.
pub(crate) fn current_in(c: &Connection, question: QuestionId) -> rusqlite::Result<Vec<CurrentLabel>> {
    let sql = format!(
        "SELECT event, text, annotator, level, content FROM current_answers
         WHERE question = ?1 AND {SAID} ORDER BY text, annotator"
    );
    all(c, &sql, [question.row().0], current_of(c, question)?)
}

impl Store {
    /// Appends a label; it is on disk when this returns.
    ///
    /// # Errors
    /// As [`WriteTx::add_label`], or what the disk says. Nothing is kept then.
    pub fn append_label(&self, new: &NewLabel) -> Result<Appended> {
        let new = new.clone();
        self.append(move |tx| tx.add_label(&new))
    }

    /// As [`Store::append_label`], with what comes with it.
    ///
    /// # Errors
    /// As there, and a version of the guideline that is not in the project.
    pub fn append_label_with(&self, new: &NewLabel, details: &AnswerDetails) -> Result<Appended> {
        let (new, details) = (new.clone(), details.clone());
        self.append(move |tx| {
            let id = tx.label_appender()?.append_with(&new, &details)?;
            let (question, text, annotator) = (new.question, new.text, new.annotator);
            let holds =
                |events: &[dissensus_domain::Event]| remark(events).is_some_and(|said| !said.is_empty());
            if details.takes_back
                && details.remark.is_empty()
                && holds(&tx.events_on(question, text, annotator)?)
            {
                tx.add_mark(&NewMark {
                    annotator,
                    question,
                    text,
                    kind: MarkKind::Note,
                    at_ms: new.at_ms,
                    source: new.source,
                    remark: Remark::default(),
                    guideline: details.guideline,
                })?;
            }
            Ok(id)
        })
    }

    /// Takes an answer back; the retraction is on disk when this returns.
    ///
    /// # Errors
    /// As [`WriteTx::retract`], or what the disk says. Nothing is kept then.
    pub fn retract(&self, id: EventId, at_ms: i64, source: LabelSource) -> Result<Appended> {
        self.append(move |tx| tx.retract(id, at_ms, source))
    }

    /// The current label of one annotator for one question on one text.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn current_label(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<Option<CurrentLabel>> {
        self.read("reading a label", |c| one_current(c, question, text, annotator))
    }

    /// The current labels of everyone, by text, then annotator; that somebody cannot say is none.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn current_labels(&self, question: QuestionId) -> Result<Vec<CurrentLabel>> {
        self.read("reading the labels", |c| current_in(c, question))
    }

    /// Who cannot say of which text, by text, then annotator: these are answers, and no labels.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn cannot_say(&self, question: QuestionId) -> Result<Vec<(TextId, AnnotatorId)>> {
        self.read("reading who cannot say", |c| {
            let sql = format!(
                "SELECT text, annotator FROM current_answers WHERE question = ?1 AND NOT ({SAID}) ORDER BY text, annotator"
            );
            all(c, &sql, [question.row().0], |r| Ok((TextId(r.get(0)?), AnnotatorId(r.get(1)?))))
        })
    }

    /// The current labels on one text, by annotator.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn current_labels_on(&self, text: TextId, question: QuestionId) -> Result<Vec<CurrentLabel>> {
        self.read("reading the labels of a text", |c| {
            let sql = format!(
                "SELECT event, text, annotator, level, content FROM current_answers
                 WHERE question = ?1 AND text = ?2 AND {SAID} ORDER BY annotator"
            );
            all(c, &sql, (question.row().0, text.0), current_of(c, question)?)
        })
    }

    /// The current labels of one annotator, by text.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn current_labels_of(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
    ) -> Result<Vec<CurrentLabel>> {
        self.read("reading an annotator's labels", |c| {
            // Through the index of that annotator's events; the table itself would be walked over everyone's answers.
            let sql = format!(
                "SELECT a.event, a.text, a.annotator, a.level, a.content
                 FROM events AS e INDEXED BY events_by_annotator CROSS JOIN current_answers AS a
                 ON a.question = e.question AND a.text = e.text AND a.annotator = e.annotator AND a.event = e.id
                 WHERE e.annotator = ?1 AND e.question = ?2 AND a.{SAID} ORDER BY e.text"
            );
            all(c, &sql, (annotator.0, question.row().0), current_of(c, question)?)
        })
    }
}
