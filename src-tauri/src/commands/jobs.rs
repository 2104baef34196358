//! Long work.

use super::with_session;
use dissensus_api::{JobInfo, Problem};
use tauri::AppHandle;

/// Begins (or goes on with) encoding the texts.
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
session_commands! {
    /// Asks a job to stop.
    fn cancel_job(id: u32) -> () = |session| {
        // One that has ended by now needs no stopping.
        session.project.cancel_job(id);
        Ok(())
    };
}
