//! The levels of a question: those that it ever had, with their rows ([`LevelId`]) and initial names (keys),
//! and those in effect. A row is never reused, so that an answer keeps its meaning whatever is edited; a
//! merge maps the rows of the other copy by key.

use crate::row::bad;
use crate::tx::{all, first};
use dissensus_domain::{Answer, Level, LevelId, Levels, OptionSet, Question, QuestionId, Span, SpanSet};
use rusqlite::{Connection, Row};
use serde_json::Value;
use std::collections::HashMap;

/// The levels of a question in effect, if they were ever changed.
pub(crate) fn latest_levels(conn: &Connection, question: QuestionId) -> rusqlite::Result<Option<Levels>> {
    let sql = "SELECT value FROM facts WHERE kind = 'levels' AND coalesce(question, 0) = ?1
               ORDER BY at_ms DESC, value DESC LIMIT 1";
    first(conn, sql, [question.0], |r| levels(r, 0))
}

fn levels(row: &Row<'_>, column: usize) -> rusqlite::Result<Levels> {
    let text = row.get_ref(column)?.as_str().map_err(|e| bad(column, e))?;
    serde_json::from_str(text).map_err(|e| bad(column, e))
}

/// The row ids of all levels that a question ever had, by initial name.
pub(crate) fn rows_by_key(
    conn: &Connection,
    question: QuestionId,
) -> rusqlite::Result<HashMap<String, LevelId>> {
    let sql = "SELECT name, level FROM levels WHERE question = ?1";
    Ok(all(conn, sql, [question.0], |r| Ok((r.get(0)?, LevelId(r.get(1)?))))?.into_iter().collect())
}

/// The initial names of all levels that a question ever had, by row id.
pub(crate) fn ever(conn: &Connection, question: QuestionId) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM levels WHERE question = ?1 ORDER BY level";
    all(conn, sql, [question.0], |r| r.get(0))
}

/// The names of the levels that a question was added with.
pub(crate) fn began_with(
    conn: &Connection,
    question: QuestionId,
    began: u16,
) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM levels WHERE question = ?1 AND level < ?2 ORDER BY level";
    all(conn, sql, (question.0, began), |r| r.get(0))
}

/// The initial names of these levels, in order.
pub(crate) fn keys(levels: &Levels) -> Vec<&str> {
    levels.levels.iter().map(|level| level.key.as_str()).collect()
}

/// The current levels of a question, even if they were never changed.
pub(crate) fn levels_of(conn: &Connection, question: &Question) -> rusqlite::Result<Levels> {
    if let Some(levels) = latest_levels(conn, question.id)? {
        return Ok(levels);
    }
    let mut keys: Vec<(LevelId, String)> =
        rows_by_key(conn, question.id)?.into_iter().map(|(key, row)| (row, key)).collect();
    keys.sort_unstable();
    let level = |((_, key), name): ((LevelId, String), &String)| Level {
        key,
        name: name.clone(),
        definition: String::new(),
    };
    let levels: Vec<Level> = keys.into_iter().zip(question.scale.levels()).map(level).collect();
    Ok(Levels { began: levels.len() as u16, levels })
}

/// The row ids of these levels, in order.
pub(crate) fn rows_of(
    conn: &Connection,
    question: QuestionId,
    levels: &Levels,
) -> rusqlite::Result<Vec<LevelId>> {
    let rows = rows_by_key(conn, question)?;
    let row =
        |key: &String| rows.get(key).copied().ok_or_else(|| bad(0, format!("no level began as \"{key}\"")));
    levels.levels.iter().map(|level| row(&level.key)).collect()
}

/// Replaces the levels of an answer.
pub(crate) fn with_levels(answer: Answer, level: impl Fn(LevelId) -> LevelId) -> Answer {
    match answer {
        Answer::CannotSay => Answer::CannotSay,
        Answer::Level(known) => Answer::Level(level(known)),
        Answer::Options(set) => {
            let moved = set.iter().filter_map(|option| u8::try_from(level(LevelId(option.into())).0).ok());
            Answer::Options(moved.collect::<OptionSet>())
        }
        Answer::Spans(spans) => {
            let moved = spans.as_slice().iter().map(|span| Span { kind: level(span.kind), ..*span });
            Answer::Spans(SpanSet::new(moved).unwrap_or(spans))
        }
    }
}

/// Replaces the levels of the answer that the value of a fact has under "answer", if any.
pub(crate) fn answer_with_levels(mut value: Value, level: &dyn Fn(LevelId) -> LevelId) -> Value {
    if let Some(answer) = value.get_mut("answer")
        && let Ok(known) = serde_json::from_value::<Answer>(answer.clone())
        && let Ok(moved) = serde_json::to_value(with_levels(known, level))
    {
        *answer = moved;
    }
    value
}
