//! Backups of the open project, or of all projects where none is open.

use dissensus_api::{BackupChanges, BackupInfo, BackupList, RestoredBackup};
use dissensus_app::backups as application;
use dissensus_editing::backups;
use std::path::Path;

app_commands! {
    /// The backups of the open project; those of all projects where none is open.
    fn backups() -> BackupList = |workbench| application::list(workbench);

    /// Restores a backup as a new file: at `target`, or next to the project.
    fn restore_backup(id: String, target: Option<String>) -> RestoredBackup =
        |workbench| application::restore(workbench, &id, target.as_deref().map(Path::new));

    /// Deletes a backup.
    fn delete_backup(id: String) -> () = |workbench| application::delete(workbench, &id);
}

session_commands! {
    /// Makes a backup of the open project now.
    fn back_up() -> BackupInfo = |session| backups::make(&session.project);

    /// What changed in the open project since a backup.
    fn backup_changes(id: String) -> BackupChanges = |session| backups::changes_since(&session.project, &id);
}
