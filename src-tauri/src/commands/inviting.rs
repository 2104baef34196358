//! The server on which people answer the packets of the open project in their browsers.

use super::off_main;
use crate::state::WindowState;
use dissensus_api::{InviteRequest, Problem, ServingInfo};
use std::path::Path;
use tauri::{AppHandle, Manager as _};

/// Lets people answer in their browsers over a network, until the project is closed.
#[tauri::command]
#[specta::specta]
pub(crate) async fn invite(app: AppHandle, request: InviteRequest) -> Result<ServingInfo, Problem> {
    off_main(move || Ok(app.state::<WindowState>().invite(&request)?)).await
}

/// What people who were invited have answered; `None` where nobody was.
#[tauri::command]
#[specta::specta]
pub(crate) async fn serving(app: AppHandle) -> Result<Option<ServingInfo>, Problem> {
    off_main(move || Ok(app.state::<WindowState>().serving()?)).await
}

/// Ends it. All answers that were acknowledged are merged then, unless this fails: the next start merges the
/// rest.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_inviting(app: AppHandle) -> Result<(), Problem> {
    off_main(move || app.state::<WindowState>().stop_inviting()).await
}

/// Writes the links of all people to a table (`.csv`) or a page with QR codes (`.html`), and returns how many
/// there are. An existing list is replaced, any other file is not.
#[tauri::command]
#[specta::specta]
pub(crate) async fn save_links(app: AppHandle, path: String) -> Result<u32, Problem> {
    off_main(move || Ok(app.state::<WindowState>().save_links(Path::new(&path))?)).await
}
