//! Turning columns into words and back.

use dissensus_domain::{
    AnnotatorId, Answer, CopyId, Event, EventId, EventKey, EventKind, GuidelineId, LabelSource, QuestionId,
    Remark, TextId, WordingId,
};
use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// A column whose value is none of ours.
pub(crate) fn bad(column: usize, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, why.into())
}

/// A column with a UUID.
pub(crate) fn uid(row: &Row<'_>, column: usize) -> Result<Uuid> {
    row.get(column)
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

/// The columns that [`event`] reads, of [`EVENT_TABLES`].
pub(crate) const EVENT_COLUMNS: &str = "e.id, c.uid, e.sequence, e.question, e.text, e.annotator, e.at_ms, e.source, e.kind, e.level, e.content, e.duration_ms, e.replaces, e.note, e.reasons, e.confidence, g.uid, w.uid";

/// As [`EVENT_COLUMNS`], without what came with format 11: for files that are looked at before they are brought up to date.
pub(crate) const EVENT_COLUMNS_OF_OLD: &str = "e.id, c.uid, e.sequence, e.question, e.text, e.annotator, e.at_ms, e.source, e.kind, e.level, e.content, e.duration_ms, e.replaces, e.note, NULL, NULL, NULL, NULL";

/// Whether an answer of a later occasion (`r`, a row of `repeats`) was given in the window or by the command, in any copy.
pub(crate) const GIVEN: &str = "(r.source IN ('window', 'command') OR EXISTS (
    SELECT 1 FROM repeat_origins AS o
    WHERE o.question = r.question AND o.text = r.text AND o.annotator = r.annotator AND o.occasion = r.occasion
      AND o.at_ms = r.at_ms AND o.answer = r.answer AND o.source IN ('window', 'command')))";

/// Events `e`, each with its copy `c`: never the other way round, which would sort them anew. `g` is the guideline and `w` the wording
/// of the question that were on screen.
pub(crate) const EVENT_TABLES: &str = "events AS e CROSS JOIN copies AS c ON c.id = e.copy LEFT JOIN guidelines AS g ON g.id = e.guideline LEFT JOIN wordings AS w ON w.id = e.wording";

/// A row of [`EVENT_COLUMNS`].
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
        at_ms: row.get(6)?,
        source: source(row, 7)?,
        kind,
        remark: remark(row, 13)?,
        guideline: row.get::<_, Option<Uuid>>(16)?.map(GuidelineId),
        wording: row.get::<_, Option<Uuid>>(17)?.map(WordingId),
    })
}

/// What was said, in the columns `note`, `reasons` and `confidence`, which stand at `column` and behind it.
pub(crate) fn remark(row: &Row<'_>, column: usize) -> Result<Remark> {
    Ok(Remark {
        note: row.get(column)?,
        reasons: json_or_null(row, column + 1)?.unwrap_or_default(),
        confidence: row.get(column + 2)?,
    })
}

/// The reasons of a remark as a column.
pub(crate) fn reasons_column(remark: &Remark) -> crate::Result<Option<String>> {
    match remark.reasons.as_slice() {
        [] => Ok(None),
        reasons => to_json("reasons", reasons).map(Some),
    }
}

/// A column with the name of a source.
pub(crate) fn source(row: &Row<'_>, column: usize) -> Result<LabelSource> {
    let name = row.get_ref(column)?.as_str().map_err(|e| bad(column, e))?;
    LabelSource::from_name(name).ok_or_else(|| bad(column, format!("unknown source \"{name}\"")))
}

/// The answer in the columns `level` and `content`, which stand at `column` and behind it.
pub(crate) fn answer(row: &Row<'_>, column: usize) -> Result<Answer> {
    match row.get::<_, Option<u16>>(column)? {
        Some(level) => Ok(Answer::Level(level)),
        None => json(row, column + 1),
    }
}
