//! Labels as counts of levels.

use crate::data::{Embeddings, ModelError, Observation, Target, TrainingData};

/// Checks the observations and orders them by text, then annotator.
pub(super) fn checked(
    observations: &[Observation],
    texts: usize,
    annotators: usize,
    target: Target,
) -> Result<Vec<Observation>, ModelError> {
    let embeddings = Embeddings::none(texts);
    TrainingData { embeddings: &embeddings, observations, annotators, target, attributes: &[] }.sorted()
}

/// Number of labels of each level of every text, texts x levels.
pub(super) fn counts(observations: &[Observation], texts: usize, levels: usize) -> Vec<u32> {
    let mut counts = vec![0u32; texts * levels];
    for o in observations {
        counts[o.text as usize * levels + usize::from(o.level)] += 1;
    }
    counts
}
