//! The report folder for a paper's appendix.

use serde::{Deserialize, Serialize};

view! {
    /// The parameters of a report for a paper.
    #[derive(Copy, Default, Eq)]
    pub struct PaperRequest {
        /// Compares models on held-out labels, and how fast new people are learned; otherwise uses the
        /// stored results.
        pub evaluate: bool,
        /// Quotes the beginnings of the most contested texts; otherwise only their ids.
        pub quote_texts: bool,
        /// Shows people by their ids, including groups of fewer than five people; otherwise pseudonyms, and
        /// nothing about such small groups.
        pub with_ids: bool,
        /// Overwrites an existing report.
        pub replace: bool,
    }

    /// The papers for an institution that were written.
    pub struct InstitutionPapers {
        pub folder: String,
        /// Paths of its files, relative to the folder.
        pub files: Vec<String>,
        /// Their size in bytes.
        pub bytes: f64,
        /// Places that are marked `[to fill in]`.
        pub open: u32,
    }

    /// Summary of a written report.
    pub struct PaperWritten {
        pub folder: String,
        /// Paths of its files, relative to the folder.
        pub files: Vec<String>,
        /// Their size in bytes.
        pub bytes: f64,
        pub figures: u32,
        /// Tables, each as LaTeX and CSV.
        pub tables: u32,
        /// Questions that it reports on.
        pub questions: Vec<String>,
        /// Labels in `labels.csv`.
        pub labels: u32,
        /// Values of people's attributes that are left blank in it, because fewer than five people share
        /// them or because fewer than five would have a blank.
        pub suppressed: u32,
        /// The suppressed values of each attribute, in a sentence.
        pub left_blank: Vec<String>,
        /// People who can still be identified by the remaining attributes.
        pub identifiable: u32,
        /// Figures that could not be computed, a sentence each.
        pub notes: Vec<String>,
    }
}
