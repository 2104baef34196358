//! A table of the words of another file's texts that the project's annotators would mark.

use super::Analysis;
use super::span_data::TOGETHER;
use super::word_table::{WordOfText, WordOfType, WordsOfText};
use crate::error::AnalysisError;
use crate::prediction_file;
use crate::word_fit;
use crate::word_table;
use dissensus_domain::{AnnotatorId, AnswerForm, Question, TextId};
use dissensus_exchange::TypedTable;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::outputs::check_outputs;
use dissensus_store::body_hash;
use dissensus_training::encoding::{CheckedTexts, EncoderChoice, TextFileChoices};
use dissensus_training::prediction_table::{PredictedAnnotator, PredictionChoices};
use dissensus_training::runs;
use dissensus_training::word_predictor::{WordOfBody, WordPredictionFile, WordRequest};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// The parameters of a table of words, whose names, files and texts were checked.
pub struct CheckedWords {
    question: Question,
    chosen: Vec<PredictedAnnotator>,
    choices: PredictionChoices,
    out: PathBuf,
    texts: CheckedTexts,
}

/// Checks that a table of the words of a file's texts can be written, before anything is encoded or
/// fitted for it.
///
/// # Errors
/// No such question or annotator; a question without spans; an output file that exists already (without
/// `replace`), is the input file or has an unsupported format; a file of texts that cannot be read or
/// has bad rows; a cancel.
pub fn check(
    cx: &Analysis,
    choices: &PredictionChoices,
    texts: &TextFileChoices,
    out: &Path,
    progress: &dyn Progress,
) -> Result<CheckedWords, ProjectError> {
    let question = word_table::question_with_spans(cx, choices.question.as_deref())?;
    TypedTable::check(out, false)?;
    check_outputs(&[out], &[texts.path.as_path(), cx.context.store.path()], choices.replace)?;
    let chosen = prediction_file::chosen_rows(cx, choices)?;
    let texts = CheckedTexts::open(texts, progress).map_err(ProjectError::all_or_nothing)?;
    Ok(CheckedWords { question, chosen, choices: choices.clone(), out: out.to_owned(), texts })
}

/// Fits a model of words to all answers, or uses the one that the encoder in use has learned, and writes
/// which words of a file's texts annotators would mark: a row for each word and type. If annotators are
/// chosen, each of them has a column. Answers to a text of the same body count only for annotators'
/// readiness.
///
/// # Errors
/// No answers; no encoder, or one that is not available; a file of texts that has changed; a full disk;
/// a cancel. An unfinished table is deleted.
pub fn write(
    cx: &Analysis,
    asked: &CheckedWords,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<WordPredictionFile, ProjectError> {
    let index = cx.context.index();
    let people: Vec<AnnotatorId> = index.annotators().iter().map(|who| who.id).collect();
    let (encoder, selected, _) = cx.encoding.open_in_use(encoder)?;
    let learned =
        runs::learned_words(&cx.runs, asked.question.id, &selected.encoder)?.map(|(_, learned)| learned);
    let observed = observed_bodies(cx, &asked.question, &selected.key)?;
    let predictor = word_fit::word_predictor(cx, &asked.question, &people, &encoder, learned, progress)?;
    let has_labels = |row: u32| predictor.answers.get(row as usize).is_some_and(|answers| *answers > 0);
    let chosen: Vec<PredictedAnnotator> = asked
        .chosen
        .iter()
        .map(|one| PredictedAnnotator { has_labels: has_labels(one.row), ..one.clone() })
        .collect();
    let table = WordRequest {
        question: &asked.question.name,
        types: asked.question.scale.levels(),
        chosen: &chosen,
        observed: Some(&observed),
        each: !asked.choices.annotators.is_empty(),
        out: &asked.out,
        replace: asked.choices.replace,
    };
    let written = predictor.write_file(&table, &asked.texts, &encoder, progress);
    written.map_err(ProjectError::all_or_nothing)
}

/// Which words of any text one annotator, or all, would mark, by the model of
/// [`write`]. There are no marks: `answers` is 0, and the text has no id.
///
/// # Errors
/// The question has no spans or no answers; no encoder, or one that is not available; a cancel.
pub fn predict(
    cx: &Analysis,
    question: &Question,
    annotator: Option<AnnotatorId>,
    body: &str,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<WordsOfText, ProjectError> {
    if question.scale.form() != AnswerForm::Spans {
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

/// Hashes of the bodies that have an answer to the question, or that trained the encoder.
fn observed_bodies(
    cx: &Analysis,
    question: &Question,
    encoder: &str,
) -> Result<HashSet<[u8; 32]>, ProjectError> {
    let index = cx.context.index();
    let (types, labels) = cx.context.span_data(question)?;
    let answered = types.first().map_or(&[][..], |first| &first.texts[..]);
    let answered = labels.iter().filter_map(|label| answered.get(label.text as usize)).copied();
    let seen = cx.encoding.seen_by(Some(encoder), &index)?;
    let taught = index.texts().iter().zip(seen.taught()).filter(|(_, taught)| **taught).map(|(id, _)| *id);
    let texts: BTreeSet<TextId> = answered.chain(taught).collect();
    let texts: Vec<TextId> = texts.into_iter().collect();
    let mut bodies = HashSet::new();
    for chunk in texts.chunks(TOGETHER) {
        bodies.extend(cx.context.store.bodies(chunk)?.iter().filter_map(|body| body_hash(body)));
    }
    Ok(bodies)
}
