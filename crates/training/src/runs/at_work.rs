//! Runs that are currently training.

use dissensus_domain::{EventId, QuestionId};
use dissensus_project::jobs::seconds_left;
use dissensus_project::sync::lock;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::Instant;

/// Running trainings, and cached hashes of labels.
#[derive(Default)]
pub(super) struct AtWork {
    runs: Mutex<BTreeMap<u32, Underway>>,
    /// For each question, until its labels change.
    pub(super) sums: Mutex<HashMap<QuestionId, (EventId, String)>>,
}

/// The progress of a run at work.
#[derive(Clone, Debug)]
pub(super) struct Underway {
    pub(super) job: u32,
    pub(super) seconds: f64,
    pub(super) seconds_left: Option<f64>,
    began: Instant,
    first: Option<u64>,
}

impl AtWork {
    /// The progress of a run; `None` if it is not at work.
    pub(super) fn state(&self, run: u32) -> Option<Underway> {
        let mut underway = lock(&self.runs).get(&run).cloned()?;
        underway.seconds = underway.began.elapsed().as_secs_f64();
        Some(underway)
    }

    /// Records that a run begins, as this job.
    pub(super) fn begin(&self, run: u32, job: u32) {
        let underway = Underway { job, seconds: 0.0, seconds_left: None, began: Instant::now(), first: None };
        lock(&self.runs).insert(run, underway);
    }

    /// Records the progress of a run.
    pub(super) fn step(&self, run: u32, done: u64, total: Option<u64>) {
        if let Some(underway) = lock(&self.runs).get_mut(&run) {
            let first = *underway.first.get_or_insert(done);
            underway.seconds_left = seconds_left(underway.began, first, done, total);
        }
    }

    /// Records that a run has ended.
    pub(super) fn end(&self, run: u32) {
        lock(&self.runs).remove(&run);
    }
}
