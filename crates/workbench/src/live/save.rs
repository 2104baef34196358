//! Live models kept in the project, so that the next session need not fit them.

use super::LiveModels;
use super::fitted::MODEL;
use crate::clock::now_ms;
use crate::log::go_on;
use dissensus_domain::QuestionId;
use dissensus_store::NewHead;

impl LiveModels {
    /// Keeps every live model that has learned since it was kept.
    pub(crate) fn save_heads(&self) {
        let questions: Vec<QuestionId> = self.models.questions();
        for question in questions {
            if self.models.with(question, |fitted| fitted.changes > 0) == Some(true) {
                self.save_head(question);
            }
        }
    }

    pub(super) fn save_head(&self, question: QuestionId) {
        if self.context.store.is_reader() {
            return;
        }
        // A head does not say how many texts had embeddings: one of a part of them would pass for one of all.
        if self.models.with(question, |fitted| fitted.basis.is_complete()) != Some(true) {
            return;
        }
        let head = self
            .models
            .with(question, |fitted| Some((fitted.model.to_bytes().ok()?, fitted.basis.version.clone())));
        let Some(Some((weights, version))) = head else { return };
        // A head is derived: where it cannot be kept, the next session fits it again.
        let kept = self.context.store.put_head(NewHead {
            question,
            version,
            model: MODEL.to_owned(),
            made_at_ms: now_ms(),
            weights,
        });
        go_on("keeping a live model", kept);
    }
}
