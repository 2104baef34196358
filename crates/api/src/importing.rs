//! An import: how a file is read, what it would bring, what it brought.

use super::Problem;
use dissensus_domain::{OffsetUnit, Scale, ScaleKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

view! {
    /// Which column of a file is what. An empty project takes the guess; the user may name others.
    #[derive(Default)]
    pub struct ColumnChoices {
        /// Identity of a text.
        pub text_id: Option<String>,
        /// The body.
        pub text: Option<String>,
        /// Identity of an annotator.
        pub annotator: Option<String>,
        /// The answer.
        pub label: Option<String>,
        /// Where a span begins, in a file with one row a span.
        pub span_start: Option<String>,
        /// Where it ends, behind its last character.
        pub span_end: Option<String>,
        /// Its type; `None` where the label is the type.
        pub span_type: Option<String>,
        /// What offsets of spans count.
        pub offsets: OffsetUnit,
        /// The official split.
        pub split: Option<String>,
        /// Document or thread.
        pub group: Option<String>,
        /// Time of the label.
        pub time: Option<String>,
        /// Annotation round in which the same person answered the same text: 1, or a later one, whose
        /// answers are stored apart from labels.
        pub occasion: Option<String>,
        /// Columns that describe the annotator.
        pub attributes: Vec<String>,
        /// The annotator's note on the answer.
        pub note: Option<String>,
        /// The columns of answers, where a row has several; `label` is `None` then.
        pub answers: Vec<AnswerColumn>,
        /// Columns whose cells are lists, read entry by entry.
        pub lists: Vec<String>,
        /// What separates the entries of lists that are no JSON and no Python.
        pub separator: Option<String>,
        /// Columns that are left out.
        pub ignored: Vec<String>,
        /// Values of answers and attributes that mean "missing".
        pub missing: Vec<String>,
        /// Treats answers that differ only in case as equal, and so several spellings of yes and no.
        pub fold_case: bool,
        /// What separates the options of one answer: `,` in `anger,fear`.
        pub option_separator: Option<String>,
        /// `3,5` is the number 3.5.
        pub decimal_comma: bool,
        /// How times are written: `iso`, `month-first`, `day-first`, `year-first`, `excel`, `unix`,
        /// `unix-ms` or a pattern of strftime.
        pub time_format: Option<String>,
        /// What becomes of an attribute that has several values for one person.
        pub attribute_conflicts: AttributeConflicts,
        /// Another file with the texts, or with the answers to the texts of this one.
        pub join: Option<JoinChoice>,
    }

    /// A column of answers, where a row has several.
    #[derive(Default, Eq)]
    pub struct AnswerColumn {
        /// The column that holds the answer.
        pub column: String,
        /// The question; `None` where all columns answer one that nothing names.
        pub question: Option<String>,
        /// The option of a set that the column marks with 1 or 0.
        pub option: Option<String>,
        /// Who answered: `=NAME`, or a column; `None` for the annotator of the row.
        pub annotator: Option<String>,
        /// The text that was answered, where each text has a column; `None` for the text of the row.
        pub text: Option<String>,
        /// Annotation round, from 1.
        pub occasion: Option<u16>,
        /// Attributes of that person.
        pub attributes: BTreeMap<String, String>,
    }

    /// Another file that has the same texts by their ids.
    #[derive(Default, Eq)]
    pub struct JoinChoice {
        pub path: String,
        /// The column with the id in the file that is imported; empty where it is to be found.
        pub on: String,
        /// The column with the id in the other file; `None` where it has the same name.
        pub other: Option<String>,
    }

    /// A way to read a table.
    pub struct ImportReading {
        /// What it makes of the table, in a few words.
        pub title: String,
        /// What speaks for it.
        pub reasons: Vec<String>,
        /// From 0 to 1; comparable within one table.
        pub confidence: f64,
        /// The columns to choose for it.
        pub columns: ColumnChoices,
        /// The same as options of the command.
        pub options: String,
    }

    /// A question that the labels of a file answer.
    pub struct ImportQuestion {
        pub name: String,
        /// Its sentence.
        pub prompt: String,
        pub scale: Scale,
        /// Whether the project has it already.
        pub exists: bool,
        /// Whether its scale was inferred from the labels only.
        pub guessed: bool,
        /// Labels that are added.
        pub labels: u32,
        /// How often each level is used in the file.
        pub level_counts: Vec<u32>,
    }

    /// How many labels a person has in a file.
    pub struct ImportPerson {
        /// The person, by the id in files.
        pub annotator: String,
        /// Added labels and answers of later annotation rounds.
        pub labels: u32,
    }

    /// A text with its answers as they will be.
    pub struct ExampleText {
        pub text_id: String,
        /// Its beginning; empty where the project has the text.
        pub text: String,
        /// The answers of everybody.
        pub answers: Vec<ExampleAnswer>,
    }

    pub struct ExampleAnswer {
        /// Who answered.
        pub annotator: Option<String>,
        pub question: String,
        pub answer: String,
        /// Annotation round, from 2 for a later one.
        pub occasion: Option<u16>,
    }

    /// What becomes of the rows of a file; each row is in one of the counts.
    #[derive(Default)]
    pub struct ImportAccount {
        /// All rows.
        pub rows: u32,
        /// Rows that bring an answer, a text or an annotator.
        pub read: u32,
        /// Rows of which everything is known.
        pub repeated: u32,
        /// Rows whose text is known with other metadata, which stay.
        pub changed: u32,
        /// Rows with an annotator and no answer.
        pub without_label: u32,
        /// Rows that cannot be imported.
        pub dropped: u32,
        /// Why not, the most frequent reason first.
        pub reasons: Vec<DroppedRows>,
    }

    /// Rows that cannot be imported for one reason.
    pub struct DroppedRows {
        /// What is wrong with the first of them.
        pub reason: String,
        /// How many rows.
        pub rows: u32,
        /// The first of them, from 1.
        pub first_row: u32,
    }

    /// What a column was read as.
    pub struct ColumnUse {
        pub column: String,
        /// What it is.
        #[serde(rename = "use")]
        pub used_as: String,
    }

    /// The scale of a new question, where a file answers several.
    pub struct QuestionScale {
        pub question: String,
        /// Kind of scale.
        pub kind: ScaleKind,
        /// The levels, lowest first.
        pub levels: Vec<String>,
    }

    /// What an export wrote.
    pub struct ExportReport {
        /// Answers.
        pub rows: u32,
        /// With pseudonyms: values of attributes that were left blank, because fewer than five people of the
        /// file share them or because fewer than five would have a blank.
        pub suppressed: u32,
        /// The same of each attribute, in a sentence.
        pub left_blank: Vec<String>,
        /// With pseudonyms: people whose combination of attributes in the file is shared by fewer than five
        /// people.
        pub told_apart: u32,
    }

    /// How to import a file. What is `None` is guessed.
    #[derive(Default)]
    pub struct ImportChoices {
        /// Which column is what.
        pub columns: Option<ColumnChoices>,
        /// Name of the question that the labels answer.
        pub question: Option<String>,
        /// The sentence shown to annotators, for a new question.
        pub prompt: Option<String>,
        /// Kind of scale, for a new question.
        pub scale: Option<ScaleKind>,
        /// The levels, lowest first, for a new question.
        pub levels: Option<Vec<String>>,
        /// Scales of several new questions, by name.
        #[serde(default)]
        pub scales: Vec<QuestionScale>,
        /// Import the good rows and write the bad ones to a file.
        pub skip_bad: bool,
        /// Name of the format of the file.
        #[serde(default)]
        pub format: Option<String>,
        /// Name of its encoding: `windows-1252`.
        #[serde(default)]
        pub encoding: Option<String>,
        /// Name of the sheet of a workbook.
        #[serde(default)]
        pub sheet: Option<String>,
    }

    /// What a file was recognised as.
    pub struct ImportFormat {
        /// The name by which it is chosen: `label-studio`.
        pub name: String,
        /// Its display name: `Label Studio JSON`.
        pub title: String,
        /// Whether it is a file of an annotation tool, whose columns are defined by the tool, and not a
        /// table.
        pub of_tool: bool,
    }

    /// Rows that were pasted, in a file that can be imported.
    pub struct PastedRows {
        pub path: String,
        /// Whether its first line was taken for the names of its columns.
        pub header: bool,
    }

    /// A row that cannot be imported, and why.
    pub struct BadRow {
        /// Row in the file, the first one after the header being 1.
        pub row: u32,
        /// The line it starts on, the first being 1.
        pub line: u32,
        /// The column at fault.
        pub column: Option<String>,
        /// What is wrong and what to do.
        pub message: String,
    }

    /// What the labels of a file change beyond adding to what is there.
    #[derive(Copy, Default)]
    pub struct ImportChanges {
        /// Labels that do not count because another row of the file gives a different one by the same person
        /// for the same text and question, with a later time or, without times, further down. They are added
        /// to the history.
        pub replaced_in_file: u32,
        /// Different labels of the project that are not current any more.
        pub replaced_labels: u32,
        /// Those of them that were given in the window or by the command.
        pub replaced_given: u32,
        /// Labels that are older than a different one that is current in the project. They are added to the
        /// history.
        pub older_labels: u32,
        /// Labels that are the current one again, at another time.
        pub given_again: u32,
        /// Rows that repeat an answer that was stored before and is not current any more; nothing is added.
        /// They are included in the repeated rows.
        pub outdated_rows: u32,
    }

    /// Something to know of the labels of a file.
    pub struct ImportNotice {
        /// Stable, kebab-case: `replaced-labels`, `replaced-in-file`, `outdated-rows`, `older-labels`,
        /// `given-again`, `repeats-are-labels`, `no-first-answer`, `outdated-repeats`,
        /// `missing-value-level`, `level-spellings`, `unused-levels`, `numbers-far-apart`. For what a file
        /// of an annotation tool contains besides plain answers: `skips`, `flags`, `later-occasions`,
        /// `gold`, `drafts`, `predictions`, `reviews`, `versions`, `notes`, `rejected`, `without-answer`,
        /// `without-status`, `ambiguous`, `merged`, `unknown`, `serialised`, `curated`, `not-labels`,
        /// `not-read`.
        pub code: String,
        /// How many labels, rows or levels it is about.
        pub count: u32,
        /// What it is, and what to do.
        pub message: String,
        /// The first places.
        pub places: Vec<ImportPlace>,
        /// The columns that mend what it is about.
        pub fix: Option<ColumnChoices>,
        /// What that does, in a few words.
        pub fix_label: Option<String>,
    }

    /// A row whose label is related to another one.
    pub struct ImportPlace {
        /// Row in the file, the first one after the header being 1.
        pub row: u32,
        /// Who judged, by the id in files.
        pub annotator: String,
        /// The text judged, by its id in files.
        pub text_id: String,
        /// The question answered.
        pub question: String,
        /// The label that counts.
        pub counts: String,
        /// The label that does not.
        pub instead_of: String,
    }

    /// What a file holds, before anything is written.
    pub struct ImportPreview {
        pub path: String,
        /// What it was recognised as.
        pub format: ImportFormat,
        /// All columns of the file.
        pub header: Vec<String>,
        /// The first rows, each with one cell a column.
        pub rows: Vec<Vec<String>>,
        /// Which column is what, as guessed or named.
        pub columns: ColumnChoices,
        /// The ways to read a table, the best first; none of a file of an annotation tool.
        pub readings: Vec<ImportReading>,
        /// No reading is clearly better than the next, and none was chosen: the import asks for one.
        pub undecided: bool,
        /// Which of them the columns are; `None` where they were chosen otherwise.
        pub shown: Option<u32>,
        /// The encoding that it was read in, where that is not UTF-8.
        pub encoding: Option<String>,
        /// The sheet of a workbook that was read.
        pub sheet: Option<String>,
        /// All sheets that can be.
        pub sheets: Vec<String>,
        /// Columns are not as guessed, but as they were chosen for the last file with the same ones.
        pub as_last_time: bool,
        /// The question the labels would answer, the first of several.
        pub question: String,
        /// All questions that they would answer.
        pub questions: Vec<String>,
        /// Its sentence.
        pub prompt: String,
        /// Its scale: none where the file has no labels.
        pub scale: Option<Scale>,
        /// True where the question exists already in the project.
        pub question_exists: bool,
        /// Rows read.
        pub total_rows: u32,
        /// Texts that are not yet in the project.
        pub new_texts: u32,
        /// Annotators that are not yet in the project.
        pub new_annotators: u32,
        /// Labels that would be added.
        pub new_labels: u32,
        /// Rows that repeat an answer of the project or of the file; they are left out.
        pub repeated_rows: u32,
        /// Answers of second and later annotation rounds, stored apart from labels; those already in the
        /// project are counted too.
        pub repeats: u32,
        /// Rows with an empty label; their texts are taken.
        pub empty_labels: u32,
        /// How often each level is used in the file.
        pub level_counts: Vec<u32>,
        /// The first rows that cannot be imported.
        pub bad_rows: Vec<BadRow>,
        /// How many there are in all.
        pub bad_row_count: u32,
        /// What to know before importing.
        pub remarks: Vec<String>,
        /// What its labels would change beyond adding to what is there.
        pub changes: ImportChanges,
        /// What to know of its labels.
        pub notices: Vec<ImportNotice>,
        /// Every question that the labels answer.
        pub asked: Vec<ImportQuestion>,
        /// Those who gave labels, those with the most first, at most 200.
        pub people: Vec<ImportPerson>,
        /// At most three texts with their answers.
        pub examples: Vec<ExampleText>,
        /// What becomes of the rows.
        pub account: ImportAccount,
        /// What each column is read as.
        pub uses: Vec<ColumnUse>,
        /// A problem that stops the import whatever the rows are.
        pub problem: Option<Problem>,
    }

    /// What an import did.
    pub struct ImportReport {
        /// What the file was read as.
        pub format: ImportFormat,
        /// Texts added.
        pub texts: u32,
        /// Annotators added.
        pub annotators: u32,
        /// Labels added.
        pub labels: u32,
        /// Added answers of second and later annotation rounds, stored apart from the labels.
        pub repeats: u32,
        /// Rows that repeat labels that were known already.
        pub repeated_rows: u32,
        /// Rows with an empty label.
        pub empty_labels: u32,
        /// Rows left out.
        pub rejected_rows: u32,
        /// Where the rejected rows were written.
        pub rejected_file: Option<String>,
        /// The question the labels answer, or several.
        pub question: Option<String>,
        /// The scale of that question, or of the first of several.
        pub scale: Option<Scale>,
        /// What else to know, a sentence each.
        pub remarks: Vec<String>,
        /// What its labels changed beyond adding to what is there.
        pub changes: ImportChanges,
        /// What to know of its labels.
        pub notices: Vec<ImportNotice>,
        /// Every question that the labels answer.
        pub asked: Vec<ImportQuestion>,
        /// Those who gave labels, those with the most first, at most 200.
        pub people: Vec<ImportPerson>,
        /// What became of the rows.
        pub account: ImportAccount,
        /// What each column was read as.
        pub uses: Vec<ColumnUse>,
    }
}

/// Policy for an attribute that has several values for one person in a file. A value that is already in the
/// project always stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AttributeConflicts {
    /// A row with a second value is bad.
    #[default]
    Refuse,
    /// The value of the first row holds.
    First,
    /// That of the last one.
    Last,
    /// The value of most rows holds, of several the first.
    MostFrequent,
    /// The attribute of that person is not known.
    Unknown,
}

impl ColumnChoices {
    /// Choices as JSON, of which what is left out is as by default.
    ///
    /// # Errors
    /// A value of another kind.
    pub fn from_json(value: serde_json::Value) -> Result<Self, serde_json::Error> {
        let mut whole = filled(serde_json::to_value(Self::default())?, value);
        let answer = serde_json::to_value(AnswerColumn::default())?;
        if let Some(answers) = whole.get_mut("answers").and_then(serde_json::Value::as_array_mut) {
            for one in answers {
                *one = filled(answer.clone(), one.take());
            }
        }
        serde_json::from_value(whole)
    }
}

/// The members of `value` over those of `default`; of anything but an object `value` itself.
fn filled(mut default: serde_json::Value, value: serde_json::Value) -> serde_json::Value {
    match (default.as_object_mut(), value) {
        (Some(members), serde_json::Value::Object(given)) => {
            members.extend(given);
            default
        }
        (_, value) => value,
    }
}
