//! The table of current answers, derived from the events and updated in the same transaction.

use crate::events::{Key, answer_columns};
use crate::row::{EVENT_COLUMNS, EVENT_COLUMNS_OF_OLD, EVENT_TABLES, event};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{Event, EventId, current_answer};
use rusqlite::Connection;

pub(crate) const NOT_CURRENT: &str =
    "DELETE FROM current_answers WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = ?4";

impl WriteTx<'_> {
    /// Recomputes the current answer of one annotator, question, text and annotation round.
    pub(crate) fn refresh_current(&self, key: Key) -> Result<()> {
        let (question, events) = (key.0, self.events_of_key(key)?);
        let key = (question.0, key.1.0, key.2.0, key.3);
        let done = match current_answer(&events).and_then(|e| Some((e.id, e.answer()?))) {
            Some((id, answer)) => {
                let (level, content) = answer_columns(answer)?;
                self.run(
                    "INSERT INTO current_answers (question, text, annotator, occasion, event, level, content)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                     ON CONFLICT DO UPDATE SET event = excluded.event, level = excluded.level, content = excluded.content",
                    (key.0, key.1, key.2, key.3, id.0, level, content),
                )
            }
            None => self.run(NOT_CURRENT, key),
        };
        done.map(drop).map_err(|e| self.explain("noting the current answer", e))
    }

    /// The event of the current answer of one annotator to one question on one text.
    pub(crate) fn current_event(&self, (question, text, annotator, occasion): Key) -> Result<Option<Event>> {
        let sql = format!(
            "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} WHERE e.id = (
                 SELECT event FROM current_answers WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = ?4)"
        );
        first(self.conn, &sql, (question.0, text.0, annotator.0, occasion), event)
            .map_err(|e| self.explain("reading the current answer", e))
    }
}

impl Store {
    /// Checks the table of current answers against the events. Scans all events, so it is meant for
    /// a deep check and not for every opening.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with the first difference.
    pub fn check_current_answers(&self) -> Result<()> {
        match self.read("checking the current answers", difference)? {
            Some(detail) => Err(StoreError::Damaged { path: self.path().to_owned(), detail }),
            None => Ok(()),
        }
    }
}

/// Compares the table of current answers with the rule applied to the events, and returns the first
/// difference. Scans all events.
pub(crate) fn difference(conn: &Connection) -> rusqlite::Result<Option<String>> {
    // Reads from a single snapshot, since labelling may continue meanwhile.
    let _moment = if conn.is_autocommit() { Some(conn.unchecked_transaction()?) } else { None };
    // Until format 18, all events are of the first round.
    let there = "SELECT count(*) FROM pragma_table_info('current_answers') WHERE name = 'occasion'";
    let (occasion, of_event) = match conn.query_row(there, [], |r| r.get::<_, u32>(0))? {
        0 => ("1", "1"),
        _ => ("occasion", "e.occasion"),
    };
    let mut stored = conn.prepare(&format!(
        "SELECT event, level, content FROM current_answers
         WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND {occasion} = ?4"
    ))?;
    let mut found: i64 = 0;
    let mut compare = |events: &[Event]| -> rusqlite::Result<Option<String>> {
        let Some(first) = events.first() else { return Ok(None) };
        let current = current_answer(events);
        found += i64::from(current.is_some());
        let rows = stored
            .query_map((first.question.0, first.text.0, first.annotator.0, first.occasion), |r| {
                Ok((EventId(r.get(0)?), r.get::<_, Option<u16>>(1)?, r.get::<_, Option<String>>(2)?))
            })?;
        let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let expected = current.and_then(|e| Some((e.id, answer_columns(e.answer()?).ok()?)));
        let same = match (rows.as_slice(), expected) {
            ([], None) => true,
            ([(id, level, content)], Some((current, (l, c)))) => (*id, *level, content) == (current, l, &c),
            _ => false,
        };
        Ok((!same).then(|| {
            format!(
                "the current answer of annotator {} to question {} on text {} is not the one that the events say",
                first.annotator.0, first.question.0, first.text.0
            )
        }))
    };
    let mut compare_rounds = |events: &mut [Event]| -> rusqlite::Result<Option<String>> {
        events.sort_by_key(|event| event.occasion);
        for round in events.chunk_by(|a, b| a.occasion == b.occasion) {
            if let Some(difference) = compare(round)? {
                return Ok(Some(difference));
            }
        }
        Ok(None)
    };
    let key = |e: &Event| (e.annotator, e.question, e.text);
    let mut group: Vec<Event> = Vec::new();
    let sql = format!(
        "SELECT {EVENT_COLUMNS_OF_OLD}, {of_event} FROM events AS e INDEXED BY events_by_annotator
         CROSS JOIN copies AS c ON c.id = e.copy ORDER BY e.annotator, e.question, e.text, e.id"
    );
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let event = event(row)?;
        if group.first().is_some_and(|first| key(first) != key(&event)) {
            if let Some(difference) = compare_rounds(&mut group)? {
                return Ok(Some(difference));
            }
            group.clear();
        }
        group.push(event);
    }
    if let Some(difference) = compare_rounds(&mut group)? {
        return Ok(Some(difference));
    }
    let stored = all(conn, "SELECT count(*) FROM current_answers", [], |r| r.get::<_, i64>(0))?;
    Ok((stored != [found]).then(|| "there are current answers without an event".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::{MIGRATIONS, apply};

    #[test]
    fn table_differing_from_events_is_reported() {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, MIGRATIONS, 0).unwrap();
        conn.execute_batch(
            "INSERT INTO questions (name, prompt, scale) VALUES ('q', 'q', 'binary');
             INSERT INTO levels VALUES (1, 0, 'no'), (1, 1, 'yes');
             INSERT INTO texts (external_id, body) VALUES ('t', 't');
             INSERT INTO annotators (external_id, name) VALUES ('a', 'a'), ('b', 'b');
             INSERT INTO copies VALUES (1, x'00112233445566778899aabbccddeeff', 0);
             INSERT INTO events VALUES (1, 1, 1, 'answer', 1, 1, 1, 0, NULL, 'window', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1);
             INSERT INTO events VALUES (2, 1, 2, 'answer', 1, 1, 1, 5, NULL, 'window', 0, NULL, 1, NULL, NULL, NULL, NULL, NULL, 1);
             INSERT INTO current_answers VALUES (1, 1, 1, 1, 2, 0, NULL);",
        )
        .unwrap();
        assert_eq!(difference(&conn).unwrap(), None);
        for (wrong, right) in [
            ("UPDATE current_answers SET level = 1", "UPDATE current_answers SET level = 0"),
            ("UPDATE current_answers SET event = 1", "UPDATE current_answers SET event = 2"),
            ("DELETE FROM current_answers", "INSERT INTO current_answers VALUES (1, 1, 1, 1, 2, 0, NULL)"),
            (
                "INSERT INTO current_answers VALUES (1, 1, 1, 2, 2, 0, NULL)",
                "DELETE FROM current_answers WHERE annotator = 2",
            ),
        ] {
            conn.execute_batch(wrong).unwrap();
            assert!(difference(&conn).unwrap().is_some(), "{wrong}");
            conn.execute_batch(right).unwrap();
            assert_eq!(difference(&conn).unwrap(), None, "{right}");
        }
    }
}
