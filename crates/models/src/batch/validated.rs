//! Validation scores of `multilevel`, each by a model that did not learn from labels of the text.

use super::multilevel::fit_calibrated;
use super::on_tuned_encoder::{TunedFit, can_be_calibrated, texts_tuned_on};
use super::{Multilevel, Prepared};
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{FitOptions, ModelError, Observation, TrainingData};
use dissensus_stats::metrics::{Scored, score};

/// Predictions of `validation` by `multilevel` fitted to `train` with `validation` as its validation labels.
/// Labels of texts that tuned the encoder, or an encoder it was tuned from, are left out, because their
/// embeddings contain information about them. If there are no other labels, all are predicted.
///
/// On an encoder that was tuned on labels of `train` the model is calibrated on validation texts: each fold
/// of these is scored by the model that was calibrated on the others. Otherwise, and where there are too few
/// of these texts, they are scored by the model of `train`.
pub fn validation_scores(
    train: &TrainingData<'_>,
    validation: &[Observation],
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Scored, ModelError> {
    let alone = |validation: &[Observation]| -> Result<Scored, ModelError> {
        let model = Multilevel::fit(&Prepared::new(train, options)?, options, progress)?;
        Ok(score(&model, validation))
    };
    let Some(tuned_on) = texts_tuned_on(train.embeddings) else { return alone(validation) };
    let taught = train.sorted()?;
    let mut all: Vec<Observation> = taught.iter().chain(validation).copied().collect();
    all.sort_unstable();
    let own: Vec<Observation> = validation.iter().filter(|o| !tuned_on[o.text as usize]).copied().collect();
    if own.is_empty() {
        return alone(validation);
    }
    if !all.iter().any(|o| tuned_on[o.text as usize]) || !can_be_calibrated(train.embeddings, &all) {
        return alone(&own);
    }
    let prepared = Prepared::new(&TrainingData { observations: &all, ..*train }, options)?;
    let tuned = TunedFit::new(&prepared, tuned_on, &prepared.observations, options, progress)?;
    let mut parts = Vec::with_capacity(prepared.folds);
    for fold in 0..prepared.folds {
        let of_fold = own.iter().filter(|o| usize::from(prepared.fold[o.text as usize]) == fold);
        let mut held: Vec<Observation> = of_fold.copied().collect();
        held.sort_unstable();
        if held.is_empty() {
            continue;
        }
        let rest = prepared.observations.iter().filter(|o| held.binary_search(o).is_err());
        let rest: Vec<Observation> = rest.copied().collect();
        let (head, crossed) = fit_calibrated(&tuned, &prepared, &rest, options, progress)?;
        parts.push(score(&Multilevel::from_parts(head, crossed), &held));
    }
    Ok(Scored::pooled(parts))
}
