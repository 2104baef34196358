//! Imports: how a file is read, what it would change, and the result.

use super::Problem;
use dissensus_domain::{OffsetUnit, Scale, ScaleKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

view! {
    /// The role of each column of a file. An empty project uses the guess; the user may choose others.
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
        /// Start of a span, in a file with one row per span.
        pub span_start: Option<String>,
        /// End of a span, after its last character.
        pub span_end: Option<String>,
        /// Its type; `None` where the label is the type.
        pub span_type: Option<String>,
        /// The unit of the offsets of spans.
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
        /// The columns of answers, if a row has several; `label` is `None` then.
        pub answers: Vec<AnswerColumn>,
        /// Columns whose cells are lists, read entry by entry.
        pub lists: Vec<String>,
        /// Separator of the entries of lists that are neither JSON nor Python.
        pub separator: Option<String>,
        /// Columns that are left out.
        pub ignored: Vec<String>,
        /// Values of answers and attributes that mean "missing".
        pub missing: Vec<String>,
        /// Treats answers that differ only in case as equal, and so several spellings of yes and no.
        pub fold_case: bool,
        /// Separator of the options of one answer: `,` in `anger,fear`.
        pub option_separator: Option<String>,
        /// Whether `3,5` is the number 3.5.
        pub decimal_comma: bool,
        /// How times are written: `iso`, `month-first`, `day-first`, `year-first`, `excel`, `unix`,
        /// `unix-ms` or a pattern of strftime.
        pub time_format: Option<String>,
        /// Policy for an attribute that has several values for one person.
        pub attribute_conflicts: AttributeConflicts,
        /// Another file with the texts, or with the answers to the texts of this one.
        pub join: Option<JoinChoice>,
    }

    /// A column of answers, in a file whose rows have several.
    #[derive(Default, Eq)]
    pub struct AnswerColumn {
        /// The column that contains the answer.
        pub column: String,
        /// The question; `None` if all columns answer one question without a name.
        pub question: Option<String>,
        /// The option of a set that the column marks with 1 or 0.
        pub option: Option<String>,
        /// The annotator: `=NAME`, or a column; `None` for the annotator of the row.
        pub annotator: Option<String>,
        /// The answered text, if each text has a column; `None` for the text of the row.
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
        /// The column with the id in the imported file; empty if it is to be found.
        pub on: String,
        /// The column with the id in the other file; `None` if it has the same name.
        pub other: Option<String>,
    }

    /// A possible interpretation of a table.
    pub struct ImportReading {
        /// Its result, in a few words.
        pub title: String,
        /// The evidence for it.
        pub reasons: Vec<String>,
        /// From 0 to 1; comparable within one table.
        pub confidence: f64,
        /// The columns of this interpretation.
        pub columns: ColumnChoices,
        /// The same as options of the command.
        pub options: String,
    }

    /// A question that the labels of a file answer.
    pub struct ImportQuestion {
        pub name: String,
        /// The prompt of the question.
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

    /// A text with its answers as they would be imported.
    pub struct ExampleText {
        pub text_id: String,
        /// Its beginning; empty if the project has the text.
        pub text: String,
        /// The answers of all annotators.
        pub answers: Vec<ExampleAnswer>,
    }

    pub struct ExampleAnswer {
        /// The annotator.
        pub annotator: Option<String>,
        pub question: String,
        pub answer: String,
        /// Annotation round, from 2 for a later one.
        pub occasion: Option<u16>,
    }

    /// The fate of the rows of a file; each row is in one of the counts.
    #[derive(Default)]
    pub struct ImportAccount {
        /// All rows.
        pub rows: u32,
        /// Rows that add an answer, a text or an annotator.
        pub read: u32,
        /// Rows whose content is already in the project.
        pub repeated: u32,
        /// Rows whose text is already in the project with other metadata, which stay.
        pub changed: u32,
        /// Rows with an annotator and no answer.
        pub without_label: u32,
        /// Rows that cannot be imported.
        pub dropped: u32,
        /// The reasons, the most frequent first.
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

    /// The role of a column.
    pub struct ColumnUse {
        pub column: String,
        /// Its role.
        #[serde(rename = "use")]
        pub used_as: String,
    }

    /// The scale of a new question, in a file that answers several.
    pub struct QuestionScale {
        pub question: String,
        /// Kind of scale.
        pub kind: ScaleKind,
        /// The levels, lowest first.
        pub levels: Vec<String>,
    }

    /// Summary of an export.
    pub struct ExportReport {
        /// Answers.
        pub rows: u32,
        /// With pseudonyms: values of attributes that were left blank, because fewer than five people of the
        /// file share them or because fewer than five would have a blank.
        pub suppressed: u32,
        /// The suppressed values of each attribute, in a sentence.
        pub left_blank: Vec<String>,
        /// With pseudonyms: people whose combination of attributes in the file is shared by fewer than five
        /// people.
        pub identifiable: u32,
    }

    /// The parameters of an import. `None` is guessed.
    #[derive(Default)]
    pub struct ImportChoices {
        /// The role of each column.
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

    /// The recognized format of a file.
    pub struct ImportFormat {
        /// The name by which it is chosen: `label-studio`.
        pub name: String,
        /// Its display name: `Label Studio JSON`.
        pub title: String,
        /// Whether it is a file of an annotation tool, whose columns are defined by the tool, and not a
        /// table.
        pub of_tool: bool,
    }

    /// Pasted rows, in a file that can be imported.
    pub struct PastedRows {
        pub path: String,
        /// Whether its first line was interpreted as column names.
        pub header: bool,
    }

    /// A row that cannot be imported, and why.
    pub struct BadRow {
        /// Row in the file, the first one after the header being 1.
        pub row: u32,
        /// The line it starts on, the first being 1.
        pub line: u32,
        /// The column with the error.
        pub column: Option<String>,
        /// What is wrong and how to fix it.
        pub message: String,
    }

    /// Changes by the labels of a file besides additions.
    #[derive(Copy, Default)]
    pub struct ImportChanges {
        /// Labels that do not count because another row of the file gives a different one by the same person
        /// for the same text and question, with a later time or, without times, further down. They are added
        /// to the history.
        pub replaced_in_file: u32,
        /// Different labels of the project that are not current any more.
        pub replaced_labels: u32,
        /// How many of them were given in the window or by the command.
        pub replaced_given: u32,
        /// Labels that are older than a different one that is current in the project. They are added to the
        /// history.
        pub older_labels: u32,
        /// Labels that repeat the current one at another time.
        pub given_again: u32,
        /// Rows that repeat an answer that was stored before and is not current any more; nothing is added.
        /// They are included in the repeated rows.
        pub outdated_rows: u32,
    }

    /// A note on the labels of a file.
    pub struct ImportNotice {
        /// Stable, kebab-case: `replaced-labels`, `replaced-in-file`, `outdated-rows`, `older-labels`,
        /// `given-again`, `repeats-are-labels`, `no-first-answer`, `outdated-repeats`,
        /// `missing-value-level`, `level-spellings`, `unused-levels`, `numbers-far-apart`. For what a file
        /// of an annotation tool contains besides plain answers: `skips`, `flags`, `later-occasions`,
        /// `gold`, `drafts`, `predictions`, `reviews`, `versions`, `notes`, `rejected`, `without-answer`,
        /// `without-status`, `ambiguous`, `merged`, `unknown`, `serialised`, `curated`, `not-labels`,
        /// `not-read`.
        pub code: String,
        /// Number of affected labels, rows or levels.
        pub count: u32,
        /// What it is, and what to do.
        pub message: String,
        /// The first affected rows.
        pub places: Vec<ImportPlace>,
        /// The columns that solve the problem.
        pub fix: Option<ColumnChoices>,
        /// The effect of choosing them, in a few words.
        pub fix_label: Option<String>,
    }

    /// A row whose label is related to another one.
    pub struct ImportPlace {
        /// Row in the file, the first one after the header being 1.
        pub row: u32,
        /// The annotator, by the id in files.
        pub annotator: String,
        /// The text, by its id in files.
        pub text_id: String,
        /// The question answered.
        pub question: String,
        /// The label that counts.
        pub counts: String,
        /// The label that does not.
        pub instead_of: String,
    }

    /// The content of a file, before anything is written.
    pub struct ImportPreview {
        pub path: String,
        /// The recognized format.
        pub format: ImportFormat,
        /// All columns of the file.
        pub header: Vec<String>,
        /// The first rows, each with one cell per column.
        pub rows: Vec<Vec<String>>,
        /// The role of each column, as guessed or chosen.
        pub columns: ColumnChoices,
        /// The possible interpretations of a table, the best first; none for a file of an annotation tool.
        pub readings: Vec<ImportReading>,
        /// Whether no interpretation is clearly better than the next, and none was chosen: the user has to
        /// choose one.
        pub undecided: bool,
        /// Index of the interpretation with these columns; `None` if they were chosen otherwise.
        pub shown: Option<u32>,
        /// The encoding of the file, if it is not UTF-8.
        pub encoding: Option<String>,
        /// The sheet of a workbook that was read.
        pub sheet: Option<String>,
        /// All sheets that can be imported.
        pub sheets: Vec<String>,
        /// Whether columns are not guessed, but those that were chosen for the last file with the same
        /// columns.
        pub as_last_time: bool,
        /// The question the labels would answer, the first of several.
        pub question: String,
        /// All questions that they would answer.
        pub questions: Vec<String>,
        /// The prompt of the question.
        pub prompt: String,
        /// The scale of the question: none if the file has no labels.
        pub scale: Option<Scale>,
        /// True if the question already exists in the project.
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
        /// Rows with an empty label; their texts are imported.
        pub empty_labels: u32,
        /// How often each level is used in the file.
        pub level_counts: Vec<u32>,
        /// The first rows that cannot be imported.
        pub bad_rows: Vec<BadRow>,
        /// Number of all rows that cannot be imported.
        pub bad_row_count: u32,
        /// Notes before importing.
        pub remarks: Vec<String>,
        /// What its labels would change besides additions.
        pub changes: ImportChanges,
        /// Notes on its labels.
        pub notices: Vec<ImportNotice>,
        /// Every question that the labels answer.
        pub asked: Vec<ImportQuestion>,
        /// Annotators with labels in the file, those with the most first.
        pub people: Vec<ImportPerson>,
        /// At most three texts with their answers.
        pub examples: Vec<ExampleText>,
        /// The fate of the rows.
        pub account: ImportAccount,
        /// The role of each column.
        pub uses: Vec<ColumnUse>,
        /// A problem that prevents the import regardless of the rows.
        pub problem: Option<Problem>,
    }

    /// The result of an import.
    pub struct ImportReport {
        /// The format of the file.
        pub format: ImportFormat,
        /// Texts added.
        pub texts: u32,
        /// Annotators added.
        pub annotators: u32,
        /// Labels added.
        pub labels: u32,
        /// Added answers of second and later annotation rounds, stored apart from the labels.
        pub repeats: u32,
        /// Rows that repeat labels that were already stored.
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
        /// Further notes, one sentence each.
        pub remarks: Vec<String>,
        /// What its labels changed besides additions.
        pub changes: ImportChanges,
        /// Notes on its labels.
        pub notices: Vec<ImportNotice>,
        /// Every question that the labels answer.
        pub asked: Vec<ImportQuestion>,
        /// Annotators with labels in the file, those with the most first.
        pub people: Vec<ImportPerson>,
        /// The fate of the rows.
        pub account: ImportAccount,
        /// The role of each column.
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
    /// Rejects rows with a second value.
    #[default]
    Refuse,
    /// Uses the value of the first row.
    First,
    /// Uses the value of the last row.
    Last,
    /// Uses the value of most rows, among several the first.
    MostFrequent,
    /// Leaves the attribute of that person unknown.
    Unknown,
}

impl ColumnChoices {
    /// Reads choices as JSON; missing members have their default values.
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

/// Fills the members of `value` into `default`; if `value` is not an object, returns it unchanged.
fn filled(mut default: serde_json::Value, value: serde_json::Value) -> serde_json::Value {
    match (default.as_object_mut(), value) {
        (Some(members), serde_json::Value::Object(given)) => {
            members.extend(given);
            default
        }
        (_, value) => value,
    }
}
