//! Arguments of `guideline` and `remarks`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `guideline`: what annotators go by.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus guideline P.dissensus
  dissensus guideline P.dissensus --from guideline.md --what-changed \"irony: what is meant counts\" --by ana
  dissensus guideline P.dissensus --versions
  dissensus guideline P.dissensus --version 2
  dissensus guideline P.dissensus --agreement
  dissensus guideline P.dissensus --agreement --by-wording

The guideline is Markdown. Pictures that it names by a file beside it (PNG, JPEG, GIF or WebP) are taken into the project; links are shown
and not opened, HTML is shown as it is written. A version is never changed: what is written is a new one, and every label that is given
in the window knows the version that was on screen. Packets hold the version of the moment in which they are written.")]
pub(crate) struct Guideline {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Write a new version from this Markdown file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    /// What is new in it
    #[arg(long, value_name = "WORDS", requires = "from", default_value = "", hide_default_value = true)]
    pub(crate) what_changed: String,
    /// Who writes it
    #[arg(long, value_name = "NAME", requires = "from", default_value = "", hide_default_value = true)]
    pub(crate) by: String,
    /// Show this version in place of the one that holds
    #[arg(long, value_name = "N", conflicts_with = "from", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) version: Option<u32>,
    /// List the versions
    #[arg(long, conflicts_with_all = ["from", "version"])]
    pub(crate) versions: bool,
    /// How far people agreed under each version
    #[arg(long, conflicts_with_all = ["from", "version", "versions"])]
    pub(crate) agreement: bool,
    /// With --agreement: under each wording of the questions (prompt, help, levels) in place of each version of the guideline
    #[arg(long, requires = "agreement")]
    pub(crate) by_wording: bool,
    /// List the wordings of the questions under which answers were given
    #[arg(long, conflicts_with_all = ["from", "version", "versions", "agreement"])]
    pub(crate) wordings: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `remarks`: what people said beside their answers.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus remarks P.dissensus
  dissensus remarks P.dissensus --search irony --annotator ana
  dissensus remarks P.dissensus --reason slang --json")]
pub(crate) struct Remarks {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// With these words, in notes, reasons, the text or its id
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    pub(crate) search: String,
    /// To this question alone
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Of this person alone
    #[arg(long)]
    pub(crate) annotator: Option<String>,
    /// With this reason
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// Flagged texts alone
    #[arg(long)]
    pub(crate) flagged: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
