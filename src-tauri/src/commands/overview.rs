//! The summary of Findings.

use super::with_session;
use dissensus_api::{Overview, OverviewAgreement, Problem, WhoDiffers};
use dissensus_domain::{AnnotatorId, QuestionId};
use tauri::AppHandle;

/// What the project holds, how far each person is, and what comes next for the person who labels here.
#[tauri::command]
#[specta::specta]
pub(crate) async fn overview(app: AppHandle, reading_as: Option<AnnotatorId>) -> Result<Overview, Problem> {
    with_session(app, move |session| session.overview(reading_as)).await
}

/// How far the people of a question agree.
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
