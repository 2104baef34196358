//! Models of words scored on answers held out.

use super::baselines::{WordFrequency, annotator_rates};
use super::data::{SpanAnswer, SpanTexts};
use super::model::SpanModel;
use super::token_scores::{PredictedMarks, TokenScores};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One model's scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpanEvaluation {
    /// Its name on the command line.
    pub model: String,
    /// The scores.
    #[serde(flatten)]
    pub scores: TokenScores,
}

/// What one model or baseline says of test answers.
#[derive(Clone, Debug)]
pub struct SpanPredictions {
    model: String,
    probabilities: Vec<Vec<f32>>,
    /// Of each answer; folds have thresholds of their own.
    thresholds: Vec<Arc<[f64]>>,
}

impl SpanPredictions {
    /// Of a model by its name: of each answer `[words][types]`, all with the same thresholds.
    pub(crate) fn new(model: &str, probabilities: Vec<Vec<f32>>, thresholds: Vec<f64>) -> Self {
        let thresholds = vec![thresholds.into(); probabilities.len()];
        Self { model: model.to_owned(), probabilities, thresholds }
    }

    /// Of a fitted model.
    pub fn of(model: &SpanModel, texts: &SpanTexts, answers: &[&SpanAnswer]) -> Self {
        let mut views = BTreeMap::new();
        let one = |answer: &&SpanAnswer| {
            let view = views.entry(answer.text).or_insert_with(|| model.view(texts, answer.text));
            model.probabilities(texts, answer.text, answer.annotator, view)
        };
        Self::new(model.kind().name(), answers.iter().map(one).collect(), model.thresholds())
    }

    /// Of the baselines: how often a word's form is marked times the annotator's rate, and the rate alone. A word counts as marked from a half on.
    pub fn of_baselines(
        frequency: &WordFrequency,
        texts: &SpanTexts,
        answers: &[&SpanAnswer],
        types: usize,
    ) -> Vec<Self> {
        let thresholds: Vec<Arc<[f64]>> = vec![vec![0.5; types].into(); answers.len()];
        let words = |answer: &&SpanAnswer| frequency.probabilities(texts, answer.text, answer.annotator);
        let rates = |answer: &&SpanAnswer| {
            annotator_rates(frequency, texts.words(answer.text).len(), answer.annotator)
        };
        vec![
            Self {
                model: "word-frequency".to_owned(),
                probabilities: answers.iter().map(words).collect(),
                thresholds: thresholds.clone(),
            },
            Self {
                model: "annotator-rate".to_owned(),
                probabilities: answers.iter().map(rates).collect(),
                thresholds,
            },
        ]
    }

    /// With what the same model says of the answers of another fold.
    pub fn extend(&mut self, fold: Self) {
        self.probabilities.extend(fold.probabilities);
        self.thresholds.extend(fold.thresholds);
    }

    /// The scores on the answers that these predictions are of, those to texts that `keep` names.
    pub fn evaluation(
        &self,
        texts: &SpanTexts,
        answers: &[&SpanAnswer],
        keep: impl Fn(u32) -> bool,
    ) -> SpanEvaluation {
        let kept: Vec<usize> = (0..answers.len()).filter(|at| keep(answers[*at].text)).collect();
        let predicted: Vec<PredictedMarks<'_>> = kept
            .iter()
            .map(|&at| PredictedMarks {
                answer: answers[at],
                probabilities: &self.probabilities[at],
                thresholds: &self.thresholds[at],
            })
            .collect();
        SpanEvaluation { model: self.model.clone(), scores: TokenScores::of(texts, &predicted) }
    }
}
