//! Long work: jobs with progress and cancel.

mod job;
mod progress;
mod reservation;
#[cfg(test)]
mod tests;
mod threads;

pub(crate) use job::{Job, Jobs};
pub(crate) use progress::{Cancel, Throttle, seconds_left};
pub use progress::{Observer, Unwatched};
pub(crate) use reservation::{Activity, Reservation, Reservations};
pub(crate) use threads::{Threads, caught};
