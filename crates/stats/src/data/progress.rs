//! Progress of computations, in percent of a step.

use crate::data::ModelError;
pub use dissensus_domain::{Progress, Silent};

/// Forwards cancellation, but not the progress of an inner fit.
pub struct Quiet<'a>(pub &'a dyn Progress);

impl Progress for Quiet<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Reports that the share `done` (0 to 1) of the step called `name` is done, and checks for cancellation.
pub fn step(progress: &dyn Progress, name: &str, done: f32) -> Result<(), ModelError> {
    progress.report((done.clamp(0.0, 1.0) * 100.0) as u64, Some(100), name);
    if progress.cancelled() { Err(ModelError::Cancelled) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stop;
    impl Progress for Stop {
        fn report(&self, done: u64, total: Option<u64>, doing: &str) {
            assert_eq!((done, total, doing), (50, Some(100), "x"));
        }
        fn cancelled(&self) -> bool {
            true
        }
    }

    #[test]
    fn step_can_be_cancelled() {
        assert_eq!(step(&Silent, "x", 0.5), Ok(()));
        assert_eq!(step(&Stop, "x", 0.5), Err(ModelError::Cancelled));
    }
}
