//! Who watches a run.

use super::Runs;
use crate::jobs::{Job, Observer, Throttle};
use crate::sync::lock;
use crate::view::EpochInfo;
use dissensus_store::RunId;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often progress of a run is reported.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// Is told how a run goes, beside its progress.
pub(super) trait RunObserver: Observer {
    /// An evaluation came out; all of them so far.
    fn evaluated(&self, epochs: &[EpochInfo]);
}

/// A run watched by a terminal.
pub(super) struct TerminalObserver<'a>(pub(super) &'a Runs, pub(super) RunId, pub(super) &'a dyn Observer);

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
pub(super) struct JobObserver<'a> {
    runs: &'a Runs,
    run: RunId,
    job: Arc<Job>,
    throttle: Mutex<Throttle>,
}

impl<'a> JobObserver<'a> {
    pub(super) fn of(runs: &'a Runs, run: RunId, job: &Arc<Job>) -> Self {
        Self { runs, run, job: Arc::clone(job), throttle: Mutex::new(Throttle::new(TELL_EVERY)) }
    }
}

impl Observer for JobObserver<'_> {
    fn step(&self, done: u64, total: Option<u64>, note: &str) {
        self.job.step(done, total, note);
        self.runs.at_work.step(self.run.0, done, total);
        if lock(&self.throttle).ready() {
            self.runs.tell(self.run);
        }
    }

    fn cancelled(&self) -> bool {
        self.job.cancelled()
    }
}

impl RunObserver for JobObserver<'_> {
    fn evaluated(&self, epochs: &[EpochInfo]) {
        self.runs.keep_epochs(self.run, epochs);
        self.runs.tell(self.run);
    }
}
