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

/// A prediction of one annotator's label.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Probability of each level.
    pub probabilities: Vec<f32>,
    /// False if the model has learned from no label of the annotator and predicts as for an unseen one.
    pub knows_annotator: bool,
}

/// Predicts how one annotator would label a text.
///
/// # Errors
/// No such text; an embedding of another length; no labels; the model of the question is not live
/// ([`dissensus_training::live::LiveModels::fit`] makes it so).
pub fn predict(
    cx: &Analysis,
    question: QuestionId,
    annotator: AnnotatorId,
    text: RequestedText<'_>,
) -> Result<Prediction, ProjectError> {
    let row = match text {
        RequestedText::OfProject(id) => Some(row_of(cx, id)?),
        RequestedText::New(_) => None,
    };
    let index = cx.context.index();
    let who = index.annotator_row(annotator).unwrap_or(u32::MAX);
    let asked = index.with_levels(question)?;
    let predicted = cx.live.with(asked, |fitted| {
        let model = &fitted.model;
        if model.labels() == 0 {
            return Err(ProjectError::NoLabels(asked.name.clone()));
        }
        let mut p = vec![0.0; model.levels()];
        match (row, text) {
            (_, RequestedText::New(text)) => model.predict_new_text(text.features(), who, &mut p)?,
            (Some(row), _) if (row as usize) < model.texts() => model.predict(row, who, &mut p),
            // A text that was imported after the model was fitted has no row in it yet.
            _ => return Ok(None),
        }
        let knows_annotator = (who as usize) < model.annotators() && model.labels_of(who) > 0;
        Ok(Some(Prediction { probabilities: p, knows_annotator }))
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
