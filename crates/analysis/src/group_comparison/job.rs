//! Comparison of groups as a job, and its last result.

use crate::Analysis;
use crate::group_comparison;
use dissensus_api::{GroupComparison, GroupsChoice};
use dissensus_domain::{JobKind, QuestionId};
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use std::sync::Arc;

/// Kind of the job in the project.
const KIND: JobKind = JobKind::Compare;
/// Number of texts per direction that the window lists.
const TOP: usize = 50;

/// The last comparison of this question's groups by [`start`], as long as
/// the texts are the same, with a flag whether labels of the question or people have changed since.
pub fn last_result(cx: &Analysis, question: QuestionId, choice: &GroupsChoice) -> Option<GroupComparison> {
    let generation = cx.live.models.generation();
    let last = lock(&cx.comparisons.last);
    let (_, found) = last
        .as_ref()
        .filter(|(of, found)| *of == generation && found.question == question && found.groups == *choice)?;
    let stale = cx.live.models.labels_or_people_changed(question) > found.revision;
    Some(GroupComparison { stale, ..found.clone() })
}

/// Compares groups as a job in the background; [`last_result`] has the result when it has
/// ended. Returns the job's id, or that of a running job for the same comparison; a job that compares
/// something else is cancelled.
///
/// # Errors
/// A choice that cannot be compared, or the job cannot begin.
pub fn start(cx: &Analysis, question: QuestionId, choice: GroupsChoice) -> Result<u32, ProjectError> {
    super::people::groups(cx.context.index().annotators(), &choice)?;
    let generation = cx.live.models.generation();
    let asked = (question, choice);
    let mut at_work = lock(&cx.comparisons.at_work);
    if let Some((_, id, _)) = at_work.as_ref().filter(|(of, _, g)| *of == asked && *g == generation) {
        return Ok(*id);
    }
    if let Some((_, other, _)) = at_work.as_ref() {
        cx.context.jobs.cancel(*other);
    }
    let job = cx.context.begin_job(KIND, "groups")?;
    let id = job.info().id;
    *at_work = Some((asked.clone(), id, generation));
    drop(at_work);
    let (analysis, working) = (cx.clone(), Arc::clone(&job));
    let spawned = cx.context.threads.spawn(KIND.name(), move || {
        let compared = analysis.context.finish_job(KIND, &working, |job| {
            let (question, choice) = &asked;
            let result = group_comparison::compare(&analysis, *question, choice, TOP, job.as_ref());
            if let Ok(found) = &result {
                *lock(&analysis.comparisons.last) = Some((generation, found.clone()));
            }
            // Before the end is announced, because a listener may request the next job.
            analysis.comparisons.job_ended(id);
            result
        });
        // Also after a panic.
        analysis.comparisons.job_ended(id);
        // Its error is reported by the job.
        drop(compared);
    });
    if let Err(error) = spawned {
        cx.comparisons.job_ended(id);
        let ended: Result<(), _> = Err(error);
        cx.context.end_job(&job, &ended);
        ended?;
    }
    Ok(id)
}
