//! The annotators of People.

use super::with_session;
use dissensus_analysis::SlipChoices;
use dissensus_api::{AnnotatorReport, PlanReport, PlanWish, Problem, SlipReport};
use dissensus_domain::{AnnotatorId, QuestionId};
use tauri::AppHandle;

/// Rows of each list of slips.
const SLIPS_SHOWN: usize = 100;

session_commands! {
    /// All annotators of one question, with the held-out accuracy if known.
    fn annotator_report(question: QuestionId) -> AnnotatorReport =
        |session| session.analysis.annotators_so_far(question);

    /// Measures the held-out accuracy in the background, as a job with the returned id.
    fn measure_annotators(question: QuestionId) -> u32 =
        |session| session.analysis.measure_annotators_as_job(question);

    /// Estimates how many annotators and labels a study needs, from the labels of a question. A job whose
    /// result this returns.
    fn plan(question: QuestionId, wish: PlanWish) -> PlanReport =
        |session| session.analysis.plan_as_job(question, &wish);
}

/// Possible slips and contested labels of everyone or of one person: a job that ends with this answer.
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
