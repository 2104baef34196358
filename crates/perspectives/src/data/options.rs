//! What a caller may choose about a fit. Nothing here needs tuning: penalties and variances are estimated.

use serde::{Deserialize, Serialize};

/// Choices of a fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FitOptions {
    /// Same data, seed and version give the same numbers.
    pub seed: u64,
    /// Folds of texts for cross-fitting and for choosing the penalty; at least 2.
    pub folds: usize,
    /// Rounds between re-estimating the shared head and the annotators in `multilevel`.
    pub rounds: usize,
    /// Whether annotators may get slopes (a dependence on topics) and discriminations of their own, and texts scales of their
    /// own, where held-out labels show a gain.
    pub slopes: bool,
    /// Whether text scores may come from words and similar texts too, where that predicts left-out texts better than the linear head.
    #[serde(default = "yes")]
    pub text_scores: bool,
}

fn yes() -> bool {
    true
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { seed: 0, folds: 5, rounds: 2, slopes: true, text_scores: true }
    }
}
