//! All metrics of one model on one set of labels.

use super::calibration::expected_calibration_error;
use super::classes::{self, accuracy, macro_f1};
use super::correlation::spearman;
use super::disagreement::{self, auroc, soft_cross_entropy};
use super::ordinal::{
    self, label_correlation, level_correlation, mean_absolute_error, quadratic_kappa,
    ranked_probability_score,
};
use super::probability::{brier, log_loss};
use super::scored::Scored;
use super::soft_labels::{self, TextMeasures};
use serde::{Deserialize, Serialize};

/// All metrics of one model on one set of labels. Keys are a stable interface for scripts. A metric is absent
/// where it is not defined (no labels; no text with two labels; only texts where all agree or all differ; a
/// scale without order).
///
/// Each measure uses the answer that is optimal for it, or names the answer it uses: accuracies, error rate
/// and kappa the most likely level, `macro_f1` the answer tuned for it, `mae`, `normalized_absolute_distance`
/// and keys ending in `_median` the median. Compare a single answer of another system only with those of the
/// median. Soft labels of a text are those of the annotators who labelled it: the mean prediction (calibrated
/// probabilities), or, for `wasserstein` and `manhattan`, the shares with the smallest expected distance,
/// which are not probabilities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scores {
    /// Share of labels whose most likely level is the label ([`accuracy`]).
    pub accuracy: Option<f64>,
    /// F1 averaged over levels ([`macro_f1`]) of the answer tuned for it ([`super::F1Rule`]), or of the most
    /// likely level where nothing was tuned.
    pub macro_f1: Option<f64>,
    /// Mean over annotators of each one's accuracy: every annotator has the same weight, regardless of the
    /// number of labels.
    pub annotator_accuracy: Option<f64>,
    /// Mean over annotators of each one's macro-F1.
    pub annotator_macro_f1: Option<f64>,
    /// Mean accuracy of the bottom decile of annotators (a tenth, rounded up, with the worst predictions).
    pub worst_tenth_accuracy: Option<f64>,
    /// Mean negative log-likelihood of a label, in nats ([`log_loss`]).
    pub log_loss: Option<f64>,
    /// Mean squared distance to the label ([`brier`]).
    pub brier: Option<f64>,
    /// Expected calibration error in ten bins ([`expected_calibration_error`]).
    pub ece: Option<f64>,
    /// Cross-entropy of the mean prediction against the observed label distribution ([`soft_cross_entropy`]).
    pub soft_cross_entropy: Option<f64>,
    /// AUROC of predicted disagreement for "annotators differ on this text" (texts with two labels or more).
    /// Predicted disagreement is the pairwise measure over those who labelled the text.
    pub disagreement_auroc: Option<f64>,
    /// Spearman's correlation over the same texts of that predicted disagreement with the observed one, the
    /// share of pairs of labels of the text that differ.
    #[serde(default)]
    pub disagreement_spearman: Option<f64>,
    /// Pearson's correlation of the label with the predicted expected level; only for ordinal scales and
    /// those of two levels ([`label_correlation`]).
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
    /// Macro-F1 of the median level; ordinal only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub macro_f1_median: Option<f64>,
    /// Pearson's correlation of the label with the median level; ordinal only ([`level_correlation`]).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pearson_median: Option<f64>,
    /// Mean over texts of the mean distance between the text's labels and the predicted median levels,
    /// divided by the number of levels; ordinal only. The perspectivist measure of LeWiDi 2025 for Likert
    /// scales (6 levels in CSC, 11 in Par).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub normalized_absolute_distance: Option<f64>,
    /// Mean over texts of the share of the text's labels that are not the most likely level: the
    /// perspectivist measure of LeWiDi 2025 for binary questions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_rate: Option<f64>,
    /// Mean over texts of the Wasserstein-1 distance, in levels, between the shares of levels among the
    /// text's labels and the shares that are optimal for this distance: at every level the median of the
    /// share at or below it; ordinal only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wasserstein: Option<f64>,
    /// The same distance for the mean prediction; ordinal only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wasserstein_probabilities: Option<f64>,
    /// Mean over texts of the Manhattan distance, 0 to 2, between the shares of levels among the text's
    /// labels and the shares that are optimal for this distance: each level's median, as far as they sum to
    /// one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub manhattan: Option<f64>,
    /// The same distance for the mean prediction.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub manhattan_probabilities: Option<f64>,
    /// Soft micro-F1 of the mean prediction p against the shares q among the labels:
    /// `2 sum min(p, q) / (sum p + sum q)` over texts and levels (Kurniawan et al. 2025); 1 is best. As p and
    /// q sum to 1, it is 1 minus half of `manhattan_probabilities`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub soft_micro_f1: Option<f64>,
    /// 1 minus the mean over texts of the Jensen-Shannon divergence, to base 2, of the mean prediction and
    /// the shares among the labels ("positively oriented", Kurniawan et al. 2025); 1 is best.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub po_jsd: Option<f64>,
    /// Number of scored labels.
    pub n_labels: usize,
    /// Number of scored texts.
    pub n_texts: usize,
    /// Number of scored annotators.
    pub n_annotators: usize,
    /// Number of texts with two labels or more.
    pub n_texts_with_two_labels: usize,
    /// Number of these texts on which annotators differ.
    pub n_texts_disputed: usize,
}

impl Scores {
    /// All metrics of `scored`; the ordinal ones if `ordinal`.
    pub fn new(scored: &Scored, ordinal: bool) -> Self {
        let (truth, predicted) = (scored.truth(), scored.predicted());
        let annotators = classes::by_annotator(scored, &predicted);
        let texts = disagreement::by_text(scored);
        let mut scores = Self {
            n_labels: truth.len(),
            n_texts: texts.texts,
            n_annotators: annotators.accuracy.len(),
            n_texts_with_two_labels: texts.differ.len(),
            n_texts_disputed: texts.differ.iter().filter(|d| **d).count(),
            ..Self::default()
        };
        if truth.is_empty() {
            return scores;
        }
        scores.accuracy = Some(accuracy(&truth, &predicted));
        scores.macro_f1 = Some(macro_f1(&truth, &scored.tuned_or_predicted()));
        scores.annotator_accuracy = mean(&annotators.accuracy);
        scores.annotator_macro_f1 = mean(&annotators.macro_f1);
        scores.worst_tenth_accuracy = bottom_decile(&annotators.accuracy);
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
            scores.macro_f1_median = Some(macro_f1(&truth, &medians));
            scores.pearson_median = level_correlation(&truth, &medians);
            scores.ranked_probability_score = Some(ranked_probability_score(scored));
            scores.quadratic_kappa = quadratic_kappa(&truth, &predicted, scored.levels);
        }
        let measures = soft_labels::measures_by_text(scored, ordinal);
        let mean = soft_labels::mean_of(measures.iter().map(|text| (1.0, text)));
        scores.set_soft_labels(&mean, ordinal, scored.levels);
        scores
    }

    /// Sets the means of measures of texts.
    pub(super) fn set_soft_labels(&mut self, mean: &TextMeasures, ordinal: bool, levels: usize) {
        self.error_rate = Some(mean.error_rate);
        self.manhattan = Some(mean.manhattan);
        self.manhattan_probabilities = Some(mean.manhattan_probabilities);
        self.soft_micro_f1 = Some(mean.overlap);
        self.po_jsd = Some(1.0 - mean.jensen_shannon);
        if ordinal {
            self.normalized_absolute_distance = Some(mean.absolute_distance / levels as f64);
            self.wasserstein = Some(mean.wasserstein);
            self.wasserstein_probabilities = Some(mean.wasserstein_probabilities);
        }
    }

    /// Removes the numbers that need probabilities, for predictions that are single answers.
    #[must_use]
    pub fn of_answers(self) -> Self {
        Self {
            accuracy: self.accuracy,
            macro_f1: self.macro_f1,
            annotator_accuracy: self.annotator_accuracy,
            annotator_macro_f1: self.annotator_macro_f1,
            worst_tenth_accuracy: self.worst_tenth_accuracy,
            mae: self.mae,
            quadratic_kappa: self.quadratic_kappa,
            macro_f1_median: self.macro_f1_median,
            pearson_median: self.pearson_median,
            normalized_absolute_distance: self.normalized_absolute_distance,
            error_rate: self.error_rate,
            n_labels: self.n_labels,
            n_texts: self.n_texts,
            n_annotators: self.n_annotators,
            n_texts_with_two_labels: self.n_texts_with_two_labels,
            n_texts_disputed: self.n_texts_disputed,
            ..Self::default()
        }
    }

    /// Every number with its key, in the order of the fields, without the counts.
    pub fn values(&self) -> [(&'static str, Option<f64>); 25] {
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
            ("macro_f1_median", self.macro_f1_median),
            ("pearson_median", self.pearson_median),
            ("normalized_absolute_distance", self.normalized_absolute_distance),
            ("error_rate", self.error_rate),
            ("wasserstein", self.wasserstein),
            ("wasserstein_probabilities", self.wasserstein_probabilities),
            ("manhattan", self.manhattan),
            ("manhattan_probabilities", self.manhattan_probabilities),
            ("soft_micro_f1", self.soft_micro_f1),
            ("po_jsd", self.po_jsd),
        ]
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn bottom_decile(accuracies: &[f64]) -> Option<f64> {
    let mut sorted = accuracies.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.truncate(accuracies.len().div_ceil(10));
    mean(&sorted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

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
    fn empty_data_give_no_scores() {
        let scores = Scores::new(&Scored { levels: 2, ..Default::default() }, false);
        assert_eq!(scores, Scores::default());
    }

    #[test]
    fn worst_tenth_is_rounded_up() {
        let accuracies: Vec<f64> = (0..11).map(|i| f64::from(i) / 10.0).collect();
        assert!((bottom_decile(&accuracies).unwrap() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn keys_are_stable() {
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
