//! The result of a `multilevel` fit for an encoder that is tuned alternately with it.

use super::TextScorer;
use crate::mixed::CrossedEffects;

/// The linear part of a fit: the shared head and all annotators' random effects.
#[derive(Clone, Debug)]
pub struct AlternatingFit {
    /// scores x dim over raw embeddings.
    pub weights: Vec<f64>,
    /// One for each score.
    pub constants: Vec<f64>,
    /// Average link parameters.
    pub fixed_effects: Vec<f64>,
    /// annotators x random effects.
    pub random_effects: Vec<f64>,
}

impl AlternatingFit {
    /// Extracts the linear part from the two parts of a fit.
    pub fn new(head: &TextScorer, crossed: &CrossedEffects) -> Self {
        Self {
            weights: head.weights.clone(),
            constants: head.constants.clone(),
            fixed_effects: crossed.fixed_effects.clone(),
            random_effects: crossed.threshold_effects(),
        }
    }
}
