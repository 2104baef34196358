//! `dissensus project`: making, inspecting and copying project files.

mod backup;

pub(crate) use backup::*;

use super::parse::{history_kind, since, until};
use super::shared::{EncryptArgs, OutputArgs, PassphraseArg, ProjectArg, Reading};
use clap::{Args, Subcommand, ValueHint};
use dissensus_domain::HistoryKind;
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum ProjectCommand {
    /// Create an empty project
    New(New),
    /// Create a copy of the sample project (its annotators are simulated)
    Sample(New),
    /// Show what a project contains
    #[command(after_help = "Example:
  dissensus project info P.dissensus --json")]
    Info(Reading),
    /// Show progress: annotators, labels, agreement, contested texts, next steps
    Overview(Overview),
    /// Save a copy of a project to one file, even while the project is open
    Copy(Copy),
    /// List, make, compare and restore backups on this computer
    Backup(Backup),
    /// Decrypt a file that is encrypted with a passphrase (age format)
    Decrypt(Decrypt),
    /// Show the log of changes: who did what, when, and in which copy
    History(History),
    /// Remove a question, text or person added by mistake, or the last import
    Remove(Remove),
}

#[derive(Args, Debug)]
#[command(after_help = "Example:
  dissensus project new study.dissensus
  dissensus project sample demo.dissensus")]
pub(crate) struct New {
    /// The project file to create
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus project overview P.dissensus
  dissensus project overview P.dissensus --annotator ana --json")]
pub(crate) struct Overview {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Show it as this annotator: next steps are theirs, and texts they have not answered are left out
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: Option<String>,
    /// Number of contested texts to show for each question
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus project copy P.dissensus backup.dissensus
  dissensus project copy P.dissensus backup.dissensus --runs --force
  dissensus project copy P.dissensus backup.dissensus.age --encrypt")]
pub(crate) struct Copy {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The file to write
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) copy: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// Also copy the folder with the files of training runs (tuned encoders and checkpoints)
    #[arg(long)]
    pub(crate) runs: bool,
    #[command(flatten)]
    pub(crate) encryption: EncryptArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:
  dissensus project decrypt ada.dissensus.age ada.dissensus

The decrypted file can be read by you only, and never replaces another one. Without the passphrase nobody \
can open the encrypted file; the project that it was made from is not affected.")]
pub(crate) struct Decrypt {
    /// The encrypted file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) target: PathBuf,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus project history P.dissensus
  dissensus project history P.dissensus --since 2026-03-01 --kind answer,retraction
  dissensus project history P.dissensus --text-id 42 --hide-names --json

Kinds: answer, imported-answer, retraction, skip, flag, note, repeat, decision, guideline, question, \
person, packet, check, panel, job, run, setting, noted, withdrawal. Entries are newest first, in local \
time.")]
pub(crate) struct History {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Only entries from this day or time on: 2026-03-01, 2026-03-01T14:00, 2026-03-01T14:00+01:00
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<f64>,
    /// Only entries up to and including this day or time
    #[arg(long, value_name = "TIME", value_parser = until)]
    pub(crate) until: Option<f64>,
    /// Only entries by or about this person
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: Option<String>,
    /// Only entries about this text
    #[arg(long, value_name = "ID")]
    pub(crate) text_id: Option<String>,
    /// Only entries about this question
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Option<String>,
    /// Only entries of these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = history_kind)]
    pub(crate) kind: Vec<HistoryKind>,
    /// Only entries that contain this in a note, a name or a text id
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    pub(crate) search: String,
    /// Show pseudonyms instead of names; notes stay as people wrote them
    #[arg(long)]
    pub(crate) hide_names: bool,
    /// Number of entries to show
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus project remove P.dissensus --question misspelt
  dissensus project remove P.dissensus --question misspelt --yes
  dissensus project remove P.dissensus --last-import --yes

Only what nothing else refers to can be removed (no answers, task packets, decisions or training runs).
To erase somebody's answers, use `dissensus people withdraw`.")]
pub(crate) struct Remove {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    #[command(flatten)]
    pub(crate) what: RemoveWhat,
    /// Remove it; without this the command only shows what it would remove
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct RemoveWhat {
    /// Remove the question with this name
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Option<String>,
    /// Remove the text with this id
    #[arg(long, value_name = "ID")]
    pub(crate) text: Option<String>,
    /// Remove the person with this name
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: Option<String>,
    /// Remove what the last import added, except what has been used since
    #[arg(long)]
    pub(crate) last_import: bool,
}
