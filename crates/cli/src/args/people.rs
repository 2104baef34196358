//! Arguments about the people of a project.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `annotator`: what is known of one person.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus annotator P.dissensus --annotator ana
  dissensus annotator P.dissensus --annotator ana --name \"Ana Lopez\" --set gender=woman --unset age

Without a change: shows it. The id that files use stays as it is. Labels do not change, and copies of the project hear of the change when they
are merged: of several the latest holds.")]
pub(crate) struct Annotator {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The person's id or name
    #[arg(long)]
    pub(crate) annotator: String,
    /// Another name on screen
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// An attribute to set or correct; may be given several times
    #[arg(long, value_name = "ATTRIBUTE=VALUE", value_parser = attribute)]
    pub(crate) set: Vec<(String, String)>,
    /// An attribute that is not to be known any more; may be given several times
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) unset: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn attribute(argument: &str) -> Result<(String, String), String> {
    let (name, value) = argument.split_once('=').ok_or("write ATTRIBUTE=VALUE, such as gender=woman")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// `withdraw`: somebody leaves, and everything of theirs is erased.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus withdraw P.dissensus --annotator ana
  dissensus withdraw P.dissensus --annotator ana --yes

Without --yes: says what would go, and erases nothing. With it everything of the person is erased for good: labels, notes,
attributes, names, packets, the models in use, and every training run of a time at which they were in the project, with its files.
What happened stays without a name, so that every copy of the project erases them too when it is merged with this one, and
nothing of theirs comes in again. Texts, other people's labels and what others wrote about texts stay. The program cannot reach exports, bundles,
backups and packets that have left it.")]
pub(crate) struct Withdraw {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The person's id or name
    #[arg(long)]
    pub(crate) annotator: String,
    /// Erase; it cannot be undone
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `attribute-form`: what people are asked about themselves.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus attribute-form P.dissensus
  dissensus attribute-form P.dissensus --ask \"gender=woman|man|non-binary\" --ask \"age=18-29|30-49|50+\" --optional age
  dissensus attribute-form P.dissensus --nothing
  dissensus attribute-form P.dissensus --annotator ana --answer gender=woman --not-said age

People answer it once, in the window, when they are added or begin with their packet. Prefer not to say can always be answered; then the
attribute is not known of them, and they are not asked again. Answers become attributes, also of what is handed in.")]
pub(crate) struct AttributeFormArgs {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// An attribute to ask for, with its values; several make the form, in this order, in place of the one before
    #[arg(long, value_name = "ATTRIBUTE=VALUE|VALUE...", value_parser = asked)]
    pub(crate) ask: Vec<(String, Vec<String>)>,
    /// The sentence that people read for an attribute
    #[arg(long, value_name = "ATTRIBUTE=SENTENCE", value_parser = attribute, requires = "ask")]
    pub(crate) prompt: Vec<(String, String)>,
    /// An attribute that can be passed over
    #[arg(long, value_name = "ATTRIBUTE", requires = "ask")]
    pub(crate) optional: Vec<String>,
    /// Ask nothing any more
    #[arg(long, conflicts_with = "ask")]
    pub(crate) nothing: bool,
    /// Show what is still to be asked of this person, or answer for them
    #[arg(long, value_name = "NAME", conflicts_with_all = ["ask", "nothing"])]
    pub(crate) annotator: Option<String>,
    /// What the person answers; may be given several times
    #[arg(long, value_name = "ATTRIBUTE=VALUE", value_parser = attribute, requires = "annotator")]
    pub(crate) answer: Vec<(String, String)>,
    /// An attribute that the person prefers not to say
    #[arg(long, value_name = "ATTRIBUTE", requires = "annotator")]
    pub(crate) not_said: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn asked(argument: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = argument
        .split_once('=')
        .ok_or("write ATTRIBUTE=VALUE|VALUE, such as \"gender=woman|man|non-binary\"")?;
    Ok((name.to_owned(), values.split('|').map(str::to_owned).collect()))
}
