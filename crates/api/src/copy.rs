//! The result of copying the project.

use serde::{Deserialize, Serialize};

view! {
    /// A copy that is complete and on the disk.
    pub struct CopyReport {
        /// The copied project file.
        pub path: String,
        /// Size in bytes.
        pub bytes: f64,
        /// The folder with the files of the runs next to the copy, if they were copied too.
        pub runs: Option<String>,
        /// The folder with the files of the runs (tuned encoders, checkpoints), if it was not copied.
        pub runs_left: Option<String>,
    }
}
