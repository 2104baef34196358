//! A recorded evaluation, parsed from its stored form: the same for questions with levels, sets and spans.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Results of an evaluation, as far as a report shows them.
#[derive(Debug, Deserialize)]
pub(super) struct Evaluated {
    pub(super) models: Vec<ModelFigures>,
    pub(super) baselines: Vec<ModelFigures>,
    #[serde(default)]
    pub(super) differences: Option<Differences>,
    #[serde(default)]
    pub(super) calibration: Vec<Curve>,
    #[serde(default)]
    pub(super) notes: Vec<String>,
    pub(super) split: Split,
    pub(super) seed: u64,
    #[serde(default)]
    pub(super) encoder: Option<String>,
    #[serde(default)]
    pub(super) at_least: Option<String>,
}

/// A model's figures by their keys.
#[derive(Debug, Deserialize)]
pub(super) struct ModelFigures {
    pub(super) model: String,
    #[serde(flatten)]
    figures: Map<String, Value>,
}

/// Differences of the other models from one model.
#[derive(Debug, Deserialize)]
pub(super) struct Differences {
    pub(super) less: String,
    pub(super) confidence: f64,
    pub(super) over: String,
    pub(super) models: Vec<Difference>,
}

/// One model's differences, by keys of figures.
#[derive(Debug, Deserialize)]
pub(super) struct Difference {
    pub(super) model: String,
    pub(super) of: BTreeMap<String, Paired>,
}

/// A difference with its interval.
#[derive(Debug, Deserialize)]
pub(super) struct Paired {
    pub(super) difference: f64,
    #[serde(default)]
    pub(super) low: Option<f64>,
    #[serde(default)]
    pub(super) high: Option<f64>,
}

/// How often a model was right, by its confidence.
#[derive(Debug, Deserialize)]
pub(super) struct Curve {
    pub(super) model: String,
    pub(super) bins: Vec<Bin>,
}

/// Labels with similar confidence of a model.
#[derive(Debug, Deserialize)]
pub(super) struct Bin {
    pub(super) labels: u64,
    pub(super) confidence: Option<f64>,
    pub(super) accuracy: Option<f64>,
}

/// How texts were divided.
#[derive(Debug, Deserialize)]
pub(super) struct Split {
    pub(super) name: String,
    pub(super) train_labels: u64,
    pub(super) train_texts: u64,
    pub(super) test_labels: u64,
    pub(super) test_texts: u64,
}

/// Keys of figures, with their labels, in which ↓ means that less is better.
pub(super) const FIGURES: [(&str, &str); 20] = [
    ("log_loss", "log loss ↓"),
    ("token_log_loss", "log loss of words ↓"),
    ("set_log_loss", "log loss of sets ↓"),
    ("accuracy", "accuracy"),
    ("macro_f1", "macro F1"),
    ("annotator_accuracy", "annotator accuracy"),
    ("ece", "ECE ↓"),
    ("mae", "MAE ↓"),
    ("soft_cross_entropy", "soft CE ↓"),
    ("micro_f1", "micro F1"),
    ("jaccard", "Jaccard"),
    ("subset_accuracy", "whole sets right"),
    ("hamming_loss", "Hamming loss ↓"),
    ("token_macro_f1", "F1 of words"),
    ("annotator_token_macro_f1", "annotator F1 of words"),
    ("span_f1_exact", "F1 of passages, exact"),
    ("span_f1_overlap", "F1 of passages, overlap"),
    ("token_disagreement_auroc", "AUROC, differ on a word"),
    ("text_disagreement_auroc", "AUROC, differ on a text"),
    ("disagreement_auroc", "AUROC, differ on a text"),
];

impl ModelFigures {
    /// A figure, where it is defined.
    pub(super) fn figure(&self, key: &str) -> Option<f64> {
        self.figures.get(key).and_then(Value::as_f64)
    }
}

impl Evaluated {
    /// Parses the results; `None` for anything but an evaluation of models, such as a comparison of
    /// encoders.
    pub(super) fn read(metrics: &Value) -> Option<Self> {
        Self::deserialize(metrics).ok().filter(|found| !found.models.is_empty())
    }

    /// Figures that some model has, in display order.
    pub(super) fn keys(&self) -> Vec<(&'static str, &'static str)> {
        let all = || self.models.iter().chain(&self.baselines);
        FIGURES.into_iter().filter(|(key, _)| all().any(|one| one.figure(key).is_some())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn stored_evaluations_of_older_versions_are_read() {
        let split = json!({"kind": "by-text", "name": "by-text:0.7", "train_labels": 7, "train_texts": 5, "test_labels": 3, "test_texts": 2});
        let old = json!({
            "models": [{"model": "shared", "accuracy": 0.5, "macro_f1": null}], "baselines": [], "split": split, "seed": 0,
            "differences": {"less": "multilevel", "confidence": 0.9, "over": "texts", "models": [
                {"model": "shared", "of": {"accuracy": {"difference": -0.1, "low": -0.2, "high": 0.01}}}]},
        });
        let found = Evaluated::read(&old).unwrap();
        assert_eq!(found.keys(), [("accuracy", "accuracy")]);
        assert_eq!(found.models[0].figure("accuracy"), Some(0.5));
        assert!(found.calibration.is_empty() && found.differences.unwrap().models.len() == 1);
        assert!(
            Evaluated::read(&json!({"models": [], "baselines": [], "split": split, "seed": 0})).is_none()
        );
        assert!(Evaluated::read(&json!({"labels": 3})).is_none() && Evaluated::read(&Value::Null).is_none());
    }
}
