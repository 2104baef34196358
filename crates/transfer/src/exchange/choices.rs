//! What can be chosen of an export, and what came of it.

/// How to export labels.
#[derive(Clone, Debug, Default)]
pub struct ExportChoices {
    /// Only this question.
    pub question: Option<String>,
    /// In place of a file that is there.
    pub replace: bool,
    /// A dataset of the Hugging Face hub: a folder with Parquet files and a card, whatever its name ends with.
    pub dataset: bool,
    /// One row a span, in CSV and TSV; else the spans of an answer are a JSON list in its label.
    pub span_rows: bool,
    /// Leave out what a CoNLL file cannot hold: answers whose spans overlap, or begin or end with white space.
    pub leave_out_overlaps: bool,
    /// Leave out the labels of people who missed the pass mark of practice or of attention checks.
    pub leave_out_failed: bool,
    /// A column `wording`: the number of the wording of the question that was on screen with each label.
    pub wordings: bool,
    /// What was decided about texts; none for labels alone.
    pub decisions: Option<DecisionLayer>,
    /// For others: pseudonyms in place of ids, and nothing by which people could be told. None for a file that imports again.
    pub pseudonyms: Option<Pseudonymised>,
}

/// How decisions stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionLayer {
    /// Beside each label of the text.
    Beside,
    /// In place of the labels: one row a text that was decided about, with the decided answer.
    Only,
}

/// What a file with pseudonyms holds beside answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pseudonymised {
    /// Notes too: they are free text, and may name anybody.
    pub notes: bool,
}

/// What an export wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Answers in the file.
    pub answers: u64,
    /// Answers that the file cannot hold.
    pub left_out: u64,
    /// Labels of people who missed a pass mark, where these were to be left out.
    pub left_out_failed: u64,
    /// With pseudonyms: values of people's attributes that are left blank, because fewer than five people of the file share them or because fewer than five would have a blank.
    pub suppressed: u64,
    /// The same of each attribute, in a sentence.
    pub left_blank: Vec<String>,
    /// With pseudonyms: people whose attributes in the file, taken together, are those of fewer than five people.
    pub told_apart: u64,
}
