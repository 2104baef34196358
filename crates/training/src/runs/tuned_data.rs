//! The data to which the model on a tuned encoder is fitted, in training and when it is fitted again to
//! predict.

use super::Runs;
use super::data::RunData;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::{Embeddings, Observation};

impl RunData {
    /// Training and validation labels. The validation labels did not train the encoder: the model is
    /// calibrated on them.
    pub(super) fn training_and_validation(&self) -> Vec<Observation> {
        self.division.train.iter().chain(&self.division.validation).copied().collect()
    }
}

/// The features before tuning: no embeddings, n-grams if the run's model reads them, and the texts whose
/// labels trained the encoder from which the tuning starts.
pub fn before_tuning(cx: &Runs, data: &RunData) -> Result<Embeddings, ProjectError> {
    with_ngrams(cx, data, Embeddings::none(data.texts).with_tuned_on(trained_before(cx, data)?.into())?)
}

/// Embeddings `x` of the run's texts by the encoder that it tuned, with n-grams if its model reads them,
/// and with the texts whose labels trained that encoder or the one from which its tuning started.
pub(super) fn after_tuning(cx: &Runs, data: &RunData, x: Embeddings) -> Result<Embeddings, ProjectError> {
    with_ngrams(cx, data, x.with_tuned_on(taught(cx, data)?.into())?)
}

/// Whether the labels of each of the run's texts trained the encoder that it tuned, or the one from
/// which its tuning started.
pub(super) fn taught(cx: &Runs, data: &RunData) -> Result<Vec<bool>, ProjectError> {
    let mut tuned_on = trained_before(cx, data)?;
    data.division.train.iter().for_each(|o| tuned_on[o.text as usize] = true);
    data.taught_by_others.iter().for_each(|text| tuned_on[*text as usize] = true);
    Ok(tuned_on)
}

fn trained_before(cx: &Runs, data: &RunData) -> Result<Vec<bool>, ProjectError> {
    let parent = data.encoder.as_ref().map(|encoder| encoder.key.as_str());
    let seen = cx.encoding.seen_by(parent, &cx.context.index())?;
    let mut taught = seen.taught().to_vec();
    taught.resize(data.texts, false);
    Ok(taught)
}

fn with_ngrams(cx: &Runs, data: &RunData, x: Embeddings) -> Result<Embeddings, ProjectError> {
    Ok(if data.ngrams { x.with_ngrams(cx.encoding.ngrams_of_run(data.texts)?)? } else { x })
}
