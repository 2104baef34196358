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
pub use measured::{Measured, Over, TextMeasure, differing_labels, form_camps, largest, split_of_labels};
pub(crate) use models::Models;

use crate::encoding::Encoding;
use dissensus_domain::QuestionId;
use dissensus_project::context::Context;
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

    /// Applies `read` to the live model of a question; `None` if there is none for its current levels.
    pub fn with<T>(&self, question: QuestionId, read: impl FnOnce(&mut Fitted) -> T) -> Option<T> {
        let index = self.context.index();
        let levels = index.question(question)?.scale.ids();
        self.models.with(question, |fitted| (fitted.levels == levels).then(|| read(fitted))).flatten()
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
