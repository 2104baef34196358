//! The words of texts, with who marked them and who would: for one text, or for all as a file.

use super::Analysis;
use crate::word_models;
use dissensus_api::{DisagreementMeasure, DisagreementQuery, WordHeat};
use dissensus_domain::{AnnotatorId, Question, QuestionId, TextId};
use dissensus_exchange::{ColumnKind, TypedColumn, TypedTable, Value};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::outputs::check_outputs;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The words of one text. The keys are a contract with scripts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordsOfText {
    pub text_id: String,
    pub question: String,
    /// Its types, in the order of the types of each word.
    pub types: Vec<String>,
    pub answers: u32,
    /// Number of people over whom predictions are averaged; 0 without predictions.
    pub people: u32,
    /// Its words, in order.
    pub words: Vec<WordOfText>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordOfText {
    /// The word as written in the text.
    pub word: String,
    /// Its first character (Unicode scalar values).
    pub start: u32,
    /// The character after its last one.
    pub end: u32,
    /// Figures for each type.
    pub types: Vec<WordOfType>,
}

/// The figures of one word for one type.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordOfType {
    /// Ids of those who marked it.
    pub marked_by: Vec<String>,
    /// Share of the people who would mark it, given all answers so far.
    pub expected: Option<f64>,
    /// Probability that two of them differ on it.
    pub differ: Option<f64>,
}

/// Summary of a written table.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordFile {
    pub file: PathBuf,
    pub question: String,
    pub texts: u64,
    /// Number of rows, one for each word and type.
    pub rows: u64,
}

/// The words of a text by its id, for the question with spans of this name or for one of its types
/// (`where: insult`), with the predicted marks of everyone in the project by the model in memory
/// ([`word_models::fit_words`](crate::word_models::fit_words)); without one, only who marked them.
///
/// # Errors
/// No such text; the question has no spans; the file cannot be read.
pub fn read(cx: &Analysis, question: Option<&str>, text_id: &str) -> Result<WordsOfText, ProjectError> {
    let (question, types) = requested_types(cx, question)?;
    let text = cx
        .context
        .store
        .text_by_external(text_id)?
        .ok_or_else(|| ProjectError::NoSuchText(text_id.to_owned()))?
        .id;
    let names = annotator_ids(cx);
    let body = cx.context.store.bodies(&[text])?.pop().unwrap_or_default();
    let characters: Vec<char> = body.chars().collect();
    let heats = read_heats(cx, &types, text)?;
    let words = heats.first().map_or(&[][..], |heat| &heat.words);
    let word = |(at, of): (usize, &dissensus_api::WordFigure)| WordOfText {
        word: characters[of.start as usize..of.end as usize].iter().collect(),
        start: of.start,
        end: of.end,
        types: heats
            .iter()
            .map(|heat| {
                let figure = &heat.words[at];
                let name = |id: &AnnotatorId| names.get(id).cloned();
                WordOfType {
                    marked_by: figure.marked_by.iter().filter_map(name).collect(),
                    expected: figure.expected,
                    differ: figure.differ,
                }
            })
            .collect(),
    };
    Ok(WordsOfText {
        text_id: text_id.to_owned(),
        question: question.name.clone(),
        types: types.into_iter().map(|of_type| of_type.1).collect(),
        answers: heats.first().map_or(0, |heat| heat.answers),
        people: heats.first().map_or(0, |heat| heat.people),
        words: words.iter().enumerate().map(word).collect(),
    })
}

/// Writes the words of all texts into a table (CSV, TSV, JSONL or Parquet by its extension), a row for
/// each word and type, for a question or for one of its types.
///
/// # Errors
/// The file exists already (without `replace`) or cannot be written; the question has no spans; a
/// cancel. An unfinished table is deleted.
pub fn write(
    cx: &Analysis,
    question: Option<&str>,
    out: &Path,
    replace: bool,
    progress: &dyn Progress,
) -> Result<WordFile, ProjectError> {
    let (question, types) = requested_types(cx, question)?;
    check_outputs(&[out], &[cx.context.store.path()], replace)?;
    let texts = cx.context.store.all_text_ids_and_externals()?;
    let text = |name: &str| TypedColumn::new(name, ColumnKind::Text);
    let number = |name: &str| TypedColumn::new(name, ColumnKind::Number);
    let columns = vec![
        text("text_id"),
        number("start"),
        number("end"),
        text("word"),
        text("type"),
        number("marked"),
        number("answers"),
        number("expected"),
        number("differ"),
    ];
    let mut table = TypedTable::create(out, columns)?;
    let mut rows = 0;
    for (nth, (id, name)) in texts.iter().enumerate() {
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        progress.report(nth as u64, Some(texts.len() as u64), "writing words");
        let body = cx.context.store.bodies(&[*id])?.pop().unwrap_or_default();
        let characters: Vec<char> = body.chars().collect();
        let heats = read_heats(cx, &types, *id)?;
        let known = |figure: Option<f64>| Value::Number(figure.map_or(f32::NAN, |figure| figure as f32));
        for at in 0..heats.first().map_or(0, |heat| heat.words.len()) {
            for (heat, (_, of_type)) in heats.iter().zip(&types) {
                let figure = &heat.words[at];
                let word: String = characters[figure.start as usize..figure.end as usize].iter().collect();
                table.write(&[
                    Value::Text(name),
                    Value::Number(figure.start as f32),
                    Value::Number(figure.end as f32),
                    Value::Text(&word),
                    Value::Text(of_type),
                    Value::Number(figure.marked_by.len() as f32),
                    Value::Number(heat.answers as f32),
                    known(figure.expected),
                    known(figure.differ),
                ])?;
                rows += 1;
            }
        }
    }
    table.finish(replace)?;
    Ok(WordFile { file: out.to_owned(), question: question.name, texts: texts.len() as u64, rows })
}

/// The question with spans of this name, or with a type of this name, with the requested types: their
/// questions and names.
fn requested_types(
    cx: &Analysis,
    name: Option<&str>,
) -> Result<(Question, Vec<(QuestionId, String)>), ProjectError> {
    let id = cx.context.index().find_question(name)?.id;
    let (question, of_type) = word_models::span_question(cx, id)?;
    let all =
        question.options().into_iter().map(|option| option.id).zip(question.scale.levels().iter().cloned());
    let types = all.filter(|(asked, _)| of_type.is_none() || asked.option() == of_type).collect();
    Ok((question, types))
}

/// The predictions for each of these types.
fn read_heats(
    cx: &Analysis,
    types: &[(QuestionId, String)],
    text: TextId,
) -> Result<Vec<WordHeat>, ProjectError> {
    let of = |id: QuestionId| {
        let query = DisagreementQuery::of_everything(id, DisagreementMeasure::Pairwise);
        word_models::heat(cx, &query, text, None, false)
    };
    types.iter().map(|(id, _)| of(*id)).collect()
}

fn annotator_ids(cx: &Analysis) -> HashMap<AnnotatorId, String> {
    let index = cx.context.index();
    index.annotators().iter().map(|who| (who.id, who.external_id.clone())).collect()
}
