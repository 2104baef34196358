//! Progress of a model as progress of the work it belongs to.

use crate::error::WorkbenchError;
use crate::jobs::Observer;
use dissensus_perspectives::Progress;

/// The error of a model as that of the use case, where `?` does not convert it.
pub(crate) fn cancelled(error: dissensus_perspectives::PerspectivesError) -> WorkbenchError {
    error.into()
}

/// Steps of a fit as steps of long work: in hundredths.
pub(crate) struct Steps<'a>(pub(crate) &'a dyn Observer);

impl Progress for Steps<'_> {
    fn report(&mut self, step: &str, done: f32) {
        self.0.step((done.clamp(0.0, 1.0) * 100.0) as u64, Some(100), step);
    }

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
