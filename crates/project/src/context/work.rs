//! Running work as a job of the project.

use super::Context;
use crate::error::ProjectError;
use crate::jobs::{Activity, Follow, Job, Progress, caught};
#[cfg(any(test, feature = "test-hooks"))]
use crate::sync::lock;
use dissensus_domain::JobKind;
use std::sync::Arc;

impl Context {
    /// Begins a job: its row is in the project before this returns.
    pub fn begin_job(&self, kind: JobKind, title: &str) -> Result<Arc<Job>, ProjectError> {
        self.jobs.begin(&self.store, &self.listeners, kind, title)
    }

    /// Ends a job with the result of its work.
    pub fn end_job<T>(&self, job: &Job, result: &Result<T, ProjectError>) {
        self.jobs.end(&self.store, job, result);
    }

    /// Runs `work` as a job on this thread. The job ends as finished, cancelled or failed, also when the
    /// work panics.
    ///
    /// # Errors
    /// An error of `work`, a panic, or the job could not be stored.
    pub fn as_job<T>(
        &self,
        kind: JobKind,
        title: &str,
        work: impl FnOnce(&Arc<Job>) -> Result<T, ProjectError>,
    ) -> Result<T, ProjectError> {
        let job = self.begin_job(kind, title)?;
        self.finish_job(kind, &job, work)
    }

    /// Runs `work` as its caller asks: as a job of this kind and title, or with the caller's progress.
    ///
    /// # Errors
    /// An error of `work`, or those of [`Context::as_job`].
    pub fn run<'a, T>(
        &self,
        follow: impl Into<Follow<'a>>,
        kind: JobKind,
        title: &str,
        work: impl FnOnce(&dyn Progress) -> Result<T, ProjectError>,
    ) -> Result<T, ProjectError> {
        match follow.into() {
            Follow::Caller(progress) => work(progress),
            Follow::Job => self.as_job(kind, title, |job| work(job.as_ref())),
        }
    }

    /// Like [`Context::run`], but only one job of this activity runs at a time.
    ///
    /// # Errors
    /// Those of [`Context::run`], and [`ProjectError::Busy`] while another job of this activity runs.
    pub fn run_alone<'a, T>(
        &self,
        activity: Activity,
        follow: impl Into<Follow<'a>>,
        kind: JobKind,
        title: &str,
        work: impl FnOnce(&dyn Progress) -> Result<T, ProjectError>,
    ) -> Result<T, ProjectError> {
        let follow = follow.into();
        let _reserved = match follow {
            Follow::Caller(_) => None,
            Follow::Job => Some(self.reservations.reserve(activity)?),
        };
        self.run(follow, kind, title, work)
    }

    /// Like [`Context::as_job`], for a job that has begun.
    pub fn finish_job<T>(
        &self,
        kind: JobKind,
        job: &Arc<Job>,
        work: impl FnOnce(&Arc<Job>) -> Result<T, ProjectError>,
    ) -> Result<T, ProjectError> {
        let result = caught(kind.name(), || {
            self.fail_here(kind.name());
            work(job)
        });
        self.end_job(job, &result);
        result
    }

    /// Hook for tests to let work fail.
    #[cfg(not(any(test, feature = "test-hooks")))]
    #[inline]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "the tests' version needs it")]
    pub(crate) fn fails_here(&self, _: &str) -> Result<(), ProjectError> {
        Ok(())
    }

    /// Hook for tests to let work fail: `fail_at` names the work.
    #[cfg(any(test, feature = "test-hooks"))]
    pub(crate) fn fails_here(&self, what: &str) -> Result<(), ProjectError> {
        match lock(&self.fail_at).as_deref() == Some(what) {
            true => Err(ProjectError::Internal(format!("a fault injected into {what}"))),
            false => Ok(()),
        }
    }

    /// Hook for tests to let work panic.
    #[cfg(not(any(test, feature = "test-hooks")))]
    #[inline]
    #[allow(clippy::unused_self, reason = "the tests' version needs it")]
    pub fn fail_here(&self, _: &str) {}

    /// Hook for tests to let work panic: `fail_at` names the work.
    #[cfg(any(test, feature = "test-hooks"))]
    pub fn fail_here(&self, what: &str) {
        let fail = lock(&self.fail_at).as_deref() == Some(what);
        assert!(!fail, "a fault injected into {what}");
    }

    /// Hook for tests to block work.
    #[cfg(not(any(test, feature = "test-hooks")))]
    #[inline]
    #[allow(clippy::unused_self, reason = "the tests' version needs it")]
    pub fn held_here(&self, _: &str) {}

    /// Hook for tests to block work: `hold_at` names the work.
    #[cfg(any(test, feature = "test-hooks"))]
    pub fn held_here(&self, what: &str) {
        let gate = lock(&self.hold_at).clone().filter(|(named, _)| *named == what);
        if let Some((_, gate)) = gate {
            gate.wait();
            gate.wait();
        }
    }
}
