//! What a fit of `multilevel` hands to an encoder that is tuned in turn with it.

use super::EncoderToScore;
use crate::mixed::Crossed;

/// The linear part of a fit: the shared head and everybody's deviations.
#[derive(Clone, Debug)]
pub(crate) struct TurnFit {
    /// scores x dim over raw embeddings.
    pub(crate) weights: Vec<f64>,
    /// One for each score.
    pub(crate) constants: Vec<f64>,
    /// Average link parameters.
    pub(crate) base: Vec<f64>,
    /// annotators x deviations.
    pub(crate) deviations: Vec<f64>,
}

impl TurnFit {
    /// Of the two parts of a fit.
    pub(crate) fn of(head: &EncoderToScore, crossed: &Crossed) -> Self {
        Self {
            weights: head.weights.clone(),
            constants: head.constants.clone(),
            base: crossed.base.clone(),
            deviations: crossed.deviations(),
        }
    }
}
