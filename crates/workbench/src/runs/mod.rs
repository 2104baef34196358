//! Training runs: started, watched, resumed, compared, used and deleted.

mod choices;
mod compare;
mod energy;
mod export;
mod folder;
mod kept;
mod predicting;
mod start;
mod training;
mod using;

pub use choices::tuning_name;
pub use predicting::RunPrediction;
pub(crate) use start::first_texts;
pub(crate) use training::Material;

use crate::clock::now_ms;
use crate::core::Core;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::jobs::{Activity, Job, Observer, Reservation, Throttle, caught, seconds_left};
use crate::session::Session;
use crate::sync::lock;
use crate::view::{EpochInfo, RunComparison, RunDetail, RunInfo, TrainChoices, Tuning};
use dissensus_domain::{EventId, QuestionId};
use dissensus_encoder::DeviceChoice;
use dissensus_perspectives::ModelKind;
use dissensus_store::{NewRun, RunId, WorkState};
use kept::Outcome;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use training::RunObserver;

/// How often progress of a run is reported.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// Runs at work now, and hashes of labels worked out.
#[derive(Default)]
pub(crate) struct Training {
    live: Mutex<BTreeMap<u32, Live>>,
    sums: Mutex<HashMap<QuestionId, (EventId, String)>>,
}

/// The progress of a run at work.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) job: u32,
    pub(crate) seconds: f64,
    pub(crate) seconds_left: Option<f64>,
    began: Instant,
    first: Option<u64>,
}

impl Training {
    pub(crate) fn state(&self, run: u32) -> Option<Live> {
        let mut live = lock(&self.live).get(&run).cloned()?;
        live.seconds = live.began.elapsed().as_secs_f64();
        Some(live)
    }
}

impl Session {
    /// What a training of this model does unless told otherwise: what was asked for the last time, else sensible choices.
    ///
    /// # Errors
    /// There is no such model or question.
    pub fn train_defaults(
        &self,
        question: QuestionId,
        model: &str,
        tuning: Tuning,
    ) -> Result<TrainChoices, WorkbenchError> {
        let kind: ModelKind = model.parse()?;
        let core = &self.core;
        core.index().question(question).ok_or(WorkbenchError::NoQuestion)?;
        let last: Option<serde_json::Value> = core.store.setting(&last_key(kind, &tuning))?;
        if let Some(last) = last.and_then(choices::read) {
            return Ok(TrainChoices { question, ..last });
        }
        let question = core.index().question(question).cloned().ok_or(WorkbenchError::NoQuestion)?;
        let material = core.material(&question)?;
        Ok(choices::defaults(question.id, kind, &tuning, material.labelled_texts(), material.usual_split()))
    }

    /// What a script gets: sensible choices, whatever was asked for the last time. `tuning` is `frozen`, `last-K`, `lora`,
    /// `lora-RANK` or `full`.
    ///
    /// # Errors
    /// There is no such model, question or tuning.
    pub fn train_choices(
        &self,
        question: QuestionId,
        model: ModelKind,
        tuning: &str,
    ) -> Result<TrainChoices, WorkbenchError> {
        let question = self.core.index().question(question).cloned().ok_or(WorkbenchError::NoQuestion)?;
        let material = self.core.material(&question)?;
        let (texts, split) = (material.labelled_texts(), material.usual_split());
        let mut named = choices::defaults(question.id, model, &Tuning::Frozen, texts, split);
        choices::set_tuning(&mut named, tuning)?;
        let fresh = choices::defaults(question.id, model, &named.tuning, texts, split);
        Ok(TrainChoices { layers: named.layers, rank: named.rank, ..fresh })
    }

    /// Starts a run in the background and returns its id at once.
    ///
    /// # Errors
    /// A choice that cannot be carried out, no labels, or another run at work.
    pub fn start_run(&self, asked: &TrainChoices) -> Result<u32, WorkbenchError> {
        let reserved = self.core.reservations.reserve(Activity::Training)?;
        let run = self.core.new_run(asked)?;
        self.work_on(run, reserved)?;
        Ok(run.0)
    }

    /// Resumes an interrupted run from its last checkpoint, on the labels, annotators and texts that it started on.
    ///
    /// # Errors
    /// There is no such run, it cannot be resumed, or another one is at work.
    pub fn resume_run(&self, id: u32) -> Result<(), WorkbenchError> {
        let reserved = self.core.reservations.reserve(Activity::Training)?;
        self.core.reopen(id)?;
        self.work_on(RunId(id), reserved)
    }

    /// Trains and scores on this thread, as the command does; kept as a run of the project.
    ///
    /// # Errors
    /// As [`Session::start_run`], and whatever the training runs into.
    pub fn run(
        &self,
        asked: &TrainChoices,
        device: DeviceChoice,
        observer: &dyn Observer,
    ) -> Result<RunDetail, WorkbenchError> {
        let _reserved = self.core.reservations.reserve(Activity::Training)?;
        let run = self.core.new_run(asked)?;
        self.core.finish(run, device, &TerminalObserver(&self.core, run, observer))?;
        self.run_detail(run.0)
    }

    /// As [`Session::resume_run`], on this thread.
    ///
    /// # Errors
    /// As there, and whatever the training runs into.
    pub fn resume_here(&self, id: u32, observer: &dyn Observer) -> Result<RunDetail, WorkbenchError> {
        let _reserved = self.core.reservations.reserve(Activity::Training)?;
        self.core.reopen(id)?;
        let run = RunId(id);
        self.core.finish(run, DeviceChoice::Auto, &TerminalObserver(&self.core, run, observer))?;
        self.run_detail(id)
    }

    /// Every training run, newest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn runs(&self) -> Result<Vec<RunInfo>, WorkbenchError> {
        self.core.infos(&self.core.kept_runs()?)
    }

    /// Everything about one run.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be read.
    pub fn run_detail(&self, id: u32) -> Result<RunDetail, WorkbenchError> {
        self.core.detail(&self.core.kept_run(id)?)
    }

    /// Two runs that were scored on the same labels.
    ///
    /// # Errors
    /// There is no such run, or they were scored on different labels.
    pub fn compare_runs(&self, a: u32, b: u32) -> Result<RunComparison, WorkbenchError> {
        self.core.compare(a, b)
    }

    /// Deletes a run and its files; files that are not its own stay. One whose encoder is in use is put out of use first.
    ///
    /// # Errors
    /// There is no such run, it is at work, or its files cannot be removed.
    pub fn delete_run(&self, id: u32) -> Result<(), WorkbenchError> {
        let core = &self.core;
        let kept = core.kept_run(id)?;
        if core.training.state(id).is_some() {
            return Err(WorkbenchError::Busy("training"));
        }
        if core.run_in_use()? == Some(id) {
            self.use_run(None)?;
        }
        if !core.forget_encoder(&folder::encoder_name(kept.run.uid))? {
            return Err(WorkbenchError::EncoderInUse(id));
        }
        core.remove_run_folder(&kept)?;
        core.store.write(move |tx| tx.delete_run(RunId(id)))?;
        Ok(())
    }

    /// Trains in the background. The run and its job end as failed where that cannot begin, or panics.
    fn work_on(&self, run: RunId, reserved: Reservation) -> Result<(), WorkbenchError> {
        let begun = self.begin_work(run, reserved);
        if let Err(error) = &begun {
            self.core.failed(run, error);
        }
        self.core.tell_run(run);
        begun
    }

    fn begin_work(&self, run: RunId, reserved: Reservation) -> Result<(), WorkbenchError> {
        let core = &self.core;
        let asked = core.kept_run(run.0)?.choices;
        let title = format!("{}, {}", asked.model, tuning_name(&asked.tuning, asked.layers, asked.rank));
        let job = core.jobs.begin(&core.store, &core.listeners, "train", &title)?;
        let live =
            Live { job: job.info().id, seconds: 0.0, seconds_left: None, began: Instant::now(), first: None };
        lock(&core.training.live).insert(run.0, live);
        let at_work = Arc::clone(&job);
        let spawned = self.spawn("run", move |core| {
            let _reserved = reserved;
            let observer = JobObserver {
                core,
                run,
                job: Arc::clone(&at_work),
                throttle: Mutex::new(Throttle::new(TELL_EVERY)),
            };
            let result = caught("training", || core.finish(run, DeviceChoice::Auto, &observer));
            if let Err(error @ WorkbenchError::Panicked { .. }) = &result {
                core.failed(run, error);
            }
            core.jobs.end(&core.store, &at_work, &result);
            core.tell_run(run);
        });
        if let Err(error) = spawned {
            let ended: Result<(), _> = Err(error);
            core.jobs.end(&core.store, &job, &ended);
            return ended;
        }
        Ok(())
    }
}

impl Core {
    /// A row for a run, once it is clear that it can be carried out.
    fn new_run(&self, asked: &TrainChoices) -> Result<RunId, WorkbenchError> {
        let (config, _) = choices::config(asked)?;
        let question = self.index().question(asked.question).cloned().ok_or(WorkbenchError::NoQuestion)?;
        if self.observations(question.id)?.is_empty() {
            return Err(WorkbenchError::NoLabels(question.name));
        }
        let state = self.encoding_state()?;
        if config.policy == dissensus_encoder::FreezePolicy::Frozen && state.encoded < state.total {
            return Err(WorkbenchError::NotEncoded(self.store.path().to_owned()));
        }
        let run = self.store.add_run(&NewRun {
            configuration: serde_json::to_value(asked).map_err(|e| WorkbenchError::internal(&e))?,
            seed: u64::from(asked.seed),
            device: "cpu".to_owned(),
            started_ms: now_ms(),
            data_sha256: Some(self.data_sum(question.id)?),
        })?;
        self.store.set_setting(&last_key(config.network.model, &asked.tuning), asked)?;
        Ok(run)
    }

    /// Marks an interrupted or failed run as running again.
    fn reopen(&self, id: u32) -> Result<(), WorkbenchError> {
        let kept = self.kept_run(id)?;
        if let Some(reason) = self.cannot_resume(&kept)? {
            return Err(WorkbenchError::NotResumable { run: id, reason });
        }
        Ok(self.store.write(move |tx| tx.resume_run(RunId(id)))?)
    }

    /// Carries a run out and keeps how it ended.
    fn finish(
        &self,
        run: RunId,
        device: DeviceChoice,
        observer: &dyn RunObserver,
    ) -> Result<(), WorkbenchError> {
        match self.train_run(run, device, observer) {
            Ok(outcome) => {
                self.ended(run, WorkState::Finished, outcome)?;
                // Only now: until then a run that is killed while it is scored goes on at its last step. A finished run is not resumed.
                if let Ok(folder) = self.kept_run(run.0).and_then(|kept| self.run_folder(&kept)) {
                    let _ = std::fs::remove_dir_all(folder.join("checkpoints"));
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
        let kept = self.store.finish_run(run, state, metrics, now_ms());
        lock(&self.training.live).remove(&run.0);
        Ok(kept?)
    }

    /// Keeps that a run was cancelled or failed, and why.
    fn failed(&self, run: RunId, error: &WorkbenchError) {
        let state =
            if matches!(error, WorkbenchError::Cancelled) { WorkState::Cancelled } else { WorkState::Failed };
        let other_checkpoint = matches!(
            error,
            WorkbenchError::Perspectives(
                dissensus_perspectives::PerspectivesError::CheckpointMismatch { .. }
            )
        );
        let problem = (state == WorkState::Failed).then(|| error.problem());
        // A full disk may be why it failed and refuse this too: it is then interrupted when the project is opened again.
        let _ = self.ended(run, state, Outcome { problem, other_checkpoint, ..Outcome::default() });
    }

    fn keep_epochs(&self, run: RunId, epochs: &[EpochInfo]) {
        // The history is in the checkpoint too: a disk that refuses this will refuse that, which is an error there.
        if let Ok(history) = serde_json::to_value(epochs) {
            let _ = self.store.set_run_history(run, history);
        }
    }

    fn tell_run(&self, run: RunId) {
        let info = self.kept_run(run.0).and_then(|kept| self.infos(std::slice::from_ref(&kept)));
        if let Some(info) = info.ok().and_then(|mut infos| infos.pop()) {
            self.listeners.send(&Event::Run(info));
        }
    }

    /// Threads that a training may take: all, but one less where somebody labels meanwhile.
    pub(crate) fn threads_for_training(&self) -> Option<usize> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let labelled_meanwhile = self.in_background.load(std::sync::atomic::Ordering::Relaxed);
        labelled_meanwhile.then_some(cores.saturating_sub(1).max(1))
    }
}

/// The setting with the choices of the last training of this kind. Written as the projects have it: `lastk` since the first version.
fn last_key(model: ModelKind, tuning: &Tuning) -> String {
    let tuning = match tuning {
        Tuning::Frozen => "frozen",
        Tuning::LastK => "lastk",
        Tuning::Lora => "lora",
        Tuning::Full => "full",
    };
    format!("training_{}_{tuning}", model.name())
}

/// A run watched by a terminal.
struct TerminalObserver<'a>(&'a Core, RunId, &'a dyn Observer);

impl Observer for TerminalObserver<'_> {
    fn step(&self, done: u64, total: Option<u64>, note: &str) {
        self.2.step(done, total, note);
    }

    fn cancelled(&self) -> bool {
        self.2.cancelled()
    }
}

impl RunObserver for TerminalObserver<'_> {
    fn evaluated(&self, epochs: &[EpochInfo]) {
        self.0.keep_epochs(self.1, epochs);
    }
}

/// A run watched by the window.
struct JobObserver<'a> {
    core: &'a Core,
    run: RunId,
    job: Arc<Job>,
    throttle: Mutex<Throttle>,
}

impl Observer for JobObserver<'_> {
    fn step(&self, done: u64, total: Option<u64>, note: &str) {
        self.job.step(done, total, note);
        if let Some(live) = lock(&self.core.training.live).get_mut(&self.run.0) {
            let first = *live.first.get_or_insert(done);
            live.seconds_left = seconds_left(live.began, first, done, total);
        }
        if lock(&self.throttle).ready() {
            self.core.tell_run(self.run);
        }
    }

    fn cancelled(&self) -> bool {
        self.job.cancelled()
    }
}

impl RunObserver for JobObserver<'_> {
    fn evaluated(&self, epochs: &[EpochInfo]) {
        self.core.keep_epochs(self.run, epochs);
        self.core.tell_run(self.run);
    }
}
