//! Files in and out.

use super::with_session;
use dissensus_workbench::view::{
    CopyReport, ExportReport, ImportChoices, ImportPreview, ImportReport, Problem,
};
use dissensus_workbench::{DecisionLayer, Pseudonymised};
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

/// Writes all current labels to a file: for others with pseudonyms (and notes, where `notes` is set), else with ids, so that it imports again; with what was decided
/// about each text beside its labels, where `decisions` is set.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_project(
    app: AppHandle,
    path: String,
    pseudonyms: bool,
    notes: bool,
    decisions: bool,
) -> Result<ExportReport, Problem> {
    with_session(app, move |session| {
        let wish = pseudonyms.then_some(Pseudonymised { notes });
        let layer = decisions.then_some(DecisionLayer::Beside);
        let done = session.exchange.export_as_job(Path::new(&path), wish, layer)?;
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(ExportReport {
            rows: number(done.answers),
            suppressed: number(done.suppressed),
            told_apart: number(done.told_apart),
        })
    })
    .await
}

/// Saves a whole copy of the project; a file of that name is replaced, for the dialog has asked.
#[tauri::command]
#[specta::specta]
pub(crate) async fn save_copy(app: AppHandle, path: String) -> Result<CopyReport, Problem> {
    with_session(app, move |session| session.project.save_copy_as_job(Path::new(&path))).await
}
