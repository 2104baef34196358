//! Arguments of `project backup`.

use crate::args::shared::{OutputArgs, ProjectArg, Reading};
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `project backup`: backups on this computer.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus project backup list P.dissensus
  dissensus project backup make P.dissensus
  dissensus project backup changes P.dissensus
  dissensus project backup restore P.dissensus 2026-03-01T13-05-31Z

The window makes backups by itself, in the folder \"backups\" of the program's data. Kept are: every backup
that you asked for and the last automatic one of a day for 7 days, then the last of a week for 8 weeks, then
the last of a month for a year; the newest always.")]
pub(crate) struct Backup {
    #[command(subcommand)]
    pub(crate) command: BackupCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum BackupCommand {
    /// List the backups of a project, newest first; also if its file is lost or damaged
    List(Reading),
    /// Make a backup now, even while the project is open
    Make(Reading),
    /// Show what changed since a backup: answers, texts, people, questions
    Changes(BackupChanges),
    /// Write a backup as a new project file next to the project, which is not changed
    Restore(RestoreBackup),
    /// Delete a backup
    Delete(DeleteBackup),
}

#[derive(Args, Debug)]
pub(crate) struct BackupChanges {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Time of the backup, as `list` shows it [default: the newest]
    pub(crate) backup: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RestoreBackup {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Time of the backup, as `list` shows it [default: the newest]
    pub(crate) backup: Option<String>,
    /// The file to write [default: "NAME (backup DAY).dissensus" next to the project]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) to: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DeleteBackup {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Time of the backup, as `list` shows it
    pub(crate) backup: String,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
