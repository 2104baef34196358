//! What all models of one evaluation share: checked labels, rotated embeddings and folds of texts.

use crate::data::{
    Attribute, Embeddings, FitOptions, Observation, PerspectivesError, Target, TrainingData, folds,
};
use crate::linear::pca::PcaEmbeddings;
use std::sync::Arc;

/// Checked data and rotated embeddings, shared by all models of one evaluation.
pub(crate) struct Prepared<'a> {
    pub(crate) embeddings: &'a Embeddings,
    pub(crate) x: Arc<PcaEmbeddings>,
    pub(crate) observations: Vec<Observation>,
    pub(crate) annotators: usize,
    pub(crate) target: Target,
    pub(crate) attributes: &'a [Attribute],
    pub(crate) fold: Vec<u8>,
    pub(crate) folds: usize,
    /// Labels that a network learns from while it chooses its number of steps, and those that choose it; by folds of texts if `None`.
    pub(crate) validation: Option<(Vec<Observation>, Vec<Observation>)>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(data: &TrainingData<'a>, options: &FitOptions) -> Result<Self, PerspectivesError> {
        let observations = data.sorted()?;
        let folds = options.folds.clamp(2, 20);
        Ok(Self {
            embeddings: data.embeddings,
            x: Arc::new(PcaEmbeddings::new(data.embeddings)),
            fold: folds::of_texts(data.embeddings, folds, options.seed),
            folds,
            observations,
            annotators: data.annotators,
            target: data.target,
            attributes: data.attributes,
            validation: None,
        })
    }

    /// With labels that choose a network's number of steps, and those that it learns from meanwhile.
    pub(crate) fn validated_on(self, kept: Vec<Observation>, held: Vec<Observation>) -> Self {
        Self { validation: Some((kept, held)), ..self }
    }
}
