//! Stopping rule of the estimation of variances, and its outcome.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug)]
pub(crate) struct StoppingRule {
    /// Largest number of rounds of expectation maximisation.
    pub(crate) max_rounds: u32,
    /// Largest distance to the maximum still expected of any standard deviation, relative to that standard
    /// deviation.
    pub(crate) tolerance: f64,
}

/// Stopping rule for intermediate estimates, before the shared head is final.
pub(crate) const ROUGH: StoppingRule = StoppingRule { max_rounds: 12, tolerance: 0.03 };
/// Stopping rule for final estimates.
pub(crate) const FINAL: StoppingRule = StoppingRule { max_rounds: 150, tolerance: 0.005 };

/// Outcome of an estimation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Convergence {
    pub(crate) rounds: u32,
    /// Remaining distance to the maximum, relative to the standard deviations.
    pub(crate) change: f64,
    pub(crate) converged: bool,
    /// Approximate log marginal likelihood of the labels.
    pub(crate) log_likelihood: f64,
}
