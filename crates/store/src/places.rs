//! Converts between row ids and positions of levels. The file refers to levels by row id, which
//! never changes. Everything else uses the position on the scale, which changes when levels are
//! reordered, added or removed.

use crate::row::{bad, event, to_json};
use crate::tx::{all, first};
use crate::{Result, WriteTx};
use dissensus_domain::{
    Answer, CurrentLabel, Event, EventKind, Level, Levels, OptionSet, Question, QuestionId, Span, SpanSet,
};
use rusqlite::{Connection, Params, Row};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// For each question whose levels are not in the order of their row ids, the row ids by position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places(HashMap<QuestionId, Vec<u16>>);

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
pub(crate) fn rows_by_key(conn: &Connection, question: QuestionId) -> rusqlite::Result<HashMap<String, u16>> {
    let sql = "SELECT name, level FROM levels WHERE question = ?1";
    Ok(all(conn, sql, [question.0], |r| Ok((r.get(0)?, r.get(1)?)))?.into_iter().collect())
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
    let mut keys: Vec<(u16, String)> =
        rows_by_key(conn, question.id)?.into_iter().map(|(key, row)| (row, key)).collect();
    keys.sort_unstable();
    let level = |((_, key), name): ((u16, String), &String)| Level {
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
) -> rusqlite::Result<Vec<u16>> {
    let rows = rows_by_key(conn, question)?;
    let row =
        |key: &String| rows.get(key).copied().ok_or_else(|| bad(0, format!("no level began as \"{key}\"")));
    levels.levels.iter().map(|level| row(&level.key)).collect()
}

impl Places {
    /// Reads the current positions.
    pub(crate) fn read(conn: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT DISTINCT question FROM facts WHERE kind = 'levels' AND question IS NOT NULL";
        let questions = all(conn, sql, [], |r| Ok(QuestionId(r.get(0)?)))?;
        let mut places = HashMap::new();
        for question in questions {
            let Some(levels) = latest_levels(conn, question)? else { continue };
            let rows = rows_of(conn, question, &levels)?;
            if !rows.iter().copied().eq(0..rows.len() as u16) {
                places.insert(question, rows);
            }
        }
        Ok(Self(places))
    }

    /// The position of a level. A level that is not on the scale gets a position after its end, so
    /// that it cannot be confused with another one.
    pub(crate) fn place(&self, question: QuestionId, row: u16) -> u16 {
        let Some(rows) = self.0.get(&question.row()) else { return row };
        let place = rows.iter().position(|known| *known == row).map(|place| place as u16);
        place.unwrap_or(row.saturating_add(rows.len() as u16))
    }

    /// The row id of the level at this position.
    pub(crate) fn row(&self, question: QuestionId, place: u16) -> u16 {
        let Some(rows) = self.0.get(&question.row()) else { return place };
        rows.get(usize::from(place)).copied().unwrap_or(place.saturating_sub(rows.len() as u16))
    }

    /// Converts a stored answer to positions.
    pub(crate) fn shown(&self, question: QuestionId, answer: Answer) -> Answer {
        match self.0.contains_key(&question.row()) {
            true => with_levels(answer, |row| self.place(question, row)),
            false => answer,
        }
    }

    /// Converts an answer to row ids, for storage.
    pub(crate) fn stored<'a>(&self, question: QuestionId, answer: &'a Answer) -> Cow<'a, Answer> {
        match self.0.contains_key(&question.row()) {
            true => Cow::Owned(with_levels(answer.clone(), |place| self.row(question, place))),
            false => Cow::Borrowed(answer),
        }
    }

    /// Converts a stored event to positions.
    pub(crate) fn event(&self, mut event: Event) -> Event {
        if let EventKind::Answer { answer, .. } = &mut event.kind
            && self.0.contains_key(&event.question)
        {
            *answer = self.shown(event.question, answer.clone());
        }
        event
    }

    /// Converts a stored label to positions; for an option, to whether the answer includes it.
    pub(crate) fn label(&self, question: QuestionId, label: CurrentLabel) -> CurrentLabel {
        let answer = self.shown(question, label.answer).to(question);
        CurrentLabel { answer, ..label }
    }
}

/// Replaces the levels of an answer.
pub(crate) fn with_levels(answer: Answer, level: impl Fn(u16) -> u16) -> Answer {
    match answer {
        Answer::CannotSay => Answer::CannotSay,
        Answer::Level(known) => Answer::Level(level(known)),
        Answer::Options(set) => {
            let moved = set.iter().filter_map(|option| u8::try_from(level(option.into())).ok());
            // Indices beyond the capacity of a set are on no scale.
            Answer::Options(OptionSet::new(moved.filter(|option| *option < OptionSet::MAX)).unwrap_or(set))
        }
        Answer::Spans(spans) => {
            let moved = spans.as_slice().iter().map(|span| Span { kind: level(span.kind), ..*span });
            Answer::Spans(SpanSet::new(moved).unwrap_or(spans))
        }
    }
}

/// Replaces the levels of the answer that the value of a fact has under "answer", if any.
pub(crate) fn answer_with_levels(mut value: Value, level: &dyn Fn(u16) -> u16) -> Value {
    if let Some(answer) = value.get_mut("answer")
        && let Ok(known) = serde_json::from_value::<Answer>(answer.clone())
        && let Ok(moved) = serde_json::to_value(with_levels(known, level))
    {
        *answer = moved;
    }
    value
}

/// All events of a query of [`crate::row::EVENT_COLUMNS`].
pub(crate) fn events(conn: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<Vec<Event>> {
    let places = Places::read(conn)?;
    all(conn, sql, params, |row| Ok(places.event(event(row)?)))
}

/// The first event of a query of [`crate::row::EVENT_COLUMNS`].
pub(crate) fn first_event(
    conn: &Connection,
    sql: &str,
    params: impl Params,
) -> rusqlite::Result<Option<Event>> {
    let found = first(conn, sql, params, event)?;
    Ok(match found {
        Some(found) => Some(Places::read(conn)?.event(found)),
        None => None,
    })
}

impl WriteTx<'_> {
    pub(crate) fn places(&self) -> Result<Places> {
        Places::read(self.conn).map_err(|e| self.explain("reading the levels", e))
    }

    /// The JSON in which an answer is stored.
    pub(crate) fn answer_json(&self, question: QuestionId, answer: &Answer) -> Result<String> {
        to_json("an answer", self.places()?.stored(question, answer).as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_places_are_found_from_each_other() {
        let question = QuestionId(1);
        let places = Places(HashMap::from([(question, vec![2, 0, 5])]));
        for row in 0..9 {
            assert_eq!(places.row(question, places.place(question, row)), row);
        }
        assert_eq!((places.place(question, 5), places.place(question, 1)), (2, 4));
        let spans = |kind| Answer::Spans(SpanSet::new([Span { start: 0, end: 2, kind }]).unwrap());
        assert_eq!(places.shown(question, spans(2)), spans(0));
        assert_eq!(*places.stored(question, &spans(2)), spans(5));
        let options = |options: &[u8]| Answer::Options(OptionSet::new(options.to_vec()).unwrap());
        assert_eq!(places.shown(question, options(&[0, 5])), options(&[1, 2]));
        assert_eq!(places.shown(QuestionId(2), options(&[0, 5])), options(&[0, 5]));
    }
}
