//! The summary of Findings.

use dissensus_api::{Overview, OverviewAgreement, WhoDiffers};
use dissensus_domain::{AnnotatorId, QuestionId};

session_commands! {
    /// What the project holds, how far each person is, and what comes next for the person who labels here.
    fn overview(reading_as: Option<AnnotatorId>) -> Overview = |session| session.overview(reading_as);

    /// How far the people of a question agree.
    fn overview_agreement(question: QuestionId) -> OverviewAgreement =
        |session| session.analysis.overview_agreement(question);

    /// Who differs, and why, over all labels of a question. A job that can be cancelled; at once where no label has changed since the last time.
    fn who_differs(question: QuestionId) -> WhoDiffers =
        |session| session.analysis.who_differs_as_job(question);
}
