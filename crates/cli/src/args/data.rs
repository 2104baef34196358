//! `dissensus data`: texts, labels and questions, in and out of a project.

mod export;
mod import;

pub(crate) use export::{DecisionsArg, Export, LeaveOutArg, RowsArg, SpansArg};
pub(crate) use import::{AttributeConflictsArg, Import, OffsetsArg};

use super::parse::{on_off, scale, scale_kinds, template};
use super::shared::{OutputArgs, ProjectArg};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use dissensus_api::{TextFilter, TextSort};
use dissensus_domain::{ScaleKind, ScaleTemplate};
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum DataCommand {
    /// Import texts, annotators or labels from a table or an annotation tool's export
    Import(Box<Import>),
    /// Export labels, or summaries by text or person, for Dissensus or another tool
    Export(Export),
    /// List and search texts, with their answers and marks
    Texts(Texts),
    /// Add a question, or change an existing one
    Question(Question),
    /// Show the annotation guideline and its versions, or write a new version
    Guideline(Guideline),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus data texts P.dissensus --search irony
  dissensus data texts P.dissensus --annotator ana --filter not-yet --top 0 --json
  dissensus data texts P.dissensus --filter contested --sort contested --top 20")]
pub(crate) struct Texts {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Only texts that contain this in their body or id (case does not matter)
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    pub(crate) search: String,
    /// Which texts to list
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) filter: TextFilterArg,
    /// How to sort them
    #[arg(long, value_enum, default_value = "file")]
    pub(crate) sort: TextSortArg,
    /// Consider only this annotator's answers and marks [default: everybody's]
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: Option<String>,
    /// Consider only this question [default: all questions]
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Option<String>,
    /// Number of rows to show; counts always cover all texts
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) top: u32,
    /// Number of rows to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Which texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFilterArg {
    /// All texts
    All,
    /// Answered
    Answered,
    /// Not answered yet
    NotYet,
    /// Skipped
    Skipped,
    /// Flagged for a second look
    Flagged,
    /// With a note, a reason or a confidence
    Noted,
    /// With labels that differ
    Contested,
    /// Longer than the encoder's limit
    Long,
}

/// In which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextSortArg {
    /// As in the file
    File,
    /// Last answered first
    Newest,
    /// Longest first
    Longest,
    /// Those whose labels differ most first
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

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus data question P.dissensus rude --scale binary --levels no,yes --prompt \"Is this rude?\"
  dissensus data question P.dissensus offensiveness --levels 1,2,3,4,5
  dissensus data question P.dissensus fair --template likert-5 --prompt \"The comment is fair.\"
  dissensus data question P.dissensus target --levels person,group --scale multi-label
  dissensus data question P.dissensus target --only-if \"offensiveness=4,5\"
  dissensus data question P.dissensus target --always
  dissensus data question P.dissensus offensiveness --rename \"5=very offensive\"
  dissensus data question P.dissensus offensiveness --reason slang --reason irony --confidence on
  dissensus data question P.dissensus rude --low never --high always --define \"3=an insult\"
  dissensus data question P.dissensus rude --set-levels 1,2,3,4,5,6

With --levels or --template a new question is added; without them an existing one is changed, and its \
labels stay.
Importing labels adds their question by itself.")]
pub(crate) struct Question {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// A short name, used in files and commands
    pub(crate) name: String,
    /// The sentence that annotators read [default: the name]
    #[arg(long)]
    pub(crate) prompt: Option<String>,
    #[arg(
        long,
        value_parser = scale,
        help = format!("Kind of scale: {} [default: guessed from the levels]", scale_kinds())
    )]
    pub(crate) scale: Option<ScaleKind>,
    /// Levels of a new question, lowest (or no) first
    #[arg(long, value_delimiter = ',')]
    pub(crate) levels: Vec<String>,
    /// Use the levels of a common scale for a new question: likert-5, likert-7 (agreement), yes-no-unsure or
    /// severity (0 to 4)
    #[arg(long, value_name = "NAME", value_parser = template, conflicts_with_all = ["levels", "scale"])]
    pub(crate) template: Option<ScaleTemplate>,
    /// Help text shown next to the question; "" for none
    #[arg(long, value_name = "TEXT")]
    pub(crate) help_text: Option<String>,
    /// Label of the low end of the scale, such as "not at all"
    #[arg(long, value_name = "TEXT")]
    pub(crate) low: Option<String>,
    /// Label of the high end of the scale, such as "extremely"
    #[arg(long, value_name = "TEXT")]
    pub(crate) high: Option<String>,
    /// Definition of a level, option or span type; may be repeated
    #[arg(long, value_name = "LEVEL=TEXT")]
    pub(crate) define: Vec<String>,
    /// Ask only where another question has one of these answers: QUESTION=LEVEL or QUESTION=LEVEL,LEVEL
    #[arg(long, value_name = "QUESTION=LEVELS")]
    pub(crate) only_if: Option<String>,
    /// Remove the --only-if condition: ask about every text
    #[arg(long, conflicts_with_all = ["only_if", "levels", "template"])]
    pub(crate) always: bool,
    /// Rename a level, option or span type; may be repeated
    #[arg(long, value_name = "OLD=NEW", conflicts_with_all = ["levels", "template", "set_levels"])]
    pub(crate) rename: Vec<String>,
    /// Replace the list of levels: existing names keep their labels, new names are added, and names left out
    /// are removed if nothing uses them
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', conflicts_with_all = ["levels", "template"])]
    pub(crate) set_levels: Vec<String>,
    /// A reason that annotators can choose with an answer; may be repeated. Replaces the current reasons
    #[arg(long)]
    pub(crate) reason: Vec<String>,
    /// Remove all reasons
    #[arg(long, conflicts_with_all = ["reason", "levels", "template"])]
    pub(crate) no_reasons: bool,
    /// Ask annotators how confident they are, from 1 to 5
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    pub(crate) confidence: Option<bool>,
    /// Let annotators answer "cannot say" (key X; written [cannot say] in files and for `label record
    /// --value`)
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    pub(crate) cannot_say: Option<bool>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus data guideline P.dissensus
  dissensus data guideline P.dissensus --from guideline.md --what-changed \"irony\" --by ana
  dissensus data guideline P.dissensus --versions
  dissensus data guideline P.dissensus --version 2
  dissensus data guideline P.dissensus --agreement --by-wording

The guideline is Markdown; images that it references by file name (PNG, JPEG, GIF, WebP) are stored in \
the project.")]
pub(crate) struct Guideline {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Write a new version from this Markdown file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    /// Summary of the changes in the new version
    #[arg(long, value_name = "TEXT", requires = "from", default_value = "", hide_default_value = true)]
    pub(crate) what_changed: String,
    /// Author of the new version
    #[arg(long, value_name = "NAME", requires = "from", default_value = "", hide_default_value = true)]
    pub(crate) by: String,
    /// Show this version instead of the current one
    #[arg(long, value_name = "N", conflicts_with = "from", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) version: Option<u32>,
    /// List all versions
    #[arg(long, conflicts_with_all = ["from", "version"])]
    pub(crate) versions: bool,
    /// Show agreement between annotators under each version
    #[arg(long, conflicts_with_all = ["from", "version", "versions"])]
    pub(crate) agreement: bool,
    /// With --agreement: by wording of the questions (prompt, help, levels) instead of by guideline version
    #[arg(long, requires = "agreement")]
    pub(crate) by_wording: bool,
    /// List the wordings of questions under which answers were given
    #[arg(long, conflicts_with_all = ["from", "version", "versions", "agreement"])]
    pub(crate) wordings: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
