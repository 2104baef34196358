//! Predicts how one annotator would label a text, by the live model.

use super::Analysis;
use dissensus_domain::{AnnotatorId, QuestionId};
use dissensus_project::error::ProjectError;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_training::encoding::EncodedText;
use dissensus_training::error::TrainingError;

/// A text whose answers are predicted.
#[derive(Clone, Copy, Debug)]
pub enum RequestedText<'a> {
    /// A text of the project, by its id in files.
    OfProject(&'a str),
    /// Any other text ([`dissensus_training::encoding::Encoding::embed`]).
    New(&'a EncodedText),
}

/// Predicts how one annotator would label a text: a probability per level.
///
/// # Errors
/// No such text; an embedding of another length; the model of the question is not live
/// ([`dissensus_training::live::LiveModels::fit`] makes it so).
pub fn predict(
    cx: &Analysis,
    question: QuestionId,
    annotator: AnnotatorId,
    text: RequestedText<'_>,
) -> Result<Vec<f32>, ProjectError> {
    let row = match text {
        RequestedText::OfProject(id) => Some(row_of(cx, id)?),
        RequestedText::New(_) => None,
    };
    let index = cx.context.index();
    let who = index.annotator_row(annotator).unwrap_or(u32::MAX);
    let predicted = cx.live.with(index.with_levels(question)?, |fitted| {
        let mut p = vec![0.0; fitted.model.levels()];
        match (row, text) {
            (_, RequestedText::New(text)) => fitted.model.predict_new_text(text.features(), who, &mut p)?,
            (Some(row), _) if (row as usize) < fitted.model.texts() => fitted.model.predict(row, who, &mut p),
            // A text that was imported after the model was fitted has no row in it yet.
            _ => return Ok(None),
        }
        Ok::<_, ProjectError>(Some(p))
    });
    let predicted = predicted?.transpose()?.flatten();
    predicted.ok_or_else(|| TrainingError::NotEncoded(cx.context.store.path().to_owned()).into())
}

/// The row of the text of the project with this id in files.
///
/// # Errors
/// No such text.
pub(super) fn row_of(cx: &Analysis, text: &str) -> Result<u32, ProjectError> {
    let found = cx.context.store.text_by_external(text)?;
    let row = found.and_then(|found| cx.context.index().text_row(found.id));
    row.ok_or_else(|| ProjectError::NoSuchText(text.to_owned()))
}
