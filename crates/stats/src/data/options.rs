//! Options of a fit. None needs tuning: penalties and variances are estimated.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FitOptions {
    /// Same data, seed and version give the same numbers.
    pub seed: u64,
    /// Folds of texts for cross-fitting and for choosing the penalty; at least 2.
    pub folds: usize,
    /// Rounds between re-estimating the shared head and the annotators in `multilevel`.
    pub rounds: usize,
    /// Whether annotators and groups of them may get slopes (a dependence on topics), annotators
    /// discriminations of their own, and texts scales of their own, where held-out labels show a gain.
    pub slopes: bool,
    /// Whether text scores may also depend on words and similar texts, where that predicts held-out texts
    /// better than the linear head.
    #[serde(default = "yes")]
    pub text_scores: bool,
    /// Whether attributes may predict the severity of an annotator without labels, where held-out annotators
    /// show a gain. Should be off where severities are shown to people, so that they only depend on a
    /// person's own labels.
    #[serde(default = "yes")]
    pub severities_by_attributes: bool,
}

fn yes() -> bool {
    true
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { seed: 0, folds: 5, rounds: 2, slopes: true, text_scores: true, severities_by_attributes: true }
    }
}
