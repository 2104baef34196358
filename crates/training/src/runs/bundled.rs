//! The model of a run for use outside the project.

use super::Runs;
use crate::error::TrainingError;
use crate::runs::data;
use crate::runs::predict;
use crate::saved_runs::choices;
use dissensus_domain::{AnnotatorId, Question};
use dissensus_encoder::Encoder;
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::{AnnotatorModel as _, ModelKind};
use std::path::PathBuf;

/// A model that predicts new texts as a run does.
pub struct RunModel {
    pub question: Question,
    pub model: LiveModel,
    /// In the order of the model's rows.
    pub annotators: Vec<AnnotatorId>,
    pub encoder: Encoder,
    /// The encoder's folder or GGUF file.
    pub encoder_dir: PathBuf,
}

/// The model of a finished run of `multilevel`, fitted again as in
/// [`predict::predict`](crate::runs::predict::predict), and its encoder.
///
/// # Errors
/// Those of [`predict`](crate::runs::predict::predict); [`TrainingError::CannotBundle`] for runs of other
/// models, and of questions whose levels have changed since.
pub fn model_for_new_texts(cx: &Runs, run: u32, progress: &dyn Progress) -> Result<RunModel, ProjectError> {
    let kept = cx.kept.get(run)?;
    if kept.outcome.report.is_none() {
        return Err(TrainingError::NoScores(run).into());
    }
    let cannot = |reason: String| Err(TrainingError::CannotBundle { run, reason }.into());
    let (config, _) = choices::config(&kept.choices)?;
    if config.network.model != ModelKind::Multilevel {
        let model = kept.choices.model.name();
        return cannot(format!(
            "it is of {model}, and heads of multilevel alone are written in a form that needs neither labels nor texts"
        ));
    }
    if kept.run.start.is_none() {
        return cannot(
            "it is of an early version, which did not keep its annotators: train again".to_owned(),
        );
    }
    let question = cx.context.index().with_levels(kept.choices.question)?.clone();
    let (encoder, encoder_dir) = predict::encoder_of(cx, &kept, &config)?;
    let model = predict::fitted_again(cx, &kept, &config, &encoder, progress, |data, options| {
        LiveModel::fit(data, options, progress)
    })?;
    if model.levels() != question.scale.len() {
        return cannot(format!("\"{}\" has other levels now: train again", question.name));
    }
    let annotators = data::run_data(cx, &kept)?.annotators;
    Ok(RunModel { question, model, annotators, encoder, encoder_dir })
}
