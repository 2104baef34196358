//! Threads of a session, and work whose panics are reported as errors.

use super::Cancel;
use crate::error::ProjectError;
use crate::log::go_on;
use crate::sync::lock;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread::JoinHandle;

/// The threads of one session.
#[derive(Default)]
pub struct Threads {
    running: Mutex<Vec<JoinHandle<()>>>,
    closing: Cancel,
}

impl Threads {
    /// Runs `work` on a thread that [`Threads::join`] waits for. A panic in it ends only this work.
    ///
    /// # Errors
    /// The system starts no more threads, or the project is being closed.
    pub fn spawn(
        &self,
        what: &'static str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), ProjectError> {
        let mut threads = lock(&self.running);
        // Under the lock: everything spawned before `closing` is set is also waited for.
        if self.closing.is_set() {
            return Err(ProjectError::Closing);
        }
        let thread = std::thread::Builder::new()
            .name(format!("dissensus {what}"))
            .spawn(move || {
                let result = caught(what, || {
                    work();
                    Ok(())
                });
                // The panic hook has logged location and backtrace; models, embeddings and figures are
                // derived and can be computed again.
                go_on(what, result);
            })
            .map_err(|_| ProjectError::NoThread)?;
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
        Ok(())
    }

    /// Prevents new threads, and stops background work.
    pub fn close(&self) {
        self.closing.set();
    }

    /// Whether the session is being closed.
    pub fn are_closing(&self) -> bool {
        self.closing.is_set()
    }

    /// Waits for every thread except the calling one.
    pub fn join(&self) {
        let threads = std::mem::take(&mut *lock(&self.running));
        let me = std::thread::current().id();
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != me) {
            // A panic was converted into an error inside the thread.
            if thread.join().is_err() {
                tracing::error!("a thread of the session ended with a panic that was not caught");
            }
        }
    }
}

/// Runs `work` and converts a panic into an error.
pub fn caught<T>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, ProjectError>,
) -> Result<T, ProjectError> {
    // Data that a panic may leave half changed is reset at the next lock (`sync::lock_or_reset`) or rolled
    // back by the store.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(ProjectError::Panicked { what, message: message_of(panic.as_ref()) }))
}

/// The message of a panic.
fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
