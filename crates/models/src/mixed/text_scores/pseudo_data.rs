//! What labels alone say of texts' scores.

use crate::mixed::crossed::CrossedEffects;

/// What the labels alone say of some texts' scores, and how surely.
pub(super) struct PseudoData {
    /// Texts with labels, in ascending order.
    pub(super) texts: Vec<usize>,
    pub(super) z: Vec<f64>,
    /// The variance of each.
    pub(super) noise: Vec<f64>,
}

impl PseudoData {
    /// Every labelled text's score as its labels alone tell it, and the variance of that: the posterior without its prior (its site
    /// approximation).
    pub(super) fn of(crossed: &CrossedEffects, texts: Vec<usize>) -> Self {
        let (mut z, mut noise) = (Vec::with_capacity(texts.len()), Vec::with_capacity(texts.len()));
        for &t in &texts {
            let precision = (1.0 / crossed.v[t] - 1.0 / crossed.text_var).max(1e-3);
            z.push(crossed.scores[t] + (crossed.u[t] - crossed.scores[t]) / crossed.v[t] / precision);
            noise.push(1.0 / precision);
        }
        Self { texts, z, noise }
    }
}
