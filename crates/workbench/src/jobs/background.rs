//! Work that ends as an error, not as silence, when it panics: on threads of a session and in jobs.

use super::Job;
use crate::core::Core;
use crate::error::WorkbenchError;
use crate::log::go_on;
use crate::sync::lock;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The threads of one session.
#[derive(Debug, Default)]
pub(crate) struct Threads(Mutex<Vec<JoinHandle<()>>>);

impl Threads {
    /// Runs `work` on a thread that [`Threads::join`] waits for. A panic in it ends this work only.
    ///
    /// # Errors
    /// The system starts no more threads, or the project is being closed.
    pub(crate) fn spawn(
        &self,
        core: &Arc<Core>,
        what: &'static str,
        work: impl FnOnce(&Arc<Core>) + Send + 'static,
    ) -> Result<(), WorkbenchError> {
        let core = Arc::clone(core);
        let mut threads = lock(&self.0);
        // Under the lock: what is spawned before `closing` is set is also waited for.
        if core.closing.is_set() {
            return Err(WorkbenchError::Closing);
        }
        let thread = std::thread::Builder::new()
            .name(format!("dissensus {what}"))
            .spawn(move || {
                let result = caught(what, || {
                    work(&core);
                    Ok(())
                });
                // The panic hook has logged place and backtrace; models, embeddings and figures are derived and made again.
                go_on(what, result);
            })
            .map_err(|_| WorkbenchError::NoThread)?;
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
        Ok(())
    }

    /// Waits for every thread but the one that calls.
    pub(crate) fn join(&self) {
        let threads = std::mem::take(&mut *lock(&self.0));
        let me = std::thread::current().id();
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != me) {
            // A panic was turned into an error inside the thread.
            if thread.join().is_err() {
                tracing::error!("a thread of the session ended with a panic that was not caught");
            }
        }
    }
}

impl Core {
    /// Does `work` as a job on this thread. The job ends as finished, cancelled or failed; also where the work panics.
    ///
    /// # Errors
    /// What `work` says, or that it panicked, or that the job could not be written down.
    pub(crate) fn as_job<T>(
        &self,
        kind: &'static str,
        title: &str,
        work: impl FnOnce(&Arc<Job>) -> Result<T, WorkbenchError>,
    ) -> Result<T, WorkbenchError> {
        let job = self.jobs.begin(&self.store, &self.listeners, kind, title)?;
        self.finish_job(kind, &job, work)
    }

    /// As [`Core::as_job`] for a job that has begun.
    pub(crate) fn finish_job<T>(
        &self,
        kind: &'static str,
        job: &Arc<Job>,
        work: impl FnOnce(&Arc<Job>) -> Result<T, WorkbenchError>,
    ) -> Result<T, WorkbenchError> {
        let result = caught(kind, || {
            self.fail_here(kind);
            work(job)
        });
        self.jobs.end(&self.store, job, &result);
        result
    }

    /// Where tests let work panic.
    #[cfg(not(test))]
    #[inline]
    #[allow(clippy::unused_self, reason = "the tests' version needs it")]
    pub(crate) fn fail_here(&self, _: &str) {}

    /// Where tests let work panic: `fail_at` names the work.
    #[cfg(test)]
    pub(crate) fn fail_here(&self, what: &str) {
        let fail = lock(&self.fail_at).as_deref() == Some(what);
        assert!(!fail, "a fault injected into {what}");
    }
}

/// Runs `work`; a panic in it is an error that says so.
pub(crate) fn caught<T>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, WorkbenchError>,
) -> Result<T, WorkbenchError> {
    // What a panic can leave half changed is reset by whoever locks it next (`sync::lock_or_reset`) or rolled back by the store.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(WorkbenchError::Panicked { what, message: message_of(panic.as_ref()) }))
}

/// What a panic said.
fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
