//! How well predictions meet labels; every number by its published definition.

mod calibration;
mod classes;
mod disagreement;
mod ordinal;
mod probability;

pub use calibration::expected_calibration_error;
pub use classes::{accuracy, macro_f1};
pub use disagreement::{auroc, soft_cross_entropy};
pub use ordinal::{mean_absolute_error, quadratic_kappa, ranked_probability_score};
pub use probability::{brier, log_loss};

use crate::data::Observation;
use serde::{Deserialize, Serialize};

/// Labels with the probabilities a model gave to every level of each: the input of all metrics.
#[derive(Clone, Debug, Default)]
pub struct Scored {
    /// The labels.
    pub observations: Vec<Observation>,
    /// observations x levels, row-major; rows sum to 1.
    pub probabilities: Vec<f32>,
    /// Levels of the scale.
    pub levels: usize,
}

impl Scored {
    /// Probabilities of observation `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.probabilities[i * self.levels..(i + 1) * self.levels]
    }

    /// The level with the largest probability for each observation; the lowest of those that tie.
    pub fn predicted(&self) -> Vec<u16> {
        self.probabilities.chunks_exact(self.levels.max(1)).map(most_likely).collect()
    }

    /// The true levels.
    pub fn truth(&self) -> Vec<u16> {
        self.observations.iter().map(|o| o.level).collect()
    }
}

fn most_likely(p: &[f32]) -> u16 {
    let mut best = 0;
    for (c, v) in p.iter().enumerate() {
        if *v > p[best] {
            best = c;
        }
    }
    best as u16
}

/// All metrics of one model on one set of labels. Keys are a contract with scripts. A metric is absent where it is not
/// defined (no labels; no text with two labels; only texts where all agree or all differ; a scale without order).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Share of labels predicted exactly ([`accuracy`]).
    pub accuracy: Option<f64>,
    /// F1 averaged over levels ([`macro_f1`]).
    pub macro_f1: Option<f64>,
    /// Mean over annotators of each one's accuracy: everybody counts the same, however much they labelled.
    pub annotator_accuracy: Option<f64>,
    /// Mean over annotators of each one's macro-F1.
    pub annotator_macro_f1: Option<f64>,
    /// Mean accuracy of the tenth of annotators (rounded up) that is predicted worst.
    pub worst_tenth_accuracy: Option<f64>,
    /// Mean negative log-likelihood of a label, in nats ([`log_loss`]).
    pub log_loss: Option<f64>,
    /// Mean squared distance to the label ([`brier`]).
    pub brier: Option<f64>,
    /// Expected calibration error in ten bins ([`expected_calibration_error`]).
    pub ece: Option<f64>,
    /// Cross-entropy of the mean prediction against the observed label distribution ([`soft_cross_entropy`]).
    pub soft_cross_entropy: Option<f64>,
    /// AUROC of predicted disagreement for "annotators differ on this text" (texts with two labels or more). Predicted
    /// disagreement is the pairwise measure over those who labelled the text.
    pub disagreement_auroc: Option<f64>,
    /// Mean distance between the label and the predicted median level, in levels; ordinal only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mae: Option<f64>,
    /// Ranked probability score; ordinal only ([`ranked_probability_score`]).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ranked_probability_score: Option<f64>,
    /// Cohen's kappa with quadratic weights; ordinal only ([`quadratic_kappa`]).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quadratic_kappa: Option<f64>,
    /// Labels scored.
    pub n_labels: usize,
    /// Texts scored.
    pub n_texts: usize,
    /// Annotators scored.
    pub n_annotators: usize,
    /// Texts with two labels or more.
    pub n_texts_with_two_labels: usize,
    /// Of these, texts on which annotators differ.
    pub n_texts_disputed: usize,
}

impl Scores {
    /// All metrics of `scored`; the ordinal ones if `ordinal`.
    pub fn of(scored: &Scored, ordinal: bool) -> Self {
        let (truth, predicted) = (scored.truth(), scored.predicted());
        let people = classes::by_annotator(scored, &predicted);
        let texts = disagreement::by_text(scored);
        let mut scores = Self {
            n_labels: truth.len(),
            n_texts: texts.texts,
            n_annotators: people.accuracy.len(),
            n_texts_with_two_labels: texts.differ.len(),
            n_texts_disputed: texts.differ.iter().filter(|d| **d).count(),
            ..Self::default()
        };
        if truth.is_empty() {
            return scores;
        }
        scores.accuracy = Some(accuracy(&truth, &predicted));
        scores.macro_f1 = Some(macro_f1(&truth, &predicted));
        scores.annotator_accuracy = mean(&people.accuracy);
        scores.annotator_macro_f1 = mean(&people.macro_f1);
        scores.worst_tenth_accuracy = worst_tenth(&people.accuracy);
        scores.log_loss = Some(log_loss(scored));
        scores.brier = Some(brier(scored));
        scores.ece = Some(expected_calibration_error(scored, 10));
        scores.soft_cross_entropy = Some(soft_cross_entropy(scored));
        scores.disagreement_auroc = auroc(&texts.predicted, &texts.differ);
        if ordinal {
            let medians = ordinal::medians(scored);
            scores.mae = Some(mean_absolute_error(&truth, &medians));
            scores.ranked_probability_score = Some(ranked_probability_score(scored));
            scores.quadratic_kappa = quadratic_kappa(&truth, &predicted, scored.levels);
        }
        scores
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn worst_tenth(accuracies: &[f64]) -> Option<f64> {
    let mut sorted = accuracies.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.truncate(accuracies.len().div_ceil(10));
    mean(&sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_scored_gives_counts_and_no_numbers() {
        let scores = Scores::of(&Scored { levels: 2, ..Default::default() }, false);
        assert_eq!(scores, Scores::default());
    }

    #[test]
    fn the_worst_tenth_is_rounded_up() {
        let accuracies: Vec<f64> = (0..11).map(|i| f64::from(i) / 10.0).collect();
        assert!((worst_tenth(&accuracies).unwrap() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn keys_are_a_contract() {
        let json = serde_json::to_value(Scores::default()).unwrap();
        for key in [
            "accuracy",
            "macro_f1",
            "annotator_accuracy",
            "annotator_macro_f1",
            "worst_tenth_accuracy",
            "log_loss",
            "brier",
            "ece",
            "soft_cross_entropy",
            "disagreement_auroc",
        ] {
            assert!(json.get(key).is_some(), "{key}");
        }
        assert!(json.get("mae").is_none());
    }
}
