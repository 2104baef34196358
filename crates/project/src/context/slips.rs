//! Labels that were decided to be slips, which their authors did not mean.

use super::Context;
use crate::error::ProjectError;
use dissensus_domain::{Answer, Outcome, QuestionId, TextId};
use dissensus_store::QuestionSnapshot;
use std::collections::HashMap;

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
            let mut decided: HashMap<TextId, Option<Answer>> = HashMap::new();
            for decision in self.store.decisions(question)? {
                // They are ordered by text, the current one last.
                let meant = decision.answer.filter(|_| decision.outcome == Outcome::Slip);
                let meant = meant.map(|answer| answer.to(question));
                decided.insert(decision.text, meant);
            }
            let slip = |text: TextId, answer: &Answer| {
                decided.get(&text).and_then(Option::as_ref).is_some_and(|meant| meant != answer)
            };
            snapshot.labels.retain(|label| !slip(label.text, &label.answer));
        }
        Ok(snapshot)
    }
}
