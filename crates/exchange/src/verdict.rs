//! The result of checking a row: its text, its annotator, its label.

use dissensus_domain::Answer;

/// The result of a good row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The number of the text, as [`Checker::seed_text`](crate::Checker::seed_text) returns it; numbers of
    /// new texts continue from there.
    pub text: Option<u32>,
    /// The text is neither in the project nor in an earlier row.
    pub new_text: bool,
    /// No earlier row of this file was about this text.
    pub first_of_text: bool,
    /// The text of the project has an id of its own; it was found by its body, because the file has no ids.
    pub by_body: bool,
    /// The text is new although the project has its body: under an id that was made from the body or, in a
    /// file without ids, under several.
    pub same_body: bool,
    /// The number of the annotator, as [`Checker::seed_annotator`](crate::Checker::seed_annotator) returns
    /// it; numbers of new annotators continue from there.
    pub annotator: Option<u32>,
    /// The annotator is neither in the project nor in an earlier row.
    pub new_annotator: bool,
    /// No earlier row of this file was about this annotator.
    pub first_of_annotator: bool,
    /// An earlier row had another split, group or metadata for this text.
    pub other_metadata: bool,
    /// Number of attributes for which the project retains its own, different value; counted in the first row
    /// of each annotator.
    pub kept_attributes: u32,
    /// The row adds an attribute to an existing annotator.
    pub new_attributes: bool,
    /// The number of the question, as [`Checker::add_question`](crate::Checker::add_question) returns it; 0
    /// where all rows answer one, `None` where the row should name one and does not (it then has no label).
    pub question: Option<usize>,
    /// The verdict on the label.
    pub label: LabelVerdict,
}

/// The verdict on a row's label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelVerdict {
    /// There is none: the row introduces only its text and its annotator.
    None,
    /// It came with an earlier row of the same answer ([`Row::continues`](crate::Row::continues)).
    Continues,
    /// To be appended.
    Added {
        /// The name of the answer, in the spelling of the scale (or, without one, of
        /// [`level_name`](crate::level_name)).
        name: String,
        /// The answer, where there is a scale.
        answer: Option<Answer>,
        /// The time of the row. Without one it is the time of the import or, where the project or an earlier
        /// row has a later answer of this annotator to this text, that answer's time.
        at_ms: i64,
        /// An earlier row has another answer of this annotator to this text, and times do not decide which of
        /// the two is the later one: this row wins, because it comes later in the file.
        follows_row: bool,
    },
    /// A re-annotation (`Row::occasion`): to be stored separately from labels.
    Repeat {
        /// The name of the answer, as in `Added`.
        name: String,
        /// The answer, where there is a scale.
        answer: Option<Answer>,
        /// The time of the row. For a row without one: the time of the project's label that is the same
        /// answer, if there is one ([`ChangeKind::RepeatIsLabel`](crate::ChangeKind::RepeatIsLabel)).
        at_ms: Option<i64>,
    },
    /// The project or a row before has this answer already: nothing is appended.
    Repeated {
        /// The name of the answer, as in `Added`.
        name: String,
    },
}
