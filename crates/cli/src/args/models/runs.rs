//! Arguments of `models runs`.

use crate::args::shared::{OutputArgs, ProjectArg, Reading};
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `models runs`: training runs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus models runs list P.dissensus
  dissensus models runs show P.dissensus 3 --json
  dissensus models runs compare P.dissensus 3 4
  dissensus models runs report P.dissensus 3,4 runs.html")]
pub(crate) struct Runs {
    #[command(subcommand)]
    pub(crate) command: RunsCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum RunsCommand {
    /// List all runs, newest first
    List(Reading),
    /// Show one run: training, scores with 95 % intervals, levels
    Show(OneRun),
    /// Compare two runs that were scored on the same labels
    Compare(TwoRuns),
    /// Resume an interrupted or failed run from its last checkpoint
    Resume(OneRun),
    /// Use a run's encoder in this project, with multilevel fitted on all labels
    Use(OneRun),
    /// Return to the encoder used before
    StopUsing(StopUsing),
    /// Delete a run and its files (a run in use is put out of use first)
    Delete(OneRun),
    /// Write a report on runs: .html (with plots), .csv, .json or .tex
    Report(RunsReport),
}

/// One run of a project.
#[derive(Args, Debug)]
pub(crate) struct OneRun {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Number of the run
    pub(crate) run: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Two runs of a project.
#[derive(Args, Debug)]
pub(crate) struct TwoRuns {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Number of the first run
    pub(crate) a: u32,
    /// Number of the second run
    pub(crate) b: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct StopUsing {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
}

#[derive(Args, Debug)]
pub(crate) struct RunsReport {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// One or more runs, such as 1,2 [default: all finished runs], and the file to write
    #[arg(value_name = "[RUN] FILE", num_args = 1..=2, required = true, value_hint = ValueHint::FilePath)]
    pub(crate) target: Vec<PathBuf>,
    /// Use annotators' ids instead of pseudonyms (A1, A2, ..., as in exports and bundles)
    #[arg(long)]
    pub(crate) ids: bool,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}
