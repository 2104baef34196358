//! The summary in the Findings view.

use super::with_session;
use dissensus_api::{Overview, OverviewAgreement, Problem, WhoDiffers};
use dissensus_domain::{AnnotatorId, QuestionId};
use tauri::AppHandle;

/// The project's contents, everyone's progress, and the next steps for the current annotator.
#[tauri::command]
#[specta::specta]
pub(crate) async fn overview(app: AppHandle, reading_as: Option<AnnotatorId>) -> Result<Overview, Problem> {
    with_session(app, move |session| session.overview(reading_as)).await
}

/// Agreement of the people of a question.
#[tauri::command]
#[specta::specta]
pub(crate) async fn overview_agreement(
    app: AppHandle,
    question: QuestionId,
) -> Result<OverviewAgreement, Problem> {
    with_session(app, move |session| session.analysis.overview_agreement(question)).await
}

/// Who differs, and why, over all labels of a question. A job that can be cancelled; returns at once where
/// no label has changed since the last time.
#[tauri::command]
#[specta::specta]
pub(crate) async fn who_differs(app: AppHandle, question: QuestionId) -> Result<WhoDiffers, Problem> {
    with_session(app, move |session| session.analysis.who_differs_as_job(question)).await
}
