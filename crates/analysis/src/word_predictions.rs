//! Predictions of the words that annotators would mark in any text.

use super::Analysis;
use super::word_table::{WordOfText, WordOfType, WordsOfText};
use crate::error::AnalysisError;
use crate::word_fit;
use dissensus_domain::{AnnotatorId, Question};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_training::word_predictor::WordOfBody;

/// Which words of any text one annotator, or all, would mark, by the model of
/// [`prediction_file::write`](crate::prediction_file::write). There are no marks: `answers` is 0, and the
/// text has no id.
///
/// # Errors
/// The question has no spans or no answers; no encoder, or one that is not available; cancellation.
pub fn predict(
    cx: &Analysis,
    question: &Question,
    annotator: Option<AnnotatorId>,
    body: &str,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<WordsOfText, ProjectError> {
    if !question.scale.form().marks_words() {
        return Err(AnalysisError::NoSpans(question.name.clone()).into());
    }
    let people: Vec<AnnotatorId> = match annotator {
        Some(who) => vec![who],
        None => cx.context.index().annotators().iter().map(|who| who.id).collect(),
    };
    let (encoder, selected, _) = cx.encoding.open_in_use(encoder)?;
    let learned = runs::learned_words(&cx.runs, question.id, &selected.encoder)?.map(|(_, learned)| learned);
    let predictor = word_fit::word_predictor(cx, question, &people, &encoder, learned, progress)?;
    let of_type = |marks: f64, differ: f64| WordOfType {
        marked_by: Vec::new(),
        expected: Some(marks),
        differ: (people.len() > 1).then_some(differ),
    };
    let word = |word: WordOfBody| WordOfText {
        word: word.word,
        start: word.start,
        end: word.end,
        types: word.types.iter().map(|(marks, differ)| of_type(*marks, *differ)).collect(),
    };
    Ok(WordsOfText {
        text_id: String::new(),
        question: question.name.clone(),
        types: question.scale.levels().to_vec(),
        answers: 0,
        people: people.len() as u32,
        words: predictor.words_of(body, &encoder, progress)?.into_iter().map(word).collect(),
    })
}
