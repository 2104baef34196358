//! Arguments of `reveal` and `care`: what a study shows its people, and how it takes care of them.

use super::on_off;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `reveal`: whether people see how others answered.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus reveal P.dissensus
  dissensus reveal P.dissensus on

Off, as at first: after an answer the next text comes at once. On: whoever has answered a text in the window is shown what is predicted of
others, and what they answered, before going on. Packets never show it. What was shown to whom about which text is recorded: exports have a
column `shown` for labels that came later, and `info` counts them. A text that somebody opens in Findings while labelling counts
as shown to that person; lists of texts, and what this command prints, do not.")]
pub(crate) struct Reveal {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Without it: says how it is
    #[arg(value_name = "on|off", value_parser = on_off)]
    pub(crate) to: Option<bool>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `care`: limits for people who read harmful texts.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus care P.dissensus
  dissensus care P.dissensus --question toxicity --level severe --limit 40
  dissensus care P.dissensus --limit 40 --strict on --greyscale on
  dissensus care P.dissensus --no-limit

A text is harmful for a person from the level that --level names: on an ordinal scale that level and those above it, else that level, option or
type alone. What counts is what is predicted of this person, their own answers, and their flags; nobody is told of one text. When a person
has read as many harmful texts in a day (local time) as the limit says, the window ends the day, and offers to go on unless the limit is strict.
People may choose a limit of their own and topics that are left out: both stay on their computer, and the study learns only how many texts
somebody leaves out (`study`). Packets that are handed out from here on carry what is set here; they hold no predictions, so own answers and flags
count there. Labels by the command are not limited.")]
pub(crate) struct Care {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Harmful texts a day
    #[arg(long, value_name = "N", conflicts_with = "no_limit")]
    pub(crate) limit: Option<u32>,
    /// No limit any more
    #[arg(long)]
    pub(crate) no_limit: bool,
    /// Whether nobody may go on beyond the limit on that day
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    pub(crate) strict: Option<bool>,
    /// Whether texts and pictures are shown without colour
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    pub(crate) greyscale: Option<bool>,
    /// The question that tells which texts are harmful
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// The level (option, type) of it from which on a text is harmful
    #[arg(long, value_name = "NAME")]
    pub(crate) level: Option<String>,
    /// This question tells it no more
    #[arg(long, conflicts_with = "level")]
    pub(crate) no_level: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
