//! Re-estimation of the shared parameters in the background while new labels arrive.

use super::label_change::LabelChange;
use super::model::LiveModel;
use dissensus_stats::data::AnnotatorModel;
use dissensus_stats::data::FitOptions;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{Attribute, Embeddings, Observation, Target, TrainingData, check_observation};
use std::collections::BTreeSet;

/// Input of a background refit: all labels at one moment, owned, so that another thread can use it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    observations: Vec<Observation>,
    annotators: usize,
    texts: usize,
    target: Target,
    attributes: Vec<Attribute>,
    revision: u64,
}

impl Snapshot {
    /// The number of changes the live model had seen; pass it to [`LiveModel::changes_since`] when the refit
    /// is done.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// A new live model with head, averages and variances re-estimated. `embeddings` has the rows of all
    /// texts of the snapshot, or more.
    ///
    /// # Errors
    /// The same as `dissensus_selection::fit`, or [`ModelError::Length`] if rows are missing.
    pub fn refit(
        &self,
        embeddings: &Embeddings,
        options: &FitOptions,
        progress: &dyn Progress,
    ) -> Result<LiveModel, ModelError> {
        texts_match(embeddings, self.texts)?;
        let data = TrainingData {
            embeddings,
            observations: &self.observations,
            annotators: self.annotators,
            target: self.target,
            attributes: &self.attributes,
        };
        let mut live = LiveModel::fit(&data, options, progress)?;
        live.forgotten = self.revision;
        Ok(live)
    }
}

impl LiveModel {
    /// Input of a background refit.
    ///
    /// For annotators who joined after the fit, it includes the attributes passed to
    /// [`LiveModel::set_attributes`].
    pub fn snapshot(&self) -> Snapshot {
        let mut attributes = self.attributes.clone();
        attributes.iter_mut().for_each(|attribute| attribute.of.resize(self.annotators(), None));
        Snapshot {
            observations: self.observations(),
            annotators: self.annotators(),
            texts: self.texts(),
            target: self.target,
            attributes,
            revision: self.revision(),
        }
    }

    /// Number of changes this model has seen.
    pub fn revision(&self) -> u64 {
        self.forgotten + self.changes.len() as u64
    }

    /// Changes after `revision`; those from before the model's own fit are not included.
    pub fn changes_since(&self, revision: u64) -> &[LabelChange] {
        let from = revision.saturating_sub(self.forgotten).min(self.changes.len() as u64);
        &self.changes[from as usize..]
    }

    /// Applies labels recorded in the meantime. Unknown annotators are added; texts must have been added with
    /// [`LiveModel::add_text`] (or be in the refit's embeddings). Retracting a label that does not exist does
    /// nothing.
    ///
    /// # Errors
    /// An unknown text or level; changes before it have been applied.
    pub fn apply_changes(&mut self, changes: &[LabelChange]) -> Result<(), ModelError> {
        // Predictions are updated once for all changes: the cost of a column is proportional to the number of
        // texts.
        let (mut texts, mut annotators) = (BTreeSet::new(), BTreeSet::new());
        let applied = changes.iter().try_for_each(|change| {
            let LabelChange { text, annotator, level } = *change;
            while annotator as usize >= self.annotators() {
                self.add_annotator();
            }
            if level.is_none() && self.label(text, annotator).is_none() {
                return Ok(());
            }
            let probe = Observation { text, annotator, level: level.unwrap_or(0) };
            check_observation(0, &probe, self.texts(), self.annotators(), self.target().levels)?;
            self.refit(text, annotator, level);
            texts.insert(text);
            annotators.insert(annotator);
            Ok(())
        });
        self.show(&texts, &annotators);
        applied
    }
}

fn texts_match(embeddings: &Embeddings, texts: usize) -> Result<(), ModelError> {
    if embeddings.texts < texts {
        return Err(ModelError::Length { what: "embeddings", expected: texts, found: embeddings.texts });
    }
    Ok(())
}
