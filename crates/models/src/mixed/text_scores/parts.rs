//! The score of any text under a fit of text scores.

use dissensus_stats::data::{SPARSE_COLUMNS, SparseRow};
use serde::{Deserialize, Serialize};

/// Components of a text's score, in addition to a constant.
#[derive(Clone, Debug)]
pub(crate) struct TextScores {
    /// Weights of the rotated, scaled embedding.
    pub(crate) weights: Vec<f64>,
    /// Contribution of similar texts.
    pub(crate) similar: SimilarTexts,
    /// Contribution of n-grams.
    pub(crate) ngrams: Option<NgramWeights>,
}

/// Weights of texts that others are compared with by the squared-exponential kernel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SimilarTexts {
    dim: usize,
    /// Factor from squared raw distances to exponents of the kernel.
    scale: f64,
    /// Their embeddings, row-major, and their weights.
    rows: Vec<f32>,
    weights: Vec<f64>,
}

impl SimilarTexts {
    pub(super) fn new<'a>(rows: impl Iterator<Item = &'a [f32]>, scale: f64, weights: Vec<f64>) -> Self {
        let rows: Vec<f32> = rows.flatten().copied().collect();
        Self { dim: rows.len() / weights.len().max(1), scale, rows, weights }
    }

    /// Whether the embeddings have `dim` numbers.
    pub(crate) fn fits(&self, dim: usize) -> bool {
        self.dim == dim && dim > 0 && self.rows.len() == self.weights.len() * dim
    }

    /// Number of these texts.
    pub(crate) fn texts(&self) -> usize {
        self.weights.len()
    }

    /// Contribution of similar texts to the score of the text with the raw embedding `x`.
    pub(crate) fn predict(&self, x: &[f32]) -> f64 {
        self.rows
            .chunks_exact(self.dim)
            .zip(&self.weights)
            .map(|(row, w)| {
                let square: f64 = row.iter().zip(x).map(|(a, b)| f64::from(a - b).powi(2)).sum();
                w * (-self.scale * square).exp()
            })
            .sum()
    }
}

/// Weights of n-grams.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NgramWeights {
    weights: Vec<f32>,
    constant: f64,
}

impl NgramWeights {
    /// Weights of centred n-grams: `weights` times the difference from their `mean`.
    pub(super) fn centred(weights: Vec<f32>, mean: &[f32]) -> Self {
        let constant = -weights.iter().zip(mean).map(|(w, m)| f64::from(w * m)).sum::<f64>();
        Self { weights, constant }
    }

    /// Multiplies the weights by `factor`.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        self.weights.iter_mut().for_each(|w| *w = (f64::from(*w) * factor) as f32);
        self.constant *= factor;
        self
    }

    /// Whether there is a weight for each column.
    pub(crate) fn fits(&self) -> bool {
        self.weights.len() == SPARSE_COLUMNS
    }

    /// Contribution of a text's n-grams to its score.
    pub(crate) fn predict(&self, ngrams: SparseRow<'_>) -> f64 {
        ngrams.dot(&self.weights) + self.constant
    }
}
