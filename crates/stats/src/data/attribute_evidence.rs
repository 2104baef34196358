//! Predictive value of annotators' attributes for their labels.

use serde::{Deserialize, Serialize};

/// Predictive value of attributes for annotators without labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttributeEvidence {
    /// Gain in log-likelihood of a held-out annotator's labels (before any of them is known), in nats per
    /// label; negative where attributes mislead.
    pub gain: f64,
    /// Its standard error over annotators, in nats per label.
    pub standard_error: f64,
    /// Whether the model uses them: the gain is above two standard errors.
    pub used: bool,
    /// Number of annotators held out in turn.
    pub annotators: usize,
    /// Number of their labels.
    pub labels: usize,
}
