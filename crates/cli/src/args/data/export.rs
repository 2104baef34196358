//! Arguments of `data export`.

use crate::args::parse::METHODS;
use crate::args::shared::{EncoderArgs, OutputArgs};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use dissensus_exchange::ToolFormat;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus data export P.dissensus labels.csv
  dissensus data export P.dissensus labels.jsonl --question offensiveness
  dissensus data export P.dissensus spans.csv --question insults --spans rows
  dissensus data export P.dissensus spans.conll --question insults --leave-out-overlaps
  dissensus data export P.dissensus decided.csv --decisions only
  dissensus data export P.dissensus tasks.json --format label-studio --dry-run
  dissensus data export P.dissensus texts.parquet --rows texts --aggregate dawid-skene --predicted
  dissensus data export P.dissensus people.xlsx --rows people --pseudonyms
  dissensus data export --list-formats

The file extension sets the format: .csv, .tsv, .jsonl, .parquet, .xlsx or .conll. Exports of labels can \
be imported again; summaries (--rows texts, --rows people) cannot.")]
pub(crate) struct Export {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "list_formats")]
    pub(crate) project: Option<PathBuf>,
    /// The file to write
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "list_formats")]
    pub(crate) file: Option<PathBuf>,
    /// Write the format of another tool; reports what that format cannot hold
    #[arg(long, value_name = "NAME", value_parser = tool_formats(),
        conflicts_with_all = ["spans", "leave_out_overlaps", "decisions"])]
    pub(crate) format: Option<ToolFormat>,
    /// With --format: report what the format cannot hold, and write nothing
    #[arg(long, requires = "format")]
    pub(crate) dry_run: bool,
    /// List the names for --format with their file extensions and what they hold
    #[arg(long, conflicts_with_all = ["project", "format"])]
    pub(crate) list_formats: bool,
    /// What each row holds: one label, or a summary of one text or one person
    #[arg(long, value_enum, default_value_t,
        conflicts_with_all = ["format", "hugging_face", "leave_out", "leave_out_overlaps", "decisions", "spans", "notes",
            "dry_run"])]
    pub(crate) rows: RowsArg,
    /// With --rows texts: add one aggregated label per text, by this method
    #[arg(long, value_name = "METHOD", requires = "rows", value_parser = METHODS)]
    pub(crate) aggregate: Option<String>,
    /// With --rows texts or people: add the models' predictions
    #[arg(long, requires = "rows")]
    pub(crate) predicted: bool,
    /// Write a dataset folder for the Hugging Face hub: a Parquet file for each part of the official split,
    /// and a dataset card
    #[arg(long, conflicts_with_all = ["format", "leave_out_overlaps", "dry_run"])]
    pub(crate) hugging_face: bool,
    /// Only this question [default: all questions]
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Option<String>,
    /// How to write spans in .csv and .tsv: as a JSON list in the label column, or one row per span
    #[arg(long, value_enum, default_value_t)]
    pub(crate) spans: SpansArg,
    /// With a .conll file: leave out answers whose spans overlap or begin or end with white space; without it
    /// they stop the export
    #[arg(long)]
    pub(crate) leave_out_overlaps: bool,
    /// Leave out labels of people who failed the pass mark of the practice round or of the attention checks
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) leave_out: Vec<LeaveOutArg>,
    /// Include decisions about texts: in extra columns, or instead of labels (one row per text)
    #[arg(long, value_enum)]
    pub(crate) decisions: Option<DecisionsArg>,
    /// Add a column with the wording of the question that each label answered (`data guideline --wordings`
    /// lists them)
    #[arg(long, conflicts_with_all = ["format", "leave_out_overlaps", "dry_run"])]
    pub(crate) wordings: bool,
    /// Pseudonymise: A1, A2, ... instead of ids, no names, times or extra columns of texts, and attribute
    /// values only if at least five people in the file share them
    #[arg(long)]
    pub(crate) pseudonyms: bool,
    /// With --pseudonyms: include notes, which may contain names
    #[arg(long, requires = "pseudonyms")]
    pub(crate) notes: bool,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

/// The names of formats of other tools.
fn tool_formats() -> impl TypedValueParser<Value = ToolFormat> {
    let names = ToolFormat::all().iter().map(|format| PossibleValue::new(format.name()).help(format.title()));
    PossibleValuesParser::new(names)
        .try_map(|name| ToolFormat::named(&name).ok_or_else(|| format!("there is no format \"{name}\"")))
}

/// What a row of an exported file holds.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowsArg {
    #[default]
    Labels,
    Texts,
    People,
}

/// Where decisions are written.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecisionsArg {
    /// In columns next to the labels of each text
    #[value(alias = "beside")]
    Columns,
    /// Instead of labels: one row per text
    Only,
}

/// Whose labels to leave out.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaveOutArg {
    Failed,
}

/// How the spans of an answer are written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SpansArg {
    #[default]
    Lists,
    Rows,
}
