//! Question correlations in the Findings view.

use super::with_session;
use dissensus_api::{CorrelationChoice, CorrelationPoints, Problem, QuestionCorrelation};
use tauri::AppHandle;

/// Correlates predicted scores of questions in the background, as a job with the returned id.
#[tauri::command]
#[specta::specta]
pub(crate) async fn correlate_questions(app: AppHandle, choice: CorrelationChoice) -> Result<u32, Problem> {
    with_session(app, move |session| session.analysis.correlate_questions_as_job(choice)).await
}

/// The last correlation, if it was of this choice.
#[tauri::command]
#[specta::specta]
pub(crate) async fn question_correlation(
    app: AppHandle,
    choice: CorrelationChoice,
) -> Result<Option<QuestionCorrelation>, Problem> {
    with_session(app, move |session| Ok(session.analysis.question_correlation(&choice))).await
}

/// Two scores of the last correlation's texts, if it was of this choice.
#[tauri::command]
#[specta::specta]
pub(crate) async fn correlation_points(
    app: AppHandle,
    choice: CorrelationChoice,
    a: u32,
    b: u32,
) -> Result<Option<CorrelationPoints>, Problem> {
    with_session(app, move |session| Ok(session.analysis.correlation_points(&choice, a, b))).await
}
