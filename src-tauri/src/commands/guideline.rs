//! The guideline.

use super::with_session;
use dissensus_api::{
    GuidelineAgreement, GuidelineInfo, GuidelineWritten, NewGuideline, PictureData, Problem,
};
use dissensus_labelling::guideline::OnScreen;
use std::path::Path;
use tauri::AppHandle;

/// The current version of the guideline; `None` if there is none.
#[tauri::command]
#[specta::specta]
pub(crate) async fn guideline(app: AppHandle) -> Result<Option<GuidelineInfo>, Problem> {
    with_session(app, move |session| session.guideline.newest()).await
}

/// All versions of the guideline, oldest first.
#[tauri::command]
#[specta::specta]
pub(crate) async fn guideline_versions(app: AppHandle) -> Result<Vec<GuidelineInfo>, Problem> {
    with_session(app, move |session| session.guideline.versions()).await
}

/// Writes a new version, which becomes the current one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn write_guideline(
    app: AppHandle,
    guideline: NewGuideline,
) -> Result<GuidelineWritten, Problem> {
    // A user who saw no version writes the first one: the write is refused if one was added meanwhile.
    let after = Some(guideline.after.clone().unwrap_or_default());
    let guideline = NewGuideline { after, ..guideline };
    with_session(app, move |session| session.guideline.write(&guideline, None)).await
}

/// Agreement under each version.
#[tauri::command]
#[specta::specta]
pub(crate) async fn guideline_agreement(app: AppHandle) -> Result<Vec<GuidelineAgreement>, Problem> {
    with_session(app, move |session| session.guideline.agreement(OnScreen::Guideline)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn picture(app: AppHandle, name: String) -> Result<PictureData, Problem> {
    with_session(app, move |session| session.guideline.picture(&name)).await
}

/// Reads a picture from a file as it would be stored in the project, without storing it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn read_picture(app: AppHandle, file: String) -> Result<PictureData, Problem> {
    with_session(app, move |session| session.guideline.read_picture(Path::new(&file))).await
}
