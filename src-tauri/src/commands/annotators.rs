//! The annotators in the People view.

use super::with_session;
use dissensus_analysis::SlipChoices;
use dissensus_api::{AnnotatorReport, PlanReport, PlanWish, Problem, SlipReport};
use dissensus_domain::{AnnotatorId, QuestionId};
use tauri::AppHandle;

/// Number of rows in each list of slips.
const SLIPS_SHOWN: usize = 100;

/// All annotators of one question, with the held-out accuracy if known.
#[tauri::command]
#[specta::specta]
pub(crate) async fn annotator_report(
    app: AppHandle,
    question: QuestionId,
) -> Result<AnnotatorReport, Problem> {
    with_session(app, move |session| session.analysis.annotators_so_far(question)).await
}

/// Measures the held-out accuracy in the background, as a job with the returned id.
#[tauri::command]
#[specta::specta]
pub(crate) async fn measure_annotators(app: AppHandle, question: QuestionId) -> Result<u32, Problem> {
    with_session(app, move |session| session.analysis.measure_annotators_as_job(question)).await
}

/// Estimates how many annotators and labels a study needs, from the labels of a question. A job whose
/// result this returns.
#[tauri::command]
#[specta::specta]
pub(crate) async fn plan(
    app: AppHandle,
    question: QuestionId,
    wish: PlanWish,
) -> Result<PlanReport, Problem> {
    with_session(app, move |session| session.analysis.plan_as_job(question, &wish)).await
}

/// Possible slips and contested labels of everyone or of one person. A job whose result this returns.
#[tauri::command]
#[specta::specta]
pub(crate) async fn slips(
    app: AppHandle,
    question: QuestionId,
    annotator: Option<AnnotatorId>,
) -> Result<SlipReport, Problem> {
    let choices = SlipChoices { annotator, top: SLIPS_SHOWN, ..SlipChoices::default() };
    with_session(app, move |session| session.analysis.slips_as_job(question, choices)).await
}
