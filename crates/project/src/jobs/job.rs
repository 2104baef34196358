//! Jobs of one session: each has a row in the project, an event a few times a second, and can be cancelled.

use crate::clock::now_ms;
use crate::error::ProjectError;
use crate::event::{Event, Listeners};
use crate::jobs::{Cancel, Progress, Throttle, seconds_left};
use crate::log::go_on;
use crate::sync::lock;
use dissensus_api::JobInfo;
use dissensus_domain::{JobKind, WorkState};
use dissensus_store::{JobId, NewJob, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Interval of progress events: often enough to look alive, seldom enough to cost nothing.
const REPORT_EVERY: Duration = Duration::from_millis(150);

/// All jobs of a session, newest last.
#[derive(Default)]
pub struct Jobs {
    running: Mutex<BTreeMap<u32, Arc<Job>>>,
}

/// The number of the next job that is not stored in a project: far from those of stored jobs.
static UNKEPT: AtomicU32 = AtomicU32::new(u32::MAX);

/// A running job; also the [`Progress`] of its work.
pub struct Job {
    info: Mutex<JobInfo>,
    cancel: Cancel,
    started: Instant,
    first: Mutex<Option<u64>>,
    throttle: Mutex<Throttle>,
    listeners: Arc<Listeners>,
}

impl Jobs {
    /// Begins a job: its row is in the project before this returns.
    pub(crate) fn begin(
        &self,
        store: &Store,
        listeners: &Arc<Listeners>,
        kind: JobKind,
        title: &str,
    ) -> Result<Arc<Job>, ProjectError> {
        let new = NewJob { kind, title: title.to_owned(), total: None, started_ms: now_ms() };
        // A read-only project stores no list of jobs, nor does one whose file was moved or replaced, of
        // which a copy may still be saved: the job is known only while it runs.
        let kept = if store.is_reader() { None } else { Some(store.start_job(&new)) };
        let id = match kept {
            None | Some(Err(StoreError::Displaced { .. })) => UNKEPT.fetch_sub(1, Ordering::Relaxed),
            Some(kept) => kept?.0,
        };
        let info = JobInfo {
            id,
            kind: kind.name().to_owned(),
            title: title.to_owned(),
            state: WorkState::Running,
            done: 0,
            total: None,
            seconds_left: None,
            note: None,
            problem: None,
        };
        let job = Arc::new(Job {
            info: Mutex::new(info),
            cancel: Cancel::default(),
            started: Instant::now(),
            first: Mutex::new(None),
            throttle: Mutex::new(Throttle::new(REPORT_EVERY)),
            listeners: Arc::clone(listeners),
        });
        lock(&self.running).insert(id, Arc::clone(&job));
        job.notify();
        Ok(job)
    }

    /// Ends a job: stores its last state and notifies listeners.
    pub(crate) fn end<T>(&self, store: &Store, job: &Job, result: &Result<T, ProjectError>) {
        let id = {
            let mut info = lock(&job.info);
            info.seconds_left = None;
            match result {
                Ok(_) => info.state = WorkState::Finished,
                Err(ProjectError::Cancelled) => info.state = WorkState::Cancelled,
                Err(error) => {
                    info.state = WorkState::Failed;
                    info.problem = Some(error.problem());
                }
            }
            info.id
        };
        let info = job.info();
        let note = info.problem.as_ref().map(|p| p.message.as_str()).or(info.note.as_deref());
        // A full disk may be why the job failed; its end is then reported, even if not stored.
        if !store.is_reader() {
            go_on("keeping a job's progress", store.update_job(JobId(id), info.done, info.total, note));
            go_on("keeping a job's end", store.finish_job(JobId(id), info.state, note, now_ms()));
        }
        let seconds = job.started.elapsed().as_secs_f64();
        let code = info.problem.as_ref().map(|problem| problem.code.as_str());
        tracing::info!(job = id, kind = info.kind, state = ?info.state, code, seconds, done = info.done, "job ended");
        // Brings the job's writes into the one file; if that fails, it is done when writing pauses.
        go_on("bringing a job into the file", store.checkpoint());
        job.notify();
        lock(&self.running).remove(&id);
    }

    /// Asks a job to stop. Returns false if it is not running.
    pub fn cancel(&self, id: u32) -> bool {
        lock(&self.running).get(&id).map(|job| job.cancel.set()).is_some()
    }

    /// Asks every job to stop.
    pub fn cancel_all(&self) {
        lock(&self.running).values().for_each(|job| job.cancel.set());
    }

    /// The running jobs.
    pub fn running(&self) -> Vec<JobInfo> {
        lock(&self.running).values().map(|job| job.info()).collect()
    }
}

impl Job {
    /// Its current state.
    pub fn info(&self) -> JobInfo {
        lock(&self.info).clone()
    }

    fn notify(&self) {
        self.listeners.send(&Event::Job(self.info()));
    }
}

impl Progress for Job {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        let first = *lock(&self.first).get_or_insert(done);
        {
            let mut info = lock(&self.info);
            info.done = u32::try_from(done).unwrap_or(u32::MAX);
            info.total = total.map(|total| u32::try_from(total).unwrap_or(u32::MAX));
            info.seconds_left = seconds_left(self.started, first, done, total);
            info.note = (!doing.is_empty()).then(|| doing.to_owned());
        }
        if lock(&self.throttle).ready() {
            self.notify();
        }
    }

    fn cancelled(&self) -> bool {
        self.cancel.is_set()
    }
}
