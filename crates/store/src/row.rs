//! Turning columns into words and back.

use dissensus_domain::{AnnotatorId, LabelEvent, LabelId, LabelSource, QuestionId, TextId};
use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};
use serde::de::DeserializeOwned;

/// A column whose value is none of ours.
pub(crate) fn bad(column: usize, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, why.into())
}

/// A JSON column.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T> {
    let text = row.get_ref(column)?.as_str().map_err(|e| bad(column, e))?;
    serde_json::from_str(text).map_err(|e| bad(column, e))
}

/// A JSON column that may be null.
pub(crate) fn json_or_null<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<Option<T>> {
    match row.get_ref(column)?.as_str_or_null().map_err(|e| bad(column, e))? {
        Some(text) => serde_json::from_str(text).map(Some).map_err(|e| bad(column, e)),
        None => Ok(None),
    }
}

/// A value as the text of a JSON column.
pub(crate) fn to_json<T: serde::Serialize + ?Sized>(what: &str, value: &T) -> crate::Result<String> {
    serde_json::to_string(value)
        .map_err(|e| crate::StoreError::Invalid { what: what.to_owned(), why: e.to_string() })
}

/// The columns that [`label_event`] reads, of the table `labels`.
pub(crate) const LABEL_COLUMNS: &str =
    "id, question, text, annotator, level, at_ms, duration_ms, source, retracts";

/// A row of [`LABEL_COLUMNS`].
pub(crate) fn label_event(row: &Row<'_>) -> Result<LabelEvent> {
    let source = row.get_ref(7)?.as_str().map_err(|e| bad(7, e))?;
    Ok(LabelEvent {
        id: LabelId(row.get(0)?),
        question: QuestionId(row.get(1)?),
        text: TextId(row.get(2)?),
        annotator: AnnotatorId(row.get(3)?),
        level: row.get(4)?,
        at_ms: row.get(5)?,
        duration_ms: row.get(6)?,
        source: LabelSource::from_name(source)
            .ok_or_else(|| bad(7, format!("unknown source \"{source}\"")))?,
        retracts: row.get::<_, Option<u32>>(8)?.map(LabelId),
    })
}
