//! A table of predicted levels: a row for each text and annotator, with the probabilities, the answer,
//! whether the
//! model has learned from that annotator's own label of that text, and how much the chosen annotators would
//! disagree.

use super::checked::CheckedPredictions;
use super::models::{each_text, encoder_of_models, labelled_bodies, live_copy};
use crate::Analysis;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::prediction_table::{PredictedRows, PredictionFile, TableOf};

pub(super) fn write(
    cx: &Analysis,
    asked: &CheckedPredictions,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<PredictionFile, ProjectError> {
    let (model, fitted_on) = live_copy(cx, &asked.question)?;
    let of = TableOf {
        question: asked.question.name.clone(),
        levels: asked.question.scale.levels().to_vec(),
        chosen: asked.chosen(|row| model.labels_of(row) > 0),
        everybody: asked.everybody,
        labelled: Some(labelled_bodies(cx, &model)?),
        model,
    };
    let mut rows = PredictedRows::begin(of, &asked.out, asked.replace)?;
    match &asked.texts {
        Some(checked) => {
            rows.write_file(checked, &encoder_of_models(cx, encoder, fitted_on.as_deref())?, progress)?;
        }
        None => each_text(cx, rows.texts(), progress, |row, id, body| rows.write(row, id, body))?,
    }
    rows.finish()
}
