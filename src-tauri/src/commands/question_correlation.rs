//! Questions correlated with one another in Findings.

use dissensus_analysis::question_correlation;
use dissensus_api::{CorrelationChoice, CorrelationPoints, QuestionCorrelation};

session_commands! {
    /// Correlates predicted scores of questions in the background, as a job with the returned id.
    fn correlate_questions(choice: CorrelationChoice) -> u32 =
        |session| question_correlation::start(&session.analysis, choice);

    /// The last correlation, if it was of this choice.
    fn question_correlation(choice: CorrelationChoice) -> Option<QuestionCorrelation> =
        |session| Ok(question_correlation::last_result(&session.analysis, &choice));

    /// Two scores of the last correlation's texts, if it was of this choice.
    fn correlation_points(choice: CorrelationChoice, a: u32, b: u32) -> Option<CorrelationPoints> =
        |session| Ok(question_correlation::points(&session.analysis, &choice, a, b));
}
