//! Questions and their scales.

use crate::deleting::next_row;
use crate::error::is_duplicate;
use crate::levels::{latest_levels, rows_of};
use crate::log::{conditions, note_form, renamed};
use crate::row::{bad, json};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{FactKind, NoteForm, Question, QuestionHelp, QuestionId, Scale, ScaleKind};
use rusqlite::Connection;
use serde::de::DeserializeOwned;

/// A question to add. See [`Question`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewQuestion {
    /// Short name used on the command line; unique in the project.
    pub name: String,
    /// The sentence shown to annotators.
    pub prompt: String,
    pub scale: Scale,
}

impl WriteTx<'_> {
    /// Finds a question, with its scale, by name.
    pub fn question_by_name(&self, name: &str) -> Result<Option<Question>> {
        by_name(self.conn, name).map_err(|e| self.explain("reading a question", e))
    }

    pub(crate) fn question(&self, id: QuestionId) -> Result<Option<Question>> {
        let name =
            self.first("SELECT name FROM questions WHERE id = ?1", [id.0], |r| r.get::<_, String>(0))?;
        name.map_or(Ok(None), |name| self.question_by_name(&name))
    }

    /// Adds a question with its levels without a time: if another copy of the project added it with
    /// a time, the prompt of that copy takes precedence.
    ///
    /// # Errors
    /// The name is taken or empty.
    pub fn add_question(&mut self, new: &NewQuestion) -> Result<QuestionId> {
        self.add_question_at(new, 0)
    }

    /// Adds a question with its levels. If another copy of the project adds it too, the later
    /// prompt takes precedence.
    ///
    /// # Errors
    /// The name is taken or empty.
    pub fn add_question_at(&mut self, new: &NewQuestion, at_ms: i64) -> Result<QuestionId> {
        if new.name.is_empty() {
            return Err(StoreError::Invalid {
                what: "question".to_owned(),
                why: "it must have a name".to_owned(),
            });
        }
        let explain = |e: rusqlite::Error| match is_duplicate(&e) {
            true => StoreError::Duplicate { what: "question", name: new.name.clone() },
            false => self.explain("adding a question", e),
        };
        let id = self
            .insert(
                &format!(
                    "INSERT INTO questions (id, name, prompt, scale, noted_at_ms) VALUES ({}, ?1, ?2, ?3, ?4)",
                    next_row("questions")
                ),
                (&new.name, &new.prompt, new.scale.kind().name_in_file(), at_ms),
            )
            .map_err(explain)?;
        for (level, name) in (0_u16..).zip(new.scale.levels()) {
            self.run("INSERT INTO levels (question, level, name) VALUES (?1, ?2, ?3)", (id, level, name))
                .map_err(explain)?;
        }
        Ok(QuestionId(id))
    }
}

impl Store {
    /// All questions, by row id.
    pub fn questions(&self) -> Result<Vec<Question>> {
        self.read("reading the questions", |c| {
            let names = all(c, "SELECT name FROM questions ORDER BY id", [], |r| r.get::<_, String>(0))?;
            names.iter().filter_map(|name| by_name(c, name).transpose()).collect()
        })
    }

    /// Finds a question by name.
    pub fn question_by_name(&self, name: &str) -> Result<Option<Question>> {
        self.read("reading a question", |c| by_name(c, name))
    }
}

/// Reads the current state of a question.
pub(crate) fn by_name(conn: &Connection, name: &str) -> rusqlite::Result<Option<Question>> {
    let Some(found) = as_added(conn, name)? else { return Ok(None) };
    let only_if = conditions(conn)?.remove(&found.id);
    let note_form = note_form(conn, found.id)?;
    let (scale, definitions) = match latest_levels(conn, found.id)? {
        Some(levels) => {
            let names = levels.levels.iter().map(|level| level.name.as_str());
            let rows = rows_of(conn, found.id, &levels)?;
            let scale = Scale::with_ids(found.scale.kind(), names, rows).map_err(|e| bad(3, e))?;
            (scale, levels.levels.into_iter().map(|level| level.definition).collect())
        }
        None => (renamed(conn, found.id, found.scale)?, Vec::new()),
    };
    let prompt = latest_prompt(conn, found.id)?.unwrap_or(found.prompt);
    let help = latest(conn, FactKind::Help, found.id)?.unwrap_or_default();
    let cannot_say = latest(conn, FactKind::CannotSay, found.id)?.unwrap_or(false);
    Ok(Some(Question { prompt, help, definitions, cannot_say, scale, only_if, note_form, ..found }))
}

/// The latest prompt, unless it was set before the question was added, which another copy may have
/// done later.
fn latest_prompt(conn: &Connection, question: QuestionId) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT value FROM facts WHERE kind = 'prompt' AND coalesce(question, 0) = ?1
               AND at_ms >= (SELECT noted_at_ms FROM questions WHERE id = ?1) ORDER BY at_ms DESC, value DESC LIMIT 1";
    Ok(first(conn, sql, [question.0], |r| json::<Option<String>>(r, 0))?.flatten())
}

/// The latest value of a setting of a question, if it was ever set.
fn latest<T: DeserializeOwned>(
    conn: &Connection,
    kind: FactKind,
    question: QuestionId,
) -> rusqlite::Result<Option<T>> {
    let sql = "SELECT value FROM facts WHERE kind = ?1 AND coalesce(question, 0) = ?2
               ORDER BY at_ms DESC, value DESC LIMIT 1";
    Ok(first(conn, sql, (kind.name(), question.0), |r| json::<Option<T>>(r, 0))?.flatten())
}

/// A question in the state in which it was added, by which copies identify it.
pub(crate) fn as_added(conn: &Connection, name: &str) -> rusqlite::Result<Option<Question>> {
    let row = first(conn, "SELECT id, name, prompt, scale FROM questions WHERE name = ?1", [name], |r| {
        Ok((r.get::<_, u32>(0)?, r.get(1)?, r.get(2)?, r.get::<_, String>(3)?))
    })?;
    let Some((id, name, prompt, kind)) = row else { return Ok(None) };
    // Levels added later have greater row ids.
    let sql = "SELECT json_extract(value, '$.began') FROM facts WHERE kind = 'levels' AND coalesce(question, 0) = ?1 LIMIT 1";
    let began: Option<u16> = first(conn, sql, [id], |r| r.get(0))?;
    let sql = "SELECT name FROM levels WHERE question = ?1 AND level < ?2 ORDER BY level";
    let levels = all(conn, sql, (id, began.unwrap_or(u16::MAX)), |r| r.get::<_, String>(0))?;
    let kind: ScaleKind = kind.parse().map_err(|e| bad(3, e))?;
    let scale = Scale::new(kind, levels).map_err(|e| bad(3, e))?;
    Ok(Some(Question {
        id: QuestionId(id),
        name,
        prompt,
        help: QuestionHelp::default(),
        scale,
        definitions: Vec::new(),
        cannot_say: false,
        only_if: None,
        note_form: NoteForm::default(),
    }))
}
