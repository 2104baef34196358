//! A row, as texts, annotators and labels need it.

use dissensus_domain::{Attributes, LabelSource, Note, Scale, Shown};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The longest id, label or attribute, in bytes. Longer ones are texts in the wrong column.
pub const MAX_NAME_BYTES: usize = 1024;

/// The longest list of spans, in bytes.
pub const MAX_SPANS_BYTES: usize = 1 << 20;

/// Names of the marks in files.
pub(crate) const SKIPPED: &str = "skipped";
pub(crate) const FLAGGED: &str = "flagged";

/// One row that is valid in itself. The [`Checker`](crate::Checker) decides whether it fits the rows before
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The row, from 1; the line of column names and blank lines are not rows.
    pub row: u64,
    /// The physical line on which it begins, from 1.
    pub line: u64,
    /// The id of the text, trimmed; `None` only in a file of annotators.
    pub text_id: Option<String>,
    /// The body, character for character; `None` in a file of annotators, or of labels on texts that are
    /// identified by their id.
    pub text: Option<String>,
    /// The id of the annotator, trimmed; `None` only in a file of texts.
    pub annotator: Option<String>,
    /// The label, trimmed; in a file with one row a span the list of all spans of the answer, on the first of
    /// its rows. `None` where the cell is blank or there is no such column.
    pub label: Option<String>,
    /// In a file with one row a span: an earlier row already has the answer, including this row's span.
    pub continues: bool,
    /// The part of an official split, trimmed, as the file names it.
    pub split: Option<String>,
    /// The document or thread, trimmed.
    pub group: Option<String>,
    /// The question that the label answers, trimmed.
    pub question: Option<String>,
    /// The scale of that question, if the row contains it.
    pub scale: Option<Scale>,
    /// When the label was given, in milliseconds since 1970-01-01 UTC.
    pub at_ms: Option<i64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u32>,
    /// Where the label came from, if the file contains it.
    pub source: Option<LabelSource>,
    /// The annotation round of this answer, from 2; `None` for the first.
    pub occasion: Option<u16>,
    /// The annotator's note on the answer, or on the text without an answer.
    pub note: Note,
    /// The annotator put the text off.
    pub skipped: bool,
    /// The annotator flagged the text.
    pub flagged: bool,
    /// What of others had been shown to the annotator before the answer.
    pub shown: Shown,
    /// Attributes of the annotator, trimmed; blank ones are left out.
    pub attributes: Attributes,
    /// A rule has settled the attributes; the existing attributes of the annotator still have priority.
    pub settled: bool,
    /// Every other column that is not blank, unchanged.
    pub metadata: BTreeMap<String, String>,
}

/// Returns the id of a text in a file without ids: `t` and the first 20 hexadecimal digits (80 bits) of the
/// SHA-256 of its body. The same body has the same id, in every file and on every machine.
pub fn text_id_of(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    digest[..10].iter().fold(String::from("t"), |id, byte| format!("{id}{byte:02x}"))
}

/// Whether the id of a text was made from its body.
pub(crate) fn is_made_id(id: &str, body: &str) -> bool {
    let digits =
        |id: &str| id.len() == 20 && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    // Other ids are distinguished without a hash.
    id.strip_prefix('t').is_some_and(digits) && id == text_id_of(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_derived_from_the_body_is_stable() {
        // `printf 'Hello' | sha256sum` begins 185f8db32271fe25f561
        assert_eq!(text_id_of("Hello"), "t185f8db32271fe25f561");
        assert_ne!(text_id_of("Hello"), text_id_of("Hello "));
    }
}
