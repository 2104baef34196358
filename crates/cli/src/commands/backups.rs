//! `project backup`.

use super::{count, home, note, open_to_read};
use crate::args::{Backup, BackupChanges, BackupCommand, DeleteBackup, Reading, RestoreBackup};
use crate::language::translate_word;
use crate::output;
use anyhow::{Context as _, Result, bail};
use dissensus_api as view;
use dissensus_api::{BackupInfo, BackupList};
use dissensus_editing::backups;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// What `backup delete --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct BackupDeleted {
    /// The deleted backup.
    backup: BackupInfo,
}

pub(crate) fn backup(args: &Backup) -> Result<()> {
    match &args.command {
        BackupCommand::List(args) => list(args),
        BackupCommand::Make(args) => make(args),
        BackupCommand::Changes(args) => changes(args),
        BackupCommand::Restore(args) => restore(args),
        BackupCommand::Delete(args) => delete(args),
    }
}

/// The backups of a project, or of its path where the file cannot be opened.
fn backups_of(project: &Path) -> Result<BackupList> {
    match open_to_read(project) {
        Ok(session) => Ok(backups::list(&session.project)?),
        Err(error) => {
            let found = backups::list_of_file(&home()?, project);
            if found.backups.is_empty() {
                return Err(error);
            }
            note(&format!("{error}; these are the backups of this path"));
            Ok(found)
        }
    }
}

/// The backup that was made at a time, or the newest.
fn chosen(found: BackupList, time: Option<&str>) -> Result<BackupInfo> {
    let mut found = found.backups;
    match time {
        None => {
            let own = found.into_iter().find(|backup| !backup.other_file);
            own.context("there is no backup of this file yet: `dissensus project backup make` makes one")
        }
        Some(time) => {
            found.retain(|backup| short(backup) == time);
            match found.pop() {
                Some(backup) => Ok(backup),
                None => {
                    bail!("there is no backup \"{time}\": `dissensus project backup list` shows their times")
                }
            }
        }
    }
}

/// The time of a backup, by which the command names it.
fn short(backup: &BackupInfo) -> &str {
    backup.id.rsplit('/').next().unwrap_or(&backup.id)
}

fn list(args: &Reading) -> Result<()> {
    let found = backups_of(&args.project.path)?;
    if args.output.json {
        return output::json(&found);
    }
    if let Some(notice) = &found.sync_notice {
        note(notice);
    }
    if found.backups.is_empty() {
        return output::line("There are no backups of this project yet");
    }
    let row = |backup: &BackupInfo| {
        vec![
            short(backup).to_owned(),
            backup.time.clone(),
            if backup.automatic { translate_word("automatic").into_owned() } else { "by hand".to_owned() },
            backup.labels.map_or_else(String::new, |labels| labels.to_string()),
            format!("{:.1}", backup.bytes / 1e6),
            backup.path.clone().unwrap_or_default(),
        ]
    };
    let header = ["backup", "time", "made", "labels", "MB", "project file"];
    output::line(&output::table(&header, found.backups.iter().map(row).collect(), &[3, 4]))
}

fn make(args: &Reading) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let made = backups::make(&session.project)?;
    if args.output.json {
        return output::json(&made);
    }
    let labels = count(u64::from(made.labels.unwrap_or_default()), "label");
    output::line(&format!("Made the backup {} with {labels}", short(&made)))
}

fn changes(args: &BackupChanges) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let backup = chosen(backups::list(&session.project)?, args.backup.as_deref())?;
    let found = backups::changes_since(&session.project, &backup.id)?;
    if args.output.json {
        return output::json(&found);
    }
    if found == view::BackupChanges::default() {
        return output::line(&format!("Nothing has changed since the backup of {}", backup.time));
    }
    output::line(&format!("Since the backup of {}:", backup.time))?;
    if !found.answers.is_empty() {
        let header = ["question", "annotator", "added", "changed", "taken back", "only in the backup"];
        let row = |one: &view::BackupAnswers| {
            let counts = [one.added, one.changed, one.withdrawn, one.missing].map(|n| n.to_string());
            [one.question.clone(), one.annotator.clone()].into_iter().chain(counts).collect()
        };
        output::line(&output::table(&header, found.answers.iter().map(row).collect(), &[2, 3, 4, 5]))?;
    }
    let others = [
        (found.marks, "skips, flags and notes"),
        (found.texts_added, "texts added"),
        (found.texts_removed, "texts removed"),
        (found.people_added, "people added"),
        (found.people_removed, "people removed"),
        (found.people_changed, "people with a new name or attribute"),
        (found.people_withdrawn, "people withdrew"),
        (found.questions_added, "questions added"),
        (found.questions_removed, "questions removed"),
        (found.questions_changed, "questions changed"),
        (found.guidelines, "new versions of the guideline"),
        (found.packets, "task packets"),
        (found.other, "other records (settings, decisions, checks, panels)"),
    ];
    for (number, what) in others.into_iter().filter(|(number, _)| *number > 0) {
        output::line(&format!("{what}: {number}"))?;
    }
    Ok(())
}

fn restore(args: &RestoreBackup) -> Result<()> {
    let project = &args.project.path;
    let backup = chosen(backups_of(project)?, args.backup.as_deref())?;
    let restored = backups::restore(&home()?, &backup.id, Some(project), args.to.as_deref())?;
    if args.output.json {
        return output::json(&restored);
    }
    output::line(&format!("Restored the backup of {} as {}", restored.time, restored.path))?;
    output::line("Other files are unchanged; `dissensus study merge` brings the work of one into the other")
}

fn delete(args: &DeleteBackup) -> Result<()> {
    let backup = chosen(backups_of(&args.project.path)?, Some(&args.backup))?;
    backups::delete(&home()?, &backup.id)?;
    if args.output.json {
        return output::json(&BackupDeleted { backup });
    }
    output::line(&format!("Deleted the backup of {}", backup.time))
}
