//! Stores live models in the project, so that the next session need not fit them.

use super::LiveModels;
use super::fitted::{MODEL, estimation_shown};
use dissensus_api::Estimation;
use dissensus_domain::QuestionId;
use dissensus_models::live::LiveModel;
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::log::go_on;
use dissensus_store::NewHead;

impl LiveModels {
    /// Stores every live model that has learned since it was last stored.
    pub fn save_heads(&self) {
        let questions: Vec<QuestionId> = self.models.questions();
        for question in questions {
            if self.models.with(question, |fitted| fitted.changes > 0) == Some(true) {
                self.save_head(question);
            }
        }
    }

    /// How the variances of a question's model were estimated: of the model in memory, otherwise of the one
    /// that is stored in the project for the encoder in use. `None` if there is neither, or none that this
    /// version can read; nothing is fitted for it.
    pub fn estimation(&self, question: QuestionId) -> Result<Option<Estimation>, ProjectError> {
        if let Some(found) = self.models.with(question, |fitted| fitted.estimation()) {
            return Ok(Some(found));
        }
        let chosen = self.encoding.chosen()?.map(|chosen| chosen.key);
        let encoded = |key: &String| self.context.store.embedding_count(key);
        let version = match &chosen {
            Some(key) if encoded(key)? > 0 => chosen.as_deref(),
            _ => None,
        };
        let head = self.context.store.head(question, version, MODEL)?;
        let found = head.and_then(|head| LiveModel::estimation_in(&head.weights).ok());
        Ok(found.map(|found| estimation_shown(&found)))
    }

    pub(super) fn save_head(&self, question: QuestionId) {
        if self.context.store.is_reader() {
            return;
        }
        // A head does not record how many texts had embeddings: one based on some of them would be mistaken
        // for one based on all.
        if self.models.with(question, |fitted| fitted.basis.is_complete()) != Some(true) {
            return;
        }
        let head = self.models.with(question, |fitted| {
            Some((fitted.model.to_bytes().ok()?, fitted.basis.version.clone(), fitted.levels.clone()))
        });
        let Some(Some((weights, version, levels))) = head else { return };
        // A head is derived data: if it cannot be stored, the next session fits it again.
        let new = NewHead { question, version, model: MODEL.to_owned(), made_at_ms: now_ms(), weights };
        go_on("keeping a live model", self.context.store.put_head(new, &levels));
    }
}
