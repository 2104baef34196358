//! A table of the words of a file's texts that annotators would mark: a row for each word and type.
//!
//! A model of words is fitted to all answers, or the one that the encoder in use has learned is used. If
//! annotators are chosen, each of them has a column. Answers to a text of the same body count only for
//! annotators' readiness.

use super::checked::CheckedPredictions;
use super::models::bodies_learned_from;
use crate::Analysis;
use crate::word_fit;
use dissensus_domain::AnnotatorId;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::prediction_tables::{SpanPredictions, write_spans};
use dissensus_training::runs;

pub(super) fn write(
    cx: &Analysis,
    asked: &CheckedPredictions,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<SpanPredictions, ProjectError> {
    let question = &asked.question;
    let Some(texts) = &asked.texts else {
        return Err(ProjectError::internal(&"words are predicted only for a file"));
    };
    let people: Vec<AnnotatorId> = cx.context.index().annotators().iter().map(|who| who.id).collect();
    let (encoder, selected, _) = cx.encoding.open_in_use(encoder)?;
    let learned = runs::learned_words(&cx.runs, question.id, &selected.encoder)?.map(|(_, learned)| learned);
    let (types, labels) = cx.context.span_data(question)?;
    let all = types.first().map_or(&[][..], |first| &first.texts[..]);
    let answered = labels.iter().filter_map(|label| all.get(label.text as usize)).copied();
    let observed = bodies_learned_from(cx, answered, Some(&selected.key))?;
    let predictor = word_fit::word_predictor(cx, question, &people, &encoder, learned, progress)?;
    let has_labels = |row: u32| predictor.answers.get(row as usize).is_some_and(|answers| *answers > 0);
    let chosen = asked.chosen(has_labels);
    write_spans(&predictor, &asked.table(&chosen), Some(&observed), texts, &encoder, progress)
}
