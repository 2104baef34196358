//! Severity: how strict or lenient an annotator is.

use serde::{Deserialize, Serialize};

/// How an annotator's use of the scale differs from the average annotator's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Severity {
    /// Mean shift of the thresholds on the logit scale; above 0: gives higher levels (or "yes") more often.
    pub mean: f64,
    /// Posterior standard deviation of that shift.
    pub sd: f64,
}
