//! What each column is for, and the sorts of file.

use dissensus_domain::OffsetUnit;
use serde::{Deserialize, Serialize};

/// Which column has which role. A column without one is metadata of the text. `annotator`, `split`, `group`,
/// `question` and `span_type` may also be `=NAME`: then every row has the value NAME (a column that is really
/// called `=NAME` has priority).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnRoles {
    /// The id of the text. Without it a text gets an id derived from its body, see
    /// [`text_id_of`](crate::text_id_of).
    pub text_id: Option<String>,
    pub text: Option<String>,
    /// The annotator who gave the label.
    pub annotator: Option<String>,
    pub label: Option<String>,
    /// Where a span begins, in a file with one row a span.
    pub span_start: Option<String>,
    /// Where it ends: after its last character.
    pub span_end: Option<String>,
    /// Its type; where no column is named, the label is the type.
    pub span_type: Option<String>,
    /// What offsets of spans count, in these columns and in lists of spans.
    pub offsets: OffsetUnit,
    /// The part of an official split that the text belongs to.
    pub split: Option<String>,
    /// The document or thread that the text belongs to.
    pub group: Option<String>,
    /// The question that the label answers, if a file has labels for several.
    pub question: Option<String>,
    /// The scale of that question as JSON; it is enough if one row of the question has it.
    pub scale: Option<String>,
    /// When the label was given.
    pub time: Option<String>,
    /// How long it took, in milliseconds.
    pub duration: Option<String>,
    /// The annotation round: 1 or blank, or a later one, whose answers are stored separately from labels.
    pub occasion: Option<String>,
    /// What the annotator noted.
    pub note: Option<String>,
    /// The reasons that the annotator chose, with semicolons between them.
    pub reasons: Option<String>,
    /// How sure the annotator is, from 1 to 5.
    pub confidence: Option<String>,
    /// What the annotator marked: `skipped`, `flagged`, or both with a semicolon between them.
    pub marks: Option<String>,
    /// The number of the version of the guideline that was on screen. It is not imported: another project has
    /// other versions.
    pub guideline: Option<String>,
    /// Columns about the study: whether annotators passed the practice, what was decided. They are not
    /// imported, because they follow from the contents of the project.
    pub study: Vec<String>,
    /// What the annotator had been shown before the answer: `answers`, `predictions`, or both with a
    /// semicolon between them.
    pub shown: Option<String>,
    /// Where the label came from: a name of [`LabelSource`](dissensus_domain::LabelSource).
    pub source: Option<String>,
    /// Attributes of the annotator.
    pub attributes: Vec<String>,
}

impl ColumnRoles {
    /// Returns every assigned role in order: its name, and the column (or `=NAME`).
    pub fn named(&self) -> Vec<(&'static str, &str)> {
        let single = [
            ("text id", &self.text_id),
            ("text", &self.text),
            ("annotator", &self.annotator),
            ("label", &self.label),
            (SPAN_START, &self.span_start),
            (SPAN_END, &self.span_end),
            (SPAN_TYPE, &self.span_type),
            ("split", &self.split),
            ("group", &self.group),
            ("question", &self.question),
            ("scale", &self.scale),
            ("time", &self.time),
            ("duration", &self.duration),
            ("source", &self.source),
            ("occasion", &self.occasion),
            ("note", &self.note),
            ("reasons", &self.reasons),
            ("confidence", &self.confidence),
            ("marks", &self.marks),
            ("guideline", &self.guideline),
            ("shown", &self.shown),
        ];
        let single = single.into_iter().filter_map(|(role, name)| name.as_deref().map(|n| (role, n)));
        let single = single.chain(self.study.iter().map(|n| ("study", n.as_str())));
        single.chain(self.attributes.iter().map(|n| ("attribute", n.as_str()))).collect()
    }

    /// Whether the file has one row a span.
    pub fn rows_are_spans(&self) -> bool {
        self.span_start.is_some() || self.span_end.is_some() || self.span_type.is_some()
    }

    /// Whether it has one row a span and no other answers.
    pub fn every_row_is_a_span(&self) -> bool {
        self.rows_are_spans() && (self.span_type.is_none() || self.label.is_none())
    }
}

pub(crate) const SPAN_START: &str = "start of a span";
pub(crate) const SPAN_END: &str = "end of a span";
pub(crate) const SPAN_TYPE: &str = "type of a span";

/// The three sorts of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// One row a label: text (or the id of one that is there already), annotator, label.
    Labels,
    /// One row a text: no annotator, no label.
    Texts,
    /// One row an annotator: an id and attributes, no text. Columns without a role are ignored.
    Annotators,
}

/// Lower case letters and digits only, so that `Text-ID` and `text_id` are one.
pub(crate) fn simplified(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
