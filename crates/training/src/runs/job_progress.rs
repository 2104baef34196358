//! The progress of a run, for the window.

use super::Runs;
use crate::runs::list;
use dissensus_project::jobs::{Job, Progress, Throttle};
use dissensus_project::sync::lock;
use dissensus_store::RunId;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Interval between reports of a run's progress.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// Reports progress to the job and to the list of runs.
pub(super) struct JobProgress<'a> {
    runs: &'a Runs,
    /// The runs that are trained together.
    of: Vec<RunId>,
    job: Arc<Job>,
    throttle: Mutex<Throttle>,
}

impl<'a> JobProgress<'a> {
    pub(super) fn new(runs: &'a Runs, of: Vec<RunId>, job: &Arc<Job>) -> Self {
        Self { runs, of, job: Arc::clone(job), throttle: Mutex::new(Throttle::new(REPORT_EVERY)) }
    }
}

impl Progress for JobProgress<'_> {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        self.job.report(done, total, doing);
        self.of.iter().for_each(|run| self.runs.at_work.step(run.0, done, total));
        if lock(&self.throttle).ready() {
            list::announce(self.runs, &self.of);
        }
    }

    fn cancelled(&self) -> bool {
        self.job.cancelled()
    }
}
