//! Newer versions of the application.

use super::with_workbench;
use crate::update_check::UpdateCheck;
use dissensus_api::{Problem, UpdateState};
use tauri::{AppHandle, Manager as _};

app_commands! {
    /// What the last check for updates found.
    fn update_state() -> UpdateState = |workbench| Ok(workbench.update_state());
}

/// Looks for a newer version; nothing is downloaded to be installed.
#[tauri::command]
#[specta::specta]
pub(crate) async fn check_updates(app: AppHandle) -> Result<UpdateState, Problem> {
    let checking = app.state::<UpdateCheck>().begin();
    with_workbench(app, move |workbench| workbench.check_updates(&checking)).await
}

/// Cancels the check for updates, if one is under way.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_update_check(app: AppHandle) -> Result<(), Problem> {
    app.state::<UpdateCheck>().cancel();
    Ok(())
}
