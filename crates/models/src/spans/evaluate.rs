//! Evaluation of span models on held-out answers.

use super::baselines::{WordFrequency, annotator_rates};
use super::data::{SpanAnswer, SpanTexts};
use super::model::SpanModel;
use super::scored_words::ScoredWords;
use super::token_scores::{PredictedMarks, TokenScores};
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::metrics::Resampled;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One model's scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanEvaluation {
    /// Its name on the command line.
    pub model: String,
    #[serde(flatten)]
    pub scores: TokenScores,
    /// Interval over texts and annotators of each figure, by its key. Figures with too little data have none,
    /// and the map is empty where intervals were not requested.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, (f64, f64)>,
}

impl SpanEvaluation {
    /// Adds intervals of this confidence, limited to the range of each figure.
    ///
    /// # Errors
    /// [`ModelError::Confidence`] outside (0, 1).
    pub fn with_intervals(self, resampled: &Resampled, confidence: f64) -> Result<Self, ModelError> {
        let mut intervals = resampled.intervals(confidence)?;
        for (key, (low, high)) in &mut intervals {
            let (least, most) = match key.as_str() {
                "token_log_loss" => (0.0, f64::INFINITY),
                key if key.ends_with("spearman") => (-1.0, 1.0),
                _ => (0.0, 1.0),
            };
            (*low, *high) = (low.max(least), high.min(most));
        }
        Ok(Self { intervals, ..self })
    }
}

/// Predictions of one model or baseline for test answers.
#[derive(Clone, Debug)]
pub struct SpanPredictions {
    model: String,
    probabilities: Vec<Vec<f32>>,
    /// Thresholds for each answer; folds have different ones.
    thresholds: Vec<Arc<[f64]>>,
}

impl SpanPredictions {
    /// Predictions of a named model: `[words][types]` for each answer, all with the same thresholds.
    pub fn new(model: &str, probabilities: Vec<Vec<f32>>, thresholds: Vec<f64>) -> Self {
        let thresholds = vec![thresholds.into(); probabilities.len()];
        Self { model: model.to_owned(), probabilities, thresholds }
    }

    /// Predictions of a fitted model.
    pub fn of(model: &SpanModel, texts: &SpanTexts, answers: &[&SpanAnswer]) -> Self {
        let mut views = BTreeMap::new();
        let one = |answer: &&SpanAnswer| {
            let view = views.entry(answer.text).or_insert_with(|| model.view(texts, answer.text));
            model.probabilities(texts, answer.text, answer.annotator, view)
        };
        Self::new(model.kind().name(), answers.iter().map(one).collect(), model.thresholds())
    }

    /// Predictions of the baselines: the frequency with which a word's form is marked times the annotator's
    /// rate, and only the rate. A word counts as marked from a probability of one half.
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

    /// Appends the predictions of the same model for the answers of another fold.
    pub fn extend(&mut self, fold: Self) {
        self.probabilities.extend(fold.probabilities);
        self.thresholds.extend(fold.thresholds);
    }

    /// Scores on the predicted answers whose texts `keep` selects.
    pub fn evaluation(
        &self,
        texts: &SpanTexts,
        answers: &[&SpanAnswer],
        keep: impl Fn(u32) -> bool,
    ) -> SpanEvaluation {
        let predicted = self.predicted(answers, keep);
        let scores = TokenScores::new(texts, &predicted);
        SpanEvaluation { model: self.model.clone(), scores, intervals: BTreeMap::new() }
    }

    /// The model's name on the command line.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The figures of all predicted answers, and the same without groups of texts, annotators and answers, as
    /// the basis of intervals of figures and of differences.
    ///
    /// # Errors
    /// [`ModelError::Cancelled`].
    pub fn resampled(
        &self,
        texts: &SpanTexts,
        answers: &[&SpanAnswer],
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Resampled, ModelError> {
        ScoredWords::new(texts, &self.predicted(answers, |_| true)).resampled(seed, progress)
    }

    fn predicted<'a>(
        &'a self,
        answers: &[&'a SpanAnswer],
        keep: impl Fn(u32) -> bool,
    ) -> Vec<PredictedMarks<'a>> {
        let kept = (0..answers.len()).filter(|at| keep(answers[*at].text));
        kept.map(|at| PredictedMarks {
            answer: answers[at],
            probabilities: &self.probabilities[at],
            thresholds: &self.thresholds[at],
        })
        .collect()
    }
}
