//! Tables of what annotators would answer to every text, of the project or of another file, one use case for
//! every question: names and files are checked in the same way ([`checked`]), and rows are written by the
//! form of the answers ([`levels`], [`sets`], [`words`]).

mod checked;
mod levels;
mod models;
mod sets;
mod words;

pub(crate) use checked::chosen_rows;
pub use checked::{CheckedPredictions, check};
pub(crate) use models::{each_text, labelled_bodies, live_copy, models_of_options};

use crate::Analysis;
use dissensus_domain::{AnswerForm, JobKind};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Progress};
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::prediction_tables::{
    LevelPredictions, OptionPredictions, PredictionChoices, PredictionTable, SpanPredictions,
};
use models::encoder_of_models;
use std::path::Path;

/// A table that was written.
#[derive(Clone, Debug)]
pub enum WrittenPredictions {
    /// A row for each text and annotator.
    Levels(LevelPredictions),
    /// A row for each text.
    Options(OptionPredictions),
    /// A row for each word and type.
    Spans(SpanPredictions),
}

/// Writes what annotators would answer. Memory does not grow with texts x annotators.
///
/// A text of a file whose body is in the project is predicted like any other one, only by its content;
/// the column `observed` records that its labels have trained the model.
///
/// # Errors
/// Models that are not live ([`CheckedPredictions::needs_live_models`]); an output file that exists by now
/// (without `replace`); a full disk; cancellation. For a file's texts also: the file has changed; the encoder
/// is not available, or is not the one of the live models. An unfinished table is deleted.
pub fn write(
    cx: &Analysis,
    asked: &CheckedPredictions,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<WrittenPredictions, ProjectError> {
    let written = match asked.question.scale.form() {
        AnswerForm::Level => levels::write(cx, asked, encoder, progress).map(WrittenPredictions::Levels),
        AnswerForm::Options => sets::write(cx, asked, encoder, progress).map(WrittenPredictions::Options),
        AnswerForm::Spans => words::write(cx, asked, encoder, progress).map(WrittenPredictions::Spans),
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
) -> Result<LevelPredictions, ProjectError> {
    let context = &cx.context;
    let _reserved = context.reservations.reserve(Activity::Export)?;
    let title = out.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let question = Some(cx.question(Some(question))?.name);
    let choices = PredictionChoices { question, replace, ..PredictionChoices::default() };
    let written = context.as_job(JobKind::Export, &title, |job| {
        let asked = check(cx, &choices, None, out, job.as_ref())?;
        cx.live.fit(asked.question(), job.as_ref())?;
        levels::write(cx, &asked, &EncoderChoice::default(), job.as_ref())
    });
    written.map_err(ProjectError::all_or_nothing)
}

/// Writes the rows of the first `texts` texts of the project, or of those of a file, which are read by the
/// encoder if it is the version that the models were fitted on.
fn write_rows<T: PredictionTable>(
    cx: &Analysis,
    asked: &CheckedPredictions,
    mut table: T,
    texts: usize,
    (encoder, fitted_on): (&EncoderChoice, Option<&str>),
    progress: &dyn Progress,
) -> Result<T::Summary, ProjectError> {
    if let Some(file) = &asked.texts {
        return table.write_file(file, &encoder_of_models(cx, encoder, fitted_on)?, progress);
    }
    each_text(cx, texts, progress, |row, id, body| table.write_text(row, id, body))?;
    table.finish(0)
}
