//! Estimates of texts' scores from labels only.

use crate::mixed::crossed::CrossedEffects;

/// Score estimates of some texts from labels only, with their variances.
pub(super) struct PseudoData {
    /// Texts with labels, in ascending order.
    pub(super) texts: Vec<usize>,
    pub(super) z: Vec<f64>,
    /// The variance of each.
    pub(super) noise: Vec<f64>,
}

impl PseudoData {
    /// Estimates every labelled text's score from its labels only, with its variance: the posterior without
    /// its prior (its site approximation).
    pub(super) fn new(crossed: &CrossedEffects, texts: Vec<usize>) -> Self {
        let (mut z, mut noise) = (Vec::with_capacity(texts.len()), Vec::with_capacity(texts.len()));
        for &t in &texts {
            let precision = (1.0 / crossed.v[t] - 1.0 / crossed.text_var).max(1e-3);
            z.push(crossed.scores[t] + (crossed.u[t] - crossed.scores[t]) / crossed.v[t] / precision);
            noise.push(1.0 / precision);
        }
        Self { texts, z, noise }
    }
}
