//! Requests that replace each other: only the newest is still wanted.

use dissensus_domain::Progress;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counter of requests. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Newest(Arc<AtomicU64>);

impl Newest {
    /// Starts a new request and cancels all earlier ones.
    pub fn ask(&self) -> Request {
        Request { number: self.0.fetch_add(1, Ordering::AcqRel) + 1, last: self.clone() }
    }

    /// Cancels all requests.
    pub fn stop(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// A request; cancelled once another one is made.
#[derive(Debug)]
pub struct Request {
    number: u64,
    last: Newest,
}

impl Progress for Request {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}

    fn cancelled(&self) -> bool {
        self.last.0.load(Ordering::Acquire) != self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_request_cancels_earlier_ones() {
        let newest = Newest::default();
        let first = newest.ask();
        assert!(!first.cancelled());
        let second = newest.clone().ask();
        assert!(first.cancelled() && !second.cancelled());
        newest.stop();
        assert!(second.cancelled());
    }
}
