//! Backups around the open project: automatic ones, and restoring where no project is open.

use crate::Application;
use crate::session::Session;
use dissensus_api::{BackupList, RestoredBackup};
use dissensus_editing::backups;
use dissensus_project::clock::today;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::sync::lock;
use std::path::Path;
use std::sync::{Arc, Mutex};

impl Session {
    /// Backs the project up automatically from now on: now, when a new day begins while somebody works, and
    /// before it is closed. Returns at once.
    pub fn back_up_automatically(&self) {
        backups::start(&self.context);
        let context = Arc::clone(&self.context);
        self.before_closing(move || backups::at_closing(&context));
        // Weak, since the context owns its listeners.
        let context = Arc::downgrade(&self.context);
        let day = Mutex::new(today());
        self.subscribe(move |event| {
            let is_change = matches!(event, Event::Labels { .. } | Event::Project);
            if !is_change || std::mem::replace(&mut *lock(&day), today()) == today() {
                return;
            }
            if let Some(context) = context.upgrade() {
                backups::start(&context);
            }
        });
    }
}

/// The backups of the open project; those of all projects where none is open.
pub fn list(application: &Application) -> Result<BackupList, ProjectError> {
    match application.session() {
        Some(session) => backups::list(&session.project),
        None => Ok(backups::list_all(application.home())),
    }
}

/// Restores a backup as a new file, at `target`, or next to the project's file.
///
/// # Errors
/// Those of [`backups::restore`].
pub fn restore(
    application: &Application,
    id: &str,
    target: Option<&Path>,
) -> Result<RestoredBackup, ProjectError> {
    let session = application.session();
    // A backup of another project is restored where that was.
    let open = session.as_ref().filter(|session| backups::is_of(&session.project, id));
    let open = open.map(|session| session.project.path());
    backups::restore(application.home(), id, open, target)
}

/// Deletes a backup.
///
/// # Errors
/// Those of [`backups::delete`].
pub fn delete(application: &Application, id: &str) -> Result<(), ProjectError> {
    backups::delete(application.home(), id)
}
