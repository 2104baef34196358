//! Listing and deleting backups.

use super::folder::{Entry, LockedFolder, all_entries, entries_of, entry};
use crate::{Project, sync_folder};
use dissensus_api::{BackupInfo, BackupList};
use dissensus_domain::ProjectId;
use dissensus_files::{folder_of, real_path};
use dissensus_project::clock::local_time;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use std::path::Path;

/// The backups of the open project, newest first: of its file, and of its other copies on this computer.
pub fn list(cx: &Project) -> Result<BackupList, ProjectError> {
    let store = &cx.context.store;
    let entries = entries_of(&cx.context.home, store.project_id()?);
    Ok(listed(&cx.context.home, &entries, Some(store.file())))
}

/// The backups of all projects, for one whose file is lost or damaged.
pub fn list_all(home: &Home) -> BackupList {
    listed(home, &all_entries(home), None)
}

/// The backups of a file that cannot be opened, or is missing: those that were made of this path.
pub fn list_of_file(home: &Home, path: &Path) -> BackupList {
    // As the project's file was named, with links in its folder resolved.
    let folder = real_path(folder_of(path));
    let resolved = folder.ok().and_then(|folder| Some(folder.join(path.file_name()?)));
    let path = resolved.unwrap_or_else(|| path.to_owned());
    let mut entries = all_entries(home);
    entries.retain(|entry| entry.is_of(&path));
    listed(home, &entries, Some(&path))
}

/// Deletes a backup.
///
/// # Errors
/// There is no such backup, or it cannot be deleted.
pub fn delete(home: &Home, id: &str) -> Result<(), ProjectError> {
    let entry = entry(home, id)?;
    let _locked = LockedFolder::of(home, ProjectId(entry.project))?;
    entry.delete()
}

fn listed(home: &Home, entries: &[Entry], open: Option<&Path>) -> BackupList {
    let folder = home.backups();
    let service = sync_folder::service_of(&folder.join("backups"));
    BackupList {
        sync_notice: service.map(|service| {
            format!(
                "The folder of backups is in a folder that {service} synchronises: everything in the backups is copied to other computers. Set DISSENSUS_HOME to a folder that stays on this computer."
            )
        }),
        folder: folder.to_string_lossy().into_owned(),
        backups: entries.iter().map(|entry| info_of(entry, open)).collect(),
    }
}

pub(super) fn info_of(entry: &Entry, open: Option<&Path>) -> BackupInfo {
    let about = entry.about.as_ref();
    BackupInfo {
        id: entry.id(),
        at: entry.at_ms as f64,
        time: local_time(entry.at_ms as f64),
        bytes: entry.bytes as f64,
        labels: about.map(|about| about.contents.labels),
        automatic: about.is_some_and(|about| about.automatic),
        name: about.map(|about| about.name.clone()),
        path: about.map(|about| about.path.clone()),
        other_file: open.is_some_and(|open| !entry.is_of(open)),
        file: entry.file.to_string_lossy().into_owned(),
    }
}
