//! Removing data that was added by mistake.

use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// What is to be removed.
    #[derive(Copy, Eq)]
    pub enum Removal {
        Question(QuestionId),
        Text(TextId),
        /// A person.
        Annotator(AnnotatorId),
        /// The data that the last import added.
        LastImport,
    }

    /// Data that would be removed together with something.
    pub struct RemovalPreview {
        /// Its name in files; for an import the name of the file.
        pub name: String,
        /// Why it cannot be removed, in words; none if it can.
        pub stays: Option<String>,
        /// When it was imported, in milliseconds since 1970-01-01 UTC; none if it is not an import.
        pub imported_at: Option<f64>,
        /// Its content.
        pub counts: RemovalCounts,
    }

    /// The result of a removal.
    pub struct Removed {
        /// See [`RemovalPreview`].
        pub name: String,
        /// The removed data.
        pub gone: RemovalCounts,
        /// What of an import is retained, because it was used, changed or retracted since.
        pub kept: RemovalCounts,
    }

    /// Counts of each kind of data.
    #[derive(Copy, Default, Eq)]
    pub struct RemovalCounts {
        pub questions: u32,
        pub texts: u32,
        /// People.
        pub annotators: u32,
        /// Answers, skips, flags and notes.
        pub answers: u32,
        /// Names and attributes of people who already existed.
        pub attributes: u32,
    }
}
