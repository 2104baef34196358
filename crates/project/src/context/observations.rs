//! Labels of the project in the form that models use: rows of arrays.

use super::{Context, Index};
use crate::error::ProjectError;
use dissensus_domain::{CurrentLabel, QuestionId};
use dissensus_stats::data::{Observation, Target};

impl Context {
    /// Name of a question, and its target for models.
    pub fn question_parts(&self, question: QuestionId) -> Result<(String, Target), ProjectError> {
        let index = self.index();
        let found = index.with_levels(question)?;
        Ok((found.name.clone(), Target::from_scale(&found.scale)))
    }

    /// Number of texts and annotators.
    pub fn sizes(&self) -> (usize, usize) {
        let index = self.index();
        (index.texts().len(), index.annotators().len())
    }

    /// The current labels as rows of the models' arrays.
    pub fn observations(&self, question: QuestionId) -> Result<Vec<Observation>, ProjectError> {
        let index = self.index();
        self.observations_in(&index, index.texts().len(), question)
    }

    /// Like [`Context::observations`], for the first `texts` texts of one snapshot of the project:
    /// concurrent imports are excluded, so that labels, embeddings and annotators are consistent.
    pub fn observations_in(
        &self,
        index: &Index,
        texts: usize,
        question: QuestionId,
    ) -> Result<Vec<Observation>, ProjectError> {
        let scale = &index.with_levels(question)?.scale;
        let labels = self.store.current_labels(question)?;
        let row = |label: &CurrentLabel| {
            let (text, annotator) = (index.text_row(label.text)?, index.annotator_row(label.annotator)?);
            let level = scale.index_of_answer(&label.answer)?;
            ((text as usize) < texts).then_some(Observation { text, annotator, level })
        };
        Ok(labels.iter().filter_map(row).collect())
    }
}
