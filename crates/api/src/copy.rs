//! What became of a copy of the project.

use serde::{Deserialize, Serialize};

view! {
    /// A copy that is whole and on the disk.
    pub struct CopyReport {
        /// The copied project file.
        pub path: String,
        /// Its size.
        pub bytes: f64,
        /// The folder with the files of the runs next to the copy, if they were copied too.
        pub runs: Option<String>,
        /// The folder with the files of the runs (tuned encoders, checkpoints) that was not copied.
        pub runs_left: Option<String>,
    }
}
