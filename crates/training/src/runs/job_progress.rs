//! The progress of a run that the window watches.

use super::Runs;
use dissensus_project::jobs::{Job, Progress, Throttle};
use dissensus_project::sync::lock;
use dissensus_store::RunId;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often progress of a run is reported.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// Progress of the job, and of the run in the list.
pub(super) struct JobProgress<'a> {
    runs: &'a Runs,
    /// Those that are trained together.
    of: Vec<RunId>,
    job: Arc<Job>,
    throttle: Mutex<Throttle>,
}

impl<'a> JobProgress<'a> {
    pub(super) fn of(runs: &'a Runs, of: Vec<RunId>, job: &Arc<Job>) -> Self {
        Self { runs, of, job: Arc::clone(job), throttle: Mutex::new(Throttle::new(TELL_EVERY)) }
    }
}

impl Progress for JobProgress<'_> {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        self.job.report(done, total, doing);
        self.of.iter().for_each(|run| self.runs.at_work.step(run.0, done, total));
        if lock(&self.throttle).ready() {
            self.runs.tell(&self.of);
        }
    }

    fn cancelled(&self) -> bool {
        self.job.cancelled()
    }
}
