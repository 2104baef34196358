//! Groups of people compared in Findings.

use dissensus_analysis::group_comparison;
use dissensus_api::{GroupComparison, GroupsChoice};
use dissensus_domain::QuestionId;

session_commands! {
    /// Compares two groups of people in the background, as a job with the returned id.
    fn compare_groups(question: QuestionId, groups: GroupsChoice) -> u32 =
        |session| group_comparison::start(&session.analysis, question, groups);

    /// The last comparison, if it was of these groups.
    fn group_comparison(question: QuestionId, groups: GroupsChoice) -> Option<GroupComparison> =
        |session| Ok(group_comparison::last_result(&session.analysis, question, &groups));
}
