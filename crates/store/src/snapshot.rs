//! Several reads at one moment.

use crate::annotators::annotator;
use crate::export::{ExportRow, ExportScope, events_in};
use crate::questions::by_name;
use crate::row::{answer, event};
use crate::texts::{TEXT_COLUMNS, text};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError};
use dissensus_domain::{Annotator, AnnotatorId, Answer, Question, QuestionId, Text, TextId};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The project as it was when the snapshot was taken, whatever is written meanwhile.
pub struct Snapshot<'a> {
    conn: &'a Connection,
    path: &'a Path,
}

/// An answer that was not taken back, whether a later one replaces it or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingAnswer {
    /// The question answered.
    pub question: QuestionId,
    /// The text judged.
    pub text: TextId,
    /// Who judged.
    pub annotator: AnnotatorId,
    /// The answer.
    pub answer: Answer,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
}

impl Store {
    /// Runs `read` on the project as it is now. A snapshot keeps the journal from being brought into the file, so it should not be
    /// held while somebody is waited for.
    ///
    /// # Errors
    /// What `read` returns, or what the disk says.
    pub fn snapshot<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Snapshot<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.read_with(|conn, explain| {
            // It begins with the first read and ends when it is dropped; nothing is written.
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

    fn damaged(&self, detail: String) -> StoreError {
        StoreError::Damaged { path: self.path.to_owned(), detail }
    }

    /// Every question, in row order.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn questions(&self) -> Result<Vec<Question>> {
        let names = all(self.conn, "SELECT name FROM questions ORDER BY id", [], |r| r.get::<_, String>(0))
            .map_err(|e| self.explain(e))?;
        let questions = names.iter().filter_map(|name| by_name(self.conn, name).transpose());
        questions.collect::<rusqlite::Result<_>>().map_err(|e| self.explain(e))
    }

    /// Every annotator, in row order.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn annotators(&self) -> Result<Vec<Annotator>> {
        let sql = "SELECT id, external_id, name, attributes, simulated FROM annotators ORDER BY id";
        all(self.conn, sql, [], annotator).map_err(|e| self.explain(e))
    }

    /// How many current labels a question has.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn label_count(&self, question: QuestionId) -> Result<u32> {
        let sql = "SELECT count(*) FROM current_answers WHERE question = ?1";
        Ok(first(self.conn, sql, [question.0], |r| r.get(0)).map_err(|e| self.explain(e))?.unwrap_or(0))
    }

    /// Hands row, external id and body of every text in row order to `f`, until it returns an error.
    ///
    /// # Errors
    /// What `f` returns, or what the disk says.
    pub fn for_each_body<E: From<StoreError>>(
        &self,
        mut f: impl FnMut(TextId, &str, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let explain = |e| self.explain(e);
        let sql = "SELECT id, external_id, body FROM texts ORDER BY id";
        let mut statement = self.conn.prepare_cached(sql).map_err(explain)?;
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

    /// Every key of metadata that a text has.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn metadata_keys(&self) -> Result<Vec<String>> {
        // Texts without metadata are told by their length: most projects have nothing but those.
        let sql = "SELECT DISTINCT j.key FROM texts AS t, json_each(t.metadata) AS j
                   WHERE length(t.metadata) > 2 ORDER BY j.key";
        all(self.conn, sql, [], |r| r.get(0)).map_err(|e| self.explain(e))
    }

    /// Hands every answer that was not taken back to `f`, in the order in which they were appended or taken in.
    ///
    /// # Errors
    /// What `f` returns, or what the disk says.
    pub fn for_each_standing_answer<E: From<StoreError>>(
        &self,
        mut f: impl FnMut(StandingAnswer) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let explain = |e| self.explain(e);
        let sql = "SELECT replaces FROM events WHERE kind = 'retraction'";
        let retracted: HashSet<u32> =
            all(self.conn, sql, [], |r| r.get(0)).map_err(explain)?.into_iter().collect();
        let sql = "SELECT id, question, text, annotator, at_ms, level, content FROM events
                   WHERE kind = 'answer' ORDER BY id";
        let mut statement = self.conn.prepare_cached(sql).map_err(explain)?;
        let mut rows = statement.query([]).map_err(explain)?;
        while let Some(row) = rows.next().map_err(explain)? {
            if !retracted.is_empty() && retracted.contains(&row.get(0).map_err(explain)?) {
                continue;
            }
            f(StandingAnswer {
                question: QuestionId(row.get(1).map_err(explain)?),
                text: TextId(row.get(2).map_err(explain)?),
                annotator: AnnotatorId(row.get(3).map_err(explain)?),
                at_ms: row.get(4).map_err(explain)?,
                answer: answer(row, 5).map_err(explain)?,
            })?;
        }
        Ok(())
    }

    /// Hands every label event of a question to `f`, until it returns an error; one text is held at a time.
    ///
    /// # Errors
    /// What `f` returns, what the disk says, [`StoreError::Unknown`] where there is no such question, or
    /// [`StoreError::Damaged`] for an event that cannot be named: no event is left out.
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
        let mut statement = self.conn.prepare_cached(&events_in(scope)).map_err(explain)?;
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
            f(ExportRow { event: &event, question: &question, text, annotator, level })?;
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
