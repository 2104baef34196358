//! When the estimation of variances stops, and how it ended.

use serde::{Deserialize, Serialize};

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoppingRule {
    /// Rounds of expectation maximisation at most.
    pub(crate) max_rounds: u32,
    /// Largest distance to the maximum still expected of any standard deviation, relative to that standard
    /// deviation.
    pub(crate) tolerance: f64,
}

/// While the shared head is still to change.
pub(crate) const ROUGH: StoppingRule = StoppingRule { max_rounds: 12, tolerance: 0.03 };
/// Stopping rule for final estimates.
pub(crate) const FINAL: StoppingRule = StoppingRule { max_rounds: 150, tolerance: 0.005 };

/// How an estimation ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Convergence {
    pub(crate) rounds: u32,
    /// Distance to the maximum that was still expected, as a share of the standard deviations.
    pub(crate) change: f64,
    pub(crate) converged: bool,
    /// Approximate logarithm of the labels' marginal likelihood.
    pub(crate) log_likelihood: f64,
}
