//! The summary of Findings.

use dissensus_analysis::overview;
use dissensus_analysis::who_differs;
use dissensus_api::{Overview, OverviewAgreement, WhoDiffers};
use dissensus_domain::{AnnotatorId, QuestionId};
use dissensus_project::jobs::Follow;

session_commands! {
    /// The project's contents, everyone's progress, and the next steps for the current annotator.
    fn overview(reading_as: Option<AnnotatorId>) -> Overview = |session| session.overview(reading_as);

    /// Agreement of the people of a question.
    fn overview_agreement(question: QuestionId) -> OverviewAgreement =
        |session| overview::agreement(&session.analysis, question);

    /// Who differs, and why, over all labels of a question. A job that can be cancelled; returns at once
    /// where no label has changed since the last time.
    fn who_differs(question: QuestionId) -> WhoDiffers =
        |session| who_differs::find(&session.analysis, question, Follow::Job);
}
