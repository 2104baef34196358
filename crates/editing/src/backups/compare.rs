//! What changed between a backup and the open project.

use super::folder::entry;
use crate::Project;
use crate::error::EditingError;
use dissensus_api::{BackupAnswers, BackupChanges};
use dissensus_files::PrivateFolder;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_store::{Changes, Store, StoreError};
use std::path::Path;

/// What changed between a backup and the open project.
///
/// # Errors
/// There is no such backup of this project, or it cannot be read.
pub fn changes_since(cx: &Project, id: &str) -> Result<BackupChanges, ProjectError> {
    let store = &cx.context.store;
    let entry = entry(&cx.context.home, id)?;
    let (_inside, backup) = opened(&cx.context.home, &entry.file)?;
    // The name of its folder could have been changed by hand.
    if backup.project_id()? != store.project_id()? {
        return Err(EditingError::NoBackup(id.to_owned()).into());
    }
    let changes = store.changes_since(&backup)?;
    backup.close()?;
    Ok(shown(changes))
}

/// Opens a backup to read; one of an earlier format as a copy that is upgraded.
pub(super) fn opened(home: &Home, path: &Path) -> Result<(Option<PrivateFolder>, Store), ProjectError> {
    match Store::open_reader(path) {
        Err(StoreError::Older { .. }) => {
            let place = std::env::temp_dir();
            let inside = PrivateFolder::create_in(&place).map_err(|source| ProjectError::Io {
                path: place.clone(),
                doing: "writing to",
                source,
            })?;
            let copy = inside.path().join("backup.dissensus");
            Store::copy_of_earlier(path, &copy, &home.check_records())?;
            Ok((Some(inside), Store::open(&copy)?))
        }
        opened => Ok((None, opened?)),
    }
}

fn shown(changes: Changes) -> BackupChanges {
    let answers = changes.answers.into_iter().map(|one| BackupAnswers {
        annotator: one.annotator,
        question: one.question,
        added: one.added,
        changed: one.changed,
        withdrawn: one.withdrawn,
        missing: one.missing,
    });
    BackupChanges {
        answers: answers.collect(),
        marks: changes.marks,
        texts_added: changes.texts_added,
        texts_removed: changes.texts_removed,
        people_added: changes.people_added,
        people_removed: changes.people_removed,
        people_changed: changes.people_changed,
        people_withdrawn: changes.people_withdrawn,
        questions_added: changes.questions_added,
        questions_removed: changes.questions_removed,
        questions_changed: changes.questions_changed,
        guidelines: changes.guidelines,
        packets: changes.packets,
        other: changes.other,
    }
}
