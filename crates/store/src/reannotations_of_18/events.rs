//! Appends the events of re-annotations, named by what they say.

use super::former::{Moved, Note, Reannotation};
use crate::identity::id_of_content;
use crate::row::bad;
use crate::tx::{all, first};
use dissensus_domain::Answer;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use uuid::Uuid;

/// What an event says, besides the answer's round and source.
pub(super) enum Said<'a> {
    /// The answer, or that it counts again since a time.
    Answer {
        again_since: Option<i64>,
    },
    Retraction {
        of: Moved,
        at_ms: i64,
    },
    Note {
        at_ms: i64,
        note: &'a Note,
    },
}

/// Writes events.
pub(super) struct Writing<'a> {
    pub(super) conn: &'a Connection,
    pub(super) project: Uuid,
    pub(super) next: u32,
    /// The initial names of the levels of each question, by row id.
    pub(super) levels: HashMap<u32, HashMap<u16, String>>,
}

impl Writing<'_> {
    /// Appends an event about an answer, unless it is there.
    pub(super) fn append(&mut self, of: &Reannotation, said: &Said<'_>) -> rusqlite::Result<Moved> {
        let none = Note::default();
        let (kind, at_ms, note, replaces) = match said {
            Said::Answer { again_since } => {
                let over = if again_since.is_some() { of.moved.last().copied() } else { of.over };
                ("answer", of.at_ms, of.own.as_ref().unwrap_or(&none), over)
            }
            Said::Retraction { of, at_ms } => ("retraction", *at_ms, &none, Some(*of)),
            Said::Note { at_ms, note } => ("note", *at_ms, *note, None),
        };
        let is_answer = kind == "answer";
        let again_since = if let Said::Answer { again_since } = said { *again_since } else { None };
        let (question, text, annotator, occasion) = of.round;
        let wording = if is_answer { of.wording.as_slice() } else { &[] };
        let content = json!([
            kind,
            self.name("SELECT name FROM questions WHERE id = ?1", question)?,
            self.name("SELECT external_id FROM texts WHERE id = ?1", text)?,
            self.name("SELECT external_id FROM annotators WHERE id = ?1", annotator)?,
            occasion,
            at_ms,
            of.source.name(),
            self.named(question, &of.answer)?,
            note.says(),
            [note.guideline.as_slice(), wording],
            replaces.map(|other| other.copy.to_string()),
            again_since,
        ]);
        let mut hash = Sha256::new_with_prefix("dissensus re-annotation");
        hash.update(self.project);
        hash.update(content.to_string());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.finalize()[..16]);
        let copy = id_of_content(bytes);
        let there = "SELECT e.id FROM copies AS c JOIN events AS e ON e.copy = c.id WHERE c.uid = ?1";
        if let Some(row) = first(self.conn, there, [copy], |r| r.get(0))? {
            return Ok(Moved { row, copy, retracted: false });
        }
        self.conn
            .prepare_cached("INSERT INTO copies (uid, made_at_ms) VALUES (?1, ?2)")?
            .execute((copy, at_ms))?;
        let (level, content) = match &of.answer {
            _ if !is_answer => (None, None),
            Answer::Level(level) => (Some(level.0), None),
            other => (None, Some(serde_json::to_string(other).map_err(|e| bad(5, e))?)),
        };
        let sql = "INSERT INTO events (id, copy, sequence, kind, question, text, annotator, occasion, at_ms, source, level, content,
                       replaces, note, reasons, confidence, guideline, wording)
                   VALUES (?1, last_insert_rowid(), 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
                       (SELECT id FROM guidelines WHERE uid = ?15), (SELECT id FROM wordings WHERE uid = ?16))";
        self.conn.prepare_cached(sql)?.execute(params![
            self.next,
            kind,
            question,
            text,
            annotator,
            occasion,
            at_ms,
            of.source.name(),
            level,
            content,
            replaces.map(|other| other.row),
            Some(note.note.as_str()).filter(|note| !note.is_empty()),
            note.reasons(),
            Some(note.confidence).filter(|sure| *sure > 0),
            note.guideline,
            wording,
        ])?;
        self.next += 1;
        Ok(Moved { row: self.next - 1, copy, retracted: false })
    }

    fn name(&self, sql: &str, row: u32) -> rusqlite::Result<String> {
        first(self.conn, sql, [row], |r| r.get(0))?.ok_or(rusqlite::Error::QueryReturnedNoRows)
    }

    /// An answer with the initial names of its levels, which are the same in all copies.
    fn named(&mut self, question: u32, answer: &Answer) -> rusqlite::Result<Value> {
        if !self.levels.contains_key(&question) {
            let sql = "SELECT level, name FROM levels WHERE question = ?1";
            let names = all(self.conn, sql, [question], |r| Ok((r.get(0)?, r.get(1)?)))?;
            self.levels.insert(question, names.into_iter().collect());
        }
        let name = |level: u16| self.levels[&question].get(&level).map_or("", String::as_str);
        Ok(match answer {
            Answer::CannotSay => Value::Null,
            Answer::Level(level) => name(level.0).into(),
            Answer::Options(set) => {
                let mut names: Vec<&str> = set.iter().map(|option| name(option.into())).collect();
                names.sort_unstable();
                json!(names)
            }
            Answer::Spans(spans) => {
                let spans = spans.as_slice().iter();
                let mut named: Vec<_> = spans.map(|span| (span.start, span.end, name(span.kind.0))).collect();
                named.sort_unstable();
                json!({ "spans": named })
            }
        })
    }

    /// Appends what happened to an answer after it was given, in the order of time.
    pub(super) fn append_later(&mut self, of: &mut Reannotation) -> rusqlite::Result<()> {
        for (at_ms, note) in of.notes.clone() {
            let mark = self.append(of, &Said::Note { at_ms, note: &note })?;
            of.marks.push((at_ms, mark.copy, note));
        }
        for (at_ms, counts) in of.changes.clone() {
            if counts {
                let again = self.append(of, &Said::Answer { again_since: Some(at_ms) })?;
                of.moved.push(again);
                continue;
            }
            let standing: Vec<usize> = (0..of.moved.len()).filter(|at| !of.moved[*at].retracted).collect();
            // Copies may have retracted the same answer apart.
            let last = standing.is_empty().then(|| of.moved.len() - 1);
            for at in standing.into_iter().chain(last) {
                let rolled_back = of.moved[at];
                self.append(of, &Said::Retraction { of: rolled_back, at_ms })?;
                of.moved[at].retracted = true;
            }
        }
        Ok(())
    }
}
