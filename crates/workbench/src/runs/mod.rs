//! Training runs: started, watched, gone on with, compared, used and taken away.

mod choices;
mod compare;
mod energy;
mod export;
mod kept;
mod predicting;
mod training;
mod using;

pub use choices::tuning_name;
pub use predicting::RunPrediction;
pub(crate) use training::Material;

use crate::clock::now_ms;
use crate::core::Core;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::jobs::Job;
use crate::jobs::{Observer, Throttle, seconds_left};
use crate::session::Session;
use crate::sync::lock;
use crate::view::{EpochInfo, RunComparison, RunDetail, RunInfo, TrainChoices, Tuning};
use dissensus_domain::{EventId, QuestionId};
use dissensus_encoder::DeviceChoice;
use dissensus_perspectives::ModelKind;
use dissensus_store::{NewRun, RunId, WorkState};
use kept::{KIND, Outcome};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use training::RunObserver;

/// Often enough to look alive.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// Runs at work now, and sums of labels worked out.
#[derive(Default)]
pub(crate) struct Training {
    live: Mutex<BTreeMap<u32, Live>>,
    sums: Mutex<HashMap<QuestionId, (EventId, String)>>,
}

/// How a run at work is.
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
        let run = self.core.new_run(asked)?;
        self.work_on(run, asked.clone())?;
        Ok(run.0)
    }

    /// Goes on with a run that broke off, from its last checkpoint.
    ///
    /// # Errors
    /// There is no such run, it did not break off, or another one is at work.
    pub fn resume_run(&self, id: u32) -> Result<(), WorkbenchError> {
        let asked = self.core.reopened(id)?;
        self.work_on(RunId(id), asked)
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
        let run = self.core.new_run(asked)?;
        self.core.finish(run, asked, device, &Plain(&self.core, run, observer))?;
        self.run_detail(run.0)
    }

    /// As [`Session::resume_run`], on this thread.
    ///
    /// # Errors
    /// As there, and whatever the training runs into.
    pub fn resume_here(&self, id: u32, observer: &dyn Observer) -> Result<RunDetail, WorkbenchError> {
        let asked = self.core.reopened(id)?;
        let run = RunId(id);
        self.core.finish(run, &asked, DeviceChoice::Auto, &Plain(&self.core, run, observer))?;
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

    /// Takes a run and its files away. One that predicts stops doing so.
    ///
    /// # Errors
    /// There is no such run, it is at work, or its files cannot be removed.
    pub fn delete_run(&self, id: u32) -> Result<(), WorkbenchError> {
        let core = &self.core;
        core.kept_run(id)?;
        if core.training.state(id).is_some() {
            return Err(WorkbenchError::Busy("training"));
        }
        if core.run_in_use()? == Some(id) {
            self.use_run(None)?;
        }
        let folder = core.run_folder(RunId(id));
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|source| WorkbenchError::Io {
                path: folder.clone(),
                doing: "removing",
                source,
            })?;
        }
        core.store.write(move |tx| tx.delete_run(RunId(id)))?;
        Ok(())
    }

    fn work_on(&self, run: RunId, asked: TrainChoices) -> Result<(), WorkbenchError> {
        let core = &self.core;
        let title = format!("{}, {}", asked.model, tuning_name(&asked.tuning, asked.layers, asked.rank));
        let job = core.jobs.begin(&core.store, &core.listeners, "train", &title)?;
        let live =
            Live { job: job.info().id, seconds: 0.0, seconds_left: None, began: Instant::now(), first: None };
        lock(&core.training.live).insert(run.0, live);
        self.spawn("run", move |core| {
            let told =
                Told { core, run, job: Arc::clone(&job), throttle: Mutex::new(Throttle::new(TELL_EVERY)) };
            let result = core.finish(run, &asked, DeviceChoice::Auto, &told);
            core.jobs.end(&core.store, &job, &result);
            core.tell_run(run);
        })?;
        self.core.tell_run(run);
        Ok(())
    }
}

impl Core {
    /// A row for a run, once it is clear that it can be carried out.
    fn new_run(&self, asked: &TrainChoices) -> Result<RunId, WorkbenchError> {
        let (config, _) = choices::config(asked)?;
        let question = self.index().question(asked.question).cloned().ok_or(WorkbenchError::NoQuestion)?;
        self.not_at_work()?;
        if self.observations(question.id)?.is_empty() {
            return Err(WorkbenchError::NoLabels(question.name));
        }
        let state = self.encoding_state()?;
        if config.policy == dissensus_encoder::FreezePolicy::Frozen && state.encoded < state.total {
            return Err(WorkbenchError::NotEncoded(self.store.path().to_owned()));
        }
        let run = self.store.add_run(&NewRun {
            kind: KIND.to_owned(),
            configuration: serde_json::to_value(asked).map_err(|e| WorkbenchError::internal(&e))?,
            seed: u64::from(asked.seed),
            device: "cpu".to_owned(),
            started_ms: now_ms(),
            data_sha256: Some(self.data_sum(question.id)?),
        })?;
        self.store.set_setting(&last_key(config.network.model, &asked.tuning), asked)?;
        Ok(run)
    }

    /// Marks a run that broke off or failed as running again.
    fn reopened(&self, id: u32) -> Result<TrainChoices, WorkbenchError> {
        let kept = self.kept_run(id)?;
        if !self.goes_on(&kept.run) {
            return Err(WorkbenchError::NotResumable(id));
        }
        self.not_at_work()?;
        self.store.write(move |tx| tx.resume_run(RunId(id)))?;
        Ok(kept.choices)
    }

    fn not_at_work(&self) -> Result<(), WorkbenchError> {
        if lock(&self.training.live).is_empty() { Ok(()) } else { Err(WorkbenchError::Busy("training")) }
    }

    /// Carries a run out and keeps how it ended.
    fn finish(
        &self,
        run: RunId,
        asked: &TrainChoices,
        device: DeviceChoice,
        observer: &dyn RunObserver,
    ) -> Result<(), WorkbenchError> {
        let result = self.train_run(run, asked, device, observer);
        let (state, outcome) = match &result {
            Ok(outcome) => (WorkState::Finished, outcome.clone()),
            Err(WorkbenchError::Cancelled) => (WorkState::Cancelled, Outcome::default()),
            Err(error) => {
                (WorkState::Failed, Outcome { problem: Some(error.problem()), ..Outcome::default() })
            }
        };
        let metrics = serde_json::to_value(outcome).ok();
        let kept = self.store.finish_run(run, state, metrics, now_ms());
        lock(&self.training.live).remove(&run.0);
        result.map(|_| ())?;
        Ok(kept?)
    }

    fn keep_epochs(&self, run: RunId, epochs: &[EpochInfo]) {
        // How it goes is in the checkpoint too: a disk that refuses this will refuse that, and be told there.
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

fn last_key(model: ModelKind, tuning: &Tuning) -> String {
    format!("training_{}_{tuning:?}", model.name()).to_lowercase()
}

/// A run watched by a terminal.
struct Plain<'a>(&'a Core, RunId, &'a dyn Observer);

impl Observer for Plain<'_> {
    fn step(&self, done: u64, total: Option<u64>, note: &str) {
        self.2.step(done, total, note);
    }

    fn cancelled(&self) -> bool {
        self.2.cancelled()
    }
}

impl RunObserver for Plain<'_> {
    fn evaluated(&self, epochs: &[EpochInfo]) {
        self.0.keep_epochs(self.1, epochs);
    }
}

/// A run watched by the window.
struct Told<'a> {
    core: &'a Core,
    run: RunId,
    job: Arc<Job>,
    throttle: Mutex<Throttle>,
}

impl Observer for Told<'_> {
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

impl RunObserver for Told<'_> {
    fn evaluated(&self, epochs: &[EpochInfo]) {
        self.core.keep_epochs(self.run, epochs);
        self.core.tell_run(self.run);
    }
}
