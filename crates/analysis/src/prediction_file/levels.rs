//! A table of predicted levels: a row for each text and annotator, with the probabilities, the answer,
//! whether the model has learned from that annotator's own label of that text, and how much the chosen
//! annotators would disagree.

use super::checked::CheckedPredictions;
use super::models::{labelled_bodies, live_copy};
use super::write_rows;
use crate::Analysis;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::prediction_tables::{LevelPredictions, LevelTable};

pub(super) fn write(
    cx: &Analysis,
    asked: &CheckedPredictions,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<LevelPredictions, ProjectError> {
    let (model, fitted_on) = live_copy(cx, &asked.question)?;
    let chosen = asked.chosen(|row| model.labels_of(row) > 0);
    let (labelled, texts) = (labelled_bodies(cx, &model)?, model.texts());
    let table = LevelTable::create(&asked.table(&chosen), model, Some(labelled))?;
    write_rows(cx, asked, table, texts, (encoder, fitted_on.as_deref()), progress)
}
