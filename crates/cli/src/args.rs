//! The command line: commands in groups, with their arguments and help texts. No behaviour.

mod analyse;
mod data;
mod label;
mod mask;
mod models;
mod old_names;
mod parse;
mod people;
mod project;
mod report;
mod schema;
mod shared;
mod study;
mod updates;

pub(crate) use analyse::*;
pub(crate) use data::*;
pub(crate) use label::*;
pub(crate) use mask::Mask;
pub(crate) use models::*;
pub(crate) use old_names::{new_path, with_new_names};
pub(crate) use parse::RemovedOccasion;
pub(crate) use people::*;
pub(crate) use project::*;
pub(crate) use report::Report;
pub(crate) use schema::Schema;
pub(crate) use shared::*;
pub(crate) use study::*;
pub(crate) use updates::CheckUpdate;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Parser, Subcommand, ValueHint};
use std::path::PathBuf;
use strum::VariantArray as _;

/// Heading of the options that every command takes.
const GLOBAL: &str = "Global options";

/// Label subjective texts, keep every annotator's own labels, and study where annotators disagree
#[derive(Parser, Debug)]
#[command(
    name = "dissensus",
    version,
    max_term_width = 100,
    after_help = "Examples:
  dissensus project sample demo.dissensus
  dissensus analyse disagreement demo.dissensus --top 5

  dissensus project new study.dissensus
  dissensus data import study.dissensus labels.csv --attributes gender,age
  dissensus models encode study.dissensus
  dissensus models evaluate study.dissensus --split by-text:0.7 --at-least 3
  dissensus label record study.dissensus --annotator ana --text-id 42 --value 4

Commands that read take --json; `dissensus schema` describes what they print.
Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted."
)]
pub(crate) struct Cli {
    /// Log to standard error: error, warn, info, debug, trace, or a filter such as dissensus_store=debug
    /// [default: RUST_LOG]
    #[arg(long, global = true, value_name = "LEVEL", help_heading = GLOBAL)]
    pub(crate) log: Option<String>,
    /// Hide progress bars
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,
    /// Language of messages and results, which --json and help do not follow [default: DISSENSUS_LANGUAGE,
    /// else the system's]
    #[arg(long, global = true, value_name = "LANGUAGE", help_heading = GLOBAL)]
    #[arg(value_parser = tags().try_map(|tag| tag.parse::<dissensus_domain::Language>()))]
    pub(crate) language: Option<dissensus_domain::Language>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The tags of the languages.
fn tags() -> PossibleValuesParser {
    dissensus_domain::Language::VARIANTS.iter().map(|one| one.name()).into()
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Create, inspect, copy and clean up projects
    #[command(subcommand)]
    Project(ProjectCommand),
    /// Import, export and browse texts and labels; edit questions and the guideline
    #[command(subcommand)]
    Data(DataCommand),
    /// Manage annotators: attributes, withdrawal, protection from harmful texts
    #[command(subcommand)]
    People(PeopleCommand),
    /// Record labels; practice rounds, attention checks, notes and decisions
    #[command(subcommand)]
    Label(LabelCommand),
    /// Run a study: plan it, assign texts to annotators, merge their submissions
    #[command(subcommand)]
    Study(StudyCommand),
    /// Encode texts; train, evaluate and use models of annotators
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Analyse disagreement, agreement and differences between annotators
    #[command(subcommand)]
    Analyse(AnalyseCommand),
    /// Write a report for a paper: figures, tables, a data statement, labels
    Report(Report),
    /// Look for a newer version of this program, or check a downloaded one
    CheckUpdate(CheckUpdate),
    /// Print the JSON schema of what commands print with --json
    Schema(Schema),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, one for each command, into a folder
    #[command(hide = true)]
    Man {
        /// An existing folder
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Write the generated pages of the documentation (commands, JSON schemas) into a folder
    #[command(hide = true)]
    Reference {
        /// The folder
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

#[cfg(test)]
mod tests;
