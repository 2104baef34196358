//! How well predictions meet labels; every number by its published definition.

mod bootstrap;
mod calibration;
mod classes;
mod compare;
mod correlation;
mod disagreement;
mod interval;
mod mcnemar;
mod ordinal;
mod people;
mod probability;
mod report;
mod score;
mod wilcoxon;

pub use bootstrap::{Cluster, Intervals, bootstrap};
pub use calibration::{CalibrationBin, calibration_curve, expected_calibration_error};
pub use classes::{
    Average, Averages, ClassAccuracy, ClassScores, accuracy, class_scores, confusion, macro_f1, option_scores,
};
pub use compare::{Comparison, Difference, Differences, compare};
pub use correlation::{pearson, spearman};
pub use disagreement::{auroc, soft_cross_entropy};
pub use interval::{BootstrapOptions, Interval};
pub(crate) use interval::{Figure, resample};
pub use mcnemar::{McNemar, mcnemar};
pub use ordinal::{label_correlation, mean_absolute_error, quadratic_kappa, ranked_probability_score};
pub use people::{AnnotatorScores, annotator_scores};
pub use probability::{brier, log_loss};
pub use report::{Report, ReportOptions};
pub use score::{dichotomize, score};
pub use wilcoxon::{Wilcoxon, wilcoxon};

use crate::data::Observation;
use crate::data::PerspectivesError;
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
    /// All labels of `parts` (the folds of a cross-validation, say), ordered by text, then annotator. Parts share their levels.
    pub fn pooled(parts: Vec<Self>) -> Self {
        let levels = parts.first().map_or(0, |part| part.levels);
        let mut rows: Vec<(Observation, &[f32])> = parts
            .iter()
            .flat_map(|part| part.observations.iter().enumerate().map(|(i, o)| (*o, part.row(i))))
            .collect();
        rows.sort_by_key(|(observation, _)| *observation);
        Self {
            observations: rows.iter().map(|(observation, _)| *observation).collect(),
            probabilities: rows.iter().flat_map(|(_, row)| row.iter().copied()).collect(),
            levels,
        }
    }

    /// Probabilities of observation `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.probabilities[i * self.levels..(i + 1) * self.levels]
    }

    /// The level with the largest probability for each observation; the lowest of those that tie.
    pub fn predicted(&self) -> Vec<u16> {
        self.probabilities.chunks_exact(self.levels.max(1)).map(most_likely).collect()
    }

    /// Whether there is a finite, non-negative probability for every level of every label, and no label off the scale.
    ///
    /// # Errors
    /// [`PerspectivesError::Length`], [`PerspectivesError::UnknownLevel`], [`PerspectivesError::NotProbability`].
    pub fn check(&self) -> Result<(), PerspectivesError> {
        let expected = self.observations.len() * self.levels;
        if self.probabilities.len() != expected {
            let (what, found) = ("the list of probabilities", self.probabilities.len());
            return Err(PerspectivesError::Length { what, expected, found });
        }
        for (observation, o) in self.observations.iter().enumerate() {
            if usize::from(o.level) >= self.levels {
                let (level, levels) = (o.level, self.levels);
                return Err(PerspectivesError::UnknownLevel { observation, level, levels });
            }
        }
        match self.probabilities.iter().position(|p| !(p.is_finite() && *p >= 0.0)) {
            None => Ok(()),
            Some(at) => Err(PerspectivesError::NotProbability {
                observation: at / self.levels,
                level: at % self.levels,
                found: self.probabilities[at],
            }),
        }
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
    /// Spearman's correlation over the same texts of that predicted disagreement with the observed one, the share of pairs
    /// of labels of the text that differ.
    #[serde(default)]
    pub disagreement_spearman: Option<f64>,
    /// Pearson's correlation of the label with the predicted expected level; ordinal scales and those of two levels only
    /// ([`label_correlation`]).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pearson: Option<f64>,
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
        scores.disagreement_spearman = spearman(&texts.predicted, &texts.observed);
        if ordinal || scored.levels == 2 {
            scores.pearson = label_correlation(scored);
        }
        if ordinal {
            let medians = ordinal::medians(scored);
            scores.mae = Some(mean_absolute_error(&truth, &medians));
            scores.ranked_probability_score = Some(ranked_probability_score(scored));
            scores.quadratic_kappa = quadratic_kappa(&truth, &predicted, scored.levels);
        }
        scores
    }

    /// Every number with its key, in the order of the fields; the counts are left out.
    pub fn values(&self) -> [(&'static str, Option<f64>); 15] {
        [
            ("accuracy", self.accuracy),
            ("macro_f1", self.macro_f1),
            ("annotator_accuracy", self.annotator_accuracy),
            ("annotator_macro_f1", self.annotator_macro_f1),
            ("worst_tenth_accuracy", self.worst_tenth_accuracy),
            ("log_loss", self.log_loss),
            ("brier", self.brier),
            ("ece", self.ece),
            ("soft_cross_entropy", self.soft_cross_entropy),
            ("disagreement_auroc", self.disagreement_auroc),
            ("disagreement_spearman", self.disagreement_spearman),
            ("pearson", self.pearson),
            ("mae", self.mae),
            ("ranked_probability_score", self.ranked_probability_score),
            ("quadratic_kappa", self.quadratic_kappa),
        ]
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
pub(crate) mod tests {
    use super::*;
    use serde_json::Value;

    /// Labels and predictions of a committed fixture: `rows` of (text, annotator, level) and `probabilities`.
    pub(crate) fn scored(fixture: &Value) -> Scored {
        let rows: Vec<(u32, u32, u16)> = serde_json::from_value(fixture["rows"].clone()).unwrap();
        let p: Vec<Vec<f32>> = serde_json::from_value(fixture["probabilities"].clone()).unwrap();
        let observations =
            rows.into_iter().map(|(text, annotator, level)| Observation { text, annotator, level }).collect();
        Scored { observations, levels: p[0].len(), probabilities: p.concat() }
    }

    #[test]
    fn says_which_prediction_is_wrong() {
        let observations = vec![Observation { text: 0, annotator: 0, level: 1 }];
        let of = |probabilities: Vec<f32>, levels| {
            Scored { observations: observations.clone(), probabilities, levels }.check().err()
        };
        assert_eq!(of(vec![0.5, 0.5], 2), None);
        assert!(matches!(of(vec![0.5], 2), Some(PerspectivesError::Length { expected: 2, found: 1, .. })));
        assert!(matches!(of(vec![1.0], 1), Some(PerspectivesError::UnknownLevel { observation: 0, .. })));
        for wrong in [f32::NAN, f32::INFINITY, -0.1] {
            let error = of(vec![0.5, wrong], 2);
            assert!(matches!(error, Some(PerspectivesError::NotProbability { level: 1, .. })));
        }
    }

    #[test]
    fn values_are_the_numbers_under_their_keys() {
        let mut json = serde_json::Map::new();
        for (at, (key, _)) in Scores::default().values().into_iter().enumerate() {
            json.insert(key.to_owned(), (at as f64).into());
        }
        for count in ["n_labels", "n_texts", "n_annotators", "n_texts_with_two_labels", "n_texts_disputed"] {
            json.insert(count.to_owned(), 0.into());
        }
        let scores: Scores = serde_json::from_value(Value::Object(json.clone())).unwrap();
        for (at, (_, value)) in scores.values().into_iter().enumerate() {
            assert_eq!(value, Some(at as f64));
        }
        assert_eq!(serde_json::to_value(&scores).unwrap(), Value::Object(json));
    }

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
