//! Long work.

use super::Problem;
use dissensus_domain::WorkState;
use serde::{Deserialize, Serialize};

view! {
    /// A piece of long work.
    pub struct JobInfo {
        /// Its row in the project.
        pub id: u32,
        /// `import`, `encode`, `train`, `evaluate`, `compare`, `export`.
        pub kind: String,
        /// What it works on.
        pub title: String,
        /// How far it is.
        pub state: WorkState,
        /// Steps done.
        pub done: u32,
        /// Steps in all, once known.
        pub total: Option<u32>,
        /// Estimated seconds left, once available.
        pub seconds_left: Option<f64>,
        /// What it did, or what is happening.
        pub note: Option<String>,
        /// Why it failed.
        pub problem: Option<Problem>,
    }
}
