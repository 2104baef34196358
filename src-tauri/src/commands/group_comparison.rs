//! Group comparisons in the Findings view.

use super::with_session;
use dissensus_api::{GroupComparison, GroupsChoice, Problem};
use dissensus_domain::QuestionId;
use tauri::AppHandle;

/// Compares two groups of people in the background, as a job with the returned id.
#[tauri::command]
#[specta::specta]
pub(crate) async fn compare_groups(
    app: AppHandle,
    question: QuestionId,
    groups: GroupsChoice,
) -> Result<u32, Problem> {
    with_session(app, move |session| session.analysis.compare_groups_as_job(question, groups)).await
}

/// The last comparison, if it was of these groups.
#[tauri::command]
#[specta::specta]
pub(crate) async fn group_comparison(
    app: AppHandle,
    question: QuestionId,
    groups: GroupsChoice,
) -> Result<Option<GroupComparison>, Problem> {
    with_session(app, move |session| Ok(session.analysis.group_comparison(question, &groups))).await
}
