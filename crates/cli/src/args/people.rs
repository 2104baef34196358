//! `dissensus people`: annotators and how a project treats them.

use super::parse::{attribute, attribute_values, on_off};
use super::shared::{OutputArgs, ProjectArg};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;
use strum::VariantArray as _;

#[derive(Subcommand, Debug)]
pub(crate) enum PeopleCommand {
    /// Show or change one person's name and attributes
    Show(Show),
    /// Define the form that asks people about themselves, or answer it for someone
    Form(Form),
    /// Set the text that people agree to before they answer, or show who agreed to which version
    Consent(Consent),
    /// Erase everything about a person who withdraws from the study
    Withdraw(Withdraw),
    /// Set a daily limit of harmful texts and other protection for annotators
    Care(Care),
    /// Choose whether annotators see how others answered, after they answered
    Reveal(Reveal),
    /// Choose the language in which annotators use the desk
    Language(Language),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus people show P.dissensus --annotator ana
  dissensus people show P.dissensus --annotator ana --name \"Ana Lopez\" --set gender=woman")]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The person's id or name
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: String,
    /// Change the name shown on screen; the id in files stays the same
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Set an attribute; may be repeated
    #[arg(long, value_name = "ATTRIBUTE=VALUE", value_parser = attribute)]
    pub(crate) set: Vec<(String, String)>,
    /// Delete an attribute; may be repeated
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) unset: Vec<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus people form P.dissensus
  dissensus people form P.dissensus --ask \"gender=woman|man|non-binary\" --ask \"age=18-49|50+\"
  dissensus people form P.dissensus --nothing
  dissensus people form P.dissensus --annotator ana --answer gender=woman --withheld age

People fill in the form once, when they are added or open their task packet. They can always prefer not \
to say.")]
pub(crate) struct Form {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// An attribute to ask about, with its values; repeat it for each attribute, in order. Replaces the
    /// current form
    #[arg(long, value_name = "ATTRIBUTE=VALUE|VALUE...", value_parser = attribute_values)]
    pub(crate) ask: Vec<(String, Vec<String>)>,
    /// The question that people read for an attribute
    #[arg(long, value_name = "ATTRIBUTE=SENTENCE", value_parser = attribute, requires = "ask")]
    pub(crate) prompt: Vec<(String, String)>,
    /// An attribute that people may leave unanswered
    #[arg(long, value_name = "ATTRIBUTE", requires = "ask")]
    pub(crate) optional: Vec<String>,
    /// Remove the form
    #[arg(long, conflicts_with = "ask")]
    pub(crate) nothing: bool,
    /// Show what this person has not answered yet, or answer for them
    #[arg(long, value_name = "NAME", conflicts_with_all = ["ask", "nothing"])]
    pub(crate) annotator: Option<String>,
    /// With --annotator: the person's answer; may be repeated
    #[arg(long, value_name = "ATTRIBUTE=VALUE", value_parser = attribute, requires = "annotator")]
    pub(crate) answer: Vec<(String, String)>,
    /// With --annotator: an attribute that the person prefers not to say
    #[arg(long, alias = "not-said", value_name = "ATTRIBUTE", requires = "annotator")]
    pub(crate) withheld: Vec<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus people consent P.dissensus --from consent.md
  dissensus people consent P.dissensus
  dissensus people consent P.dissensus --agreed ana
  dissensus people consent P.dissensus --nothing

Everybody agrees once, and again after a new version. Packets and pages show the version that was in \
effect when they were written. Exports name the version that a label was given under in the column \
`consent_version`.")]
pub(crate) struct Consent {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Write a new version from this Markdown file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    /// Ask nobody to agree from now on; agreements are kept
    #[arg(long, conflicts_with = "from")]
    pub(crate) nothing: bool,
    /// Record that this person agrees to the current version, for example on paper
    #[arg(long, value_name = "NAME", conflicts_with_all = ["from", "nothing"])]
    pub(crate) agreed: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus people withdraw P.dissensus --annotator ana
  dissensus people withdraw P.dissensus --annotator ana --yes

Merging this project erases the person in other copies too. Exports, bundles and backups made before are \
not changed.")]
pub(crate) struct Withdraw {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The person's id or name
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: String,
    /// Erase for good; without this the command only shows what it would erase
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus people care P.dissensus
  dissensus people care P.dissensus --question toxicity --level severe --limit 40
  dissensus people care P.dissensus --limit 40 --strict on --greyscale on
  dissensus people care P.dissensus --no-limit

A text counts as harmful for a person by that person's own answers and flags, and by the model's \
prediction of their answer.")]
pub(crate) struct Care {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Maximum number of harmful texts per person and day
    #[arg(long, value_name = "N", conflicts_with = "no_limit")]
    pub(crate) limit: Option<u32>,
    /// Remove the limit
    #[arg(long)]
    pub(crate) no_limit: bool,
    /// Whether people must stop at the limit, or may continue if they choose to
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    pub(crate) strict: Option<bool>,
    /// Show texts and images without colour
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    pub(crate) greyscale: Option<bool>,
    /// The question that identifies harmful texts
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Option<String>,
    /// A text is harmful if its answer is this level or a higher one (or this option or span type)
    #[arg(long, value_name = "NAME")]
    pub(crate) level: Option<String>,
    /// Stop using the question to identify harmful texts
    #[arg(long, conflicts_with = "level")]
    pub(crate) no_level: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus people reveal P.dissensus
  dissensus people reveal P.dissensus on

Task packets never show other people's answers. Exports mark labels given after seeing them in the column \
`shown`.")]
pub(crate) struct Reveal {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Turn it on or off [default: show the current setting]
    #[arg(value_name = "on|off", value_parser = on_off)]
    pub(crate) to: Option<bool>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus people language P.dissensus
  dissensus people language P.dissensus de

It holds for packets and pages that are written afterwards. Texts, questions and guidelines are shown as \
they were written.")]
pub(crate) struct Language {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The language, or `auto` for that of each person's system [default: show the current setting]
    #[arg(value_name = "LANGUAGE", value_parser = languages())]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn languages() -> PossibleValuesParser {
    std::iter::once("auto").chain(dissensus_domain::Language::VARIANTS.iter().map(|one| one.name())).into()
}
