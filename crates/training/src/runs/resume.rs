//! Resuming an interrupted run.

use super::Runs;
use super::resumable::cannot_resume;
use crate::error::TrainingError;
use crate::runs::detail;
use crate::runs::work;
use dissensus_api::RunDetail;
use dissensus_encoder::DeviceChoice;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Progress};
use dissensus_store::{RunId, StoreError};

/// Resumes an interrupted run, and those that are trained as one with it, from its last checkpoint, on
/// the labels, annotators and texts that it started with.
///
/// # Errors
/// There is no such run, it cannot be resumed, or another one is at work.
pub fn resume(cx: &Runs, id: u32) -> Result<(), ProjectError> {
    let reserved = cx.context.reservations.reserve(Activity::Training)?;
    reopen(cx, id)?;
    work::work_on(cx, RunId(id), reserved)
}

/// Resumes a run as [`resume`] does, on the calling thread.
///
/// # Errors
/// Those of [`resume`], and any error of the training.
pub fn resume_here(cx: &Runs, id: u32, progress: &dyn Progress) -> Result<RunDetail, ProjectError> {
    let _reserved = cx.context.reservations.reserve(Activity::Training)?;
    reopen(cx, id)?;
    let run = RunId(id);
    work::carry_out(cx, run, DeviceChoice::Auto, progress)?;
    detail::detail(cx, id)
}

/// Marks an interrupted or failed run as running again.
fn reopen(cx: &Runs, id: u32) -> Result<(), ProjectError> {
    let together = cx.kept.together(id)?;
    for kept in &together {
        if let Some(reason) = cannot_resume(cx, kept)? {
            return Err(TrainingError::NotResumable { run: kept.run.id.0, reason }.into());
        }
    }
    let runs: Vec<RunId> = together.iter().map(|kept| kept.run.id).collect();
    let reopened = cx
        .context
        .store
        .write(move |tx| -> Result<(), StoreError> { runs.iter().try_for_each(|run| tx.resume_run(*run)) });
    Ok(reopened?)
}
