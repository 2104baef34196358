//! Predictions of a run's model: loaded from its files, or fitted again to its training labels.

use super::Runs;
use crate::encoding::encoders::{SelectedEncoder, tuned_options};
use crate::encoding::{EncodedText, first_texts};
use crate::error::TrainingError;
use crate::runs::data;
use crate::runs::labels;
use crate::runs::tuned_data;
use crate::runs::use_run;
use crate::saved_runs::{SavedRun, choices};
use dissensus_domain::AnnotatorId;
use dissensus_encoder::{BatchPlan, Encoder, FreezePolicy};
use dissensus_neural::networks::NetworkModel;
use dissensus_neural::trainer::TrainConfig;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::fit::fit;
use dissensus_stats::data::{AnnotatorModel, Embeddings, FitOptions, ModelError, ModelKind, TrainingData};
use dissensus_store::RunPart;
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone, Debug, Serialize)]
pub struct RunPrediction {
    pub run: u32,
    pub model: String,
    /// False if the model has no training label of this annotator and predicts as for an unseen one.
    pub knows_annotator: bool,
    /// Probability of each level.
    pub probabilities: Vec<f32>,
}

/// A text whose label is predicted.
#[derive(Clone, Copy, Debug)]
pub enum TextToPredict<'a> {
    /// A text of the project, by its id in files, with what models learned from its labels. A network, and
    /// a run that is older than the text, predict it as a new one.
    OfProject(&'a str),
    /// Any text, by its content.
    New(&'a str),
}

/// Predicts one annotator's label for a text by the models of finished runs, in their order. The text is
/// read once per encoder: runs that were trained as one share it, and so do runs on the same frozen encoder.
///
/// # Errors
/// There is no such run or text, a run is not finished or its files are gone, or the project uses another
/// encoder now.
pub fn predict(
    cx: &Runs,
    runs: &[u32],
    annotator: AnnotatorId,
    text: TextToPredict<'_>,
    progress: &dyn Progress,
) -> Result<Vec<RunPrediction>, ProjectError> {
    let (body, row) = match text {
        TextToPredict::New(body) => (body.to_owned(), None),
        TextToPredict::OfProject(id) => {
            let found = cx.context.store.text_by_external(id)?;
            let found = found.ok_or_else(|| ProjectError::NoSuchText(id.to_owned()))?;
            (found.body, cx.context.index().text_row(found.id))
        }
    };
    let mut read: HashMap<String, SharedEncoding> = HashMap::new();
    runs.iter()
        .map(|run| {
            let kept = cx.kept.get(*run)?;
            if kept.outcome.report.is_none() {
                return Err(TrainingError::NoScores(*run).into());
            }
            let (config, _) = choices::config(&kept.choices)?;
            let read = match read.entry(encoder_of_run(&kept, &config)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let encoder = encoder_of(cx, &kept, &config)?.0;
                    let embedding = encoder.encode(&[body.as_str()])?.swap_remove(0);
                    new.insert(SharedEncoding { encoder, text: EncodedText::new(&body, embedding)? })
                }
            };
            prediction(cx, &kept, &config, read, annotator, row, progress)
        })
        .collect()
}

/// An encoder that runs share, and its output for the requested text.
struct SharedEncoding {
    encoder: Encoder,
    text: EncodedText,
}

fn prediction(
    cx: &Runs,
    kept: &SavedRun,
    config: &TrainConfig,
    read: &SharedEncoding,
    annotator: AnnotatorId,
    row: Option<u32>,
    progress: &dyn Progress,
) -> Result<RunPrediction, ProjectError> {
    let model = model_of(cx, kept, config, &read.encoder, progress)?;
    let who = row_in(cx, kept, annotator)?;
    let mut probabilities = vec![0.0; model.levels()];
    match row.filter(|row| (*row as usize) < model.texts() && (who as usize) < model.annotators()) {
        Some(row) => model.predict(row, who, &mut probabilities),
        None => model.predict_new_text(read.text.features(), who, &mut probabilities)?,
    }
    Ok(RunPrediction {
        run: kept.run.id.0,
        model: kept.choices.model.name().to_owned(),
        knows_annotator: model.knows(who),
        probabilities,
    })
}

/// A key that distinguishes the encoders of runs: the frozen one, by its version, or that of the training
/// that tuned it.
pub(super) fn encoder_of_run(kept: &SavedRun, config: &TrainConfig) -> String {
    match (&config.policy, &kept.outcome.encoder, &kept.group) {
        (FreezePolicy::Frozen, Some(version), _) => format!("frozen {version}"),
        (policy, _, Some(group)) if *policy != FreezePolicy::Frozen => format!("tuned {group}"),
        _ => format!("run {}", kept.run.uid),
    }
}

/// The encoder of a run's model, and its folder: its own, or the project's if that is still the same.
pub(super) fn encoder_of(
    cx: &Runs,
    kept: &SavedRun,
    config: &TrainConfig,
) -> Result<(Encoder, PathBuf), ProjectError> {
    cx.kept.has_same_levels(kept)?;
    if config.policy != FreezePolicy::Frozen {
        let dir = cx.kept.folder(kept)?.join("encoder");
        let encoder = Encoder::open(&dir, &tuned_options(kept.outcome.encoder.as_deref()))?;
        return Ok((encoder, dir));
    }
    let chosen = use_run::frozen_of(cx, kept)?;
    let found = cx.encoding.find_encoder(None, chosen.as_ref())?;
    let options = chosen.as_ref().map(SelectedEncoder::options).unwrap_or_default();
    let encoder = Encoder::open(&found.dir, &options)?;
    match &kept.outcome.encoder {
        Some(then) if *then != encoder.version().key() => Err(TrainingError::EncoderChanged {
            stored: then.clone(),
            dir: found.dir,
            found: encoder.version().key(),
        }
        .into()),
        _ => Ok((encoder, found.dir)),
    }
}

pub(super) fn model_of(
    cx: &Runs,
    kept: &SavedRun,
    config: &TrainConfig,
    encoder: &Encoder,
    progress: &dyn Progress,
) -> Result<Box<dyn AnnotatorModel>, ProjectError> {
    if !config.is_convex() && config.network.model != ModelKind::Multilevel {
        let nothing = Embeddings { dim: encoder.version().dim, ..Embeddings::none(0) };
        let folder = cx.kept.folder(kept)?;
        return Ok(Box::new(NetworkModel::load(&folder, Arc::new(nothing))?));
    }
    fitted_again(cx, kept, config, encoder, progress, |data, options| {
        fit(config.network.model, data, options, progress)
    })
}

/// Fits, by `by`, to the labels that a run's model was fitted to.
pub(super) fn fitted_again<M>(
    cx: &Runs,
    kept: &SavedRun,
    config: &TrainConfig,
    encoder: &Encoder,
    progress: &dyn Progress,
    by: impl Fn(&TrainingData<'_>, &FitOptions) -> Result<M, ModelError>,
) -> Result<M, ProjectError> {
    let fitted = |data: &TrainingData<'_>| {
        let options = FitOptions { seed: u64::from(kept.choices.seed), ..FitOptions::default() };
        by(data, &options).map_err(ProjectError::from)
    };
    if kept.run.start.is_some() {
        let data = data::run_data(cx, kept)?;
        if !kept.outcome.calibrated {
            // Fitted as at that time, so that it predicts what it was scored with.
            let x = if config.policy == FreezePolicy::Frozen {
                data::run_embeddings(cx, &data)?
            } else {
                Arc::new(encoded(cx, encoder, data.texts, progress)?)
            };
            let x = match x.tuned_on {
                None => x,
                Some(_) => Arc::new(Embeddings { tuned_on: None, ..x.as_ref().clone() }),
            };
            return fitted(&data.training(&x));
        }
        if config.policy == FreezePolicy::Frozen {
            let embeddings = data::run_embeddings(cx, &data)?;
            return fitted(&data.training(&embeddings));
        }
        let x = tuned_data::after_tuning(cx, &data, encoded(cx, encoder, data.texts, progress)?)?;
        let labels = data.training_and_validation();
        return fitted(&TrainingData { observations: &labels, ..data.training(&x) });
    }
    // For runs of format 2, which have no record of the texts and annotators at that time.
    let question = cx.context.index().with_levels(kept.choices.question)?.clone();
    let question_data = cx.context.question_data(&question)?;
    let train = labels::rows_of(cx, kept, RunPart::Train)?;
    let embeddings = if config.policy == FreezePolicy::Frozen {
        let all = match &kept.outcome.encoder {
            Some(key) => Arc::new(cx.encoding.embeddings_of(key)?),
            None => cx.encoding.embeddings()?.0,
        };
        first_texts(&all, question_data.texts.len())?
    } else {
        Arc::new(encoded(cx, encoder, question_data.texts.len(), progress)?)
    };
    fitted(&TrainingData { observations: &train, ..question_data.data(&embeddings) })
}

/// The row of an annotator in a run's model; beyond all rows for an unknown annotator.
fn row_in(cx: &Runs, kept: &SavedRun, annotator: AnnotatorId) -> Result<u32, ProjectError> {
    if kept.run.start.is_some() {
        return Ok(data::run_data(cx, kept)?.row_of(annotator));
    }
    Ok(cx.context.index().annotator_row(annotator).unwrap_or(u32::MAX))
}

/// Embeddings of the first `texts` texts of the project, as used when the run's model was fitted.
pub(super) fn encoded(
    cx: &Runs,
    encoder: &Encoder,
    texts: usize,
    progress: &dyn Progress,
) -> Result<Embeddings, ProjectError> {
    let mut bodies = cx.context.bodies()?;
    bodies.truncate(texts);
    let mut rows = vec![Vec::new(); bodies.len()];
    let done = encoder.encode_stream(&bodies, &BatchPlan::default(), |batch| {
        progress.report(batch.texts_done as u64, Some(texts as u64), "encoding with the run's encoder");
        for (index, row) in batch.indices.into_iter().zip(batch.embeddings) {
            rows[index] = row;
        }
        progress.flow()
    })?;
    if done.cancelled {
        return Err(ProjectError::Cancelled);
    }
    Ok(Embeddings::new(encoder.version().dim, rows.concat())?)
}
