//! What a model or a baseline says of the test labels, and its scores.

use dissensus_stats::data::Observation;
use dissensus_stats::metrics::{Scored, Scores};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One model's scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evaluation {
    /// Its name on the command line.
    pub model: String,
    /// Its scores.
    #[serde(flatten)]
    pub scores: Scores,
}

/// What a model or a baseline says of every test label.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// Its name on the command line.
    pub model: String,
    /// The labels and its probabilities.
    pub scored: Scored,
    /// Whether it gives one answer and no probabilities, so that only measures of answers are defined.
    pub answers_alone: bool,
    /// Labels that it was not learned from and is not scored on, of each division; empty where none are kept.
    pub held_out: Vec<HeldOutPart>,
}

/// Labels of one division of which the model that predicts them had learned none, and that are not tested: what is tuned is tuned on them.
#[derive(Clone, Debug, Default)]
pub struct HeldOutPart {
    /// These labels, and what was predicted.
    pub scored: Scored,
    /// The texts that the division tests.
    pub tested: BTreeSet<u32>,
}

impl Predicted {
    /// Of a model with probabilities.
    pub fn new(model: &str, scored: Scored) -> Self {
        Self { model: model.to_owned(), scored, answers_alone: false, held_out: Vec::new() }
    }

    /// Its scores; the ordinal ones if `ordinal`.
    pub fn evaluation(&self, ordinal: bool) -> Evaluation {
        Evaluation { model: self.model.clone(), scores: self.scores_of(&self.scored, ordinal) }
    }

    /// Its scores on the labels that `keep` names alone.
    pub fn evaluation_of(&self, ordinal: bool, keep: impl Fn(&Observation) -> bool) -> Evaluation {
        let scores = self.scores_of(&self.scored.filtered(keep), ordinal);
        Evaluation { model: self.model.clone(), scores }
    }

    /// Its metrics on labels and predictions of its kind; those of answers alone where it gives nothing else.
    pub fn scores_of(&self, scored: &Scored, ordinal: bool) -> Scores {
        let scores = Scores::of(scored, ordinal);
        if self.answers_alone { scores.of_answers() } else { scores }
    }
}
