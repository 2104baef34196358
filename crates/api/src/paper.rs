//! What a paper's appendix needs, as a folder.

use serde::{Deserialize, Serialize};

view! {
    /// What is wanted of a report for a paper.
    #[derive(Copy, Default, Eq)]
    pub struct PaperWish {
        /// Compares models on labels held out, and how fast new people are learned; else what is on record is shown.
        pub evaluate: bool,
        /// Quotes the beginnings of the most contested texts; else their ids alone.
        pub quote_texts: bool,
        /// People by their ids, and groups of fewer than five people too; else pseudonyms, and nothing of so few.
        pub with_ids: bool,
        /// Replaces a report that is there.
        pub replace: bool,
    }

    /// What was written.
    pub struct PaperWritten {
        /// The folder.
        pub folder: String,
        /// Its files, by their paths in it.
        pub files: Vec<String>,
        /// Their size in bytes.
        pub bytes: f64,
        /// Figures.
        pub figures: u32,
        /// Tables, each as LaTeX and CSV.
        pub tables: u32,
        /// Questions that it reports on.
        pub questions: Vec<String>,
        /// Labels in `labels.csv`.
        pub labels: u32,
        /// Values of people's attributes that are left blank in it, because fewer than five people share them or because fewer than five would have a blank.
        pub suppressed: u32,
        /// The same of each attribute, in a sentence.
        pub left_blank: Vec<String>,
        /// People who can still be told apart by what is left of their attributes.
        pub told_apart: u32,
        /// What could not be told, a sentence each.
        pub notes: Vec<String>,
    }
}
