//! Who follows a long use case, so that it exists once and not again as a job.

use super::Progress;

/// Who receives the progress of a long use case and can cancel it. Use cases take `impl Into<Follow>`, so
/// that a caller with a [`Progress`] passes a reference to it.
#[derive(Clone, Copy)]
pub enum Follow<'a> {
    /// The caller.
    Caller(&'a dyn Progress),
    /// The project: the work is one of its jobs, which the window lists and can cancel.
    Job,
}

impl<'a, P: Progress> From<&'a P> for Follow<'a> {
    fn from(progress: &'a P) -> Self {
        Self::Caller(progress)
    }
}

impl<'a> From<&'a dyn Progress> for Follow<'a> {
    fn from(progress: &'a dyn Progress) -> Self {
        Self::Caller(progress)
    }
}
