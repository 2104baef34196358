//! The models that learn label by label while a project is open: one for each question, fitted anew in the background.

mod active_model;
mod background;
mod comparison;
mod fit;
mod fitted;
mod learn;
mod measured;
mod models;
mod save;
#[cfg(test)]
mod tests;

pub(crate) use comparison::{Comparison, Sides, widest, widest_interval};
pub(crate) use fitted::Fitted;
pub(crate) use measured::{Asked, Measured, Over, differing_labels, form_camps, largest, split_of_labels};
pub(crate) use models::Models;

use crate::context::Context;
use crate::encoding::Encoding;
use std::sync::Arc;

/// The live models of a project.
#[derive(Clone)]
pub struct LiveModels {
    context: Arc<Context>,
    encoding: Encoding,
    /// Those that are in memory.
    pub(crate) models: Arc<Models>,
}

impl LiveModels {
    pub(crate) fn of(context: &Arc<Context>, encoding: &Encoding) -> Self {
        Self { context: Arc::clone(context), encoding: encoding.clone(), models: Arc::default() }
    }

    /// Texts or annotators have changed: every model is fitted anew when it is next wanted.
    pub(crate) fn invalidate_all(&self) {
        self.models.invalidate_all();
        self.encoding.forget_embeddings();
    }
}
