//! Taking out what was added by mistake.

use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// What is to be taken out.
    #[derive(Copy, Eq)]
    pub enum Removal {
        Question(QuestionId),
        Text(TextId),
        /// A person.
        Annotator(AnnotatorId),
        /// What the last import added.
        LastImport,
    }

    /// What would go with something that is taken out.
    pub struct RemovalPreview {
        /// Its name in files; of an import that of the file.
        pub name: String,
        /// Why it cannot go, in words; none where it can.
        pub stays: Option<String>,
        /// When it was imported, in milliseconds since 1970-01-01 UTC; none of what is no import.
        pub imported_at: Option<f64>,
        /// What it holds.
        pub counts: RemovalCounts,
    }

    /// What went.
    pub struct Removed {
        /// As in [`RemovalPreview`].
        pub name: String,
        /// What went.
        pub gone: RemovalCounts,
        /// What of an import is retained, because it was used, changed or retracted since.
        pub kept: RemovalCounts,
    }

    /// How many of each.
    #[derive(Copy, Default, Eq)]
    pub struct RemovalCounts {
        pub questions: u32,
        pub texts: u32,
        /// People.
        pub annotators: u32,
        /// Answers, skips, flags and notes.
        pub answers: u32,
        /// Names and attributes of people who were there before.
        pub attributes: u32,
    }
}
