//! Commands of the window, one file for each of its views. Each only delegates to the workbench.

pub(crate) mod annotators;
pub(crate) mod application;
pub(crate) mod care;
pub(crate) mod disagreement;
pub(crate) mod encoder;
pub(crate) mod group_comparison;
pub(crate) mod guideline;
pub(crate) mod importing;
pub(crate) mod jobs;
pub(crate) mod labelling;
pub(crate) mod overview;
pub(crate) mod panels;
pub(crate) mod paper;
pub(crate) mod practice;
pub(crate) mod project;
pub(crate) mod question_correlation;
pub(crate) mod runs;
pub(crate) mod study;
pub(crate) mod texts;

use crate::state::WindowState;
use dissensus_api::Problem;
use dissensus_app::Workbench;
use dissensus_app::session::Session;
use dissensus_project::error::WorkbenchError;
use tauri::async_runtime::spawn_blocking;
use tauri::{AppHandle, Manager as _};

/// Runs `work` where it may block: outside the main thread, which draws the window, and outside the async
/// workers.
async fn off_main<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(Problem {
            code: "internal".into(),
            message: "Something went wrong inside the program; what was asked for was not done.".into(),
            detail: Some(error.to_string()),
        })
    })
}

/// Runs `work` with the workbench.
async fn with_workbench<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&Workbench) -> Result<T, WorkbenchError> + Send + 'static,
) -> Result<T, Problem> {
    off_main(move || work(app.state::<WindowState>().workbench()).map_err(Into::into)).await
}

/// Runs `work` with the open project.
async fn with_session<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&Session) -> Result<T, WorkbenchError> + Send + 'static,
) -> Result<T, Problem> {
    off_main(move || {
        let session = app.state::<WindowState>().session()?;
        work(&session).map_err(Into::into)
    })
    .await
}
