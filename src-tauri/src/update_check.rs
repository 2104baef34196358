//! The check for updates under way, and its cancellation.

use dissensus_project::jobs::Progress;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The newest check that is under way, if any.
#[derive(Default)]
pub(crate) struct UpdateCheck(Mutex<Weak<AtomicBool>>);

/// A check under way.
pub(crate) struct Checking {
    stop: Arc<AtomicBool>,
}

impl UpdateCheck {
    /// Begins a check; an earlier one is cancelled, since nobody waits for two.
    pub(crate) fn begin(&self) -> Checking {
        self.cancel();
        let stop = Arc::new(AtomicBool::new(false));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&stop);
        Checking { stop }
    }

    /// Cancels the check, if one is under way.
    pub(crate) fn cancel(&self) {
        if let Some(stop) = self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade() {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Progress for Checking {
    fn report(&self, _done: u64, _total: Option<u64>, _doing: &str) {}

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_check_can_be_cancelled() {
        let checks = UpdateCheck::default();
        checks.cancel();
        let first = checks.begin();
        assert!(!first.cancelled());
        let second = checks.begin();
        assert!(first.cancelled() && !second.cancelled());
        checks.cancel();
        assert!(second.cancelled());
        drop(second);
        assert!(!checks.begin().cancelled());
    }
}
