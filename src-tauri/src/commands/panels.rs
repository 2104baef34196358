//! *Ask a panel* in the Findings view.

use super::with_session;
use dissensus_api::{KeptPanel, PanelOrder, PanelVerdicts, PanelWish, Problem};
use dissensus_domain::TextId;
use tauri::AppHandle;

/// The predicted decisions of a panel on the first texts of the project, optionally with those of a second
/// panel.
#[tauri::command]
#[specta::specta]
pub(crate) async fn ask_panel(
    app: AppHandle,
    wish: PanelWish,
    beside: Option<PanelWish>,
    order: PanelOrder,
    top: u32,
) -> Result<PanelVerdicts, Problem> {
    let ask = move |session: &dissensus_app::session::Session| {
        session.panels.ask_as_job(&wish, beside.as_ref(), order, top as usize)
    };
    with_session(app, ask).await
}

/// The predicted decision of a panel on one text.
#[tauri::command]
#[specta::specta]
pub(crate) async fn panel_on_text(
    app: AppHandle,
    wish: PanelWish,
    beside: Option<PanelWish>,
    text: TextId,
) -> Result<PanelVerdicts, Problem> {
    with_session(app, move |session| session.panels.ask_about(&wish, beside.as_ref(), text)).await
}

/// The saved panels of the project.
#[tauri::command]
#[specta::specta]
pub(crate) async fn kept_panels(app: AppHandle) -> Result<Vec<KeptPanel>, Problem> {
    with_session(app, |session| session.panels.list()).await
}

/// Saves a panel under a name.
#[tauri::command]
#[specta::specta]
pub(crate) async fn keep_panel(
    app: AppHandle,
    name: String,
    wish: PanelWish,
) -> Result<Vec<KeptPanel>, Problem> {
    with_session(app, move |session| session.panels.save(&name, &wish)).await
}

/// Deletes the saved panel of this name.
#[tauri::command]
#[specta::specta]
pub(crate) async fn forget_panel(app: AppHandle, name: String) -> Result<Vec<KeptPanel>, Problem> {
    with_session(app, move |session| session.panels.forget(&name)).await
}
