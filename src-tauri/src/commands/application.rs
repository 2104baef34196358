//! The application itself: information, recent projects, settings.

use super::{off_main, with_workbench};
use crate::closing::Asked;
use crate::launch::LaunchInfo;
use crate::opening::Requests;
use dissensus_api::{AppInfo, AppSettings, Problem, RecentProject};
use tauri::{AppHandle, Manager as _};

/// Version, encoder and device.
#[tauri::command]
#[specta::specta]
pub(crate) async fn app_info(app: AppHandle) -> Result<AppInfo, Problem> {
    with_workbench(app, |workbench| Ok(workbench.app_info())).await
}

/// Versions, device, sizes and the last lines of the log, for a bug report. They contain no text, label or
/// name.
#[tauri::command]
#[specta::specta]
pub(crate) async fn diagnostics(app: AppHandle) -> Result<String, Problem> {
    with_workbench(app, |workbench| Ok(workbench.diagnostics())).await
}

/// Options of the command line.
#[tauri::command]
#[specta::specta]
pub(crate) async fn launch_info(app: AppHandle) -> Result<LaunchInfo, Problem> {
    off_main(move || {
        let wanted = app.state::<Requests>().take();
        let read_only = wanted.as_ref().is_some_and(|wanted| wanted.read_only);
        Ok(LaunchInfo { project: wanted.map(|wanted| wanted.path.to_string_lossy().into_owned()), read_only })
    })
    .await
}

/// Called when the page has asked the user whether to stop running work.
#[tauri::command]
#[specta::specta]
pub(crate) async fn closing_asked(app: AppHandle) -> Result<(), Problem> {
    app.state::<Asked>().answered();
    Ok(())
}

/// Quits the application: jobs are stopped, the project is closed.
#[tauri::command]
#[specta::specta]
pub(crate) async fn quit(app: AppHandle) -> Result<(), Problem> {
    app.exit(0);
    Ok(())
}

/// Recently opened projects, newest first.
#[tauri::command]
#[specta::specta]
pub(crate) async fn recent_projects(app: AppHandle) -> Result<Vec<RecentProject>, Problem> {
    with_workbench(app, |workbench| Ok(workbench.recent_projects())).await
}

/// Removes a project from that list; its file is unaffected.
#[tauri::command]
#[specta::specta]
pub(crate) async fn forget_recent(app: AppHandle, path: String) -> Result<(), Problem> {
    with_workbench(app, move |workbench| workbench.forget_recent(&path)).await
}

/// The settings.
#[tauri::command]
#[specta::specta]
pub(crate) async fn settings(app: AppHandle) -> Result<AppSettings, Problem> {
    with_workbench(app, |workbench| Ok(workbench.settings())).await
}

/// Saves the settings.
#[tauri::command]
#[specta::specta]
pub(crate) async fn save_settings(app: AppHandle, settings: AppSettings) -> Result<(), Problem> {
    with_workbench(app, move |workbench| workbench.save_settings(&settings)).await
}
