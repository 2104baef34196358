//! The Annotators view.

use super::with_session;
use dissensus_domain::QuestionId;
use dissensus_workbench::view::{AnnotatorReport, Problem};
use tauri::AppHandle;

/// All annotators for one question; may take seconds.
#[tauri::command]
#[specta::specta]
pub(crate) async fn annotator_report(
    app: AppHandle,
    question: QuestionId,
) -> Result<AnnotatorReport, Problem> {
    with_session(app, move |session| session.analysis.annotator_report(question)).await
}
