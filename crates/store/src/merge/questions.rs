//! Merges questions and their levels.

use super::{Merger, conflict};
use crate::levels::{ever, rows_by_key, with_levels};
use crate::levels_back::{back_now, used_keys};
use crate::noted::Added;
use crate::questions::as_added;
use crate::{NewQuestion, Result, StoreError};
use dissensus_domain::{Answer, LevelId, Question, QuestionId, Scale};
use std::collections::BTreeSet;

impl Merger<'_, '_> {
    pub(super) fn question(&mut self, theirs: Question, noted: Option<(Added, String)>) -> Result<()> {
        let known =
            as_added(self.tx.conn, &theirs.name).map_err(|e| self.tx.explain("reading a question", e))?;
        let ours = match known {
            Some(ours) if ours.scale != theirs.scale => {
                return Err(conflict("question", theirs.name, "has another scale in the other copy"));
            }
            Some(ours) => {
                let explain = |e| StoreError::explain(self.tx.path, "reading the levels", e);
                let scale = self.tx.question(ours.id)?.map_or(ours.scale, |question| question.scale);
                let back = back_now(self.tx.conn, ours.id).map_err(explain)?;
                self.before.insert(ours.id, (scale.ids().to_vec(), back));
                // A task packet has the prompt in effect as its initial prompt.
                if let Some(noted) = noted.filter(|_| self.only.is_none()) {
                    let changed = self.tx.note_of_question(ours.id, noted)?;
                    self.report.question_changes += u32::from(changed);
                }
                ours.id
            }
            None => {
                self.refuse_unassigned("question", &theirs.name, false)?;
                self.report.questions += 1;
                let (name, scale) = (theirs.name.clone(), theirs.scale.clone());
                let new = NewQuestion { name, prompt: theirs.prompt, scale };
                let ours = self.tx.add_question(&new)?;
                if let Some((added, prompt)) = noted {
                    self.tx.put_question_added(ours, added, &prompt)?;
                }
                ours
            }
        };
        self.questions.insert(theirs.id, ours);
        self.asked.insert(ours, (theirs.name, theirs.scale));
        Ok(())
    }

    /// Every level that the question ever had there gets a row id here.
    pub(super) fn levels_ever(&mut self, theirs: QuestionId, now: Scale) -> Result<()> {
        let question = self.question_here(theirs)?;
        let keys = self.other.read("reading the levels", |c| ever(c, theirs))?;
        let known = ever(self.tx.conn, question).map_err(|e| self.tx.explain("reading the levels", e))?;
        for key in keys.iter().filter(|key| !known.contains(key)) {
            self.refuse_unassigned("level", key, false)?;
        }
        self.tx.add_level_keys(question, &keys)?;
        let rows =
            rows_by_key(self.tx.conn, question).map_err(|e| self.tx.explain("reading the levels", e))?;
        let rows = keys.iter().map(|key| rows.get(key).copied().unwrap_or(LevelId(u16::MAX))).collect();
        self.rows.insert(theirs, rows);
        self.scales.insert(theirs, now);
        Ok(())
    }

    /// Merges the levels of both copies: levels that one copy removed but that are used in the
    /// other are restored.
    pub(super) fn merge_levels(&mut self) -> Result<()> {
        for (theirs, ours) in self.questions.clone() {
            let other = self.other;
            self.tx.find_levels(ours, || {
                other.read("reading what uses the levels", |c| used_keys(c, theirs, |_| true))
            })?;
            if let Some(question) = self.tx.question(ours)? {
                self.asked.insert(ours, (question.name, question.scale));
            }
        }
        Ok(())
    }

    /// Recomputes levels at the end: what used a restored level may not have been merged, because
    /// its annotator withdrew or a condition is no longer in effect.
    pub(super) fn levels_stay(&mut self) -> Result<()> {
        for ours in self.questions.values().copied() {
            self.tx.find_levels(ours, || Ok(BTreeSet::new()))?;
            let Some((before, back_before)) = self.before.get(&ours) else { continue };
            let path = self.tx.path.to_owned();
            let explain = |e| StoreError::explain(&path, "reading the levels", e);
            if self.tx.question(ours)?.is_some_and(|question| question.scale.ids() != before) {
                self.report.rearranged += 1;
                self.tx.rearranged(ours)?;
            }
            let back = back_now(self.tx.conn, ours).map_err(explain)?;
            self.report.levels_back += back.difference(back_before).count() as u32;
        }
        Ok(())
    }

    /// Converts an answer of the other copy to the ids that its levels have here.
    pub(super) fn answer_here(&self, theirs: QuestionId, answer: Answer) -> Answer {
        let Some(rows) = self.rows.get(&theirs) else { return answer };
        with_levels(answer, |level| rows.get(usize::from(level.0)).copied().unwrap_or(LevelId(u16::MAX)))
    }

    pub(super) fn question_here(&self, theirs: QuestionId) -> Result<QuestionId> {
        self.questions.get(&theirs).copied().ok_or_else(|| unknown_question(theirs))
    }

    pub(super) fn not_changed(&self, question: QuestionId, changed: bool) -> Result<()> {
        match self.asked.get(&question) {
            Some((name, _)) if changed => self.refuse_unassigned("change of the question", name, false),
            _ => Ok(()),
        }
    }
}

pub(super) fn unknown_question(theirs: QuestionId) -> StoreError {
    conflict("question", theirs.0.to_string(), "is changed in the other copy, which does not have it")
}
