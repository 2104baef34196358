//! Long work: jobs with progress and cancel.

mod job;
mod newest;
mod progress;
mod reservation;
#[cfg(test)]
mod tests;
mod threads;

pub use dissensus_domain::{Progress, Silent};
pub(crate) use job::{Job, Jobs};
pub(crate) use newest::Newest;
pub(crate) use progress::{Cancel, Throttle, seconds_left};
pub(crate) use reservation::{Activity, Reservation, Reservations};
pub(crate) use threads::{Threads, caught};
