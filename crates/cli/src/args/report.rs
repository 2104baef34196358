//! What `report` takes.

use super::EncoderArgs;
use clap::{Args, ValueHint};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  dissensus report P.dissensus appendix
  dissensus report P.dissensus appendix --evaluate --force

The folder holds report.html (a page that needs nothing beside itself), every figure as SVG (figures/), every table as LaTeX for booktabs and as CSV
(tables/), a data statement and CrowdWorkSheets with all counts filled in and open questions left to the authors, soft labels (a row a text), labels.csv
(everybody's own labels, with texts) and reproduce.json (versions, seeds, hashes, commands). Figures come with the number of labels, texts and people behind
them; where these are too few it says so. Models: the newest evaluation on record and all training runs; --evaluate compares all models anew and
measures how fast new people are learned, which takes minutes.")]
pub(crate) struct Report {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The folder to make
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Evaluate all models on labels held out, and how fast new people are learned
    #[arg(long)]
    pub(crate) evaluate: bool,
    /// Quote the beginnings of the most contested texts; without it their ids alone
    #[arg(long)]
    pub(crate) quote_texts: bool,
    /// Name people by their ids, and tell of groups of fewer than five people; without it people have pseudonyms (A1, A2, ...)
    #[arg(long)]
    pub(crate) with_ids: bool,
    /// Replace a report that is there
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
