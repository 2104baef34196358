//! How long work tells how far it is and hears that it should stop.

use crate::data::PerspectivesError;

/// Told now and then how far the work is; asked now and then whether to stop.
pub trait Progress {
    /// `done` from 0 to 1 of the step called `step`.
    fn report(&mut self, step: &str, done: f32);
    /// True to stop soon with [`PerspectivesError::Cancelled`].
    fn cancelled(&self) -> bool {
        false
    }
}

/// Reports nothing and never cancels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&mut self, _: &str, _: f32) {}
}

/// Passes a cancel on, but not the steps of the inner fit.
pub(crate) struct Quiet<'a>(pub(crate) &'a mut dyn Progress);

impl Progress for Quiet<'_> {
    fn report(&mut self, _: &str, _: f32) {}
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

pub(crate) fn step(progress: &mut dyn Progress, name: &str, done: f32) -> Result<(), PerspectivesError> {
    progress.report(name, done);
    if progress.cancelled() { Err(PerspectivesError::Cancelled) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stop;
    impl Progress for Stop {
        fn report(&mut self, _: &str, _: f32) {}
        fn cancelled(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_step_hears_a_cancel() {
        assert_eq!(step(&mut Silent, "x", 0.5), Ok(()));
        assert_eq!(step(&mut Stop, "x", 0.5), Err(PerspectivesError::Cancelled));
    }
}
