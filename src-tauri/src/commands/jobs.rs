//! Jobs of the open project.

use super::with_session;
use dissensus_api::{JobInfo, Problem};
use tauri::AppHandle;

/// Starts (or resumes) encoding the texts.
#[tauri::command]
#[specta::specta]
pub(crate) async fn start_encoding(app: AppHandle) -> Result<JobInfo, Problem> {
    with_session(app, |session| session.background.start_encoding()).await
}

/// Jobs of this project, newest first.
#[tauri::command]
#[specta::specta]
pub(crate) async fn jobs(app: AppHandle) -> Result<Vec<JobInfo>, Problem> {
    with_session(app, |session| session.project.jobs()).await
}

/// Asks a job to stop.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_job(app: AppHandle, id: u32) -> Result<(), Problem> {
    with_session(app, move |session| {
        // One that has ended already needs no stopping.
        session.project.cancel_job(id);
        Ok(())
    })
    .await
}
