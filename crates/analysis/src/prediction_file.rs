//! A table of the answers that chosen annotators would give to every text, of the project or of another
//! file: a row for each text and annotator.

use super::Analysis;
use crate::error::AnalysisError;
use dissensus_domain::{Question, QuestionId};
use dissensus_exchange::TypedTable;
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Progress};
use dissensus_project::outputs::check_outputs;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_store::body_hash;
use dissensus_training::encoding::{CheckedTexts, EncoderChoice, TextFileChoices};
use dissensus_training::error::TrainingError;
use dissensus_training::prediction_table::{
    LabelledBodies, PredictedAnnotator, PredictedRows, PredictionChoices, PredictionFile, TableOf,
};
use std::path::{Path, PathBuf};

/// The parameters of a table of predictions, whose names, files and texts were checked.
pub struct CheckedPredictions {
    question: Question,
    choices: PredictionChoices,
    out: PathBuf,
    texts: Option<CheckedTexts>,
}

impl CheckedPredictions {
    /// The predicted question: its model must be live ([`dissensus_training::live::LiveModels::fit`]) before
    /// the table is written.
    pub fn question(&self) -> QuestionId {
        self.question.id
    }
}

/// Checks that a table of predictions can be written, before anything is encoded or fitted for it: for
/// every text of the project, or for those of a file, which is read once.
///
/// # Errors
/// No such question or annotator; a multi-label question, whose options have a table each; an output
/// file that exists already (without `replace`), is the input file or has an unsupported format; a file
/// of texts that cannot be read or has bad rows; a cancel.
pub fn check(
    cx: &Analysis,
    choices: &PredictionChoices,
    texts: Option<&TextFileChoices>,
    out: &Path,
    progress: &dyn Progress,
) -> Result<CheckedPredictions, ProjectError> {
    let question = cx.question(choices.question.as_deref())?;
    TypedTable::check(out, false)?;
    let project = cx.context.store.path();
    let read: Vec<&Path> = texts.map(|texts| texts.path.as_path()).into_iter().chain([project]).collect();
    check_outputs(&[out], &read, choices.replace)?;
    chosen_rows(cx, choices)?;
    let texts = texts.map(|texts| CheckedTexts::open(texts, progress)).transpose();
    let texts = texts.map_err(ProjectError::all_or_nothing)?;
    Ok(CheckedPredictions { question, choices: choices.clone(), out: out.to_owned(), texts })
}

/// Writes what annotators would answer to every text of the project by the live model: probabilities,
/// the answer, whether the model has learned from that annotator's own label of that text, and how much
/// the chosen annotators would disagree. Memory does not grow with texts x annotators.
///
/// A text of a file whose body is in the project is predicted like any other one, only by its content;
/// the column `observed` records that its labels have trained the model.
///
/// # Errors
/// A model that is not live ([`dissensus_training::live::LiveModels::fit`] makes it so); an output file
/// that exists by now (without `replace`); a full disk; a cancel. For a file's texts also: the file has
/// changed; the encoder is not available, or is not the one of the live model.
pub fn write(
    cx: &Analysis,
    asked: &CheckedPredictions,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<PredictionFile, ProjectError> {
    let written = match &asked.texts {
        Some(texts) => predict_file(cx, asked, texts, encoder, progress),
        None => predict_project(cx, asked, progress),
    };
    written.map_err(ProjectError::all_or_nothing)
}

/// Writes the table of [`write`] for all annotators and every text of the project,
/// making the model live first, as a job that the window shows and can cancel.
///
/// # Errors
/// Those of [`check`] and [`write`]; texts without an
/// embedding; an export is under way.
pub fn write_live(
    cx: &Analysis,
    question: &str,
    out: &Path,
    replace: bool,
) -> Result<PredictionFile, ProjectError> {
    let context = &cx.context;
    let _reserved = context.reservations.reserve(Activity::Export)?;
    let title = out.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let question = Some(question.to_owned());
    let choices = PredictionChoices { question, replace, ..PredictionChoices::default() };
    let written = context.as_job("export", &title, |job| {
        let asked = check(cx, &choices, None, out, job.as_ref())?;
        cx.live.fit(asked.question(), job.as_ref())?;
        write(cx, &asked, &EncoderChoice::default(), job.as_ref())
    });
    written.map_err(ProjectError::all_or_nothing)
}

fn predict_project(
    cx: &Analysis,
    asked: &CheckedPredictions,
    progress: &dyn Progress,
) -> Result<PredictionFile, ProjectError> {
    let mut rows = begin_table(cx, asked)?.0;
    let index = cx.context.index();
    let texts = rows.texts();
    for (row, id) in index.texts().iter().enumerate().take(texts) {
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        let found = cx.context.store.text(*id)?;
        let text = found.ok_or_else(|| ProjectError::NoSuchText(id.0.to_string()))?;
        rows.write(row as u32, &text.external_id, &text.body)?;
        progress.report(row as u64 + 1, Some(texts as u64), "predicting");
    }
    rows.finish()
}

fn predict_file(
    cx: &Analysis,
    asked: &CheckedPredictions,
    checked: &CheckedTexts,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<PredictionFile, ProjectError> {
    let (mut rows, fitted_on) = begin_table(cx, asked)?;
    let encoder = cx.encoding.open_in_use(encoder)?.0;
    // Another program may have given the project another encoder since the model was fitted.
    if fitted_on != Some(encoder.version().key()) {
        return Err(AnalysisError::EncoderNotOfModel.into());
    }
    rows.write_file(checked, &encoder, progress)?;
    rows.finish()
}

/// The table, and the key of the encoder version of its model.
fn begin_table(
    cx: &Analysis,
    asked: &CheckedPredictions,
) -> Result<(PredictedRows, Option<String>), ProjectError> {
    let (model, encoder) = live_copy(cx, asked.question.id)?;
    let mut chosen = chosen_rows(cx, &asked.choices)?;
    chosen.iter_mut().for_each(|one| one.has_labels = model.labels_of(one.row) > 0);
    let of = TableOf {
        question: asked.question.name.clone(),
        levels: asked.question.scale.levels().to_vec(),
        chosen,
        everybody: asked.choices.annotators.is_empty(),
        labelled: Some(labelled_bodies(cx, &model)?),
        model,
    };
    Ok((PredictedRows::begin(of, &asked.out, asked.choices.replace)?, encoder))
}

/// A copy of a live model, and the key of its encoder version.
pub(crate) fn live_copy(
    cx: &Analysis,
    question: QuestionId,
) -> Result<(LiveModel, Option<String>), ProjectError> {
    let live = cx
        .live
        .models
        .with(question, |fitted| fitted.model.to_bytes().map(|model| (model, fitted.basis.version.clone())));
    let not_live = || ProjectError::from(TrainingError::NotEncoded(cx.context.store.path().to_owned()));
    let (model, encoder) = live.ok_or_else(not_live)??;
    Ok((LiveModel::from_bytes(&model)?, encoder))
}

/// The chosen annotators, in the order of the rows, without information on who has labels.
pub(super) fn chosen_rows(
    cx: &Analysis,
    choices: &PredictionChoices,
) -> Result<Vec<PredictedAnnotator>, ProjectError> {
    let index = cx.context.index();
    let of = |row, id: &String| PredictedAnnotator { row, id: id.clone(), has_labels: false };
    if choices.annotators.is_empty() {
        return Ok((0..).zip(index.annotators()).map(|(row, a)| of(row, &a.external_id)).collect());
    }
    let named = |name: &String| {
        let found = index.find_annotator(name)?;
        Ok(of(index.annotator_row(found.id).unwrap_or(u32::MAX), &found.external_id))
    };
    let mut chosen = choices.annotators.iter().map(named).collect::<Result<Vec<_>, ProjectError>>()?;
    chosen.sort();
    chosen.dedup();
    Ok(chosen)
}

pub(crate) fn labelled_bodies(cx: &Analysis, model: &LiveModel) -> Result<LabelledBodies, ProjectError> {
    let index = cx.context.index();
    let mut found = LabelledBodies::new();
    for (row, id) in index.texts().iter().enumerate().take(model.texts()) {
        if model.labels_on(row as u32, None) == 0 {
            continue;
        }
        let body = cx.context.store.bodies(&[*id])?.swap_remove(0);
        if let Some(hash) = body_hash(&body) {
            found.entry(hash).or_default().push(row as u32);
        }
    }
    Ok(found)
}
