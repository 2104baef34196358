//! Conversions between columns and domain types.

use dissensus_domain::{
    AnnotatorId, Answer, CopyId, Event, EventId, EventKey, EventKind, GuidelineId, LabelSource, Note,
    QuestionId, TextId, WordingId,
};
use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// Error for a column with an invalid value.
pub(crate) fn bad(column: usize, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, why.into())
}

pub(crate) fn uid(row: &Row<'_>, column: usize) -> Result<Uuid> {
    row.get(column)
}

pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T> {
    let text = row.get_ref(column)?.as_str().map_err(|e| bad(column, e))?;
    serde_json::from_str(text).map_err(|e| bad(column, e))
}

pub(crate) fn json_or_null<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<Option<T>> {
    match row.get_ref(column)?.as_str_or_null().map_err(|e| bad(column, e))? {
        Some(text) => serde_json::from_str(text).map(Some).map_err(|e| bad(column, e)),
        None => Ok(None),
    }
}

/// Serializes a value for a JSON column.
pub(crate) fn to_json<T: serde::Serialize + ?Sized>(what: &str, value: &T) -> crate::Result<String> {
    serde_json::to_string(value)
        .map_err(|e| crate::StoreError::Invalid { what: what.to_owned(), why: e.to_string() })
}

/// The columns of [`EVENT_TABLES`] that [`event`] reads.
pub(crate) const EVENT_COLUMNS: &str = "e.id, c.uid, e.sequence, e.question, e.text, e.annotator, e.at_ms, e.source, e.kind, e.level, e.content, e.duration_ms, e.replaces, e.note, e.reasons, e.confidence, g.uid, w.uid, e.occasion";

/// Like [`EVENT_COLUMNS`], without the columns added since format 11, for files that are read before
/// they are migrated. The annotation round is to be added.
pub(crate) const EVENT_COLUMNS_OF_OLD: &str = "e.id, c.uid, e.sequence, e.question, e.text, e.annotator, e.at_ms, e.source, e.kind, e.level, e.content, e.duration_ms, e.replaces, e.note, NULL, NULL, NULL, NULL";

/// Events `e`, each with its copy `c`; the reverse join order would require sorting. `g` is the
/// guideline version and `w` the wording of the question that were on screen.
pub(crate) const EVENT_TABLES: &str = "events AS e CROSS JOIN copies AS c ON c.id = e.copy LEFT JOIN guidelines AS g ON g.id = e.guideline LEFT JOIN wordings AS w ON w.id = e.wording";

/// Reads a row of [`EVENT_COLUMNS`].
pub(crate) fn event(row: &Row<'_>) -> Result<Event> {
    let name = row.get_ref(8)?.as_str().map_err(|e| bad(8, e))?;
    let replaces = row.get::<_, Option<u32>>(12)?.map(EventId);
    let kind = match (name, replaces) {
        ("answer", replaces) => {
            EventKind::Answer { answer: answer(row, 9)?, duration_ms: row.get(11)?, replaces }
        }
        ("retraction", Some(of)) => EventKind::Retraction { of },
        ("retraction", None) => return Err(bad(12, "a retraction that names no answer")),
        (mark, _) => {
            EventKind::Mark(mark.parse().map_err(|_| bad(8, format!("unknown kind of event \"{mark}\"")))?)
        }
    };
    Ok(Event {
        id: EventId(row.get(0)?),
        key: EventKey { copy: CopyId(uid(row, 1)?), sequence: row.get(2)? },
        question: QuestionId(row.get(3)?),
        text: TextId(row.get(4)?),
        annotator: AnnotatorId(row.get(5)?),
        occasion: row.get(18)?,
        at_ms: row.get(6)?,
        source: source(row, 7)?,
        kind,
        note: current_note(row, 13)?,
        guideline: row.get::<_, Option<Uuid>>(16)?.map(GuidelineId),
        wording: row.get::<_, Option<Uuid>>(17)?.map(WordingId),
    })
}

/// Reads a note from the columns `note`, `reasons` and `confidence`, of which `column` is the
/// first.
pub(crate) fn current_note(row: &Row<'_>, column: usize) -> Result<Note> {
    Ok(Note {
        note: row.get(column)?,
        reasons: json_or_null(row, column + 1)?.unwrap_or_default(),
        confidence: row.get(column + 2)?,
    })
}

/// Serializes the reasons of a note for a column.
pub(crate) fn reasons_column(note: &Note) -> crate::Result<Option<String>> {
    match note.reasons.as_slice() {
        [] => Ok(None),
        reasons => to_json("reasons", reasons).map(Some),
    }
}

/// Reads the name of a source from a column.
pub(crate) fn source(row: &Row<'_>, column: usize) -> Result<LabelSource> {
    let name = row.get_ref(column)?.as_str().map_err(|e| bad(column, e))?;
    LabelSource::from_name(name).ok_or_else(|| bad(column, format!("unknown source \"{name}\"")))
}

/// Reads an answer from the columns `level` and `content`, of which `column` is the first.
pub(crate) fn answer(row: &Row<'_>, column: usize) -> Result<Answer> {
    match row.get::<_, Option<u16>>(column)? {
        Some(level) => Ok(Answer::from_level(level)),
        None => json(row, column + 1),
    }
}
