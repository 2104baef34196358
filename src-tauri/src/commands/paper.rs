//! The report for a paper's appendix.

use super::with_session;
use dissensus_api::{PaperWish, PaperWritten, Problem};
use std::path::Path;
use tauri::AppHandle;

/// Writes the report into a folder. A job: it reports progress by events and can be cancelled.
#[tauri::command]
#[specta::specta]
pub(crate) async fn write_report(
    app: AppHandle,
    folder: String,
    wish: PaperWish,
) -> Result<PaperWritten, Problem> {
    with_session(app, move |session| session.paper.write_as_job(wish, Path::new(&folder))).await
}
