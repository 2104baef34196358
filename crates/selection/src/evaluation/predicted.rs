//! Predictions of a model or a baseline for the test labels, and their scores.

use dissensus_stats::data::Observation;
use dissensus_stats::metrics::{Scored, Scores};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One model's scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evaluation {
    pub model: String,
    #[serde(flatten)]
    pub scores: Scores,
}

/// Predictions of a model or a baseline for every test label.
#[derive(Clone, Debug)]
pub struct Predicted {
    pub model: String,
    /// The labels with predicted probabilities.
    pub scored: Scored,
    /// Whether it has only answers and no probabilities, so that only measures of answers are defined.
    pub answers_alone: bool,
    /// Labels of each division that were neither learned from nor are scored; empty where none are held
    /// out.
    pub held_out: Vec<HeldOutPart>,
}

/// Labels of one division that were held out of the predicting model's training, and that are not test
/// labels: used for tuning.
#[derive(Clone, Debug, Default)]
pub struct HeldOutPart {
    /// These labels with predictions.
    pub scored: Scored,
    /// Test texts of the division.
    pub tested: BTreeSet<u32>,
}

impl Predicted {
    /// Predictions of a model with probabilities.
    pub fn new(model: &str, scored: Scored) -> Self {
        Self { model: model.to_owned(), scored, answers_alone: false, held_out: Vec::new() }
    }

    /// Computes its scores, including ordinal ones if `ordinal`.
    pub fn evaluation(&self, ordinal: bool) -> Evaluation {
        Evaluation { model: self.model.clone(), scores: self.scores_of(&self.scored, ordinal) }
    }

    /// Its scores on only the labels for which `keep` is true.
    pub fn evaluation_of(&self, ordinal: bool, keep: impl Fn(&Observation) -> bool) -> Evaluation {
        let scores = self.scores_of(&self.scored.filtered(keep), ordinal);
        Evaluation { model: self.model.clone(), scores }
    }

    /// Its metrics on labels and predictions of its kind; only those of answers where it has no
    /// probabilities.
    pub fn scores_of(&self, scored: &Scored, ordinal: bool) -> Scores {
        let scores = Scores::new(scored, ordinal);
        if self.answers_alone { scores.of_answers() } else { scores }
    }
}
