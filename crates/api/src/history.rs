//! The log of the project.

use dissensus_domain::{AnnotatorId, HistoryKind, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// A query of the log.
    #[derive(Default)]
    pub struct HistoryRequest {
        /// Entries of these kinds; all kinds if empty.
        pub kinds: Vec<HistoryKind>,
        /// Entries by this person, or about them.
        pub annotator: Option<AnnotatorId>,
        /// Entries about this text.
        pub text: Option<TextId>,
        /// Entries about this question.
        pub question: Option<QuestionId>,
        /// Entries from this time on.
        pub since: Option<f64>,
        /// Entries up to this time.
        pub until: Option<f64>,
        /// Entries whose note, author or text id contains this; all if empty.
        pub words: String,
        /// Shows pseudonyms in place of names.
        pub hide_names: bool,
        /// The reader: other people's answers and notes on a text that this person has not answered are not
        /// shown.
        pub reader: Option<AnnotatorId>,
        /// The entry after which the page begins; the newest one if none is given.
        pub after: Option<String>,
        /// Maximum number of entries.
        pub limit: u32,
    }

    /// A page of the log.
    pub struct HistoryPage {
        /// Newest first.
        pub entries: Vec<HistoryEntry>,
        /// Whether older entries follow after the last one here.
        pub more: bool,
    }

    /// An entry of the log.
    pub struct HistoryEntry {
        /// Cursor of the entry, for the next page.
        pub place: String,
        /// The time of the entry.
        pub at: f64,
        /// The same in the user's time zone, with its offset from UTC: `2026-03-01 14:05:31 +01:00`;
        /// `not known` if it is unknown.
        pub time: String,
        /// What kind of entry it is.
        pub kind: HistoryKind,
        /// Who did it, or whom it is about; empty if it is about no person or the person is not known.
        pub who: String,
        /// The person, if it is an annotator and names are shown.
        pub annotator: Option<AnnotatorId>,
        pub question: Option<String>,
        pub text: Option<TextId>,
        /// Its name in files.
        pub text_id: Option<String>,
        /// Beginning of the text. Plain text: never to be rendered as HTML.
        pub snippet: Option<String>,
        /// Description of the action.
        pub what: String,
        /// The note that was written with it. Plain text.
        pub note: Option<String>,
        /// In which copy: `this copy`, `copy of NAME`, `another copy (4f2a)`; none if it was not stored.
        pub copy: Option<String>,
        /// For an answer, the number of the wording of the question that was on screen; none if that is not
        /// known.
        pub wording: Option<u32>,
        /// Whether part of it is hidden because the reader has not answered yet.
        pub withheld: bool,
    }
}
