//! Long-running jobs.

use super::Problem;
use dissensus_domain::WorkState;
use serde::{Deserialize, Serialize};

view! {
    /// A long-running job.
    pub struct JobInfo {
        /// Its row in the project.
        pub id: u32,
        /// `import`, `encode`, `train`, `evaluate`, `compare`, `export`.
        pub kind: String,
        /// The object of the job.
        pub title: String,
        /// The state of the job.
        pub state: WorkState,
        /// Steps done.
        pub done: u32,
        /// Total number of steps, once known.
        pub total: Option<u32>,
        /// Estimated seconds left, once available.
        pub seconds_left: Option<f64>,
        /// A note on the current step, or on the result.
        pub note: Option<String>,
        /// Why it failed.
        pub problem: Option<Problem>,
    }
}
