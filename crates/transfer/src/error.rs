//! Errors of import and export.

use dissensus_project::error::ProjectError;
use std::path::PathBuf;

dissensus_domain::errors! {
    /// Why a file is not imported or exported.
    #[derive(Debug)]
    pub enum TransferError {
        IsSummary(PathBuf) => "is-summary",
            "{0} holds aggregated labels, as `data export --rows` writes them, and cannot be imported: export the labels themselves";
        SeveralReadings { path: PathBuf, listed: String } => "several-readings",
            "{path} can be read in several ways, and the file does not determine which is meant: choose one";
        NoCommonColumn { path: PathBuf, other: PathBuf } => "no-common-column",
            "no column of {path} has the ids of {other}: name it with --on COLUMN, or --on COLUMN=OTHER if it has another name there";
        FileChanged { path: PathBuf, counted: u64, found: u64 } => "file-changed",
            "{path} changed while it was read, so nothing was imported: {counted} bad rows were counted first and {found} then; import it again";
        NoRows(PathBuf) => "no-rows", "{0} has a header and no rows: there is nothing to make a scale from";
        NoScale { column: String, source: dissensus_domain::ScaleError } => "no-scale",
            "the labels in column \"{column}\" make no scale: {source}{}" (if_free_text(source, column));
        OtherScale { question: String, has: String } => "other-scale",
            "the question \"{question}\" exists with the scale {has}: leave out the scale, or name another question";
        SeveralQuestions { path: PathBuf, names: Vec<String> } => "several-questions",
            "{path} answers {} questions ({}) and cannot be read as answers to one: leave out the name of a question" (names.len(), names.join(", "));
        NothingPasted => "no-rows",
            "there are no rows to paste: copy rows of a table, or lines of text, and paste them again";
        SpanRowsInJson => "span-rows",
            "JSON Lines has the spans of an answer as a list, which needs no rows: name the file .csv or .tsv, or leave the choice out";
        DecisionsInConll => "conll",
            "a CoNLL file holds only answers: write decisions to a .csv, .tsv or .jsonl file";
        NoSpansToExport => "span-rows",
            "no question to export is answered with spans: leave the choice of their rows out, or name another question";
        NoConll => "conll",
            "a CoNLL file holds only spans: name a question that is answered with spans, or write .csv or .jsonl";
        NotInConll { count: u64, all: u64, first: String } => "conll",
            "{count} of {all} answers cannot be in a CoNLL file, because spans overlap or begin or end with white space (the first: {first}): write .jsonl, or .csv with --spans rows, or leave them out with --leave-out-overlaps";
    }
}

impl From<TransferError> for ProjectError {
    fn from(error: TransferError) -> Self {
        let detail = match &error {
            TransferError::SeveralReadings { listed, .. } => Some(listed.clone()),
            _ => None,
        };
        Self::refused(error.code(), &error, detail)
    }
}

/// Advice for a column of free text.
fn if_free_text(error: &dissensus_domain::ScaleError, column: &str) -> String {
    match error {
        dissensus_domain::ScaleError::TooMany(_) => {
            format!(" What people wrote in their own words can be a note on the label (--note '{column}')")
        }
        _ => String::new(),
    }
}
