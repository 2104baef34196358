//! Questions correlated with one another in Findings.

use dissensus_api::{CorrelationChoice, CorrelationPoints, QuestionCorrelation};

session_commands! {
    /// Correlates predicted scores of questions in the background, as a job with the returned id.
    fn correlate_questions(choice: CorrelationChoice) -> u32 =
        |session| session.analysis.correlate_questions_as_job(choice);

    /// The last correlation, if it was of this choice.
    fn question_correlation(choice: CorrelationChoice) -> Option<QuestionCorrelation> =
        |session| Ok(session.analysis.question_correlation(&choice));

    /// Two scores of the last correlation's texts, if it was of this choice.
    fn correlation_points(choice: CorrelationChoice, a: u32, b: u32) -> Option<CorrelationPoints> =
        |session| Ok(session.analysis.correlation_points(&choice, a, b));
}
