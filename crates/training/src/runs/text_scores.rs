//! Mean predictions of the model of a run over annotators, for every text of its project.

use super::Runs;
use crate::error::TrainingError;
use crate::runs::data;
use crate::runs::predict;
use crate::runs::use_run;
use crate::saved_runs::{SavedRun, choices};
use dissensus_api::Tuning;
use dissensus_domain::Question;
use dissensus_encoder::FreezePolicy;
use dissensus_neural::networks::NetworkModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::mean_predictions;
use dissensus_stats::data::{AnnotatorModel, ModelKind};
use std::sync::Arc;

/// Mean predictions of a run.
pub struct RunScores {
    pub question: Question,
    /// Texts x levels; NaN for texts that were added after the run.
    pub mean: Vec<f64>,
    /// Texts whose labels the model or its encoder has learned, for this question or for one that was
    /// learned with it.
    pub learned: Vec<bool>,
    pub annotators: usize,
}

/// The mean prediction of a finished run over its annotators for every text, and which texts trained it.
///
/// # Errors
/// Those of [`predict::predict`](crate::runs::predict::predict); a run of an early version, which did not
/// store its texts; a question whose levels have changed since.
pub fn scores_of_texts(cx: &Runs, run: u32, progress: &dyn Progress) -> Result<RunScores, ProjectError> {
    let kept = cx.kept.get(run)?;
    if kept.outcome.report.is_none() {
        return Err(TrainingError::NoScores(run).into());
    }
    if kept.run.start.is_none() {
        return Err(TrainingError::NotCorrelated(format!(
            "run {run} is of an early version, which did not keep what it learned from: train again"
        ))
        .into());
    }
    let question = cx.context.index().with_levels(kept.choices.question)?.clone();
    let model = model_over_texts(cx, &kept, progress)?;
    if model.levels() != question.scale.len() {
        return Err(TrainingError::NotCorrelated(format!(
            "\"{}\" has other levels than run {run} learned: train again",
            question.name
        ))
        .into());
    }
    let texts = cx.context.index().texts().len();
    let rows: Vec<u32> = (0..model.texts().min(texts) as u32).collect();
    let mut mean = mean_predictions(model.as_ref(), &rows).concat();
    mean.resize(texts * question.scale.len(), f64::NAN);
    let mut learned = texts_that_trained(cx, &kept)?;
    learned.resize(texts, false);
    Ok(RunScores { question, mean, learned, annotators: model.annotators() })
}

/// The model with the texts of the run as its rows.
fn model_over_texts(
    cx: &Runs,
    kept: &SavedRun,
    progress: &dyn Progress,
) -> Result<Box<dyn AnnotatorModel>, ProjectError> {
    let (config, _) = choices::config(&kept.choices)?;
    let encoder = predict::encoder_of(cx, kept, &config)?.0;
    if config.is_convex() || config.network.model == ModelKind::Multilevel {
        return predict::model_of(cx, kept, &config, &encoder, progress);
    }
    let data = data::run_data(cx, kept)?;
    let x = match config.policy {
        FreezePolicy::Frozen => data::run_embeddings(cx, &data)?,
        _ => Arc::new(predict::encoded(cx, &encoder, data.texts, progress)?),
    };
    Ok(Box::new(NetworkModel::load(&cx.kept.folder(kept)?, x)?))
}

/// Texts whose labels trained a run, its encoder or the heads that it holds, including validation labels
/// and those of questions that were learned together with it or before it.
pub(super) fn texts_that_trained(cx: &Runs, kept: &SavedRun) -> Result<Vec<bool>, ProjectError> {
    let own = data::run_data(cx, kept)?;
    let mut keys: Vec<String> = own.encoder.iter().map(|encoder| encoder.key.clone()).collect();
    if kept.choices.tuning != Tuning::Frozen {
        // The record of its tuned encoder also covers auxiliary questions, and deleted runs of its
        // training.
        keys.push(use_run::tuned(cx, kept)?.key);
    }
    let mut taught = vec![false; own.texts];
    let mut mark = |rows: &[bool]| {
        taught.resize(taught.len().max(rows.len()), false);
        taught.iter_mut().zip(rows).for_each(|(taught, also)| *taught |= also);
    };
    for key in &keys {
        mark(cx.encoding.seen_by(Some(key), &cx.context.index())?.rows().texts);
    }
    for held in &kept.choices.held {
        mark(&texts_that_trained(cx, &cx.kept.get(held.run)?)?);
    }
    own.taught_by_others.iter().for_each(|text| taught[*text as usize] = true);
    for member in cx.kept.together(kept.run.id.0)? {
        let data = data::run_data(cx, &member)?;
        data.training_and_validation().iter().for_each(|o| taught[o.text as usize] = true);
    }
    Ok(taught)
}
