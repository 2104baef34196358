//! The order in which items are listed in files: the order in which they were added. It is the same
//! in all copies that merged each other, unlike row ids.

use crate::tx::{all, first};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use rusqlite::Connection;
use std::collections::HashMap;

/// Columns by which texts, questions and annotators are ordered.
pub(crate) const TEXTS: &str = "t.noted_at_ms, coalesce(t.position, t.id), t.external_id";
pub(crate) const QUESTIONS: &str = "q.noted_at_ms, coalesce(q.position, q.id), q.name";
pub(crate) const ANNOTATORS: &str = "coalesce(a.position, a.id), a.external_id";

/// The positions of texts, questions and annotators; equal to row ids unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    texts: Option<HashMap<u32, u32>>,
    questions: Option<HashMap<u32, u32>>,
    annotators: Option<HashMap<u32, u32>>,
}

fn place(places: Option<&HashMap<u32, u32>>, id: u32) -> u32 {
    places.map_or(id, |places| places.get(&id).copied().unwrap_or(u32::MAX))
}

impl Order {
    pub(crate) fn read(c: &Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            texts: places(c, &format!("SELECT t.id FROM texts AS t ORDER BY {TEXTS}"))?,
            questions: places(c, &format!("SELECT q.id FROM questions AS q ORDER BY {QUESTIONS}"))?,
            annotators: places(c, &format!("SELECT a.id FROM annotators AS a ORDER BY {ANNOTATORS}"))?,
        })
    }

    /// The position of something about these.
    pub fn of(&self, question: QuestionId, text: TextId, annotator: AnnotatorId) -> (u32, u32, u32) {
        (self.question(question), self.text(text), self.annotator(annotator))
    }

    pub fn question(&self, question: QuestionId) -> u32 {
        place(self.questions.as_ref(), question.row().0)
    }

    pub fn text(&self, text: TextId) -> u32 {
        place(self.texts.as_ref(), text.0)
    }

    pub fn annotator(&self, annotator: AnnotatorId) -> u32 {
        place(self.annotators.as_ref(), annotator.0)
    }
}

/// The position of each row id; `None` if they are in the order of row ids.
fn places(c: &Connection, sql: &str) -> rusqlite::Result<Option<HashMap<u32, u32>>> {
    let rows = all(c, sql, [], |r| r.get::<_, u32>(0))?;
    match rows.is_sorted() {
        true => Ok(None),
        false => Ok(Some(rows.into_iter().zip(1..).collect())),
    }
}

/// Whether texts and annotators are listed in the order of their row ids.
pub(crate) fn is_of_rows(c: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM annotators WHERE position IS NOT NULL)
                   OR EXISTS (SELECT 1 FROM texts WHERE position IS NOT NULL)
                   OR EXISTS (SELECT 1 FROM (SELECT noted_at_ms < lag(noted_at_ms) OVER (ORDER BY id) AS back FROM texts) WHERE back)";
    Ok(!first(c, sql, [], |r| r.get::<_, bool>(0))?.unwrap_or(true))
}
