//! A run at work: carried out, and how it ended kept.

use super::Runs;
use super::job_progress::JobProgress;
use crate::clock::now_ms;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::jobs::{Progress, Reservation, caught};
use crate::saved_runs::{AUXILIARY, Outcome, tuning_name};
use crate::view::EpochInfo;
use dissensus_domain::WorkState;
use dissensus_encoder::DeviceChoice;
use dissensus_perspectives::{PerspectivesError, checkpoint_config_hash};
use dissensus_store::RunId;
use std::sync::Arc;

impl Runs {
    /// Trains in the background. The run and its job end as failed where that cannot begin, or panics.
    pub(super) fn work_on(&self, run: RunId, reserved: Reservation) -> Result<(), WorkbenchError> {
        let begun = self.begin_work(run, reserved);
        if let Err(error) = &begun {
            self.failed(run, error);
        }
        self.tell(run);
        begun
    }

    fn begin_work(&self, run: RunId, reserved: Reservation) -> Result<(), WorkbenchError> {
        let context = &self.context;
        let asked = self.kept.get(run.0)?.choices;
        let title = format!("{}, {}", asked.model, tuning_name(&asked));
        let job = context.begin_job("train", &title)?;
        self.at_work.begin(run.0, job.info().id);
        let (runs, at_work) = (self.clone(), Arc::clone(&job));
        let spawned = context.threads.spawn("run", move || {
            let _reserved = reserved;
            let progress = JobProgress::of(&runs, run, &at_work);
            let result = caught("training", || runs.carry_out(run, DeviceChoice::Auto, &progress));
            if let Err(error @ WorkbenchError::Panicked { .. }) = &result {
                runs.failed(run, error);
            }
            runs.context.end_job(&at_work, &result);
            runs.tell(run);
        });
        if let Err(error) = spawned {
            let ended: Result<(), _> = Err(error);
            context.end_job(&job, &ended);
            return ended;
        }
        Ok(())
    }

    /// Carries a run out and keeps how it ended.
    pub(super) fn carry_out(
        &self,
        run: RunId,
        device: DeviceChoice,
        progress: &dyn Progress,
    ) -> Result<(), WorkbenchError> {
        match self.train_run(run, device, progress) {
            Ok(outcome) => {
                self.ended(run, WorkState::Finished, outcome)?;
                // Only now: until then a run that is killed while it is scored goes on at its last step. A finished run is not resumed.
                if let Ok(folder) = self.kept.get(run.0).and_then(|kept| self.kept.folder(&kept)) {
                    let _ = std::fs::remove_dir_all(folder.join("checkpoints"));
                    let _ = std::fs::remove_file(folder.join(AUXILIARY));
                }
                Ok(())
            }
            Err(error) => {
                self.failed(run, &error);
                Err(error)
            }
        }
    }

    fn ended(&self, run: RunId, state: WorkState, outcome: Outcome) -> Result<(), WorkbenchError> {
        let metrics = serde_json::to_value(outcome).ok();
        let kept = self.context.store.finish_run(run, state, metrics, now_ms());
        self.at_work.end(run.0);
        Ok(kept?)
    }

    /// Keeps that a run was cancelled or failed, and why.
    fn failed(&self, run: RunId, error: &WorkbenchError) {
        let state =
            if matches!(error, WorkbenchError::Cancelled) { WorkState::Cancelled } else { WorkState::Failed };
        let other_checkpoint =
            matches!(error, WorkbenchError::Perspectives(PerspectivesError::CheckpointMismatch { .. }));
        let problem = (state == WorkState::Failed).then(|| error.problem());
        // What it cannot be resumed with must not stay: texts of another project.
        if state == WorkState::Failed
            && let Ok(folder) = self.kept.get(run.0).and_then(|kept| self.kept.folder(&kept))
            && (other_checkpoint || checkpoint_config_hash(&folder.join("checkpoints")).is_none())
        {
            let _ = std::fs::remove_file(folder.join(AUXILIARY));
        }
        // A full disk may be why it failed and refuse this too: it is then interrupted when the project is opened again.
        let _ = self.ended(run, state, Outcome { problem, other_checkpoint, ..Outcome::default() });
    }

    /// Keeps the evaluations of a run so far, and tells whoever listens.
    pub(super) fn evaluated(&self, run: RunId, epochs: &[EpochInfo]) {
        // The history is in the checkpoint too: a disk that refuses this will refuse that, which is an error there.
        if let Ok(history) = serde_json::to_value(epochs) {
            let _ = self.context.store.set_run_history(run, history);
        }
        self.tell(run);
    }

    pub(super) fn tell(&self, run: RunId) {
        let info = self.kept.get(run.0).and_then(|kept| self.infos(std::slice::from_ref(&kept)));
        if let Some(info) = info.ok().and_then(|mut infos| infos.pop()) {
            self.context.listeners.send(&Event::Run(info));
        }
    }
}
