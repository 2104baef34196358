//! Import and export of files.

use super::{with_session, with_workbench};
use dissensus_api::{
    CopyReport, ExportContents, ExportFormat, ExportReport, ExportWish, ImportChoices, ImportPreview,
    ImportReport, PastedRows, PredictionsWritten, Problem, SummaryWish, SummaryWritten,
};
use dissensus_transfer::exchange::{DecisionLayer, Pseudonymised, export_formats as formats};
use std::path::Path;
use tauri::AppHandle;

/// Previews a file; nothing is written.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_preview(
    app: AppHandle,
    path: String,
    choices: ImportChoices,
) -> Result<ImportPreview, Problem> {
    with_session(app, move |session| session.exchange.preview(Path::new(&path), &choices)).await
}

/// Previews a file, with the columns chosen for the last file that had the same ones, if any; nothing is
/// written.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_preview_as_last_time(
    app: AppHandle,
    path: String,
) -> Result<ImportPreview, Problem> {
    with_session(app, move |session| session.exchange.preview_as_last_time(Path::new(&path))).await
}

/// Writes pasted rows to a file that can be imported; `header` is whether the first row names the columns,
/// `None` to detect it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn paste_rows(
    app: AppHandle,
    pasted: String,
    header: Option<bool>,
) -> Result<PastedRows, Problem> {
    with_session(app, move |session| session.exchange.paste(&pasted, header)).await
}

/// Removes a file of pasted rows.
#[tauri::command]
#[specta::specta]
pub(crate) async fn forget_pasted(app: AppHandle, path: String) -> Result<(), Problem> {
    with_workbench(app, move |workbench| workbench.forget_pasted(Path::new(&path))).await
}

/// Deletes the unpacked copy of the previewed file.
#[tauri::command]
#[specta::specta]
pub(crate) async fn forget_opened(app: AppHandle) -> Result<(), Problem> {
    with_session(app, |session| {
        session.exchange.forget_opened();
        Ok(())
    })
    .await
}

/// Imports a file. A job: it reports progress by events and can be cancelled.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_file(
    app: AppHandle,
    path: String,
    choices: ImportChoices,
) -> Result<ImportReport, Problem> {
    with_session(app, move |session| session.exchange.import_as_job(Path::new(&path), &choices)).await
}

/// Writes all current labels to a file: for others with pseudonyms (and notes, where `notes` is set), else
/// with ids, so that it can be imported again; with decisions on each text, where `decisions` is set.
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
            left_blank: done.left_blank,
            told_apart: number(done.told_apart),
        })
    })
    .await
}

/// Formats of other programs for exporting labels.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_formats(app: AppHandle) -> Result<Vec<ExportFormat>, Problem> {
    with_workbench(app, |_| Ok(formats())).await
}

/// Previews a file, including what its format cannot represent; nothing is written. An earlier preview that
/// is still running ends as cancelled.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_contents(app: AppHandle, wish: ExportWish) -> Result<ExportContents, Problem> {
    with_session(app, move |session| session.exchange.export_contents(&wish)).await
}

/// Cancels the preview of a file.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_export_contents(app: AppHandle) -> Result<(), Problem> {
    with_session(app, |session| {
        session.exchange.stop_export_contents();
        Ok(())
    })
    .await
}

/// Writes labels for another program. A job: it reports progress by events and can be cancelled. An
/// existing file is replaced only with `replace`, where the dialog has asked.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_for_program(
    app: AppHandle,
    path: String,
    wish: ExportWish,
    replace: bool,
) -> Result<ExportContents, Problem> {
    with_session(app, move |session| {
        session.exchange.export_for_tool_as_job(Path::new(&path), &wish, replace)
    })
    .await
}

/// Writes everyone's predicted answer to every text, one row per pair. A job: it reports progress by events
/// and can be cancelled. An existing file is replaced, for the dialog has asked.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_predictions(
    app: AppHandle,
    path: String,
    question: String,
) -> Result<PredictionsWritten, Problem> {
    with_session(app, move |session| {
        let done = session.analysis.predictions_as_job(&question, Path::new(&path), true)?;
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(PredictionsWritten {
            texts: number(done.texts),
            people: number(done.annotators as u64),
            people_without_labels: number(done.annotators_without_labels as u64),
            rows: number(done.rows),
        })
    })
    .await
}

/// Writes labels aggregated by text or by person. A job: it reports progress by events and can be
/// cancelled. An existing file is replaced, for the dialog has asked.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_summary(
    app: AppHandle,
    path: String,
    wish: SummaryWish,
) -> Result<SummaryWritten, Problem> {
    with_session(app, move |session| session.summaries.write_as_job(&wish, Path::new(&path), true)).await
}

/// Saves a copy of the whole project; an existing file is replaced, for the dialog has asked.
#[tauri::command]
#[specta::specta]
pub(crate) async fn save_copy(app: AppHandle, path: String) -> Result<CopyReport, Problem> {
    with_session(app, move |session| session.project.save_copy_as_job(Path::new(&path))).await
}
