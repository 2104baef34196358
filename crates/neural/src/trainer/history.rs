//! Progress records of training: one for each evaluation.

use super::config::ValidationMetric;
use serde::{Deserialize, Serialize};

/// One evaluation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Number of passes over the training texts so far; a fraction if evaluated during an epoch.
    pub epoch: f64,
    /// Number of steps so far.
    pub step: u32,
    /// Mean loss per label of the own question since the previous evaluation, in nats, with dropout and
    /// smoothing; `None` where every step since was on auxiliary questions. With several own questions the
    /// weighted mean.
    pub train_loss: Option<f64>,
    /// Scores on the validation labels; `None` without any. With several own questions the mean, weighted
    /// like their losses.
    pub validation: Option<ValidationScores>,
    /// The scores of each own question where there are several, in their order; `None` for those without
    /// validation labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Option<ValidationScores>>,
    /// Learning rate of the network at the last step.
    #[serde(rename = "rate")]
    pub learning_rate: f64,
    /// Seconds since the start of training, without interruptions.
    pub seconds: f64,
    /// True if no earlier evaluation was better.
    pub best: bool,
    /// Gradient norm of each group of weights at the last step: a dead group shows as 0.
    pub gradients: Vec<GradientNorm>,
}

/// Scores on the validation labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationScores {
    /// Mean negative log-likelihood of a label, in nats.
    pub log_loss: f64,
    /// Accuracy on the validation labels.
    pub accuracy: f64,
    /// Macro-averaged F1.
    pub macro_f1: f64,
}

impl ValidationScores {
    /// The metric with the sign that makes higher values better.
    pub(crate) fn score(&self, by: ValidationMetric) -> f64 {
        match by {
            ValidationMetric::LogLoss => -self.log_loss,
            ValidationMetric::Accuracy => self.accuracy,
            ValidationMetric::MacroF1 => self.macro_f1,
        }
    }
}

/// The gradient norm of a group of weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GradientNorm {
    /// `embeddings`, `layer 0`, ..., `top`, `head`, or `annotators`.
    pub group: String,
    pub norm: f64,
}
