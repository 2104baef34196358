//! Predicts how one annotator would label a text, by the live model.

use super::Analysis;
use dissensus_domain::{AnnotatorId, QuestionId};
use dissensus_project::error::ProjectError;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_training::encoding::EncodedText;
use dissensus_training::error::TrainingError;

/// Predicts how one annotator would label a text of the project: a probability per level.
///
/// # Errors
/// No such text, or the model of the question is not live ([`dissensus_training::live::LiveModels::fit`]
/// makes it so).
pub fn predict_text(
    cx: &Analysis,
    question: QuestionId,
    annotator: AnnotatorId,
    text: &str,
) -> Result<Vec<f32>, ProjectError> {
    let context = &cx.context;
    let id =
        context.store.text_by_external(text)?.ok_or_else(|| ProjectError::NoSuchText(text.to_owned()))?.id;
    let index = context.index();
    let rows = index.text_row(id).zip(index.annotator_row(annotator));
    let (row, who) = rows.ok_or_else(|| ProjectError::NoSuchText(text.to_owned()))?;
    let predicted = cx.live.with(index.with_levels(question)?, |fitted| {
        let mut p = vec![0.0; fitted.model.levels()];
        // A text that was imported after the model was fitted has no row in it yet.
        ((row as usize) < fitted.model.texts()).then(|| fitted.model.predict(row, who, &mut p)).map(|()| p)
    });
    predicted?
        .flatten()
        .ok_or_else(|| ProjectError::from(TrainingError::NotEncoded(cx.context.store.path().to_owned())))
}

/// Predicts how one annotator would label any text ([`dissensus_training::encoding::Encoding::embed`]).
///
/// # Errors
/// The embedding is of another length, or the model of the question is not live.
pub fn predict_encoded(
    cx: &Analysis,
    question: QuestionId,
    annotator: AnnotatorId,
    text: &EncodedText,
) -> Result<Vec<f32>, ProjectError> {
    let index = cx.context.index();
    let who = index.annotator_row(annotator).unwrap_or(u32::MAX);
    let predicted = cx.live.with(index.with_levels(question)?, |fitted| {
        let mut p = vec![0.0; fitted.model.levels()];
        fitted.model.predict_new_text(text.features(), who, &mut p).map(|()| p)
    });
    Ok(predicted?.ok_or_else(|| TrainingError::NotEncoded(cx.context.store.path().to_owned()))??)
}
