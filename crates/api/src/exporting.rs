//! Exports: available formats, and what a file would contain.

use serde::{Deserialize, Serialize};

view! {
    /// A format of another program in which labels can be exported.
    pub struct ExportFormat {
        /// The name by which it is chosen: `label-studio`.
        pub name: String,
        /// Its display name: `Label Studio JSON`.
        pub title: String,
        /// Extension of its files, without the dot; empty if a folder is written.
        pub ending: String,
        /// Whether a file has only one question.
        pub one_question: bool,
        /// Whether it can contain notes.
        pub notes: bool,
    }

    /// The parameters of an export.
    #[derive(Default)]
    pub struct ExportRequest {
        /// Name of the format of another program; `None` for a table that imports again.
        pub format: Option<String>,
        /// Only this question.
        pub question: Option<String>,
        /// Writes pseudonyms in place of people, and nothing that could identify them.
        pub pseudonyms: bool,
        /// With pseudonyms, includes notes.
        pub notes: bool,
    }

    /// The unit of a summary's rows.
    #[derive(Copy, Default, Eq)]
    pub enum SummaryOf {
        #[default]
        Texts,
        /// A person.
        People,
    }

    /// A summary of labels: what a row is about, and its columns.
    #[derive(Default)]
    pub struct SummaryRequest {
        /// The unit of rows.
        pub of: SummaryOf,
        /// The question; the only one if `None`.
        pub question: Option<String>,
        /// Includes the models' predictions for everyone.
        pub predicted: bool,
        /// For texts, also the single label that `majority`, `dawid-skene`, `mace` or `glad` derives from
        /// each text's labels.
        pub aggregate: Option<String>,
        /// Writes pseudonyms in place of people, and nothing that could identify them.
        pub pseudonyms: bool,
    }

    /// A summary that was written.
    pub struct SummaryWritten {
        pub question: String,
        /// Rows: texts, or people.
        pub rows: u32,
        /// Number of labels that are summarized.
        pub labels: u32,
        /// Aggregation: the options, or the question, for which the estimation stopped at the largest number
        /// of rounds.
        pub not_converged: Vec<String>,
        /// See [`ExportContents`].
        pub suppressed: u32,
        /// See [`ExportContents`].
        pub left_blank: Vec<String>,
        /// See [`ExportContents`].
        pub identifiable: u32,
    }

    /// A table of predictions that was written.
    pub struct PredictionsWritten {
        /// Texts predicted.
        pub texts: u32,
        /// People predicted.
        pub people: u32,
        /// How many of them have no label; they are predicted as the average person.
        pub people_without_labels: u32,
        /// Rows, one for each text and person.
        pub rows: u32,
    }

    /// What a file cannot hold.
    pub struct ExportLoss {
        /// Why, kebab-case: `notes`.
        pub reason: String,
        /// How many items are affected.
        pub count: u32,
        /// A message for the user: what is lost, how much, and why; without a full stop at the end.
        pub message: String,
    }

    /// What a file contains, or would contain.
    pub struct ExportContents {
        /// The question, for a file with a single one.
        pub question: Option<String>,
        pub texts: u32,
        pub people: u32,
        pub answers: u32,
        /// What the format cannot hold, by reason.
        pub losses: Vec<ExportLoss>,
        /// With pseudonyms: values of attributes that are left blank, because fewer than five people of the
        /// file share them or because fewer than five would have a blank.
        pub suppressed: u32,
        /// The suppressed values of each attribute, in a sentence.
        pub left_blank: Vec<String>,
        /// With pseudonyms: people whose combination of attributes in the file is shared by fewer than five
        /// people.
        pub identifiable: u32,
    }
}
