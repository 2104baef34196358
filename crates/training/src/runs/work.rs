//! Carries out a run and stores its result.

use super::Runs;
use super::job_progress::JobProgress;
use super::list::announce;
use super::training::RunEnd;
use crate::runs::training;
use crate::saved_runs::{AUXILIARY, Outcome, WORDS_TO_LEARN, tuning_name};
use dissensus_domain::{JobKind, WorkState};
use dissensus_encoder::DeviceChoice;
use dissensus_neural::trainer::checkpoint_config_hash;
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Reservation, caught};
use dissensus_stats::data::ModelError;
use dissensus_store::{RunId, StoreError};
use std::sync::Arc;

/// Trains in the background. If this cannot begin, or panics, the run and its job end as failed.
pub(super) fn work_on(cx: &Runs, run: RunId, reserved: Reservation) -> Result<(), ProjectError> {
    let begun = begin_work(cx, run, reserved);
    if let Err(error) = &begun {
        failed(cx, run, error);
    }
    announce(cx, &trained_as_one(cx, run));
    begun
}

fn begin_work(cx: &Runs, run: RunId, reserved: Reservation) -> Result<(), ProjectError> {
    let context = &cx.context;
    let asked = cx.kept.get(run.0)?.choices;
    let title = format!("{}, {}", asked.model, tuning_name(&asked));
    let job = context.begin_job(JobKind::Train, &title)?;
    let together = trained_as_one(cx, run);
    together.iter().for_each(|run| cx.at_work.begin(run.0, job.info().id));
    let (runs, at_work) = (cx.clone(), Arc::clone(&job));
    let spawned = context.threads.spawn("run", move || {
        let _reserved = reserved;
        let progress = JobProgress::new(&runs, together.clone(), &at_work);
        let result = caught("training", || carry_out(&runs, run, DeviceChoice::Auto, &progress));
        if let Err(error @ ProjectError::Panicked { .. }) = &result {
            failed(&runs, run, error);
        }
        runs.context.end_job(&at_work, &result);
        announce(&runs, &together);
    });
    if let Err(error) = spawned {
        let ended: Result<(), _> = Err(error);
        context.end_job(&job, &ended);
        return ended;
    }
    Ok(())
}

/// The runs that are trained as one with this one, including itself.
fn trained_as_one(cx: &Runs, run: RunId) -> Vec<RunId> {
    let numbers = cx.kept.get(run.0).and_then(|kept| cx.kept.joint_numbers(&kept));
    let all: Vec<RunId> = numbers.unwrap_or_default().into_iter().map(RunId).collect();
    if all.contains(&run) { all } else { vec![run] }
}

/// Carries out a run, with those that are trained as one with it, and stores the results.
pub fn carry_out(
    cx: &Runs,
    run: RunId,
    device: DeviceChoice,
    progress: &dyn Progress,
) -> Result<(), ProjectError> {
    let together = trained_as_one(cx, run);
    match training::train_runs(cx, &together, device, progress) {
        Ok(ended) => {
            end_all(cx, WorkState::Finished, ended)?;
            // Only now: a run that is killed while it is scored resumes from its last checkpoint. A
            // finished run is not resumed.
            for run in together {
                if let Ok(folder) = cx.kept.get(run.0).and_then(|kept| cx.kept.folder(&kept)) {
                    let _ = std::fs::remove_dir_all(folder.join("checkpoints"));
                    for learned in [AUXILIARY, WORDS_TO_LEARN] {
                        let _ = std::fs::remove_file(folder.join(learned));
                    }
                }
            }
            Ok(())
        }
        Err(error) => {
            failed(cx, run, &error);
            Err(error)
        }
    }
}

/// Stores the results of runs that were trained as one: of all of them or of none.
fn end_all(cx: &Runs, state: WorkState, ended: Vec<RunEnd>) -> Result<(), ProjectError> {
    let runs: Vec<RunId> = ended.iter().map(|ended| ended.run).collect();
    let kept = cx.context.store.write(move |tx| {
        for RunEnd { run, outcome, probabilities, .. } in &ended {
            if let Some(probabilities) = probabilities {
                tx.set_run_predictions(*run, probabilities)?;
            }
            tx.finish_run(*run, state, serde_json::to_value(outcome).ok().as_ref(), now_ms())?;
        }
        Ok::<(), StoreError>(())
    });
    runs.iter().for_each(|run| cx.at_work.end(run.0));
    Ok(kept?)
}

/// Stores that a run was cancelled or failed, and why.
fn failed(cx: &Runs, run: RunId, error: &ProjectError) {
    let state =
        if matches!(error, ProjectError::Cancelled) { WorkState::Cancelled } else { WorkState::Failed };
    let other_checkpoint = matches!(error, ProjectError::Perspectives(ModelError::CheckpointMismatch { .. }));
    let problem = (state == WorkState::Failed).then(|| error.problem());
    // Auxiliary texts of other projects must not stay if the run cannot be resumed.
    if state == WorkState::Failed
        && let Ok(folder) = cx.kept.get(run.0).and_then(|kept| cx.kept.folder(&kept))
        && (other_checkpoint || checkpoint_config_hash(&folder.join("checkpoints")).is_none())
    {
        for learned in [AUXILIARY, WORDS_TO_LEARN] {
            let _ = std::fs::remove_file(folder.join(learned));
        }
    }
    // A full disk may be the reason and prevent this too: the run then counts as interrupted when the
    // project is opened again.
    let outcome = Outcome { problem, other_checkpoint, ..Outcome::default() };
    let of = |run| RunEnd { run, outcome: outcome.clone(), probabilities: None, held_out: None };
    let _ = end_all(cx, state, trained_as_one(cx, run).into_iter().map(of).collect());
}
