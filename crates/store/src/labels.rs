//! Labels: appending, taking back, and which of them are current.

use crate::error::is_constraint;
use crate::row::{LABEL_COLUMNS, label_event};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, CurrentLabel, LabelEvent, LabelId, LabelSource, QuestionId, TextId};
use rusqlite::{CachedStatement, Row};
use std::time::{Duration, Instant};

/// A label to append. See [`LabelEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewLabel {
    /// The question answered.
    pub question: QuestionId,
    /// The text judged.
    pub text: TextId,
    /// Who judged.
    pub annotator: AnnotatorId,
    /// Index of the level on the question's scale.
    pub level: u16,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// How long the annotator looked at the text, in milliseconds, where it is known.
    pub duration_ms: Option<u32>,
    /// Where it came from.
    pub source: LabelSource,
}

/// Appends labels within a transaction; see [`WriteTx::label_appender`].
pub struct LabelAppender<'a> {
    tx: WriteTx<'a>,
    statement: CachedStatement<'a>,
}

impl LabelAppender<'_> {
    /// Appends a label.
    ///
    /// # Errors
    /// As [`WriteTx::add_label`].
    pub fn append(&mut self, new: &NewLabel) -> Result<LabelId> {
        let inserted = self.statement.insert((
            new.question.0,
            new.text.0,
            new.annotator.0,
            new.level,
            new.at_ms,
            new.duration_ms,
            new.source.name(),
        ));
        let id = inserted
            .and_then(|row| u32::try_from(row).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, row)));
        id.map(LabelId).map_err(|e| match is_constraint(&e) {
            true => self.tx.what_is_wrong(new, e),
            false => self.tx.explain("appending a label", e),
        })
    }
}

/// An event that is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its row.
    pub id: LabelId,
    /// How long the commit took, which waits for the disk to confirm.
    pub sync: Duration,
    /// How long it took in all, waiting for other writes included.
    pub total: Duration,
}

fn current(row: &Row<'_>) -> rusqlite::Result<CurrentLabel> {
    Ok(CurrentLabel {
        id: LabelId(row.get(0)?),
        text: TextId(row.get(1)?),
        annotator: AnnotatorId(row.get(2)?),
        level: row.get(3)?,
    })
}

/// A label that no event takes back, as a condition on `labels AS l`.
macro_rules! stands {
    () => {
        "l.level IS NOT NULL AND NOT EXISTS (SELECT 1 FROM labels AS r WHERE r.retracts = l.id)"
    };
}

/// The rows of the view `current_labels` for question `?1`, in order. The view itself would be sorted once more: SQLite
/// does not see through it that the index has that order already. `max(id)` picks the row of every other column.
macro_rules! current_in_order {
    () => {
        concat!(
            " FROM labels AS l INDEXED BY labels_by_text WHERE question = ?1 AND ",
            $crate::labels::stands!(),
            " GROUP BY text, annotator ORDER BY text, annotator"
        )
    };
}
pub(crate) use {current_in_order, stands};

/// One row, empty where there is no such label: an aggregate needs no sorting, and an import asks this for every row.
const ONE_CURRENT: &str = concat!(
    "SELECT max(id), text, annotator, level FROM labels AS l
     WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND ",
    stands!()
);

fn current_if_any(row: &Row<'_>) -> rusqlite::Result<Option<CurrentLabel>> {
    match row.get::<_, Option<u32>>(0)? {
        Some(_) => current(row).map(Some),
        None => Ok(None),
    }
}

impl<'a> WriteTx<'a> {
    /// Appends a label.
    ///
    /// # Errors
    /// The question, text or annotator is not in the project, or the level is not on the question's scale.
    pub fn add_label(&mut self, new: &NewLabel) -> Result<LabelId> {
        self.label_appender()?.append(new)
    }

    /// What appends many labels: the statement is looked up once.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn label_appender(&self) -> Result<LabelAppender<'a>> {
        let statement = self.conn.prepare_cached(
            "INSERT INTO labels (question, text, annotator, level, at_ms, duration_ms, source)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        );
        let statement = statement.map_err(|e| self.explain("appending a label", e))?;
        Ok(LabelAppender { tx: WriteTx { conn: self.conn, path: self.path }, statement })
    }

    /// Which key of a refused label leads nowhere.
    fn what_is_wrong(&self, new: &NewLabel, error: rusqlite::Error) -> StoreError {
        let levels = match self.level_count(new.question) {
            Ok(levels) => levels,
            Err(e) => return e,
        };
        if levels > new.level
            && let Err(e) = self.must_exist(new.question, new.text, new.annotator)
        {
            return e;
        }
        match levels {
            0 => StoreError::Unknown { what: "question", name: new.question.0.to_string() },
            n if n <= new.level => {
                StoreError::LevelOutside { question: new.question, level: new.level, levels: n }
            }
            _ => self.explain("appending a label", error),
        }
    }

    fn level_count(&self, question: QuestionId) -> Result<u16> {
        let count =
            self.first("SELECT count(*) FROM levels WHERE question = ?1", [question.0], |r| r.get(0))?;
        Ok(count.unwrap_or(0))
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

    /// Takes a label back by appending a retraction. The label before it, if there is one, is current again.
    ///
    /// # Errors
    /// There is no such label, it was taken back already, or it is itself a retraction.
    pub fn retract(&mut self, id: LabelId, at_ms: i64, source: LabelSource) -> Result<LabelId> {
        let sql = format!("SELECT {LABEL_COLUMNS} FROM labels WHERE id = ?1");
        let event = self
            .first(&sql, [id.0], label_event)?
            .ok_or_else(|| StoreError::Unknown { what: "label", name: id.0.to_string() })?;
        if event.level.is_none() {
            return Err(StoreError::NotALabel(id));
        }
        if self.first("SELECT 1 FROM labels WHERE retracts = ?1", [id.0], |_| Ok(()))?.is_some() {
            return Err(StoreError::AlreadyRetracted(id));
        }
        self.insert(
            "INSERT INTO labels (question, text, annotator, at_ms, source, retracts)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (event.question.0, event.text.0, event.annotator.0, at_ms, source.name(), id.0),
        )
        .map(LabelId)
        .map_err(|e| self.explain("taking a label back", e))
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
        Ok(self.first(ONE_CURRENT, (question.0, text.0, annotator.0), current_if_any)?.flatten())
    }
}

impl Store {
    /// Appends a label; it is on disk when this returns.
    ///
    /// # Errors
    /// As [`WriteTx::add_label`], or what the disk says. Nothing is kept then.
    pub fn append_label(&self, new: &NewLabel) -> Result<Appended> {
        let new = *new;
        self.append(move |tx| tx.add_label(&new))
    }

    /// Takes a label back; the retraction is on disk when this returns.
    ///
    /// # Errors
    /// As [`WriteTx::retract`], or what the disk says. Nothing is kept then.
    pub fn retract(&self, id: LabelId, at_ms: i64, source: LabelSource) -> Result<Appended> {
        self.append(move |tx| tx.retract(id, at_ms, source))
    }

    fn append(
        &self,
        event: impl FnOnce(&mut WriteTx<'_>) -> Result<LabelId> + Send + 'static,
    ) -> Result<Appended> {
        let start = Instant::now();
        let (id, sync) = self.write_timed(event)?;
        Ok(Appended { id, sync, total: start.elapsed() })
    }

    /// The event with this row.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn label(&self, id: LabelId) -> Result<Option<LabelEvent>> {
        self.read("reading a label", |c| {
            first(c, &format!("SELECT {LABEL_COLUMNS} FROM labels WHERE id = ?1"), [id.0], label_event)
        })
    }

    /// The newest event of the project; 0 where there is none. What stands on labels up to it is up to date.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn last_label(&self) -> Result<LabelId> {
        self.read("reading the newest label", |c| {
            let id = first(c, "SELECT coalesce(max(id), 0) FROM labels", [], |r| r.get(0))?;
            Ok(LabelId(id.unwrap_or(0)))
        })
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
        self.read("reading a label", |c| {
            Ok(first(c, ONE_CURRENT, (question.0, text.0, annotator.0), current_if_any)?.flatten())
        })
    }

    /// The current labels of everyone, by text, then annotator.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn current_labels(&self, question: QuestionId) -> Result<Vec<CurrentLabel>> {
        self.read("reading the labels", |c| {
            let sql = concat!("SELECT max(id), text, annotator, level", current_in_order!());
            all(c, sql, [question.0], current)
        })
    }

    /// The current labels on one text, by annotator.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn current_labels_on(&self, text: TextId, question: QuestionId) -> Result<Vec<CurrentLabel>> {
        self.read("reading the labels of a text", |c| {
            let sql = "SELECT id, text, annotator, level FROM current_labels
                       WHERE question = ?1 AND text = ?2 ORDER BY annotator";
            all(c, sql, (question.0, text.0), current)
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
            // Not through the view, whose grouping would walk everyone's labels.
            let sql = concat!(
                "SELECT max(id), text, annotator, level FROM labels AS l INDEXED BY labels_by_annotator
                 WHERE annotator = ?1 AND question = ?2 AND ",
                stands!(),
                " GROUP BY text ORDER BY text"
            );
            all(c, sql, (annotator.0, question.0), current)
        })
    }

    /// Up to `limit` events of one annotator, retractions among them, newest first.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn history(
        &self,
        question: QuestionId,
        annotator: AnnotatorId,
        limit: u32,
    ) -> Result<Vec<LabelEvent>> {
        self.read("reading an annotator's history", |c| {
            let sql = format!(
                "SELECT {LABEL_COLUMNS} FROM labels WHERE id IN (
                     SELECT id FROM labels WHERE annotator = ?1 AND question = ?2 ORDER BY id DESC LIMIT ?3
                 ) ORDER BY id DESC"
            );
            all(c, &sql, (annotator.0, question.0, limit), label_event)
        })
    }

    /// All events of one annotator on one text, oldest first.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn events(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<Vec<LabelEvent>> {
        self.read("reading the history of a text", |c| {
            let sql = format!(
                "SELECT {LABEL_COLUMNS} FROM labels WHERE annotator = ?1 AND question = ?2 AND text = ?3 ORDER BY id"
            );
            all(c, &sql, (annotator.0, question.0, text.0), label_event)
        })
    }

    /// The label that undo takes back: the newest of this annotator that stands, whatever text it is on.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn newest_label(&self, question: QuestionId, annotator: AnnotatorId) -> Result<Option<LabelEvent>> {
        self.read("looking for the newest label", |c| {
            let sql = format!(
                "SELECT {LABEL_COLUMNS} FROM labels WHERE id = (
                     SELECT max(id) FROM labels AS l INDEXED BY labels_by_annotator WHERE annotator = ?1 AND question = ?2 AND {})",
 stands!()
            );
            first(c, &sql, (annotator.0, question.0), label_event)
        })
    }

    /// How many texts this annotator has labelled in the window or by the command since `since_ms` (milliseconds since
    /// 1970-01-01 UTC): labels that stand, a corrected text once, imported and simulated labels not at all.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn texts_labelled_since(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        since_ms: i64,
    ) -> Result<u32> {
        self.read("counting an annotator's labels", |c| {
            let sql = concat!(
                "SELECT count(DISTINCT text) FROM labels AS l INDEXED BY labels_by_annotator
                 WHERE annotator = ?1 AND question = ?2 AND at_ms >= ?3 AND source IN ('window', 'command') AND ",
                stands!()
            );
            Ok(first(c, sql, (annotator.0, question.0, since_ms), |r| r.get(0))?.unwrap_or(0))
        })
    }
}
