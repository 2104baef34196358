//! Predictions of texts in memory, for callers that need arrays and no file.

use crate::error::TrainingError;
use crate::prediction_tables::PredictedAnnotator;
use crate::requested_model::RequestedModel;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::Target;

/// Predicted answers of chosen annotators to some texts.
#[derive(Clone, Debug)]
pub struct PredictedTexts {
    pub question: String,
    /// Names of its levels.
    pub levels: Vec<String>,
    /// External ids of the annotators, in the order of `p`.
    pub annotators: Vec<String>,
    /// Whether the model has learned from labels of each of them; the others are predicted as the average
    /// person.
    pub has_labels: Vec<bool>,
    /// Probabilities, texts x annotators x levels, row-major.
    pub p: Vec<f32>,
    /// The predicted answer for each text and annotator, an index of `levels`.
    pub answers: Vec<u16>,
    /// For each text the disagreement between the annotators, by split; not a number with fewer than two.
    pub split: Vec<f32>,
    /// The disagreement by pairs.
    pub pairwise: Vec<f32>,
    target: Target,
}

impl PredictedTexts {
    pub fn new(question: String, levels: Vec<String>, target: Target, chosen: &[PredictedAnnotator]) -> Self {
        Self {
            question,
            levels,
            annotators: chosen.iter().map(|one| one.id.clone()).collect(),
            has_labels: chosen.iter().map(|one| one.has_labels).collect(),
            p: Vec::new(),
            answers: Vec::new(),
            split: Vec::new(),
            pairwise: Vec::new(),
            target,
        }
    }

    /// Reserves memory for so many texts.
    ///
    /// # Errors
    /// [`TrainingError::TooManyPredictions`].
    pub fn reserve(&mut self, texts: usize) -> Result<(), ProjectError> {
        let rows = texts.saturating_mul(self.annotators.len());
        let numbers = rows.saturating_mul(self.levels.len());
        let reserved = self.p.try_reserve(numbers).is_ok() && self.answers.try_reserve(rows).is_ok();
        if reserved { Ok(()) } else { Err(TrainingError::TooManyPredictions(numbers as u64).into()) }
    }

    /// Adds a text, which is a row of the model.
    pub fn push(&mut self, asked: &RequestedModel, row: u32) {
        let (p, measures) = asked.ask(row);
        self.answers.extend(p.chunks_exact(self.levels.len()).map(|p| self.target.answer(p)));
        self.p.extend(p);
        // Undefined for a single person.
        let known = |measure: f32| if self.annotators.len() < 2 { f32::NAN } else { measure };
        self.split.push(known(measures.split));
        self.pairwise.push(known(measures.pairwise));
    }
}
