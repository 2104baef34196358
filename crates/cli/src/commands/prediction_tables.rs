//! Options of prediction tables, and messages about them.

use super::embed::print_left_out;
use super::{count, note};
use crate::args::Predict;
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_app::session::Session;
use dissensus_training::encoding::TextFileChoices;
use dissensus_training::prediction_table::{PredictionChoices, PredictionFile};
use dissensus_training::runs;
use dissensus_training::runs::RunPredictionFile;
use dissensus_training::word_predictor::WordPredictionFile;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Tables written by several runs.
#[derive(Serialize, JsonSchema)]
pub(super) struct TablesOfRuns<'a> {
    /// One table per run, in the order in which the runs were given.
    runs: &'a [RunPredictionFile],
}

/// Question and annotators from the arguments.
pub(super) fn prediction_choices(args: &Predict) -> PredictionChoices {
    PredictionChoices {
        question: args.question.name.clone(),
        annotators: args.annotators.clone(),
        replace: args.file.force,
    }
}

/// Text file choices from the arguments.
pub(super) fn texts_to_predict(texts: &Path, args: &Predict) -> TextFileChoices {
    TextFileChoices {
        path: texts.to_owned(),
        text: args.file.text_column.clone(),
        text_id: args.file.text_id_column.clone(),
        skip_bad: args.file.skip_bad,
        keep: embeddings_path(args),
    }
}

/// Whether a file holds stored embeddings and is no other file of the user.
pub(super) fn holds_embeddings(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(8).read_to_end(&mut head));
    read.is_ok() && head == dissensus_training::encoding::KEPT_EMBEDDINGS
}

/// Path where embeddings are stored until the table is complete.
pub(super) fn embeddings_path(args: &Predict) -> Option<PathBuf> {
    let mut name = args.file.out.as_ref().filter(|_| args.resume)?.clone().into_os_string();
    name.push(".embeddings");
    Some(name.into())
}

/// Writes one table per run.
pub(super) fn run_tables(
    session: &Session,
    runs: &[u32],
    choices: &PredictionChoices,
    texts: Option<&TextFileChoices>,
    out: &Path,
    json: bool,
) -> Result<()> {
    let bar = Bar::new("texts");
    let written = runs::prediction_tables(&session.runs, runs, choices, texts, out, &bar);
    drop(bar);
    let written = written?;
    match (json, &written[..]) {
        (true, [only]) => output::json(only),
        (true, runs) => output::json(&TablesOfRuns { runs }),
        (false, all) => all.iter().try_for_each(|one| print_written(&one.written, false)),
    }
}

pub(super) fn print_words_written(written: &WordPredictionFile, json: bool) -> Result<()> {
    if json {
        return output::json(written);
    }
    print_left_out_and_strangers(written.bad_rows, written.annotators_without_labels);
    output::line(&format!(
        "Wrote {} to {}: the words of {} x {}, over {}{}",
        count(written.rows, "row"),
        written.file.display(),
        count(written.texts, "text"),
        count(written.types.len() as u64, "type"),
        count(written.annotators as u64, "annotator"),
        written.observed.map_or_else(String::new, |texts| format!(", {} observed", count(texts, "text")))
    ))
}

/// Reports how many rows were skipped, and how many annotators are predicted as the average person.
pub(super) fn print_left_out_and_strangers(bad_rows: u64, annotators: usize) {
    print_left_out(bad_rows);
    if annotators > 0 {
        note(&format!(
            "{} without a label {} predicted as the average person",
            count(annotators as u64, "annotator"),
            if annotators == 1 { "is" } else { "are" }
        ));
    }
}

pub(super) fn print_written(written: &PredictionFile, json: bool) -> Result<()> {
    if json {
        return output::json(written);
    }
    print_left_out_and_strangers(written.bad_rows, written.annotators_without_labels);
    output::line(&format!(
        "Wrote {} to {}: {} x {}{}",
        count(written.rows, "prediction"),
        written.file.display(),
        count(written.texts, "text"),
        count(written.annotators as u64, "annotator"),
        written.observed.map_or_else(String::new, |observed| format!(", {observed} observed"))
    ))
}
