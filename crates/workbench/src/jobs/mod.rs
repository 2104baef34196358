//! Long work: jobs with progress and cancel.

mod background;
mod job;
mod progress;
mod reservation;
#[cfg(test)]
mod tests;

pub(crate) use background::{Threads, caught};
pub(crate) use job::{Job, Jobs};
pub(crate) use progress::{Cancel, Throttle, seconds_left};
pub use progress::{Observer, Unwatched};
pub(crate) use reservation::{Activity, Reservation, Reservations};
