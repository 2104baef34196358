//! Newer versions of the application.

use serde::{Deserialize, Serialize};

view! {
    /// What is known about newer versions.
    pub struct UpdateState {
        /// Version of this program.
        pub version: String,
        /// When the last check was, in milliseconds since 1970; none before the first.
        pub checked_at: Option<f64>,
        /// The newer version that was found; none if this one is the newest known.
        pub newer: Option<NewVersion>,
        /// How to update instead, where a store or package manager installed this program: it then makes
        /// no check.
        pub managed: Option<String>,
        /// Whether the last check is a week ago.
        pub due: bool,
    }

    /// A version that is newer than this program.
    pub struct NewVersion {
        /// Its number.
        pub version: String,
        /// The day of its release, such as `2026-03-01`.
        pub date: String,
        /// What is new, as plain text.
        pub notes: String,
        /// The page from which it is downloaded.
        pub page: String,
    }

    /// What a check of a downloaded file found.
    pub struct CheckedDownload {
        /// The release that the file is of.
        pub version: String,
        /// Name of the file in the release.
        pub file: String,
        /// Its SHA-256.
        pub sha256: String,
    }
}
