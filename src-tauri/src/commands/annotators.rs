//! The annotators of People.

use dissensus_analysis::PlanChoices;
use dissensus_analysis::SlipChoices;
use dissensus_analysis::annotators;
use dissensus_analysis::plan;
use dissensus_analysis::slips;
use dissensus_api::{AnnotatorReport, PlanReport, PlanRequest, SlipReport};
use dissensus_domain::{AnnotatorId, QuestionId};
use dissensus_project::jobs::Follow;

/// Rows of each list of slips.
const SLIPS_SHOWN: usize = 100;

session_commands! {
    /// All annotators of one question, with the held-out accuracy if known.
    fn annotator_report(question: QuestionId) -> AnnotatorReport =
        |session| annotators::report_known(&session.analysis, question);

    /// Measures the held-out accuracy in the background, as a job with the returned id.
    fn measure_annotators(question: QuestionId) -> u32 =
        |session| annotators::start_measuring(&session.analysis, question);

    /// Estimates how many annotators and labels a study needs, from the labels of a question. A job whose
    /// result this returns.
    fn plan(question: QuestionId, request: PlanRequest) -> PlanReport =
        |session| plan::make(&session.analysis, question, PlanChoices::from_request(&request)?, Follow::Job);

    /// Possible slips and contested labels of everyone or of one person: a job that ends with this answer.
    fn slips(question: QuestionId, annotator: Option<AnnotatorId>) -> SlipReport = |session| {
        let choices = SlipChoices { annotator, top: SLIPS_SHOWN, ..SlipChoices::default() };
        slips::find(&session.analysis, question, choices, Follow::Job)
    };
}
