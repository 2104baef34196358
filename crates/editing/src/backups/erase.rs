//! Erasing people who withdrew from the backups too.

use super::folder::{About, Contents, Entry, LockedFolder, entries_of};
use dissensus_files::PrivateFolder;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_store::{CopyTarget, Store};
use std::ops::ControlFlow;

/// Erases everybody who withdrew from all backups of the project. Each is replaced by a complete new file, so
/// that this can be interrupted and done again. One that cannot be opened is left, and listed by
/// [`with_withdrawn`]. Waits for a backup in progress, and removes what a killed program left of one.
///
/// # Errors
/// A backup cannot be rewritten: the others are.
pub(crate) fn erase_withdrawn(context: &Context) -> Result<(), ProjectError> {
    let project = context.store.project_id()?;
    let Some(folder) = LockedFolder::existing(&context.home, project)? else { return Ok(()) };
    let mut done = folder.remove_parts();
    for entry in folder.entries() {
        if has_withdrawn(context, &entry) == Some(true) {
            done = done.and(rewrite(context, &folder, &entry));
        }
    }
    done
}

/// Files of backups that may still contain somebody who withdrew: they cannot be opened, so nobody could be
/// erased from them.
pub(crate) fn with_withdrawn(context: &Context) -> Vec<String> {
    let Ok(project) = context.store.project_id() else { return Vec::new() };
    let mut left: Vec<Entry> = entries_of(&context.home, project);
    left.retain(|entry| has_withdrawn(context, entry) != Some(false));
    left.iter().map(|entry| entry.file.to_string_lossy().into_owned()).collect()
}

/// Whether a backup does not know of somebody who withdrew; `None` if it cannot be read.
fn has_withdrawn(context: &Context, entry: &Entry) -> Option<bool> {
    let (_inside, backup) = super::compare::opened(&context.home, &entry.file).ok()?;
    let found = backup.is_to_erase_for(&context.store).ok();
    backup.close().ok();
    found
}

fn rewrite(context: &Context, folder: &LockedFolder, entry: &Entry) -> Result<(), ProjectError> {
    let failed = |source| ProjectError::Io { path: folder.path().to_owned(), doing: "writing to", source };
    let part = PrivateFolder::create_in(folder.path()).map_err(failed)?;
    let copy = part.path().join("backup.dissensus");
    Store::copy_of_earlier(&entry.file, &copy, &context.home.check_records())?;
    let store = Store::open(&copy)?;
    store.erase_withdrawn_in(&context.store)?;
    store.clean_after_erasing()?;
    let contents = Contents::of(&store)?;
    store.copy_to(&entry.file, CopyTarget::Replace, |_, _| ControlFlow::Continue(()))?;
    store.close()?;
    match &entry.about {
        Some(about) => folder.describe(entry, &About { contents, ..about.clone() }),
        None => Ok(()),
    }
}
