//! Options and results of an export.

/// Options for exporting labels.
#[derive(Clone, Debug, Default)]
pub struct ExportChoices {
    /// Only this question.
    pub question: Option<String>,
    /// Replace an existing file.
    pub replace: bool,
    /// A dataset for the Hugging Face hub: a folder with Parquet files and a card, whatever its extension.
    pub dataset: bool,
    /// One row a span, in CSV and TSV; else the spans of an answer are a JSON list in its label.
    pub span_rows: bool,
    /// Leave out what a CoNLL file cannot represent: answers whose spans overlap, or begin or end with white
    /// space.
    pub leave_out_overlaps: bool,
    /// Leave out the labels of annotators below the pass mark of practice or of attention checks.
    pub leave_out_failed: bool,
    /// A column `wording`: the number of the wording of the question that was on screen with each label.
    pub wordings: bool,
    /// Include the decisions on texts; `None` for just the labels.
    pub decisions: Option<DecisionLayer>,
    /// Anonymised: pseudonyms instead of ids, and nothing that could identify annotators. `None` for a file
    /// that can be imported again.
    pub pseudonyms: Option<Pseudonymised>,
}

/// How decisions are written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionLayer {
    /// In columns next to each label of the text.
    Columns,
    /// Instead of the labels: one row for each text with a decision, with the decided answer.
    Only,
}

/// What a pseudonymised file contains in addition to answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pseudonymised {
    /// Notes too: they are free text, and may contain names.
    pub notes: bool,
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of answers in the file.
    pub answers: u64,
    /// Number of rows without an answer: texts that somebody skipped, flagged or noted something on.
    pub unanswered: u64,
    /// Number of answers that the file cannot represent.
    pub left_out: u64,
    /// Number of labels left out because their annotators are below a pass mark.
    pub left_out_failed: u64,
    /// With pseudonyms: number of attribute values that are left blank, because fewer than five annotators in
    /// the file share them or because fewer than five would have a blank.
    pub suppressed: u64,
    /// The same for each attribute, in a sentence.
    pub left_blank: Vec<String>,
    /// With pseudonyms: number of annotators whose combination of attributes in the file is shared by fewer
    /// than five annotators.
    pub identifiable: u64,
}
