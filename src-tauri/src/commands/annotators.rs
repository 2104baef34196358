//! The Annotators view.

use super::with_session;
use dissensus_domain::QuestionId;
use dissensus_workbench::view::{AnnotatorReport, Problem};
use tauri::AppHandle;

/// All annotators for one question, with the held-out accuracy where it is known.
#[tauri::command]
#[specta::specta]
pub(crate) async fn annotator_report(
    app: AppHandle,
    question: QuestionId,
) -> Result<AnnotatorReport, Problem> {
    with_session(app, move |session| session.analysis.annotators_so_far(question)).await
}

/// Measures the held-out accuracy in the background, as a job of the id that is returned.
#[tauri::command]
#[specta::specta]
pub(crate) async fn measure_annotators(app: AppHandle, question: QuestionId) -> Result<u32, Problem> {
    with_session(app, move |session| session.analysis.measure_annotators_as_job(question)).await
}
