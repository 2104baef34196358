//! Aggregates labels with any of the aggregators.

use super::result::{Aggregation, AggregationOptions, Aggregator, AggregatorResult};
use super::votes::Votes;
use super::{dawid_skene, glad, mace, majority};
use crate::data::progress::Progress;
use crate::data::{Embeddings, ModelError, Observation, Target, TrainingData};

/// Aggregates `observations` (any order, at most one per annotator and text) of `annotators` annotators on
/// `texts` texts. Every number is finite for all inputs: annotators with one label, with one level only, and
/// without labels.
///
/// # Errors
/// Invalid observations or scale; [`ModelError::Cancelled`].
pub fn aggregate(
    aggregator: Aggregator,
    observations: &[Observation],
    texts: usize,
    annotators: usize,
    target: Target,
    options: &AggregationOptions,
    progress: &dyn Progress,
) -> Result<Aggregation, ModelError> {
    let embeddings = Embeddings::none(texts);
    let sorted = TrainingData { embeddings: &embeddings, observations, annotators, target, attributes: &[] }
        .sorted()?;
    let votes = Votes::new(&sorted, texts, annotators, target.levels);
    let found = match aggregator {
        Aggregator::Majority => {
            AggregatorResult { posterior: majority::shares(&votes), ..Default::default() }
        }
        Aggregator::DawidSkene => dawid_skene::fit(&votes, options, progress)?,
        Aggregator::Mace => mace::fit(&votes, options, progress)?,
        Aggregator::Glad => glad::fit(&votes, options, progress)?,
    };
    Ok(votes.aggregation(aggregator, found))
}
