//! Starting a run.

use super::Runs;
use super::defaults::last_key;
use crate::clock::now_ms;
use crate::error::WorkbenchError;
use crate::jobs::{Activity, Progress};
use crate::saved_runs::choices;
use crate::view::{RunDetail, TrainChoices};
use dissensus_encoder::{DeviceChoice, FreezePolicy};
use dissensus_store::{NewRun, RunId};

impl Runs {
    /// Starts a run in the background and returns its id at once.
    ///
    /// # Errors
    /// A choice that cannot be carried out, no labels, or another run at work.
    pub fn start(&self, asked: &TrainChoices) -> Result<u32, WorkbenchError> {
        let reserved = self.context.reservations.reserve(Activity::Training)?;
        let run = self.new_run(asked)?;
        self.work_on(run, reserved)?;
        Ok(run.0)
    }

    /// Trains and scores on this thread, as the command does; kept as a run of the project.
    ///
    /// # Errors
    /// As [`Runs::start`], and whatever the training runs into.
    pub fn train(
        &self,
        asked: &TrainChoices,
        device: DeviceChoice,
        progress: &dyn Progress,
    ) -> Result<RunDetail, WorkbenchError> {
        let _reserved = self.context.reservations.reserve(Activity::Training)?;
        let run = self.new_run(asked)?;
        self.carry_out(run, device, progress)?;
        self.detail(run.0)
    }

    /// A row for a run, once it is clear that it can be carried out.
    fn new_run(&self, asked: &TrainChoices) -> Result<RunId, WorkbenchError> {
        let (choices, config) = choices::of_new_run(asked)?;
        let question = self.context.index().with_levels(asked.question)?.clone();
        if self.context.observations(question.id)?.is_empty() {
            return Err(WorkbenchError::NoLabels(question.name));
        }
        self.check_auxiliary(&question, &config, &choices.auxiliary)?;
        let state = self.encoding.state()?;
        if config.policy == FreezePolicy::Frozen && state.encoded < state.total {
            return Err(WorkbenchError::NotEncoded(self.context.store.path().to_owned()));
        }
        let run = self.context.store.add_run(&NewRun {
            configuration: serde_json::to_value(&choices).map_err(|e| WorkbenchError::internal(&e))?,
            seed: u64::from(asked.seed),
            device: "cpu".to_owned(),
            started_ms: now_ms(),
            data_sha256: Some(self.labels_sha256(question.id)?),
        })?;
        // The files of other projects are named each time, and taken from no run before.
        let choices = TrainChoices { auxiliary: Vec::new(), ..choices };
        self.context.store.set_setting(&last_key(config.network.model, &choices.tuning), &choices)?;
        Ok(run)
    }
}
