//! `dissensus label`: labels, practice rounds, attention checks, notes and decisions.

use super::parse::{after_failing, outcome, share};
use super::shared::{OutputArgs, ProjectArg, QuestionArg, WaitArg};
use clap::{Args, Subcommand, ValueHint};
use dissensus_domain::{AfterFailing, Outcome};
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum LabelCommand {
    /// Record one label; exits with 0 only after it is on disk
    Record(Record),
    /// Undo an annotator's most recent label
    Undo(Undo),
    /// Set up a practice round, and show its results
    Practice(Practice),
    /// Set up attention checks: texts with a known answer hidden among the others
    Checks(Checks),
    /// List and search annotators' notes, reasons and flags
    Notes(Notes),
    /// Record a decision about a contested text, or show its answers
    Decide(Decide),
    /// List decisions about texts
    Decisions(Decisions),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus label record P.dissensus --annotator ana --text-id 42 --value 4
  dissensus label record P.dissensus --annotator ana --text-id 43 --value 2 --note \"a quotation\"")]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Who labels; a new name adds an annotator
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: String,
    /// Add the annotator even if the name resembles an existing one (case, accents, spaces, similar letters)
    #[arg(long)]
    pub(crate) new_annotator: bool,
    /// The text id
    #[arg(long, value_name = "ID")]
    pub(crate) text_id: String,
    /// The answer: a level, options separated by ;, spans as a JSON list, or [cannot say]
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) value: String,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Annotation round: 1 is the label itself, 2 and later are re-annotations stored apart from it
    #[arg(long, value_name = "ROUND", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) occasion: u16,
    /// Record an answer in the practice round, not a label; prints the right answer and the reason for it
    #[arg(long, conflicts_with_all = ["occasion", "note", "reason", "confidence"])]
    pub(crate) practice: bool,
    /// A note about the answer
    #[arg(long)]
    pub(crate) note: Option<String>,
    /// A reason for the answer; may be repeated
    #[arg(long)]
    pub(crate) reason: Vec<String>,
    /// How confident the annotator is, from 1 (a guess) to 5 (certain)
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) confidence: Option<u8>,
    #[command(flatten)]
    pub(crate) wait: WaitArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:
  dissensus label undo P.dissensus --annotator ana")]
pub(crate) struct Undo {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Whose label
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: String,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    #[command(flatten)]
    pub(crate) wait: WaitArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus label practice P.dissensus --text-id 42 --value 5 --reason \"a plain insult\"
  dissensus label practice P.dissensus --from practice.csv --question offensive
  dissensus label practice P.dissensus --pass 0.8 --within 1 --then practise
  dissensus label practice P.dissensus --results
  dissensus label practice P.dissensus --text-id 42 --remove
  dissensus label practice ada.dissensus

Annotators answer practice texts first and see the right answer after each one. These answers are not labels.")]
pub(crate) struct Practice {
    /// The project file, or a task packet
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// A text to practise on
    #[arg(long, value_name = "ID", conflicts_with = "from")]
    pub(crate) text_id: Option<String>,
    /// With --text-id: the right answer
    #[arg(long, requires = "text_id", allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// With --text-id: why it is the right answer, shown after an annotator's own answer
    #[arg(long, requires = "value", default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
    /// With --text-id: remove the text from the practice round
    #[arg(long, requires = "text_id", conflicts_with = "value")]
    pub(crate) remove: bool,
    /// Read practice texts from a CSV file with the columns text_id, label and optionally reason
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Pass mark: the share of answers that must be right, from 0 to 1 [default if never set: 0.8]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) pass: Option<f64>,
    /// On ordered levels, accept answers up to this many levels away
    #[arg(long, value_name = "N")]
    pub(crate) within: Option<u16>,
    /// What happens below the pass mark: go-on (labels are marked), practise (another round) or stop
    #[arg(long, value_parser = after_failing)]
    pub(crate) then: Option<AfterFailing>,
    /// Show the results of each person who has started
    #[arg(long)]
    pub(crate) results: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus label checks P.dissensus
  dissensus label checks P.dissensus --text-id 42 --value 5 --reason \"a plain insult\"
  dissensus label checks P.dissensus --from checks.csv --question offensive
  dissensus label checks P.dissensus --text-id 42 --remove
  dissensus label checks P.dissensus --pass 0.75 --within 1 --then practise

Every task packet contains all attention checks at random positions; the right answers stay in the project.")]
pub(crate) struct Checks {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// A text to use as an attention check
    #[arg(long, value_name = "ID", conflicts_with = "from")]
    pub(crate) text_id: Option<String>,
    /// With --text-id: the right answer
    #[arg(long, requires = "text_id", allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// With --text-id: why it is the right answer
    #[arg(long, requires = "value", default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
    /// With --text-id: stop using the text as a check
    #[arg(long, requires = "text_id", conflicts_with = "value")]
    pub(crate) remove: bool,
    /// Pass mark: the share of a person's checks that must be right, from 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) pass: Option<f64>,
    /// On ordered levels, accept answers up to this many levels away
    #[arg(long, value_name = "N")]
    pub(crate) within: Option<u16>,
    /// What happens below the pass mark: go-on (the default), practise (back to the practice round) or stop
    #[arg(long, value_parser = after_failing)]
    pub(crate) then: Option<AfterFailing>,
    /// Remove the pass mark
    #[arg(long, conflicts_with_all = ["pass", "within", "then"])]
    pub(crate) no_pass: bool,
    /// Read checks from a CSV file with the columns text_id, label and optionally reason
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus label notes P.dissensus
  dissensus label notes P.dissensus --search irony --annotator ana
  dissensus label notes P.dissensus --reason slang --json")]
pub(crate) struct Notes {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Only those that contain this in the note, the reasons, the text or its id
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    pub(crate) search: String,
    /// Only for this question
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Option<String>,
    /// Only by this person
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: Option<String>,
    /// Only with this reason
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// Only flagged texts
    #[arg(long)]
    pub(crate) flagged: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus label decide P.dissensus --text-id 42
  dissensus label decide P.dissensus --text-id 42 --outcome real-difference --by ana
  dissensus label decide P.dissensus --text-id 42 --outcome slip --value 4 --comment \"ben meant 4\"

Without --outcome the command shows all answers and earlier decisions. Decisions never change labels.")]
pub(crate) struct Decide {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The text id
    #[arg(long, value_name = "ID")]
    pub(crate) text_id: String,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// The outcome: slip, guideline-gap, ambiguous, real-difference or reopened (withdraws the last decision)
    #[arg(long, value_parser = outcome)]
    pub(crate) outcome: Option<Outcome>,
    /// The agreed answer, if there is one
    #[arg(long, requires = "outcome", allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// The reasoning behind it
    #[arg(long, requires = "outcome", default_value = "", hide_default_value = true)]
    pub(crate) comment: String,
    /// Who decides
    #[arg(long, value_name = "NAME", requires = "outcome", default_value = "", hide_default_value = true)]
    pub(crate) by: String,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:
  dissensus label decisions P.dissensus --all")]
pub(crate) struct Decisions {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Include decisions that were replaced or withdrawn
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
