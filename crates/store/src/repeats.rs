//! Re-annotations: answers of the same annotator to the same text in a later annotation round. They
//! are stored separately from labels.

use crate::level_order::LevelOrder;
use crate::repeat::{REPEAT_COLUMNS, Repeat, repeat};
use crate::repeat_origins::origins_of;
use crate::repeat_remarks::{RepeatRemark, remarks_of};
use crate::row::{GIVEN, to_json};
use crate::tx::all;
use crate::{Result, Snapshot, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use rusqlite::Connection;

/// SQL for whether a re-annotation (`r`, a row of `repeats`) counts: determined by its last change,
/// true without any.
pub(crate) const COUNTS: &str = "coalesce((
    SELECT c.counts FROM repeat_changes AS c
    WHERE c.question = r.question AND c.text = r.text AND c.annotator = r.annotator AND c.occasion = r.occasion
      AND c.at_ms = r.at_ms AND c.answer = r.answer
    ORDER BY c.changed_at_ms DESC, c.counts DESC LIMIT 1), 1) = 1";

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

/// The re-annotations of a question that count, on one text or on all texts: for each text,
/// annotator and annotation round the last one that was not retracted, in the order of the table,
/// with answers ordered by [`LevelOrder`].
pub(crate) fn counting(
    c: &Connection,
    question: QuestionId,
    text: Option<TextId>,
) -> rusqlite::Result<Vec<Repeat>> {
    let of_text = if text.is_some() { "AND text = ?2" } else { "AND ?2 IS NULL" };
    let sql = format!(
        "SELECT {REPEAT_COLUMNS} FROM repeats AS r WHERE question = ?1 {of_text} AND {COUNTS}
         ORDER BY text, annotator, occasion, at_ms, answer"
    );
    let mut said = remarks_of(c, question, text)?;
    let origins = origins_of(c, question, text)?;
    let mut rows = all(c, &sql, (question.row().0, text.map(|text| text.0)), |row| {
        let found = repeat(row)?;
        let key = (found.text, found.annotator, found.occasion, found.at_ms, row.get(5)?);
        let origin = origins.get(&key).copied();
        let details = said.remove(&key).unwrap_or_default();
        Ok(Repeat { details, ..found }.with_origin(origin))
    })?;
    let order = LevelOrder::read(c)?;
    if !order.is_of_rows() {
        rows.sort_by_cached_key(|r| {
            (r.text, r.annotator, r.occasion, r.at_ms, order.key(question, &r.answer))
        });
    }
    let shown = |found: Repeat| Repeat { question, answer: found.answer.to(question), ..found };
    let mut found: Vec<Repeat> = rows.into_iter().map(shown).collect();
    // `dedup_by_key` keeps the first item of each group, so the order is reversed.
    found.reverse();
    found.dedup_by_key(|r| (r.text, r.annotator, r.occasion));
    found.reverse();
    Ok(found)
}

impl WriteTx<'_> {
    /// Adds a re-annotation, unless it exists. If `timed`, it exists if there is an equal answer
    /// with the same time. Otherwise it exists if there is an equal answer with any time, and a new
    /// one gets a time after the existing ones, so that an answer without a time that was
    /// overridden does not count again. A retracted answer is treated as not existing, and counts
    /// again.
    ///
    /// # Errors
    /// The question, text or annotator is not in the project, the answer is not on the scale, or
    /// the annotation round is the first one.
    pub fn add_repeat(&mut self, new: &Repeat, timed: bool, now_ms: i64) -> Result<RepeatAdded> {
        let added = self.insert_repeat(new, timed)?;
        if added == RepeatAdded::Known && timed && self.restore_repeat(new, now_ms)? {
            return Ok(RepeatAdded::New);
        }
        Ok(added)
    }

    /// Adds a re-annotation given now. It counts for its annotation round, whatever the clock shows
    /// and whatever was given before. Its time is after everything else that the annotator gave in
    /// this file, so that undo knows the order. Its wording is the current one of the question.
    ///
    /// # Errors
    /// Like [`WriteTx::add_repeat`].
    pub fn give_repeat(&mut self, new: &Repeat) -> Result<()> {
        let sql = "SELECT max(at_ms) FROM repeats WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = ?4";
        let key = (new.question.0, new.text.0, new.annotator.0, new.occasion);
        let newest: Option<i64> = self.first(sql, key, |r| r.get(0))?.flatten();
        let given = "SELECT max(at_ms) FROM events WHERE annotator = ?1 AND (source = 'window' OR source = 'command')";
        let given: Option<i64> = self.first(given, [new.annotator.0], |r| r.get(0))?.flatten();
        let newest = newest.max(given).max(self.newest_repeat_at(new.annotator)?);
        let at_ms = newest.map_or(new.at_ms, |newest| new.at_ms.max(newest.saturating_add(1)));
        let wording = self.current_wording_id(new.question)?;
        self.insert_repeat(&Repeat { at_ms, wording, ..new.clone() }, true).map(drop)
    }

    /// The latest re-annotation that counts and that this annotator gave in the window or by the
    /// command.
    pub fn newest_repeat(&self, question: QuestionId, annotator: AnnotatorId) -> Result<Option<Repeat>> {
        let sql = format!(
            "SELECT {REPEAT_COLUMNS} FROM repeats AS r
             WHERE question = ?1 AND annotator = ?2 AND {GIVEN} AND {COUNTS}
             ORDER BY at_ms DESC LIMIT 1"
        );
        let Some(found) = self.first(&sql, (question.0, annotator.0), repeat)? else { return Ok(None) };
        let said = remarks_of(self.conn, question, Some(found.text));
        let mut said = said.map_err(|e| self.explain("reading what was said", e))?;
        let answer = to_json("an answer", &found.answer)?;
        let key = (found.text, found.annotator, found.occasion, found.at_ms, answer);
        let details = said.remove(&key).unwrap_or_default();
        let origins = origins_of(self.conn, question, Some(found.text));
        let origin = origins.map_err(|e| self.explain("reading where answers came from", e))?.remove(&key);
        Ok(Some(Repeat { details, ..found }.with_origin(origin)))
    }

    /// Adds an answer as a fact, whether or not it was retracted. Its note is added if there was
    /// none before.
    pub(crate) fn insert_repeat(&mut self, new: &Repeat, timed: bool) -> Result<RepeatAdded> {
        let (added, at_ms) = self.insert_answer(new, timed)?;
        let says = !new.details.remark.is_empty() || new.details.guideline.is_some();
        let repeat = Repeat { at_ms, ..new.clone() };
        // Rows of answers are never changed: the origin recorded by another copy or file is stored
        // separately.
        if new.wording.is_some() || (timed && added == RepeatAdded::Known) {
            self.add_repeat_origin(&repeat)?;
        }
        if says && added != RepeatAdded::Outdated && !self.was_noted(&repeat)? {
            let details = new.details.clone();
            self.add_repeat_remark(&RepeatRemark { repeat, said_at_ms: at_ms, details })?;
        }
        Ok(added)
    }

    /// Like [`WriteTx::insert_repeat`], for the answer without its note. Also returns the stored
    /// time.
    fn insert_answer(&mut self, new: &Repeat, timed: bool) -> Result<(RepeatAdded, i64)> {
        let question = self
            .question(new.question)?
            .ok_or_else(|| StoreError::Unknown { what: "question", name: new.question.0.to_string() })?;
        new.answer
            .check(&question.scale)
            .map_err(|source| StoreError::OffScale { question: new.question, source })?;
        self.must_exist(new.question, new.text, new.annotator)?;
        self.spans_within(new.question, new.text, &new.answer)?;
        let answer = to_json("an answer", &new.answer)?;
        let mut at_ms = new.at_ms;
        if !timed {
            // Also after those that were retracted: the same answer at the same time would be equal
            // to one of them.
            let all = "SELECT max(at_ms) FROM repeats WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = ?4";
            let key = (new.question.0, new.text.0, new.annotator.0, new.occasion);
            let newest: Option<Option<i64>> = self.first(all, key, |r| r.get(0))?;
            let newest = newest.flatten();
            let key = (new.question.0, new.text.0, new.annotator.0, new.occasion);
            let there = format!(
                "SELECT at_ms, answer FROM repeats AS r
                 WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = ?4 AND {COUNTS}
                 ORDER BY at_ms DESC, answer DESC"
            );
            let last: Option<(i64, String)> = self.first(&there, key, |r| Ok((r.get(0)?, r.get(1)?)))?;
            if let Some((last, counts)) = last {
                if counts == answer {
                    return Ok((RepeatAdded::Known, last));
                }
                let same = format!(
                    "SELECT 1 FROM repeats AS r WHERE question = ?1 AND text = ?2 AND annotator = ?3
                     AND occasion = ?4 AND answer = ?5 AND {COUNTS}"
                );
                let same: Option<u8> =
                    self.first(&same, (key.0, key.1, key.2, key.3, &answer), |r| r.get(0))?;
                if same.is_some() {
                    return Ok((RepeatAdded::Outdated, at_ms));
                }
                at_ms = at_ms.max(last.saturating_add(1));
            }
            at_ms = newest.map_or(at_ms, |newest| at_ms.max(newest.saturating_add(1)));
        }
        let added = self.run(
            "INSERT INTO repeats (question, text, annotator, occasion, at_ms, answer, source)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
            (new.question.0, new.text.0, new.annotator.0, new.occasion, at_ms, &answer, new.source.name()),
        );
        match added.map_err(|e| self.explain("adding a repeated answer", e))? {
            0 => Ok((RepeatAdded::Known, at_ms)),
            _ => Ok((RepeatAdded::New, at_ms)),
        }
    }
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

    /// All re-annotations, including overridden ones.
    pub(crate) fn all_repeats(&self) -> Result<Vec<Repeat>> {
        let sql = format!("SELECT {REPEAT_COLUMNS} FROM repeats AS r");
        self.read("reading repeated answers", |c| all(c, &sql, [], repeat))
    }
}

impl Snapshot<'_> {
    /// Like [`Store::repeats`], from the snapshot.
    pub fn repeats(&self, question: QuestionId) -> Result<Vec<Repeat>> {
        self.read(|c| counting(c, question, None))
    }
}
