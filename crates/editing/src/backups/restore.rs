//! Restoring a backup as a new project file.

use super::compare::opened;
use super::folder::{Entry, entry};
use crate::Project;
use crate::error::EditingError;
use dissensus_api::RestoredBackup;
use dissensus_files::folder_of;
use dissensus_project::clock::{date_of, local_time};
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::names::project_name;
use dissensus_store::{CopyTarget, StoreError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Restored files of one day in one folder; nobody needs more.
const MOST: u32 = 1000;

/// Whether a backup is one of the open project, in any of its files.
pub fn is_of(cx: &Project, id: &str) -> bool {
    let project = cx.context.store.project_id();
    project.is_ok_and(|project| id.split('/').next() == Some(&*project.0.to_string()))
}

/// Restores a backup as a new file, which never replaces another one: at `target`, or next to `open`, the
/// project's file, or where that was. The new file is a copy of the same project, and can be merged with the
/// others.
///
/// # Errors
/// There is no such backup, it is damaged or of a newer version, or the new file cannot be written. Nothing
/// is left then.
pub fn restore(
    home: &Home,
    id: &str,
    open: Option<&Path>,
    target: Option<&Path>,
) -> Result<RestoredBackup, ProjectError> {
    let entry = entry(home, id)?;
    let (_inside, backup) = opened(home, &entry.file)?;
    let written = match target {
        Some(target) => copy(&backup, target).map(|()| target.to_owned()),
        None => copy_next_to(&backup, &entry, open),
    };
    let path = written?;
    backup.close()?;
    Ok(RestoredBackup { path: path.to_string_lossy().into_owned(), time: local_time(entry.at_ms as f64) })
}

fn copy(backup: &dissensus_store::Store, target: &Path) -> Result<(), ProjectError> {
    // Also where the project itself is open there.
    if std::fs::symlink_metadata(target).is_ok() {
        return Err(EditingError::RestoredExists(target.to_owned()).into());
    }
    match backup.copy_to(target, CopyTarget::New, |_, _| ControlFlow::Continue(())) {
        Err(StoreError::Exists(path)) => Err(EditingError::RestoredExists(path).into()),
        copied => Ok(copied?),
    }
}

/// Copies the backup to the first free name next to the project.
fn copy_next_to(
    backup: &dissensus_store::Store,
    entry: &Entry,
    open: Option<&Path>,
) -> Result<PathBuf, ProjectError> {
    let known = entry.about.as_ref().map(|about| PathBuf::from(&about.path));
    let place = open.map(Path::to_owned).or(known);
    let place = place.ok_or_else(|| EditingError::NoRestoreFolder(folder_of(&entry.file).to_owned()))?;
    let folder = folder_of(&place);
    if !folder.is_dir() {
        return Err(EditingError::NoRestoreFolder(folder.to_owned()).into());
    }
    let (name, day) = (project_name(&place), date_of(entry.at_ms));
    let mut names = (1..=MOST).map(|number| match number {
        1 => format!("{name} (backup {day}).dissensus"),
        _ => format!("{name} (backup {day}, {number}).dissensus"),
    });
    names
        .find_map(|name| {
            let target = folder.join(name);
            match copy(backup, &target) {
                Err(error) if error.code() == "project-exists" => None,
                copied => Some(copied.map(|()| target)),
            }
        })
        .unwrap_or_else(|| Err(EditingError::RestoredExists(place).into()))
}
