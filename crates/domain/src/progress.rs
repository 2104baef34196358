//! Progress reports and cancellation of long-running work.

use std::ops::ControlFlow;

/// Receives progress reports and requests cancellation.
pub trait Progress: Send + Sync {
    /// Reports that `done` of `total` (if known) units are done; `doing` describes the current step
    /// in a few words.
    fn report(&self, done: u64, total: Option<u64>, doing: &str);

    /// Whether the work should stop. It then ends within a second and retains what is complete.
    fn cancelled(&self) -> bool {
        false
    }

    /// [`Progress::cancelled`] for callbacks that return a [`ControlFlow`].
    fn flow(&self) -> ControlFlow<()> {
        if self.cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Ignores reports and never cancels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}
}
