//! Labels that were decided to be slips, which their authors did not mean.

use super::Context;
use crate::error::ProjectError;
use crate::words::counted;
use dissensus_domain::{Answer, CurrentLabel, Outcome, QuestionId, TextId};
use dissensus_store::QuestionSnapshot;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

impl Context {
    /// Labels and texts of a question, from one snapshot; on request without labels that were decided to be
    /// slips. On a text with a slip these are the labels that differ from the decided answer; where no
    /// answer was decided, the slip is unknown, and all labels are retained.
    pub(super) fn snapshot_of(
        &self,
        question: QuestionId,
        without_slips: bool,
    ) -> Result<QuestionSnapshot, ProjectError> {
        let mut snapshot = self.store.question_snapshot(question)?;
        if without_slips {
            let decided = self.decided_slips(question)?;
            snapshot.labels.retain(|label| !is_slip(&decided, label));
        }
        Ok(snapshot)
    }

    /// States what is left out of a question without slips. A decision is about a text and names no person:
    /// left out are the labels of all people that are not the decided answer.
    pub fn slips_note(&self, question: QuestionId) -> Result<String, ProjectError> {
        let question = question.row();
        let decided = self.decided_slips(question)?;
        let labels = self.store.question_snapshot(question)?.labels;
        let slips: Vec<&CurrentLabel> = labels.iter().filter(|label| is_slip(&decided, label)).collect();
        let texts: HashSet<TextId> = slips.iter().map(|label| label.text).collect();
        let mut note = format!(
            "Left out as slips: {} of {}, all that are not the answer decided there.",
            counted(slips.len() as u64, "label"),
            counted(texts.len() as u64, "text")
        );
        let undecided = decided.values().filter(|meant| meant.is_none()).count();
        if undecided > 0 {
            let _ = write!(
                note,
                " A slip without a decided answer leaves nothing out ({}): give it one with `label decide --value`.",
                counted(undecided as u64, "text")
            );
        }
        Ok(note)
    }

    /// The texts that were decided to have a slip, with the decided answer if there is one.
    fn decided_slips(&self, question: QuestionId) -> Result<HashMap<TextId, Option<Answer>>, ProjectError> {
        let mut decided = HashMap::new();
        // They are ordered by text, the current one last.
        for decision in self.store.decisions(question)? {
            match decision.outcome {
                Outcome::Slip => {
                    decided.insert(decision.text, decision.answer.map(|answer| answer.to(question)))
                }
                _ => decided.remove(&decision.text),
            };
        }
        Ok(decided)
    }
}

/// Whether a label differs from the answer that was decided where the text has a slip.
fn is_slip(decided: &HashMap<TextId, Option<Answer>>, label: &CurrentLabel) -> bool {
    decided.get(&label.text).and_then(Option::as_ref).is_some_and(|meant| *meant != label.answer)
}
