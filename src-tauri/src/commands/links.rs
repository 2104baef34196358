//! Links of the scheme `dissensus:`. The page asks for confirmation before it uses one, and an address is
//! checked again here: whatever asks, only web addresses are opened.

use super::off_main;
use crate::download::PacketDownload;
use dissensus_api::{LinkTarget, Problem};
use dissensus_project::error::ProjectError;
use dissensus_server::ServerError;
use std::path::Path;
use tauri::{AppHandle, Manager as _};

/// Reads what a link leads to; nothing is opened or downloaded.
#[tauri::command]
#[specta::specta]
pub(crate) async fn read_link(link: String) -> Result<LinkTarget, Problem> {
    Ok(dissensus_server::read_link(&link).map_err(ProjectError::from)?)
}

/// Opens a page in the browser of the system.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_page(address: String) -> Result<(), Problem> {
    off_main(move || {
        let address = dissensus_server::usable(&address).map_err(ProjectError::from)?;
        let none = |source: std::io::Error| ServerError::NoBrowser(source.to_string());
        open::that_detached(address.as_str()).map_err(none).map_err(ProjectError::from)?;
        Ok(())
    })
    .await
}

/// Downloads a packet into a file that does not exist yet; progress is reported by events.
#[tauri::command]
#[specta::specta]
pub(crate) async fn download_packet(app: AppHandle, address: String, path: String) -> Result<(), Problem> {
    let download = app.state::<PacketDownload>().0.begin()?;
    off_main(move || {
        let progress = download.packet_watched_by(app);
        Ok(dissensus_server::download_packet(&address, Path::new(&path), &progress)?)
    })
    .await
}

/// Stops that download, if one is running; nothing of it stays.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_packet(app: AppHandle) -> Result<(), Problem> {
    app.state::<PacketDownload>().0.cancel();
    Ok(())
}
