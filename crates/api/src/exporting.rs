//! An export: what can be written for which program, and what a file would hold.

use serde::{Deserialize, Serialize};

view! {
    /// A format of another program that labels can be exported in.
    pub struct ExportFormat {
        /// The name by which it is chosen: `label-studio`.
        pub name: String,
        /// Its display name: `Label Studio JSON`.
        pub title: String,
        /// How names of its files end, without the point; empty where a folder is written.
        pub ending: String,
        /// A file has one question.
        pub one_question: bool,
        /// It holds notes.
        pub notes: bool,
    }

    /// What is to be exported, and how.
    #[derive(Default)]
    pub struct ExportWish {
        /// Name of the format of another program; `None` for a table that imports again.
        pub format: Option<String>,
        /// Only this question.
        pub question: Option<String>,
        /// Writes pseudonyms in place of people, and nothing that could identify them.
        pub pseudonyms: bool,
        /// With pseudonyms: notes too.
        pub notes: bool,
    }

    /// What a row of a summary is of.
    #[derive(Copy, Default, Eq)]
    pub enum SummaryOf {
        #[default]
        Texts,
        /// A person.
        People,
    }

    /// A summary of labels: what a row is about, and its columns.
    #[derive(Default)]
    pub struct SummaryWish {
        /// What a row is of.
        pub of: SummaryOf,
        /// The question; the only one if `None`.
        pub question: Option<String>,
        /// Also what the models expect of everybody.
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
        /// Labels that they sum up.
        pub labels: u32,
        /// As in [`ExportContents`].
        pub suppressed: u32,
        /// As in [`ExportContents`].
        pub left_blank: Vec<String>,
        /// As in [`ExportContents`].
        pub told_apart: u32,
    }

    /// A table of predictions that was written.
    pub struct PredictionsWritten {
        /// Texts predicted.
        pub texts: u32,
        /// People predicted.
        pub people: u32,
        /// Those of them without a label: they are predicted as the average person.
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

    /// What a file holds, or would hold.
    pub struct ExportContents {
        /// The question of a file that has one.
        pub question: Option<String>,
        pub texts: u32,
        pub people: u32,
        pub answers: u32,
        /// What the format cannot hold, in the order of reasons.
        pub losses: Vec<ExportLoss>,
        /// With pseudonyms: values of attributes that are left blank, because fewer than five people of the
        /// file share them or because fewer than five would have a blank.
        pub suppressed: u32,
        /// The same of each attribute, in a sentence.
        pub left_blank: Vec<String>,
        /// With pseudonyms: people whose combination of attributes in the file is shared by fewer than five
        /// people.
        pub told_apart: u32,
    }
}
