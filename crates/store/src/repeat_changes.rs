//! Retracting and restoring re-annotations.

use crate::labels::AnswerDetails;
use crate::repeat::Repeat;
use crate::repeats::COUNTS;
use crate::row::{json, source, to_json};
use crate::tx::all;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use rusqlite::Row;

/// A re-annotation was retracted, or restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepeatChange {
    pub(crate) repeat: Repeat,
    pub(crate) changed_at_ms: i64,
    pub(crate) counts: bool,
}

fn change(row: &Row<'_>) -> rusqlite::Result<RepeatChange> {
    let repeat = Repeat {
        question: QuestionId(row.get(0)?),
        text: TextId(row.get(1)?),
        annotator: AnnotatorId(row.get(2)?),
        occasion: row.get(3)?,
        at_ms: row.get(4)?,
        answer: json(row, 5)?,
        source: source(row, 6)?,
        details: AnswerDetails::default(),
        wording: None,
    };
    Ok(RepeatChange { repeat, changed_at_ms: row.get(7)?, counts: row.get(8)? })
}

impl WriteTx<'_> {
    /// Retracts all re-annotations of a question in one annotation round, or in all rounds with
    /// `None`, including overridden ones, so that none of these takes their place. They remain in
    /// the file, and count again once they are added again. Returns how many counted until now.
    pub fn remove_repeats(
        &mut self,
        question: QuestionId,
        occasion: Option<u16>,
        now_ms: i64,
    ) -> Result<u32> {
        let explain = |tx: &Self, e| tx.explain("taking back repeated answers", e);
        let which = "r.question = ?1 AND (?2 IS NULL OR r.occasion = ?2)";
        let sql = format!(
            "SELECT count(*) FROM (
                SELECT DISTINCT r.text, r.annotator, r.occasion FROM repeats AS r WHERE {which} AND {COUNTS})"
        );
        let counted: Option<u32> = self.first(&sql, (question.0, occasion), |row| row.get(0))?;
        let sql = format!(
            "INSERT INTO repeat_changes (question, text, annotator, occasion, at_ms, answer, changed_at_ms, counts)
             SELECT r.question, r.text, r.annotator, r.occasion, r.at_ms, r.answer, {LATER}, 0
             FROM repeats AS r WHERE {which} AND {COUNTS}"
        );
        self.run(&sql, (question.0, occasion, now_ms)).map_err(|e| explain(self, e))?;
        Ok(counted.unwrap_or(0))
    }

    /// Restores exactly this answer, if it was retracted. Returns whether it was.
    pub(crate) fn restore_repeat(&mut self, repeat: &Repeat, now_ms: i64) -> Result<bool> {
        self.set_counts(repeat, now_ms, true)
    }

    /// Retracts exactly this answer, if it counts; an earlier one of the same annotation round then
    /// counts again. Returns whether it counted.
    pub fn take_back_repeat(&mut self, repeat: &Repeat, now_ms: i64) -> Result<bool> {
        self.set_counts(repeat, now_ms, false)
    }

    fn set_counts(&mut self, repeat: &Repeat, now_ms: i64, counts: bool) -> Result<bool> {
        let answer = to_json("an answer", &repeat.answer)?;
        let sql = format!(
            "INSERT INTO repeat_changes (question, text, annotator, occasion, at_ms, answer, changed_at_ms, counts)
             SELECT r.question, r.text, r.annotator, r.occasion, r.at_ms, r.answer, {LATER}, ?8
             FROM repeats AS r
             WHERE r.question = ?1 AND r.occasion = ?2 AND r.text = ?4 AND r.annotator = ?5 AND r.at_ms = ?6
               AND r.answer = ?7 AND ({COUNTS}) <> ?8"
        );
        let key = (
            repeat.question.0,
            repeat.occasion,
            now_ms,
            repeat.text.0,
            repeat.annotator.0,
            repeat.at_ms,
            &answer,
            counts,
        );
        let changed = self.run(&sql, key);
        Ok(changed.map_err(|e| self.explain("changing whether a repeated answer counts", e))? > 0)
    }

    /// Adds a change made in another copy. Returns whether it was new.
    pub(crate) fn add_repeat_change(&mut self, new: &RepeatChange) -> Result<bool> {
        let answer = to_json("an answer", &new.repeat.answer)?;
        let Repeat { question, text, annotator, occasion, at_ms, .. } = new.repeat;
        let added = self.run(
            "INSERT INTO repeat_changes (question, text, annotator, occasion, at_ms, answer, changed_at_ms, counts)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
            (question.0, text.0, annotator.0, occasion, at_ms, &answer, new.changed_at_ms, new.counts),
        );
        Ok(added.map_err(|e| self.explain("adding a change of a repeated answer", e))? > 0)
    }
}

/// SQL for a time after all previous changes of `r`, and not before the clock's time (`?3`).
const LATER: &str = "max(?3, coalesce((
    SELECT max(l.changed_at_ms) + 1 FROM repeat_changes AS l
    WHERE l.question = r.question AND l.text = r.text AND l.annotator = r.annotator AND l.occasion = r.occasion
      AND l.at_ms = r.at_ms AND l.answer = r.answer), ?3))";

impl Store {
    /// All changes to re-annotations.
    pub(crate) fn all_repeat_changes(&self) -> Result<Vec<RepeatChange>> {
        let sql = "SELECT question, text, annotator, occasion, at_ms, answer, 'import', changed_at_ms, counts FROM repeat_changes";
        self.read("reading changes of repeated answers", |c| all(c, sql, [], change))
    }
}
