//! What a checked row brings: its text, its annotator, its label.

use dissensus_domain::Answer;

/// What a good row brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The number of the text, as [`Checker::seed_text`](crate::Checker::seed_text) gives it; texts of this file go on
    /// counting.
    pub text: Option<u32>,
    /// The text is not in the project yet, nor in a row before.
    pub new_text: bool,
    /// No row of this file before was about this text.
    pub first_of_text: bool,
    /// The number of the annotator, as [`Checker::seed_annotator`](crate::Checker::seed_annotator) gives it; annotators of
    /// this file go on counting.
    pub annotator: Option<u32>,
    /// The annotator is not in the project yet, nor in a row before.
    pub new_annotator: bool,
    /// No row of this file before was about this annotator.
    pub first_of_annotator: bool,
    /// Another row before said something else of the text: another split, group or metadata.
    pub other_metadata: bool,
    /// Attributes of which the table has another value than the project, which keeps its own; counted in the first row of each annotator.
    pub kept_attributes: u32,
    /// The row says something of a known annotator that was not known.
    pub new_attributes: bool,
    /// The number of the question, as [`Checker::add_question`](crate::Checker::add_question) gives it; 0 where all rows
    /// answer one, none where the row should name one and does not (it has no label then).
    pub question: Option<usize>,
    /// What becomes of the label.
    pub label: LabelVerdict,
}

/// What becomes of a row's label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelVerdict {
    /// There is none: the row introduces its text and its annotator only.
    None,
    /// It came with an earlier row of the same answer ([`Row::continues`](crate::Row::continues)).
    Continues,
    /// To be appended.
    Added {
        /// The name of the answer, in the spelling of the scale (or, without one, of [`level_name`](crate::level_name)).
        name: String,
        /// The answer, where there is a scale.
        answer: Option<Answer>,
        /// The time of the row. Without one it is the time of the import or, where the project or a row before has a later
        /// answer of this annotator to this text, that answer's time.
        at_ms: i64,
        /// A row before gave another answer of this annotator to this text, and times do not say which of the two is the
        /// later one: this row, because it stands later in the file.
        follows_row: bool,
    },
    /// An answer of a later occasion ([`Row::occasion`](crate::Row::occasion)): to be kept apart from labels.
    Repeat {
        /// The name of the answer, as in `Added`.
        name: String,
        /// The answer, where there is a scale.
        answer: Option<Answer>,
        /// The time of the row. Of a row without one: that of the label of the project that it is already, where there is such a
        /// label ([`ChangeKind::RepeatIsLabel`](crate::ChangeKind::RepeatIsLabel)).
        at_ms: Option<i64>,
    },
    /// The project or a row before has this answer already: nothing is appended.
    Repeated {
        /// The name of the answer, as in `Added`.
        name: String,
    },
}
