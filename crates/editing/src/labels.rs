//! All current labels, with names.

use super::Project;
use crate::questions;
use dissensus_project::error::ProjectError;
use dissensus_store::ExportScope;

/// A current label, with names.
#[derive(Clone, Debug)]
pub struct LabelRow {
    pub text_id: String,
    pub annotator_id: String,
    pub question: String,
    /// Name of the answer, as in files; `None` for "cannot say".
    pub label: Option<String>,
    /// Time of the label, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Source of the label: `window`, `command`, `import` or `simulated`.
    pub source: &'static str,
    /// The number of the consent text that the annotator had agreed to.
    pub consent_version: Option<u32>,
    /// The note with the answer.
    pub note: Option<String>,
    /// The annotator's confidence, 1 to 5.
    pub confidence: Option<u8>,
}

/// Current labels of one question (of all with `None`), by text and annotator, from one snapshot.
///
/// # Errors
/// No such question, or the file cannot be read.
pub fn list(cx: &Project, question: Option<&str>) -> Result<Vec<LabelRow>, ProjectError> {
    let only = question.map(|name| questions::find(cx, Some(name))).transpose()?;
    if let Some(only) = &only {
        cx.context.index().whole(only.id)?;
    }
    cx.context.store.snapshot(|snapshot| {
        let mut rows = Vec::new();
        let consents = snapshot.consents()?;
        for asked in
            snapshot.questions()?.iter().filter(|asked| only.as_ref().is_none_or(|only| only.id == asked.id))
        {
            snapshot.for_each_label(asked.id, ExportScope::Current, |row| {
                rows.push(LabelRow {
                    text_id: row.text.external_id.clone(),
                    annotator_id: row.annotator.external_id.clone(),
                    question: asked.name.clone(),
                    label: row.level.map(str::to_owned),
                    at_ms: row.event.at_ms,
                    source: row.event.source.name(),
                    consent_version: consents.number_of(row.event),
                    note: row.event.note.note.clone(),
                    confidence: row.event.note.confidence,
                });
                Ok::<(), ProjectError>(())
            })?;
        }
        Ok(rows)
    })
}
