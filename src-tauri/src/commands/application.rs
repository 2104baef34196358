//! The application itself: version, recent projects, settings.

use crate::closing::ClosingRequest;
use crate::guide;
use crate::launch::Wanted;
use crate::opening::Requests;
use dissensus_api::{AppInfo, AppSettings, Problem, RecentProject};
use tauri::{AppHandle, Manager as _};

app_commands! {
    /// Version, encoder and device.
    fn app_info() -> AppInfo = |workbench| Ok(workbench.app_info());

    /// Versions, device, sizes and the last lines of the log, for a bug report, without any text,
    /// label or name.
    fn diagnostics() -> String = |workbench| Ok(workbench.diagnostics());
}

/// What the command line asked for, once.
#[tauri::command]
#[specta::specta]
pub(crate) async fn launch_info(app: AppHandle) -> Result<Option<Wanted>, Problem> {
    Ok(app.state::<Requests>().take())
}

/// Called when the page has asked the user whether to stop running work.
#[tauri::command]
#[specta::specta]
pub(crate) async fn closing_requested(app: AppHandle) -> Result<(), Problem> {
    app.state::<ClosingRequest>().answered();
    Ok(())
}

/// Ends the application: jobs are stopped, the project is closed.
#[tauri::command]
#[specta::specta]
pub(crate) async fn quit(app: AppHandle) -> Result<(), Problem> {
    app.exit(0);
    Ok(())
}

/// Opens the user guide in a window of its own.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_guide(app: AppHandle) -> Result<(), Problem> {
    guide::open(&app)
}

app_commands! {
    /// Recently opened projects, newest first.
    fn recent_projects() -> Vec<RecentProject> = |workbench| Ok(workbench.recent_projects());

    /// Removes a project from that list; its file is unaffected.
    fn forget_recent(path: String) -> () = |workbench| workbench.forget_recent(&path);

    /// The settings.
    fn settings() -> AppSettings = |workbench| Ok(workbench.settings());

    /// Saves the settings.
    fn save_settings(settings: AppSettings) -> () = |workbench| workbench.save_settings(&settings);
}
