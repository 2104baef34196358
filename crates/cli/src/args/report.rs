//! Arguments of `report`.

use super::shared::{EncoderArgs, OutputArgs, ProjectArg};
use clap::{Args, ValueHint};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus report P.dissensus appendix
  dissensus report P.dissensus appendix --evaluate --force
  dissensus report P.dissensus papers --institution

The folder contains report.html, figures (SVG), tables (LaTeX and CSV), a data statement, labels and soft \
labels, and reproduce.json with versions, seeds and commands. With --institution it contains what an ethics or data \
protection office asks for: data flow, storage and retention, sheets filled in from the project, a consent \
draft, the program's components (CycloneDX) and licences.")]
pub(crate) struct Report {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The folder to create
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Also evaluate all models on held-out labels, and measure cold start with new annotators (takes
    /// minutes)
    #[arg(long)]
    pub(crate) evaluate: bool,
    /// Quote the beginning of the most contested texts instead of only their ids
    #[arg(long)]
    pub(crate) quote_texts: bool,
    /// Use people's ids instead of pseudonyms (A1, A2, ...), and report groups of fewer than five people
    #[arg(long)]
    pub(crate) with_ids: bool,
    /// Write the papers for an institution instead: they name no person and quote no text
    #[arg(long, conflicts_with_all = ["evaluate", "quote_texts", "with_ids"])]
    pub(crate) institution: bool,
    /// Replace an existing report
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}
