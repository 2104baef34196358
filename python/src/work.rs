//! Runs long work without the interpreter lock; Ctrl-C stops it, and a panic becomes an exception.

use crate::error::{Raised, raise, with_code};
use dissensus_project::jobs::Progress;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Interval between two checks for signals.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Asks running work to stop.
#[derive(Clone)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Progress for Stop {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` on its own thread while this one checks for signals, with the interpreter lock released. An
/// interrupt is raised as Python raises it, once the work has stopped.
///
/// # Errors
/// The error of the work, the exception of a signal, or `InternalError` for a panic.
pub(crate) fn run<T: Send, E: Raised + Send>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T, E> + Send,
) -> PyResult<T> {
    let stop = Stop(Arc::default());
    let mut interrupt = None;
    let ended = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, waiting) = channel::<()>();
            let stopping = &stop;
            let worker = scope.spawn(move || {
                // Dropped when the work ends, also by a panic.
                let _done = done;
                work(stopping)
            });
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(BETWEEN_LOOKS) {
                if let Err(raised) = Python::attach(|py| py.check_signals()) {
                    stop.0.store(true, Ordering::Relaxed);
                    interrupt.get_or_insert(raised);
                }
            }
            worker.join()
        })
    });
    match (interrupt, ended) {
        (Some(raised), _) => Err(raised),
        (None, Ok(result)) => result.map_err(|error| raise(py, &error)),
        (None, Err(panic)) => Err(with_code(py, "internal", &words_of(panic.as_ref()), None)),
    }
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason was given");
    format!("a fault of the program, and not of what it was given: {words}")
}
