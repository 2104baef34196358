//! The application itself: what it is, what it remembers, how it is set.

use super::{off_main, with_workbench};
use crate::launch::{Launch, LaunchInfo};
use dissensus_workbench::view::{AppInfo, AppSettings, Problem, RecentProject};
use tauri::{AppHandle, Manager as _};

/// Version, encoder and device.
#[tauri::command]
#[specta::specta]
pub(crate) async fn app_info(app: AppHandle) -> Result<AppInfo, Problem> {
    with_workbench(app, |workbench| Ok(workbench.app_info())).await
}

/// What the command line asked for.
#[tauri::command]
#[specta::specta]
pub(crate) async fn launch_info(app: AppHandle) -> Result<LaunchInfo, Problem> {
    off_main(move || {
        let launch = app.state::<Launch>();
        Ok(LaunchInfo { project: launch.project.as_ref().map(|p| p.to_string_lossy().into_owned()) })
    })
    .await
}

/// Projects opened before, newest first.
#[tauri::command]
#[specta::specta]
pub(crate) async fn recent_projects(app: AppHandle) -> Result<Vec<RecentProject>, Problem> {
    with_workbench(app, |workbench| Ok(workbench.recent_projects())).await
}

/// Takes a project off that list; its file stays.
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

/// Keeps the settings.
#[tauri::command]
#[specta::specta]
pub(crate) async fn save_settings(app: AppHandle, settings: AppSettings) -> Result<(), Problem> {
    with_workbench(app, move |workbench| workbench.save_settings(&settings)).await
}
