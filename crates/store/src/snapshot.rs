//! Consistent snapshots for several reads.

use crate::annotators::annotator;
use crate::events::last_event;
use crate::export::{ExportRow, ExportScope, events_in};
use crate::log::consents;
use crate::order::{Order, QUESTIONS, TEXTS, is_of_rows};
use crate::questions::by_name;
use crate::row::{answer, event, source};
use crate::texts::{TEXT_COLUMNS, text};
use crate::tx::{all, first};
use crate::{Consents, Result, Store, StoreError};
use dissensus_domain::{
    Annotator, AnnotatorId, Answer, EventId, LabelSource, Question, QuestionId, Text, TextId,
};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The state of the project at the time when the snapshot was taken, unaffected by concurrent
/// writes.
pub struct Snapshot<'a> {
    conn: &'a Connection,
    path: &'a Path,
}

/// An answer that was not retracted, whether it was replaced or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnretractedAnswer {
    pub question: QuestionId,
    pub text: TextId,
    pub annotator: AnnotatorId,
    pub answer: Answer,
    /// Time of the answer, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub source: LabelSource,
    /// Whether it is the current answer of its annotator, question and text.
    pub current: bool,
}

impl Store {
    /// Runs `read` on a snapshot of the current state. A snapshot prevents the journal from being
    /// written back to the file, so it should not be held while waiting for user input.
    ///
    /// # Errors
    /// The error of `read`, or an I/O error.
    pub fn snapshot<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Snapshot<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.read_with(|conn, explain| {
            // The transaction starts with the first read and ends when it is dropped; nothing is
            // written.
            let transaction = conn.unchecked_transaction().map_err(explain)?;
            let found = read(&Snapshot { conn, path: self.path() });
            drop(transaction);
            found
        })
    }
}

impl Snapshot<'_> {
    fn explain(&self, error: rusqlite::Error) -> StoreError {
        StoreError::explain(self.path, "reading", error)
    }

    /// Runs one read on the snapshot.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        read(self.conn).map_err(|e| self.explain(e))
    }

    fn damaged(&self, detail: String) -> StoreError {
        StoreError::Damaged { path: self.path.to_owned(), detail }
    }

    /// The order in which texts, questions and annotators are listed.
    pub fn order(&self) -> Result<Order> {
        self.read(Order::read)
    }

    /// All versions of the text that people agree to, and who agreed to them.
    pub fn consents(&self) -> Result<Consents> {
        self.read(consents)
    }

    /// All questions, in the order of [`Order`].
    pub fn questions(&self) -> Result<Vec<Question>> {
        let sql = format!("SELECT q.name FROM questions AS q ORDER BY {QUESTIONS}");
        let names = all(self.conn, &sql, [], |r| r.get::<_, String>(0)).map_err(|e| self.explain(e))?;
        let questions = names.iter().filter_map(|name| by_name(self.conn, name).transpose());
        questions.collect::<rusqlite::Result<_>>().map_err(|e| self.explain(e))
    }

    /// All annotators, by row id.
    pub fn annotators(&self) -> Result<Vec<Annotator>> {
        let sql = "SELECT id, external_id, name, attributes, simulated FROM annotators ORDER BY id";
        all(self.conn, sql, [], annotator).map_err(|e| self.explain(e))
    }

    /// Finds a text by row id.
    pub fn text(&self, id: TextId) -> Result<Option<Text>> {
        self.read(|c| first(c, &format!("SELECT {TEXT_COLUMNS} FROM texts WHERE id = ?1"), [id.0], text))
    }

    /// How many current answers a question has.
    pub fn label_count(&self, question: QuestionId) -> Result<u32> {
        let sql = "SELECT count(*) FROM current_answers WHERE question = ?1 AND occasion = 1";
        Ok(first(self.conn, sql, [question.0], |r| r.get(0)).map_err(|e| self.explain(e))?.unwrap_or(0))
    }

    /// Calls `f` with row id, external id and body of every text, in the order of
    /// [`Order`], until it returns an error.
    ///
    /// # Errors
    /// The error of `f`, or an I/O error.
    pub fn for_each_body<E: From<StoreError>>(
        &self,
        mut f: impl FnMut(TextId, &str, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let explain = |e| self.explain(e);
        let by = if is_of_rows(self.conn).map_err(explain)? { "id" } else { TEXTS };
        let sql = format!("SELECT id, external_id, body FROM texts AS t ORDER BY {by}");
        let mut statement = self.conn.prepare_cached(&sql).map_err(explain)?;
        let mut rows = statement.query([]).map_err(explain)?;
        while let Some(row) = rows.next().map_err(explain)? {
            let read = |column| {
                row.get_ref(column).and_then(|value| value.as_str().map_err(|e| crate::row::bad(column, e)))
            };
            let (external_id, body) = (read(1).map_err(explain)?, read(2).map_err(explain)?);
            f(TextId(row.get(0).map_err(explain)?), external_id, body)?;
        }
        Ok(())
    }

    /// All metadata keys used by any text.
    pub fn metadata_keys(&self) -> Result<Vec<String>> {
        // Texts without metadata are skipped based on the length; in most projects no text has any.
        let sql = "SELECT DISTINCT j.key FROM texts AS t, json_each(t.metadata) AS j
                   WHERE length(t.metadata) > 2 ORDER BY j.key";
        all(self.conn, sql, [], |r| r.get(0)).map_err(|e| self.explain(e))
    }

    /// Calls `f` with every first-round answer that was not retracted, in the order in which they were
    /// appended or merged.
    ///
    /// # Errors
    /// The error of `f`, or an I/O error.
    pub fn for_each_unretracted_answer<E: From<StoreError>>(
        &self,
        mut f: impl FnMut(UnretractedAnswer) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let explain = |e| self.explain(e);
        // One scan of the current answers instead of a lookup for each: both lists are traversed in
        // order of ids.
        let mut current: Vec<u32> =
            all(self.conn, "SELECT event FROM current_answers WHERE occasion = 1", [], |r| r.get(0))
                .map_err(explain)?;
        current.sort_unstable();
        let mut current = current.into_iter().peekable();
        let sql = "SELECT replaces FROM events WHERE kind = 'retraction'";
        let retracted: HashSet<u32> =
            all(self.conn, sql, [], |r| r.get(0)).map_err(explain)?.into_iter().collect();
        let sql = "SELECT id, question, text, annotator, at_ms, level, content, source FROM events
                   WHERE kind = 'answer' AND occasion = 1 ORDER BY id";
        let mut statement = self.conn.prepare_cached(sql).map_err(explain)?;
        let mut rows = statement.query([]).map_err(explain)?;
        while let Some(row) = rows.next().map_err(explain)? {
            let id: u32 = row.get(0).map_err(explain)?;
            if !retracted.is_empty() && retracted.contains(&id) {
                continue;
            }
            while current.next_if(|next| *next < id).is_some() {}
            let question = QuestionId(row.get(1).map_err(explain)?);
            f(UnretractedAnswer {
                question,
                text: TextId(row.get(2).map_err(explain)?),
                annotator: AnnotatorId(row.get(3).map_err(explain)?),
                at_ms: row.get(4).map_err(explain)?,
                answer: answer(row, 5).map_err(explain)?,
                source: source(row, 7).map_err(explain)?,
                current: current.next_if_eq(&id).is_some(),
            })?;
        }
        Ok(())
    }

    /// The newest event of the project; `EventId(0)` if there is none.
    pub fn last_event(&self) -> Result<EventId> {
        last_event(self.conn).map_err(|e| self.explain(e))
    }

    /// Calls `f` with every label event of a question, until it returns an error; only one text is
    /// in memory at a time.
    ///
    /// # Errors
    /// The error of `f`, an I/O error, [`StoreError::Unknown`] if there is no such question, or
    /// [`StoreError::Damaged`] for an event with invalid references: no event is skipped.
    pub fn for_each_label<E: From<StoreError>>(
        &self,
        question: QuestionId,
        scope: ExportScope,
        mut f: impl FnMut(ExportRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let explain = |e| self.explain(e);
        let question = self
            .questions()?
            .into_iter()
            .find(|q| q.id == question)
            .ok_or_else(|| StoreError::Unknown { what: "question", name: question.0.to_string() })?;
        let annotators: HashMap<AnnotatorId, Annotator> =
            self.annotators()?.into_iter().map(|a| (a.id, a)).collect();
        let one_text = format!("SELECT {TEXT_COLUMNS} FROM texts WHERE id = ?1");
        let mut body: Option<Text> = None;
        let mut found = 0_u32;
        let of_rows = is_of_rows(self.conn).map_err(explain)?;
        let mut statement = self.conn.prepare_cached(&events_in(scope, of_rows)).map_err(explain)?;
        let mut rows = statement.query([question.id.0]).map_err(explain)?;
        while let Some(row) = rows.next().map_err(explain)? {
            let event = event(row).map_err(explain)?;
            if body.as_ref().is_none_or(|t| t.id != event.text) {
                body = first(self.conn, &one_text, [event.text.0], text).map_err(explain)?;
            }
            let damaged = |what: &str| self.damaged(format!("event {} {what}", event.id.0));
            let text = body.as_ref().ok_or_else(|| damaged("is on a text that is not there"))?;
            let annotator = annotators
                .get(&event.annotator)
                .ok_or_else(|| damaged("is of an annotator who is not there"))?;
            let level = match event.answer() {
                Some(answer) => {
                    let name = question.scale.name_of_answer(answer);
                    Some(name.ok_or_else(|| damaged("has an answer that is not on the scale"))?)
                }
                None => None,
            };
            f(ExportRow { event: &event, question: &question, text, annotator, level: level.as_deref() })?;
            found += 1;
        }
        let expected = if scope == ExportScope::Current { self.label_count(question.id)? } else { found };
        if found != expected {
            let detail = format!(
                "the question \"{}\" has {expected} current answers, and {found} of them have their event",
                question.name
            );
            return Err(self.damaged(detail).into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::{MIGRATIONS, apply};

    const PROJECT: &str = "INSERT INTO questions (name, prompt, scale) VALUES ('q', 'q', 'binary');
         INSERT INTO levels VALUES (1, 0, 'no'), (1, 1, 'yes');
         INSERT INTO texts (external_id, body) VALUES ('t1', 'one'), ('t2', 'two');
         INSERT INTO annotators (external_id, name) VALUES ('a', 'a'), ('b', 'b');
         INSERT INTO copies VALUES (1, x'00112233445566778899aabbccddeeff', 0);
         INSERT INTO events VALUES (1, 1, 1, 'answer', 1, 1, 1, 0, NULL, 'window', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1);
         INSERT INTO events VALUES (2, 1, 2, 'answer', 1, 2, 2, 5, NULL, 'window', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1);
         INSERT INTO current_answers VALUES (1, 1, 1, 1, 1, 1, NULL), (1, 1, 2, 2, 2, 0, NULL);";

    /// Two labels, then damaged by `damage`.
    fn project(damage: &str) -> Connection {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, MIGRATIONS, 0).unwrap();
        conn.execute_batch(PROJECT).unwrap();
        // Like a program that does not know our constraints.
        conn.execute_batch("PRAGMA foreign_keys = OFF; DROP TRIGGER events_are_not_changed").unwrap();
        conn.execute_batch(damage).unwrap();
        conn
    }

    fn exported(
        conn: &Connection,
        question: u32,
        scope: ExportScope,
    ) -> Result<Vec<(String, String, String)>> {
        let mut found = Vec::new();
        Snapshot { conn, path: Path::new("p.dissensus") }.for_each_label(
            QuestionId(question),
            scope,
            |row| {
                let name = |name: &str| name.to_owned();
                found.push((
                    name(&row.text.external_id),
                    name(&row.annotator.external_id),
                    row.level.map(|level| level.to_string()).unwrap_or_default(),
                ));
                Ok::<(), StoreError>(())
            },
        )?;
        Ok(found)
    }

    #[test]
    fn export_rows_have_text_annotator_and_level() {
        let row = |text: &str, annotator: &str, level: &str| (text.into(), annotator.into(), level.into());
        for scope in [ExportScope::Current, ExportScope::History] {
            let found = exported(&project(""), 1, scope).unwrap();
            assert_eq!(found, [row("t1", "a", "yes"), row("t2", "b", "no")], "{scope:?}");
        }
    }

    #[test]
    fn unresolvable_label_is_reported() {
        for (damage, detail) in [
            ("DELETE FROM texts WHERE id = 2", "event 2 is on a text that is not there"),
            ("DELETE FROM annotators WHERE id = 1", "event 1 is of an annotator who is not there"),
            ("UPDATE events SET level = 7 WHERE id = 2", "event 2 has an answer that is not on the scale"),
            (
                "UPDATE current_answers SET event = 9 WHERE text = 2",
                "the question \"q\" has 2 current answers, and 1 of them have their event",
            ),
        ] {
            match exported(&project(damage), 1, ExportScope::Current) {
                Err(StoreError::Damaged { path, detail: reported }) => {
                    assert_eq!((path.to_str(), reported.as_str()), (Some("p.dissensus"), detail), "{damage}");
                }
                other => panic!("{damage}: {other:?}"),
            }
        }
    }

    #[test]
    fn missing_question_and_empty_answer_are_reported() {
        let unknown = exported(&project(""), 5, ExportScope::Current).unwrap_err();
        assert_eq!(unknown.code(), "unknown", "{unknown}");
        let odd = "PRAGMA ignore_check_constraints = ON; UPDATE events SET level = NULL WHERE id = 1";
        let error = exported(&project(odd), 1, ExportScope::History).unwrap_err();
        assert_eq!(error.code(), "project-damaged", "{error}");
    }

    #[test]
    fn callers_first_error_stops_the_export() {
        let conn = project("");
        let mut seen = 0;
        let ended = Snapshot { conn: &conn, path: Path::new("p") }.for_each_label(
            QuestionId(1),
            ExportScope::Current,
            |_| {
                seen += 1;
                Err(StoreError::Closed("here".into()))
            },
        );
        assert_eq!((ended.unwrap_err().code(), seen), ("project-closed", 1));
    }
}
