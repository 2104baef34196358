//! Origins of re-annotations, and the wordings of the questions under which they were given. They
//! are facts, which copies merge.

use crate::repeat::{Origin, Repeat};
use crate::repeat_remarks::RepeatKey;
use crate::row::{bad, json, source, to_json};
use crate::tx::all;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{AnnotatorId, QuestionId, TextId, WordingId};
use rusqlite::{Connection, Row, params};
use std::collections::HashMap;
use uuid::Uuid;

/// Reads a wording from a column that is empty if the wording is unknown.
fn wording(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<WordingId>> {
    let bytes: Vec<u8> = row.get(column)?;
    match bytes.as_slice() {
        [] => Ok(None),
        bytes => Uuid::from_slice(bytes).map(|id| Some(WordingId(id))).map_err(|e| bad(column, e)),
    }
}

/// The recorded origins of re-annotations of a question, on one text or on all texts.
pub(crate) fn origins_of(
    c: &Connection,
    question: QuestionId,
    text: Option<TextId>,
) -> rusqlite::Result<HashMap<RepeatKey, Origin>> {
    let of_text = if text.is_some() { "AND text = ?2" } else { "AND ?2 IS NULL" };
    let sql = format!(
        "SELECT text, annotator, occasion, at_ms, answer, source, wording FROM repeat_origins WHERE question = ?1 {of_text}"
    );
    let mut found: HashMap<RepeatKey, Origin> = HashMap::new();
    for (key, origin) in all(c, &sql, (question.row().0, text.map(|text| text.0)), |r| {
        let key = (TextId(r.get(0)?), AnnotatorId(r.get(1)?), r.get(2)?, r.get(3)?, r.get(4)?);
        Ok((key, Origin { source: source(r, 5)?, wording: wording(r, 6)? }))
    })? {
        found.entry(key).and_modify(|known| *known = known.with(origin)).or_insert(origin);
    }
    Ok(found)
}

impl WriteTx<'_> {
    /// Records source and wording of an existing answer.
    pub(crate) fn add_repeat_origin(&self, of: &Repeat) -> Result<()> {
        let answer = to_json("an answer", &of.answer)?;
        let wording = of.wording.map(|id| id.0.as_bytes().to_vec()).unwrap_or_default();
        let row = params![
            of.question.0,
            of.text.0,
            of.annotator.0,
            of.occasion,
            of.at_ms,
            answer,
            of.source.name(),
            wording
        ];
        let sql =
            "INSERT INTO repeat_origins (question, text, annotator, occasion, at_ms, answer, source, wording)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";
        self.run(sql, row).map(drop).map_err(|e| self.explain("noting where an answer came from", e))
    }

    /// The wording recorded for exactly this answer.
    pub(crate) fn wording_of_repeat(&self, of: &Repeat) -> Result<Option<WordingId>> {
        let answer = to_json("an answer", &of.answer)?;
        let sql = "SELECT max(wording) FROM repeat_origins
                   WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = ?4 AND at_ms = ?5 AND answer = ?6 AND wording <> x''";
        let key = (of.question.0, of.text.0, of.annotator.0, of.occasion, of.at_ms, answer);
        let found: Option<Option<Uuid>> = self.first(sql, key, |r| r.get(0))?;
        Ok(found.flatten().map(WordingId))
    }
}

impl Store {
    /// All recorded origins, each as the answer with that source and wording.
    pub(crate) fn all_repeat_origins(&self) -> Result<Vec<Repeat>> {
        let sql =
            "SELECT question, text, annotator, occasion, at_ms, answer, source, wording FROM repeat_origins";
        self.read("reading where answers came from", |c| {
            all(c, sql, [], |r| {
                let question = QuestionId(r.get(0)?);
                Ok(Repeat {
                    question,
                    text: TextId(r.get(1)?),
                    annotator: AnnotatorId(r.get(2)?),
                    occasion: r.get(3)?,
                    at_ms: r.get(4)?,
                    answer: json(r, 5)?,
                    source: source(r, 6)?,
                    details: Default::default(),
                    wording: wording(r, 7)?,
                })
            })
        })
    }
}
