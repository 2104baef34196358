//! The list of texts: its query and its rows.

use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// Filters of a list of texts.
    #[derive(Copy, Eq, Hash, Default)]
    pub enum TextFilter {
        /// All texts.
        #[default]
        All,
        /// Every question that is asked is answered.
        Answered,
        /// A question that is asked is not answered.
        NotYet,
        /// Skipped, and not answered since.
        Skipped,
        /// Marked for a second look.
        Flagged,
        /// An answer has a note.
        Noted,
        /// Labels differ; with a chosen person only texts that this person has answered.
        Contested,
        /// Longer than the encoder reads at once.
        Long,
    }

    /// Orders of a list of texts.
    #[derive(Copy, Eq, Hash, Default)]
    pub enum TextSort {
        /// The order of the file.
        #[default]
        File,
        /// Last answered first, followed by texts without an answer.
        Newest,
        /// Most characters first.
        Longest,
        /// Texts on which labels differ most first; with a chosen person, only texts that this person has
        /// answered are ranked.
        Contested,
    }

    /// A query for a list of texts.
    #[derive(Eq, Hash, Default)]
    pub struct TextQuery {
        /// The person whose answers and marks count; everyone if none. In a packet it is always its
        /// annotator.
        pub annotator: Option<AnnotatorId>,
        /// The questions that count; all if none is named.
        pub questions: Vec<QuestionId>,
        /// Only texts with this in their body or id, ignoring case.
        pub search: String,
        /// Which of them.
        pub filter: TextFilter,
        /// In which order.
        pub sort: TextSort,
        /// Leaves out each text's state and the counts of states: if all texts are requested in the order of
        /// the file, this avoids reading the labels.
        #[serde(default)]
        pub bare: bool,
    }

    /// Number of texts that match the search and each filter.
    #[derive(Copy, Default)]
    pub struct TextCounts {
        /// All texts.
        pub all: u32,
        /// See [`TextFilter::Answered`].
        pub answered: u32,
        /// See [`TextFilter::NotYet`].
        pub not_yet: u32,
        /// See [`TextFilter::Skipped`].
        pub skipped: u32,
        /// See [`TextFilter::Flagged`].
        pub flagged: u32,
        /// See [`TextFilter::Noted`].
        pub noted: u32,
        /// See [`TextFilter::Contested`]; none in a packet.
        pub contested: Option<u32>,
        /// See [`TextFilter::Long`]; none before texts were measured.
        pub long: Option<u32>,
    }

    /// One text of a list.
    pub struct TextRow {
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// Whether a file gave it that name; otherwise it was derived from the body and is not meaningful to
        /// people.
        pub named: bool,
        /// Its position in the project, from 1.
        pub row: u32,
        /// Its beginning, or the passage where the search was found. Plain text: never to be rendered as
        /// HTML.
        pub snippet: String,
        /// Characters of the body.
        pub characters: u32,
        /// The chosen person's answers to each question of the list; empty without one.
        pub answers: Vec<Option<String>>,
        /// That person's note on the answer.
        pub note: Option<String>,
        /// Every question that is asked is answered.
        pub answered: bool,
        /// Skipped, and not answered since.
        pub skipped: bool,
        /// Marked for a second look.
        pub flagged: bool,
        /// An answer has a note.
        pub noted: bool,
        /// How far labels differ, from 0 to 1; none with fewer than two, and if it may not be shown yet.
        pub contested: Option<f32>,
        /// Longer than the encoder reads at once.
        pub long: bool,
    }

    /// A part of a list of texts.
    pub struct FoundTexts {
        /// Texts of the whole list.
        pub total: u32,
        /// Position of the first row in the list, from 0.
        pub offset: u32,
        pub rows: Vec<TextRow>,
        /// Number of texts for each filter.
        pub counts: TextCounts,
        /// Position in the list of the requested text, from 0.
        pub place: Option<u32>,
        /// Increases with every change, so that an outdated list on screen can be recognized.
        pub revision: u32,
    }

    /// Which texts are longer than the encoder reads at once.
    pub struct LongTextsInfo {
        pub encoder: String,
        /// Maximum number of tokens that it reads at once.
        pub tokens: u32,
        /// Longer texts.
        pub long: u32,
        /// True if they are read in several parts, false if the rest of them is not read.
        pub in_parts: bool,
    }
}

impl TextFilter {
    /// All filters, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::All,
        Self::Answered,
        Self::NotYet,
        Self::Skipped,
        Self::Flagged,
        Self::Noted,
        Self::Contested,
        Self::Long,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Answered => "answered",
            Self::NotYet => "not-yet",
            Self::Skipped => "skipped",
            Self::Flagged => "flagged",
            Self::Noted => "noted",
            Self::Contested => "contested",
            Self::Long => "long",
        }
    }
}
