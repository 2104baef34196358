//! Options of prediction tables, and messages about them.

use super::embed::print_left_out;
use super::{count, note};
use crate::args::Predict;
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::WrittenPredictions;
use dissensus_app::session::Session;
use dissensus_training::encoding::TextFileChoices;
use dissensus_training::prediction_tables::{
    LevelPredictions, OptionPredictions, PredictionChoices, PredictionFile, SpanPredictions,
};
use dissensus_training::runs;
use dissensus_training::runs::RunPredictionFile;
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
        (false, all) => all.iter().try_for_each(|one| print_levels(&one.written)),
    }
}

pub(super) fn print_predictions(written: &WrittenPredictions, json: bool) -> Result<()> {
    match (written, json) {
        (WrittenPredictions::Levels(written), true) => output::json(written),
        (WrittenPredictions::Options(written), true) => output::json(written),
        (WrittenPredictions::Spans(written), true) => output::json(written),
        (WrittenPredictions::Levels(written), false) => print_levels(written),
        (WrittenPredictions::Options(written), false) => print_options(written),
        (WrittenPredictions::Spans(written), false) => print_spans(written),
    }
}

fn print_levels(LevelPredictions { table: written, rows }: &LevelPredictions) -> Result<()> {
    print_left_out_and_strangers(written.bad_rows, written.annotators_without_labels);
    output::line(&format!(
        "Wrote {} to {}: {} x {}{}",
        count(*rows, "prediction"),
        written.file.display(),
        count(written.texts, "text"),
        count(written.annotators as u64, "annotator"),
        written.observed.map_or_else(String::new, |observed| format!(", {observed} observed"))
    ))
}

fn print_options(predictions: &OptionPredictions) -> Result<()> {
    let written = &predictions.table;
    print_left_out_and_strangers(written.bad_rows, written.annotators_without_labels);
    note(&predictions.options_together);
    print_people_of_sets(predictions.annotators_of_sets, written.annotators);
    if predictions.sets_not_exact > 0 {
        note(&format!(
            "of {} the most likely set was looked for as long as is allowed: another may be likelier",
            count(predictions.sets_not_exact, "text")
        ));
    }
    output::line(&format!(
        "Wrote {} to {}: whole answers to \"{}\" ({}), over {}{}",
        count(written.texts, "text"),
        written.file.display(),
        written.question,
        count(predictions.options.len() as u64, "option"),
        count(written.annotators as u64, "annotator"),
        observed_texts(written)
    ))
}

fn print_spans(SpanPredictions { table: written, types, rows }: &SpanPredictions) -> Result<()> {
    print_left_out_and_strangers(written.bad_rows, written.annotators_without_labels);
    output::line(&format!(
        "Wrote {} to {}: the words of {} x {}, over {}{}",
        count(*rows, "row"),
        written.file.display(),
        count(written.texts, "text"),
        count(types.len() as u64, "type"),
        count(written.annotators as u64, "annotator"),
        observed_texts(written)
    ))
}

fn observed_texts(written: &PredictionFile) -> String {
    written.observed.map_or_else(String::new, |texts| format!(", {} observed", count(texts, "text")))
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

/// Notes that sets and distances do not include all annotators.
pub(super) fn print_people_of_sets(of_sets: usize, annotators: usize) {
    if of_sets < annotators {
        note(&format!(
            "most likely sets and MASI distances are over {of_sets} of the {annotators} annotators"
        ));
    }
}
