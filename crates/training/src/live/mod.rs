//! Models that are updated label by label while a project is open: one for each question, refitted in the
//! background.

mod active_model;
mod background;
mod comparison;
pub mod fit;
mod fitted;
mod learn;
mod measured;
mod models;
mod save;

pub use comparison::{Comparison, Sides, widest, widest_interval};
pub use fitted::Fitted;
pub use measured::{Over, TextMeasure, TextMeasures, differing_labels, form_camps, largest, split_of_labels};
pub(crate) use models::Models;

use crate::encoding::Encoding;
use dissensus_domain::{Question, QuestionId};
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use std::sync::Arc;

/// The live models of a project.
#[derive(Clone)]
pub struct LiveModels {
    context: Arc<Context>,
    encoding: Encoding,
    /// The models in memory.
    pub models: Arc<Models>,
}

impl LiveModels {
    pub fn new(context: &Arc<Context>, encoding: &Encoding) -> Self {
        Self { context: Arc::clone(context), encoding: encoding.clone(), models: Arc::default() }
    }

    /// Applies `read` to the live model of a question; `None` if there is none. The model's columns are the
    /// levels of `question`, which the caller may have read long before, in that order.
    ///
    /// # Errors
    /// The question has other levels by now, and no model for those of `question`.
    pub fn with<T>(
        &self,
        question: &Question,
        read: impl FnOnce(&mut Fitted) -> T,
    ) -> Result<Option<T>, ProjectError> {
        let levels = question.scale.ids();
        let read = |fitted: &mut Fitted| (fitted.levels == levels).then(|| read(fitted));
        let found = self.models.with(question.id, read).flatten();
        let index = self.context.index();
        match index.question(question.id) {
            Some(now) if found.is_some() || now.scale.ids() == levels => Ok(found),
            _ => Err(ProjectError::LevelsChanged(question.name.clone())),
        }
    }

    /// The levels of a question were added, removed or moved, and the index has the new ones: its models are
    /// dropped, and in a window fitted again.
    pub fn rearranged(&self, question: QuestionId) {
        self.models.drop_of(question);
        self.fit_where_wanted(question);
    }

    /// Texts or annotators have changed: every model is fitted anew when it is next needed.
    pub fn invalidate_all(&self) {
        self.models.invalidate_all();
        self.encoding.forget_embeddings();
    }
}
