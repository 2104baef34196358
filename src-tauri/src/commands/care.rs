//! Care of annotators, and what they are shown of others.

use super::with_session;
use dissensus_api::{CareInfo, OwnCare, Problem, StudyCare, TextGroup};
use dissensus_domain::{AnnotatorId, TextId};
use tauri::AppHandle;

/// Sets whether a person who has answered is shown how others see a text.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_reveal(app: AppHandle, on: bool) -> Result<(), Problem> {
    with_session(app, move |session| session.project.set_reveal(on)).await
}

/// Sets the study's care settings.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_study_care(app: AppHandle, care: StudyCare) -> Result<(), Problem> {
    with_session(app, move |session| session.project.set_care(&care)).await
}

/// The groups of texts, largest first.
#[tauri::command]
#[specta::specta]
pub(crate) async fn text_groups(app: AppHandle) -> Result<Vec<TextGroup>, Problem> {
    with_session(app, |session| session.project.text_groups()).await
}

/// The care state of a person today.
#[tauri::command]
#[specta::specta]
pub(crate) async fn care(app: AppHandle, annotator: AnnotatorId) -> Result<CareInfo, Problem> {
    with_session(app, move |session| session.labelling.care(annotator)).await
}

/// Stores a person's care choices on this computer.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_own_care(
    app: AppHandle,
    annotator: AnnotatorId,
    own: OwnCare,
) -> Result<CareInfo, Problem> {
    with_session(app, move |session| session.labelling.set_own_care(annotator, &own)).await
}

/// Records that a person reads a text, and returns the resulting care state.
#[tauri::command]
#[specta::specta]
pub(crate) async fn read_text(
    app: AppHandle,
    annotator: AnnotatorId,
    text: TextId,
) -> Result<CareInfo, Problem> {
    with_session(app, move |session| session.labelling.read_text(annotator, text)).await
}

/// Lets a person continue beyond the limit until the day ends.
#[tauri::command]
#[specta::specta]
pub(crate) async fn go_on_today(app: AppHandle, annotator: AnnotatorId) -> Result<CareInfo, Problem> {
    with_session(app, move |session| session.labelling.go_on_today(annotator)).await
}
