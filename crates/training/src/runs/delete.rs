//! Deleting a run.

use super::Runs;
use super::data::started_on;
use crate::error::TrainingError;
use crate::runs::resumable;
use crate::runs::use_run;
use crate::saved_runs::{SavedRun, encoder_name};
use dissensus_project::error::ProjectError;
use dissensus_store::{RunId, StoreError};

/// Deletes a run and its files; other files stay. A run whose encoder is in use is taken out of use
/// first. Finished runs that were trained as one are deleted separately, and the others retain encoder,
/// head and figures; an unfinished training is deleted whole, because no part of it could be resumed.
/// Returns the numbers of the deleted runs.
///
/// # Errors
/// There is no such run, it is at work, its encoder is in use or an unfinished run started from it, or
/// its files cannot be removed.
pub fn delete(cx: &Runs, id: u32) -> Result<Vec<u32>, ProjectError> {
    // Folders go before rows.
    cx.context.store.must_write()?;
    let kept = cx.kept.get(id)?;
    let together = if kept.outcome.report.is_some() { vec![kept] } else { cx.kept.together(id)? };
    let numbers: Vec<u32> = together.iter().map(|kept| kept.run.id.0).collect();
    if numbers.iter().any(|number| cx.at_work.state(*number).is_some()) {
        return Err(ProjectError::Busy("training"));
    }
    together.iter().try_for_each(|kept| release(cx, kept))?;
    together.iter().try_for_each(|kept| cx.kept.remove_folder(kept))?;
    let runs: Vec<RunId> = numbers.iter().copied().map(RunId).collect();
    cx.context
        .store
        .write(move |tx| -> Result<(), StoreError> { runs.iter().try_for_each(|run| tx.delete_run(*run)) })?;
    Ok(numbers)
}

/// Takes a run that is to be deleted out of use.
fn release(cx: &Runs, kept: &SavedRun) -> Result<(), ProjectError> {
    let id = kept.run.id.0;
    let encoder = encoder_name(kept.run.uid);
    if let Some(unfinished) = unfinished_on(cx, &encoder)? {
        return Err(TrainingError::EncoderNeeded { run: id, unfinished }.into());
    }
    if cx.encoding.run_in_use()? == Some(id) {
        use_run::use_run(cx, None)?;
    }
    if !cx.encoding.forget_encoder(&encoder)? {
        return Err(TrainingError::EncoderInUse(id).into());
    }
    Ok(())
}

/// A run at work, or one that can be resumed, that started on the encoder of this name.
fn unfinished_on(cx: &Runs, encoder: &str) -> Result<Option<u32>, ProjectError> {
    for kept in cx.kept.all()? {
        let started_on_it = started_on(&kept).is_some_and(|chosen| chosen.encoder == encoder);
        let goes_on = || -> Result<bool, ProjectError> {
            Ok(cx.at_work.state(kept.run.id.0).is_some() || resumable::cannot_resume(cx, &kept)?.is_none())
        };
        if started_on_it && goes_on()? {
            return Ok(Some(kept.run.id.0));
        }
    }
    Ok(None)
}
