//! Commands of the window, one file for each of its views. Each only calls a use case.
//!
//! Most are one call on the open project or on the application: `session_commands!` and `app_commands!` make
//! the Tauri command and its TypeScript binding from one declaration.

/// Declares commands that run off the main thread, through the function named first.
macro_rules! commands {
    ($run:ident: $(
        $(#[$doc:meta])*
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $answer:ty = |$part:ident| $call:expr;
    )*) => {$(
        $(#[$doc])*
        #[tauri::command]
        #[specta::specta]
        pub(crate) async fn $name(
            app: tauri::AppHandle,
            $($argument: $type),*
        ) -> Result<$answer, dissensus_api::Problem> {
            super::$run(app, move |$part| $call).await
        }
    )*};
}

/// Commands that are one call on the open project.
macro_rules! session_commands {
    ($($commands:tt)*) => { commands! { with_session: $($commands)* } };
}

/// Commands that are one call on the application.
macro_rules! app_commands {
    ($($commands:tt)*) => { commands! { with_workbench: $($commands)* } };
}

pub(crate) mod annotators;
pub(crate) mod application;
pub(crate) mod backups;
pub(crate) mod care;
pub(crate) mod disagreement;
pub(crate) mod encoder;
pub(crate) mod encryption;
pub(crate) mod group_comparison;
pub(crate) mod guideline;
pub(crate) mod importing;
pub(crate) mod inviting;
pub(crate) mod jobs;
pub(crate) mod labelling;
pub(crate) mod links;
pub(crate) mod masks;
pub(crate) mod overview;
pub(crate) mod panels;
pub(crate) mod paper;
pub(crate) mod practice;
pub(crate) mod project;
pub(crate) mod question_correlation;
pub(crate) mod runs;
pub(crate) mod study;
pub(crate) mod texts;
pub(crate) mod updates;

use crate::state::WindowState;
use dissensus_api::Problem;
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_project::error::ProjectError;
use tauri::async_runtime::spawn_blocking;
use tauri::{AppHandle, Manager as _};

/// Runs `work` on a thread that may block: neither the main thread, which draws the window, nor an async
/// worker.
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
    work: impl FnOnce(&Application) -> Result<T, ProjectError> + Send + 'static,
) -> Result<T, Problem> {
    off_main(move || work(app.state::<WindowState>().workbench()).map_err(Into::into)).await
}

/// Runs `work` with the open project.
async fn with_session<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&Session) -> Result<T, ProjectError> + Send + 'static,
) -> Result<T, Problem> {
    off_main(move || {
        let session = app.state::<WindowState>().session()?;
        work(&session).map_err(Into::into)
    })
    .await
}
