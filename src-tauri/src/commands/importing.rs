//! Files in and out.

use super::with_session;
use dissensus_workbench::view::{CopyReport, ImportChoices, ImportPreview, ImportReport, Problem};
use std::path::Path;
use tauri::AppHandle;

/// What a file holds; nothing is written.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_preview(
    app: AppHandle,
    path: String,
    choices: ImportChoices,
) -> Result<ImportPreview, Problem> {
    with_session(app, move |session| session.exchange.preview(Path::new(&path), &choices)).await
}

/// Imports a file. It is a job: it tells its progress by events and can be cancelled.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_file(
    app: AppHandle,
    path: String,
    choices: ImportChoices,
) -> Result<ImportReport, Problem> {
    with_session(app, move |session| session.exchange.import_as_job(Path::new(&path), &choices)).await
}

/// Writes all current labels to a file; says how many rows.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_project(app: AppHandle, path: String) -> Result<u32, Problem> {
    with_session(app, move |session| {
        let rows = session.exchange.export_as_job(Path::new(&path))?;
        Ok(u32::try_from(rows).unwrap_or(u32::MAX))
    })
    .await
}

/// Saves a whole copy of the project; a file of that name is replaced, for the dialog has asked.
#[tauri::command]
#[specta::specta]
pub(crate) async fn save_copy(app: AppHandle, path: String) -> Result<CopyReport, Problem> {
    with_session(app, move |session| session.project.save_copy_as_job(Path::new(&path))).await
}
