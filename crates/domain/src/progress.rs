//! How long work says how far it is, and hears that it should stop.

use std::ops::ControlFlow;

/// What a piece of long work tells, and asks, while it runs.
pub trait Progress: Send + Sync {
    /// So much is done, of so much in all where that is known; `doing` says what, in a few words.
    fn report(&self, done: u64, total: Option<u64>, doing: &str);

    /// True once the work is to stop; it then ends within a second, keeping what is whole.
    fn cancelled(&self) -> bool {
        false
    }

    /// The same for callbacks that say whether to go on.
    fn flow(&self) -> ControlFlow<()> {
        if self.cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Nobody watches and nobody stops the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}
}
