//! A table of predicted sets of options: a row for each text, with the set that one annotator, drawn at
//! random, is most likely to answer and its probability; the expected MASI distance of two of them; whether
//! the model has learned from the text; and for each option the share of them who would choose it and the
//! probability that two of them differ on it.
//!
//! Distances and differences use given answers to the text; sets, probabilities and shares are predictions,
//! regardless of given answers. If annotators are chosen, each of them has columns. Sets take correlations
//! between options into account if held-out answers show them.

use super::checked::CheckedPredictions;
use super::models::{bodies_learned_from, models_of_options};
use super::write_rows;
use crate::Analysis;
use crate::set_distances;
use dissensus_api::whole_sets_together;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::prediction_tables::{OptionPredictions, OptionTable};

pub(super) fn write(
    cx: &Analysis,
    asked: &CheckedPredictions,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<OptionPredictions, ProjectError> {
    let found = models_of_options(cx, &asked.question)?;
    let together = set_distances::options_together(cx, &asked.question, progress)?;
    let first = found.models.first();
    let chosen = asked.chosen(|row| first.is_some_and(|model| model.labels_of(row) > 0));
    let texts = first.map_or(0, |model| model.texts());
    let observed = {
        let index = cx.context.index();
        let has_label = |row: usize| first.is_some_and(|model| model.labels_on(row as u32, None) > 0);
        let labelled = index.texts().iter().enumerate().take(texts).filter(|(row, _)| has_label(*row));
        bodies_learned_from(cx, labelled.map(|(_, id)| *id), found.encoder.as_deref())?
    };
    let words = whole_sets_together(&together, asked.question.scale.levels());
    let request = asked.table(&chosen);
    let table = OptionTable::create(&request, found.models, Some(observed), (together.whole_sets()?, words))?;
    write_rows(cx, asked, table, texts, (encoder, found.encoder.as_deref()), progress)
}
