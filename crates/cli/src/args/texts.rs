//! Arguments of `texts` and `overview`.

use clap::{Args, ValueEnum, ValueHint};
use dissensus_api::{TextFilter, TextSort};
use std::path::PathBuf;

/// `texts`: the list of texts.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus texts P.dissensus --search irony
  dissensus texts P.dissensus --annotator ana --filter not-yet --top 0 --json
  dissensus texts P.dissensus --filter contested --sort contested --top 20

With --annotator answers and marks are those of one person, and what people differ on is told of texts that this person has answered;
without it they are everybody's. `long` are texts that are longer than the encoder reads at once.")]
pub(crate) struct Texts {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Texts with this in their body or id, in any case
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    pub(crate) search: String,
    /// Which texts
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) filter: TextFilterArg,
    /// In which order
    #[arg(long, value_enum, default_value = "file")]
    pub(crate) sort: TextSortArg,
    /// Whose answers and marks; everybody's without it
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: Option<String>,
    /// The question that counts; all without it
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Option<String>,
    /// How many rows; the counts are of all texts
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) top: u32,
    /// Rows to pass over
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u32,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFilterArg {
    /// All of them
    All,
    /// Answered
    Answered,
    /// Not answered yet
    NotYet,
    /// Put off
    Skipped,
    /// Marked for a second look
    Flagged,
    /// With a note, a reason or a confidence
    Noted,
    /// On which labels differ
    Contested,
    /// Longer than the encoder reads at once
    Long,
}

/// In which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextSortArg {
    /// As in the file
    File,
    /// Answered last first
    Newest,
    /// Most characters first
    Longest,
    /// Those on which labels differ most first
    Contested,
}

impl From<TextFilterArg> for TextFilter {
    fn from(arg: TextFilterArg) -> Self {
        match arg {
            TextFilterArg::All => Self::All,
            TextFilterArg::Answered => Self::Answered,
            TextFilterArg::NotYet => Self::NotYet,
            TextFilterArg::Skipped => Self::Skipped,
            TextFilterArg::Flagged => Self::Flagged,
            TextFilterArg::Noted => Self::Noted,
            TextFilterArg::Contested => Self::Contested,
            TextFilterArg::Long => Self::Long,
        }
    }
}

impl From<TextSortArg> for TextSort {
    fn from(arg: TextSortArg) -> Self {
        match arg {
            TextSortArg::File => Self::File,
            TextSortArg::Newest => Self::Newest,
            TextSortArg::Longest => Self::Longest,
            TextSortArg::Contested => Self::Contested,
        }
    }
}

/// `overview`: what there is, how far it is, and what comes next.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus overview P.dissensus
  dissensus overview P.dissensus --annotator ana --json

With --annotator texts that this person has not answered are not told of, and what comes next is next for this person.")]
pub(crate) struct Overview {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Who reads it
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: Option<String>,
    /// Contested texts of each question
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `who-differs`: who differs, and why, over all labels of a question.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus who-differs P.dissensus
  dissensus who-differs P.dissensus --question offensiveness --json

Attributes are ranked by the evidence that they explain how high people answer. Their p values are corrected for the number of attributes, and \"at most\" is
the share that none of them exceeds with 95 %, all together. compare-groups then sets two groups side by side.")]
pub(crate) struct WhoDiffers {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// People at either end to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
