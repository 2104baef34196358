//! Progress reports and cancellation of jobs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A flag that stops work.
#[derive(Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Limits actions to at most one per interval.
pub struct Throttle {
    every: Duration,
    last: Option<Instant>,
}

impl Throttle {
    pub fn new(every: Duration) -> Self {
        Self { every, last: None }
    }

    pub fn ready(&mut self) -> bool {
        let ready = self.last.is_none_or(|last| last.elapsed() >= self.every);
        if ready {
            self.last = Some(Instant::now());
        }
        ready
    }
}

/// Estimates the seconds left at the mean rate so far; `None` until a second has passed and something is
/// done.
pub fn seconds_left(started: Instant, first: u64, done: u64, total: Option<u64>) -> Option<f64> {
    let spent = started.elapsed().as_secs_f64();
    let steps = done.checked_sub(first)?;
    let left = total?.checked_sub(done)?;
    (spent >= 1.0 && steps > 0).then(|| spent / steps as f64 * left as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_the_rate_since_the_start() {
        let started = Instant::now().checked_sub(Duration::from_secs(10)).unwrap();
        let left = seconds_left(started, 100, 200, Some(300)).unwrap();
        assert!((left - 10.0).abs() < 0.5, "{left}");
        assert_eq!(seconds_left(started, 100, 100, Some(300)), None);
        assert_eq!(seconds_left(Instant::now(), 0, 10, Some(300)), None);
        assert_eq!(seconds_left(started, 0, 10, None), None);
    }

    #[test]
    fn throttle_allows_one_event_per_interval() {
        let mut throttle = Throttle::new(Duration::from_secs(60));
        assert!(throttle.ready());
        assert!(!throttle.ready());
    }
}
