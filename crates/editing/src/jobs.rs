//! Running and ended jobs of the project.

use super::Project;
use dissensus_api::JobInfo;
use dissensus_project::error::ProjectError;
use std::collections::BTreeMap;

/// Running jobs, and the last ones that ended, newest first.
pub fn list(cx: &Project) -> Result<Vec<JobInfo>, ProjectError> {
    let running: BTreeMap<u32, JobInfo> = cx.context.jobs.running().into_iter().map(|j| (j.id, j)).collect();
    let kept = cx.context.store.jobs(20)?.into_iter();
    Ok(kept.map(|job| running.get(&job.id.0).cloned().unwrap_or_else(|| ended(job))).collect())
}

/// Asks a job to stop; it ends within a second. Returns false if it is not running.
pub fn cancel(cx: &Project, id: u32) -> bool {
    cx.context.jobs.cancel(id)
}

fn ended(job: dissensus_store::Job) -> JobInfo {
    JobInfo {
        id: job.id.0,
        kind: job.kind,
        title: job.title,
        state: job.state,
        done: job.done,
        total: job.total,
        seconds_left: None,
        note: job.note,
        problem: None,
    }
}
