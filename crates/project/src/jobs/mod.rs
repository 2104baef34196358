//! Long-running work: jobs with progress and cancellation.

mod follow;
mod job;
mod newest;
mod progress;
mod reservation;
mod threads;

pub use dissensus_domain::{Progress, Silent};
pub use follow::Follow;
pub use job::{Job, Jobs};
pub use newest::Newest;
pub use progress::{Cancel, Throttle, seconds_left};
pub use reservation::{Activity, Reservation, Reservations};
pub use threads::{Threads, caught};
