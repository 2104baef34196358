//! Data shared by all models of one evaluation: checked labels, rotated embeddings and folds of texts.

use crate::linear::pca::PcaEmbeddings;
use dissensus_stats::data::{
    Attribute, Embeddings, FitOptions, ModelError, Observation, Target, TrainingData, folds,
};
use std::sync::Arc;

/// Checked data and rotated embeddings, shared by all models of one evaluation.
pub struct Prepared<'a> {
    pub embeddings: &'a Embeddings,
    pub(crate) x: Arc<PcaEmbeddings>,
    pub observations: Vec<Observation>,
    pub annotators: usize,
    pub target: Target,
    pub attributes: &'a [Attribute],
    pub fold: Vec<u8>,
    pub(crate) folds: usize,
    /// Labels for training networks while their number of steps is selected, and those that select it; folds
    /// of texts if `None`.
    pub validation: Option<(Vec<Observation>, Vec<Observation>)>,
}

/// The parts of a fit that depend only on embeddings and options: computed once and shared by all fits of a
/// question.
#[derive(Clone, Debug)]
pub struct PreparedTexts {
    x: Arc<PcaEmbeddings>,
    fold: Vec<u8>,
    folds: usize,
}

impl PreparedTexts {
    /// Prepares these embeddings for fits with these options.
    pub fn new(embeddings: &Embeddings, options: &FitOptions) -> Self {
        let folds = options.folds.clamp(2, 20);
        let fold = folds::of_texts(embeddings, folds, options.seed);
        Self { x: Arc::new(PcaEmbeddings::new(embeddings)), fold, folds }
    }

    pub fn texts(&self) -> usize {
        self.x.texts
    }
}

impl<'a> Prepared<'a> {
    pub fn new(data: &TrainingData<'a>, options: &FitOptions) -> Result<Self, ModelError> {
        // Labels first, so that errors in them are reported before anything is computed.
        let observations = data.sorted()?;
        Self::of(data, observations, PreparedTexts::new(data.embeddings, options))
    }

    /// Combines data with texts that were prepared from the same embeddings.
    pub(crate) fn on(data: &TrainingData<'a>, texts: &PreparedTexts) -> Result<Self, ModelError> {
        let observations = data.sorted()?;
        Self::of(data, observations, texts.clone())
    }

    fn of(
        data: &TrainingData<'a>,
        observations: Vec<Observation>,
        texts: PreparedTexts,
    ) -> Result<Self, ModelError> {
        let PreparedTexts { x, fold, folds } = texts;
        if (x.texts, x.dim) != (data.embeddings.texts, data.embeddings.dim) {
            return Err(ModelError::EmbeddingLength { expected: x.dim, found: data.embeddings.dim });
        }
        Ok(Self {
            embeddings: data.embeddings,
            x,
            fold,
            folds,
            observations,
            annotators: data.annotators,
            target: data.target,
            attributes: data.attributes,
            validation: None,
        })
    }

    /// Adds labels that select a network's number of steps, and those for training during the selection.
    pub fn validated_on(self, kept: Vec<Observation>, held: Vec<Observation>) -> Self {
        Self { validation: Some((kept, held)), ..self }
    }
}
