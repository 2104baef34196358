//! `dissensus models`: embeddings, annotator models and their predictions.

mod evaluate;
mod predict;
mod runs;
mod train;

pub(crate) use evaluate::{Evaluate, ModelArg};
pub(crate) use predict::{Predict, Predictions, PredictionsFormat};
pub(crate) use runs::{OneRun, Runs, RunsCommand};
pub(crate) use train::Train;

use super::parse::split;
use super::shared::{EncoderArgs, OutputArgs, ProjectArg, TextColumnArgs};
use clap::{Args, Subcommand, ValueHint};
use dissensus_selection::evaluation::SplitSpec;
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum ModelsCommand {
    /// Compute the embedding of every text in the project
    Encode(Encode),
    /// Write embeddings of texts in a file, without a project
    Embed(Embed),
    /// Fit the project's model, or start a training run that is evaluated
    Train(Train),
    /// Compare annotator models on held-out labels
    Evaluate(Evaluate),
    /// List, show, compare, use and delete training runs
    Runs(Runs),
    /// Predict labels for one text, or for a file of new texts
    Predict(Predict),
    /// Write predictions for all texts of the project to a file
    Predictions(Predictions),
    /// Write models to a folder that predicts without the project
    Bundle(Bundle),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus models encode P.dissensus
  dissensus models encode P.dissensus --encoder ./my-bert --pooling cls
  dissensus models encode P.dissensus --precision fast
  dissensus models encode P.dissensus --choose-encoder all-MiniLM-L6-v2,multilingual-e5-small-q4
  dissensus models encode P.dissensus --encoder OTHER.dissensus#3

Ctrl-C stops after the current batch; run the command again to continue.")]
pub(crate) struct Encode {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Try every pooling, and keep the one whose embeddings predict held-out labels best
    #[arg(long, conflicts_with = "pooling", group = "choose")]
    pub(crate) choose_pooling: bool,
    /// Try these encoders, and switch to the one with which `multilevel` predicts held-out labels best, if it
    /// beats the current one by more than a standard error
    #[arg(
        long,
        value_name = "ENCODERS",
        value_delimiter = ',',
        conflicts_with = "encoder",
        group = "choose"
    )]
    pub(crate) choose_encoder: Vec<String>,
    /// With --choose-pooling or --choose-encoder: the question [default: the only one in the project]
    #[arg(long, value_name = "NAME", requires = "choose")]
    pub(crate) question: Option<String>,
    /// With --choose-pooling or --choose-encoder: how to split labels [default: column if there is an
    /// official split, else by-text:0.7]
    #[arg(long, value_parser = split, requires = "choose")]
    pub(crate) split: Option<SplitSpec>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus models embed comments.csv comments.npy --text-column comment --text-id-column id
  dissensus models embed lines.txt lines.parquet --encoder intfloat/e5-small --prompt \"query: \"
  dissensus models embed comments.jsonl embeddings.jsonl --encoder P.dissensus#3

A .npy file holds one float32 row per text, with ids in NAME.ids.txt; .parquet and .jsonl have the \
columns text_id and embedding.")]
pub(crate) struct Embed {
    /// The texts: a table (CSV, TSV, JSON Lines, Parquet, XLSX, ODS), or one text per line (.txt)
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    /// The file to write: .npy, .parquet or .jsonl
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) columns: TextColumnArgs,
    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus models bundle P.dissensus rude-model
  dissensus models bundle P.dissensus rude-model --question rude --ids
  dissensus models bundle P.dissensus tuned-model --run 3

The folder contains encoder, heads, annotator effects and a model card, but no texts, labels or attributes.
`dissensus models predict --bundle` uses it.")]
pub(crate) struct Bundle {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The folder to create
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Use the models of these training runs (of multilevel) [default: the current models]
    #[arg(long, value_name = "RUN,RUN", value_delimiter = ',')]
    pub(crate) run: Vec<u32>,
    /// Use the current model of this question; may be repeated [default: all questions]
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Vec<String>,
    /// Use annotators' ids instead of pseudonyms (A1, A2, ..., as in exports and reports)
    #[arg(long)]
    pub(crate) ids: bool,
    /// The default; accepted for old scripts
    #[arg(long, hide = true, conflicts_with = "ids")]
    pub(crate) anonymous: bool,
    /// Replace an existing bundle
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}
