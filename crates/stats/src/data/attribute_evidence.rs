//! How much annotators' attributes tell about their labels.

use serde::{Deserialize, Serialize};

/// What attributes say about annotators whose labels were not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttributeEvidence {
    /// Gain in log-likelihood of a held-out annotator's labels (before any of them is known), in nats a label; negative
    /// where attributes mislead.
    pub gain: f64,
    /// Its standard error over annotators, in nats a label.
    pub standard_error: f64,
    /// Whether the model uses them: the gain is above two standard errors.
    pub used: bool,
    /// Annotators left out in turn.
    pub annotators: usize,
    /// Their labels.
    pub labels: usize,
}
