//! Arguments of `data import`.

use crate::args::parse::{scale, scale_kinds};
use crate::args::shared::{OutputArgs, PassphraseArg, ProjectArg};
use clap::{Args, ValueEnum, ValueHint};
use dissensus_domain::ScaleKind;
use std::path::PathBuf;

/// Headings of groups of options.
const QUESTION: &str = "Question";
const COLUMNS: &str = "Columns";
const SHAPES: &str = "Shape and values of a table";

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus data import P.dissensus labels.csv
  dissensus data import P.dissensus texts.csv --dry-run
  dissensus data import P.dissensus labels.csv --attributes gender,age --question offensiveness
  dissensus data import P.dissensus ratings.jsonl --text comment --annotator worker --label score
  dissensus data import P.dissensus ratings.csv --labels harm,bias,overall
  dissensus data import P.dissensus emotions.csv --options joy,anger,fear=emotions
  dissensus data import P.dissensus wide.csv --annotator-columns 'rater_*'
  dissensus data import P.dissensus annotations.tsv --join comments.tsv --on rev_id
  dissensus data import P.dissensus spans.csv --start begin --end stop --type category

Columns that are not named are detected from the header and the values; --dry-run shows the result.
=VALUE in place of a column sets a constant: --annotator =ana assigns every row to ana.")]
pub(crate) struct Import {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The file to read: a table (.csv, .tsv, .jsonl, .conll, .xlsx, .ods, .parquet, .arrow) or an export of
    /// Label Studio, Prodigy, doccano, Argilla, Potato, INCEpTION, GATE Teamware, Le-Wi-Di or crowd-kit; may
    /// be compressed with gzip or ZIP
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArg,
    /// Read the file in this format [default: detected; --dry-run shows which]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Encoding of a text file, such as windows-1252 or utf-16le [default: UTF-8 if valid, else guessed and
    /// reported]
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,
    /// Sheet of a workbook [default: the first visible one with content]
    #[arg(long, value_name = "NAME")]
    pub(crate) sheet: Option<String>,
    /// Import the good rows, and write the bad ones with their errors to a file next to FILE; without it a
    /// bad row stops the import
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Show what would be imported and change nothing; exits with 1 if the file cannot be imported
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Name of the question that the labels answer [default: name of the label column, or the only question]
    #[arg(long, value_name = "NAME", help_heading = QUESTION)]
    pub(crate) question: Option<String>,
    /// New question: the sentence that annotators read
    #[arg(long, help_heading = QUESTION)]
    pub(crate) prompt: Option<String>,
    #[arg(
        long,
        value_parser = scale,
        help_heading = QUESTION,
        help = format!("New question: kind of scale, {} [default: guessed]", scale_kinds())
    )]
    pub(crate) scale: Option<ScaleKind>,
    /// New question: the levels, lowest first [default: those in the file]
    #[arg(long, value_delimiter = ',', help_heading = QUESTION)]
    pub(crate) levels: Option<Vec<String>>,
    /// New question: all types of spans [default: those in the file]
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["levels", "scale"], help_heading = QUESTION)]
    pub(crate) types: Option<Vec<String>>,
    /// Column with the text
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) text: Option<String>,
    /// Column with the text id
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) text_id: Option<String>,
    /// Column with the annotator id
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) annotator: Option<String>,
    /// Column with the label
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) label: Option<String>,
    /// Column with the start of a span, in a file with one row per span
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) start: Option<String>,
    /// Column with the end of a span (exclusive)
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) end: Option<String>,
    /// Column with the type of a span, or =NAME for one type for all [default: the label column]
    #[arg(long = "type", value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) span_type: Option<String>,
    /// Unit of span offsets, from 0: characters (Unicode code points, as in Python), utf-16 (as in JavaScript
    /// and Java) or bytes of UTF-8 [default: characters]
    #[arg(long, value_enum, help_heading = COLUMNS)]
    pub(crate) offsets: Option<OffsetsArg>,
    /// Column with the official split (train, test, ...)
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) split: Option<String>,
    /// Column with the document or thread that a text belongs to
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) group: Option<String>,
    /// Column with the time of the label
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) time: Option<String>,
    /// Column with the annotation round: 1, 2, ... Answers from round 2 on are re-annotations, stored apart
    /// from the labels (see `analyse repeats`)
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) occasion: Option<String>,
    /// Column with the annotator's note
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    pub(crate) note: Option<String>,
    /// Columns with attributes of the annotator
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", help_heading = COLUMNS)]
    pub(crate) attributes: Option<Vec<String>>,
    /// Columns that each answer a question of their own, named after the column
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", help_heading = SHAPES, conflicts_with = "label")]
    pub(crate) labels: Option<Vec<String>>,
    /// Columns with 0 and 1 that are the options of one multi-label question: A,B,C or A,B,C=NAME; may be
    /// repeated
    #[arg(long, value_name = "COLUMNS[=NAME]", help_heading = SHAPES, conflicts_with = "label")]
    pub(crate) options: Vec<String>,
    /// Columns that each hold one annotator's answers, named after the column; * is a wildcard: 'rater_*'
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", help_heading = SHAPES, conflicts_with_all = ["label", "annotator"])]
    pub(crate) annotator_columns: Option<Vec<String>>,
    /// Columns with the same annotator's answers in annotation rounds 1, 2, ...
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", help_heading = SHAPES, conflicts_with = "label")]
    pub(crate) rounds: Option<Vec<String>>,
    /// Pairs of columns, annotator and answer: worker_1=score_1,worker_2=score_2
    #[arg(long, value_delimiter = ',', value_name = "PAIRS", help_heading = SHAPES, conflicts_with_all = ["label", "annotator"])]
    pub(crate) pairs: Option<Vec<String>>,
    /// Another file to join: with the texts, or with answers to the texts of FILE
    #[arg(long, value_name = "OTHER", help_heading = SHAPES, value_hint = ValueHint::FilePath)]
    pub(crate) join: Option<PathBuf>,
    /// Column with the text id in both files, or COLUMN=OTHER if the names differ [default: found by the
    /// values]
    #[arg(long, value_name = "COLUMN[=COLUMN]", help_heading = SHAPES, requires = "join")]
    pub(crate) on: Option<String>,
    /// Columns to ignore
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", help_heading = SHAPES)]
    pub(crate) ignore: Option<Vec<String>>,
    /// How to read a table that can be read in several ways: the number that the command lists, or a file
    /// with a reading that --dry-run --json printed
    #[arg(long, value_name = "N|FILE", help_heading = SHAPES, conflicts_with_all = ["labels", "options", "annotator_columns", "rounds", "pairs"])]
    pub(crate) reading: Option<String>,
    /// Values of labels and attributes that mean missing: --missing=NA,-1,99
    #[arg(long, value_delimiter = ',', value_name = "VALUES", help_heading = SHAPES, allow_hyphen_values = true)]
    pub(crate) missing: Option<Vec<String>>,
    /// Treat labels that differ only in case as the same; also yes = true = 1 and no = false = 0
    #[arg(long, help_heading = SHAPES)]
    pub(crate) fold_case: bool,
    /// Separator between the options of one label: with , the label anger,fear means anger and fear
    #[arg(long, value_name = "SEPARATOR", help_heading = SHAPES)]
    pub(crate) option_separator: Option<String>,
    /// Read 3,5 as the number 3.5 [default: if all labels are such numbers]
    #[arg(long, help_heading = SHAPES)]
    pub(crate) decimal_comma: bool,
    /// Format of times: iso, month-first, day-first, year-first, excel, unix, unix-ms, or a pattern such as
    /// '%d.%m.%Y %H:%M'
    #[arg(long, value_name = "FORMAT", help_heading = SHAPES)]
    pub(crate) time_format: Option<String>,
    /// Which value to use if an attribute has several for one person [default: refuse]
    #[arg(long, value_enum, value_name = "RULE", help_heading = SHAPES)]
    pub(crate) attribute_conflicts: Option<AttributeConflictsArg>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Which value of an attribute to use.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum AttributeConflictsArg {
    /// Treat rows with a second value as bad
    Refuse,
    /// The first row's value
    First,
    /// The last row's value
    Last,
    /// The most frequent value
    MostFrequent,
    /// No value: that person's attribute stays unknown
    Unknown,
}

/// Unit of offsets.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum OffsetsArg {
    Characters,
    #[value(name = "utf-16")]
    Utf16,
    Bytes,
}
