//! What a training reports on the way: one record for each evaluation.

use super::config::ValidationMetric;
use serde::{Deserialize, Serialize};

/// One evaluation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Passes over the training texts so far; a fraction where it was evaluated in between.
    pub epoch: f64,
    /// Steps so far.
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
    /// Seconds since the training began, breaks not counted.
    pub seconds: f64,
    /// True where no evaluation before was better.
    pub best: bool,
    /// Norm of the gradient of each group of weights at the last step: a dead group shows as 0.
    pub gradients: Vec<GradientNorm>,
}

/// How well the validation labels were predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationScores {
    /// Mean negative log-likelihood of a label, in nats.
    pub log_loss: f64,
    /// Share of labels predicted.
    pub accuracy: f64,
    /// F1, averaged over levels.
    pub macro_f1: f64,
}

impl ValidationScores {
    /// The metric with the sign that makes more better.
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
    /// Euclidean norm.
    pub norm: f64,
}
