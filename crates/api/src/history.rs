//! The log of the project.

use dissensus_domain::{AnnotatorId, HistoryKind, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// What is wanted of the log.
    #[derive(Default)]
    pub struct HistoryWish {
        /// Entries of these kinds; all kinds where it is empty.
        pub kinds: Vec<HistoryKind>,
        /// What this person did, or what was done about them.
        pub annotator: Option<AnnotatorId>,
        /// What is about this text.
        pub text: Option<TextId>,
        /// What is about this question.
        pub question: Option<QuestionId>,
        /// Not before this moment.
        pub since: Option<f64>,
        /// Not after this moment.
        pub until: Option<f64>,
        /// What was written, who did it, or the id of the text holds this; anything where it is empty.
        pub words: String,
        /// Shows pseudonyms in place of names.
        pub hide_names: bool,
        /// The reader: other people's answers and notes on a text that this person has not answered are not
        /// shown.
        pub reader: Option<AnnotatorId>,
        /// The entry behind which the page begins; the newest one where there is none.
        pub after: Option<String>,
        /// How many entries at most.
        pub limit: u32,
    }

    /// A page of the log.
    pub struct HistoryPage {
        /// Newest first.
        pub entries: Vec<HistoryEntry>,
        /// Whether older ones follow, behind the last one here.
        pub more: bool,
    }

    /// An entry of the log.
    pub struct HistoryEntry {
        /// Cursor of the entry, for the next page.
        pub place: String,
        /// When it was done.
        pub at: f64,
        /// The same in the user's time zone, with its offset from UTC: `2026-03-01 14:05:31 +01:00`;
        /// `not known` if it is unknown.
        pub time: String,
        /// What kind of entry it is.
        pub kind: HistoryKind,
        /// Who did it, or whom it is about; empty if it is about no person or the person is not known.
        pub who: String,
        /// The person, where it is an annotator and names are shown.
        pub annotator: Option<AnnotatorId>,
        pub question: Option<String>,
        pub text: Option<TextId>,
        /// Its name in files.
        pub text_id: Option<String>,
        /// How it begins. Plain text: never to be rendered as HTML.
        pub snippet: Option<String>,
        /// What was done.
        pub what: String,
        /// The note that was written with it. Plain text.
        pub said: Option<String>,
        /// In which copy: `this copy`, `copy of NAME`, `another copy (4f2a)`; none if it was not stored.
        pub copy: Option<String>,
        /// For an answer, the number of the wording of the question that was on screen; none if that is not
        /// known.
        pub wording: Option<u32>,
        /// Whether part of it is hidden because the reader has not answered yet.
        pub withheld: bool,
    }
}
