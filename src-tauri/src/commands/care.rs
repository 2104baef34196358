//! Care for the people who label, and what they are shown of others.

use super::with_session;
use dissensus_api::{CareInfo, OwnCare, Problem, StudyCare, TextGroup};
use dissensus_domain::{AnnotatorId, TextId};
use tauri::AppHandle;

/// Shows how others see a text to whoever has answered it, or not.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_reveal(app: AppHandle, on: bool) -> Result<(), Problem> {
    with_session(app, move |session| session.project.set_reveal(on)).await
}

/// Sets what the study does for the care of its people.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_study_care(app: AppHandle, care: StudyCare) -> Result<(), Problem> {
    with_session(app, move |session| session.project.set_care(&care)).await
}

/// The groups of texts, the largest first.
#[tauri::command]
#[specta::specta]
pub(crate) async fn text_groups(app: AppHandle) -> Result<Vec<TextGroup>, Problem> {
    with_session(app, |session| session.project.text_groups()).await
}

/// Where a person stands today.
#[tauri::command]
#[specta::specta]
pub(crate) async fn care(app: AppHandle, annotator: AnnotatorId) -> Result<CareInfo, Problem> {
    with_session(app, move |session| session.labelling.care(annotator)).await
}

/// Keeps what a person chose, on this computer.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_own_care(
    app: AppHandle,
    annotator: AnnotatorId,
    own: OwnCare,
) -> Result<CareInfo, Problem> {
    with_session(app, move |session| session.labelling.set_own_care(annotator, &own)).await
}

/// Notes that a person reads a text, and says where they stand then.
#[tauri::command]
#[specta::specta]
pub(crate) async fn read_text(
    app: AppHandle,
    annotator: AnnotatorId,
    text: TextId,
) -> Result<CareInfo, Problem> {
    with_session(app, move |session| session.labelling.read_text(annotator, text)).await
}

/// Lets a person go on beyond the limit until the day ends.
#[tauri::command]
#[specta::specta]
pub(crate) async fn go_on_today(app: AppHandle, annotator: AnnotatorId) -> Result<CareInfo, Problem> {
    with_session(app, move |session| session.labelling.go_on_today(annotator)).await
}
