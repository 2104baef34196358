//! Decisions about texts, stored in addition to labels.

use crate::level_order::LevelOrder;
use crate::places::Places;
use crate::row::bad;
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{Answer, Decision, QuestionId, TextId};
use rusqlite::{Connection, Row};

const COLUMNS: &str = "question, text, at_ms, outcome, answer, comment, decided_by";

fn decision(row: &Row<'_>) -> rusqlite::Result<Decision> {
    let answer: String = row.get(4)?;
    let answer: Option<Answer> = match answer.as_str() {
        "" => None,
        json => Some(serde_json::from_str(json).map_err(|e| bad(4, e))?),
    };
    Ok(Decision {
        question: QuestionId(row.get(0)?),
        text: TextId(row.get(1)?),
        at_ms: row.get(2)?,
        outcome: row.get::<_, String>(3)?.parse().map_err(|e| bad(3, e))?,
        answer,
        comment: row.get(5)?,
        by: row.get(6)?,
    })
}

/// Converts levels from row ids to positions.
fn with_places(c: &Connection, mut decisions: Vec<Decision>) -> rusqlite::Result<Vec<Decision>> {
    let places = Places::read(c)?;
    for decision in &mut decisions {
        decision.answer = decision.answer.take().map(|answer| places.shown(decision.question, answer));
    }
    Ok(decisions)
}

/// The decisions of a question on one text or all texts, by text, each group ordered from oldest to
/// latest. Decisions with equal times, which can come from separate copies, are ordered by their
/// columns, with answers ordered by [`LevelOrder`], which is the same in every copy.
fn of_question(
    c: &Connection,
    question: QuestionId,
    text: Option<TextId>,
) -> rusqlite::Result<Vec<Decision>> {
    let of_text = if text.is_some() { "AND text = ?2" } else { "AND ?2 IS NULL" };
    let sql = format!(
        "SELECT {COLUMNS} FROM decisions WHERE question = ?1 {of_text}
         ORDER BY text, at_ms, outcome, answer, comment, decided_by"
    );
    let mut found = all(c, &sql, (question.row().0, text.map(|text| text.0)), decision)?;
    let order = LevelOrder::read(c)?;
    if !order.is_of_rows() {
        found.sort_by_cached_key(|one| {
            let answer = one.answer.as_ref().map(|answer| order.key(question, answer));
            let rest = (answer.unwrap_or_default(), one.comment.clone(), one.by.clone());
            (one.text, one.at_ms, one.outcome.name(), rest)
        });
    }
    with_places(c, found)
}

impl WriteTx<'_> {
    /// Adds a decision. It takes effect for its text immediately, whatever the clock shows.
    ///
    /// # Errors
    /// There is no such question or text, or the answer is not on the scale.
    pub fn decide(&mut self, new: &Decision) -> Result<()> {
        let sql = "SELECT max(at_ms) FROM decisions WHERE question = ?1 AND text = ?2";
        let newest: Option<i64> = self.first(sql, (new.question.0, new.text.0), |r| r.get(0))?.flatten();
        let at_ms = newest.map_or(new.at_ms, |newest| new.at_ms.max(newest.saturating_add(1)));
        self.add_decision(&Decision { at_ms, ..new.clone() }).map(drop)
    }

    /// Adds a decision as a fact. Returns whether it was new.
    pub(crate) fn add_decision(&mut self, new: &Decision) -> Result<bool> {
        let unknown = |what, id: u32| StoreError::Unknown { what, name: id.to_string() };
        let question = self.question(new.question)?.ok_or_else(|| unknown("question", new.question.0))?;
        if self.first("SELECT 1 FROM texts WHERE id = ?1", [new.text.0], |_| Ok(()))?.is_none() {
            return Err(unknown("text", new.text.0));
        }
        let answer = match &new.answer {
            None => String::new(),
            Some(answer) => {
                let off = |source| StoreError::OffScale { question: new.question, source };
                answer.check(&question.scale).map_err(off)?;
                if *answer == Answer::CannotSay {
                    let why = "name a level: that somebody cannot say is none".to_owned();
                    return Err(StoreError::Invalid { what: format!("answer to {}", question.name), why });
                }
                self.spans_within(new.question, new.text, answer)?;
                self.answer_json(new.question, answer)?
            }
        };
        let sql = format!(
            "INSERT INTO decisions ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING"
        );
        let by = self.name_or_nobody(&new.by)?;
        let row = (new.question.0, new.text.0, new.at_ms, new.outcome.name(), answer, &new.comment, by);
        Ok(self.run(&sql, row).map_err(|e| self.explain("adding a decision", e))? > 0)
    }
}

impl Store {
    /// All decisions for a question, by text; the last one of each text is in effect.
    pub fn decisions(&self, question: QuestionId) -> Result<Vec<Decision>> {
        self.read("reading decisions", |c| of_question(c, question, None))
    }

    /// Like [`Store::decisions`], for one text.
    pub fn decisions_on_text(&self, question: QuestionId, text: TextId) -> Result<Vec<Decision>> {
        self.read("reading decisions", |c| of_question(c, question, Some(text)))
    }

    pub(crate) fn all_decisions(&self) -> Result<Vec<Decision>> {
        let sql = format!("SELECT {COLUMNS} FROM decisions");
        self.read("reading decisions", |c| with_places(c, all(c, &sql, [], decision)?))
    }
}
