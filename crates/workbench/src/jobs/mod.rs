//! Long work: jobs with progress and cancel.

mod job;
mod progress;

pub(crate) use job::{Job, Jobs};
pub(crate) use progress::{Cancel, Throttle, seconds_left};
pub use progress::{Observer, Unwatched};
