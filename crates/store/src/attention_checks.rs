//! Attention checks: texts with a known right answer.

use crate::level_order::LevelOrder;
use crate::places::Places;
use crate::row::bad;
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{Answer, AttentionCheck, QuestionId, TextId};
use rusqlite::{Connection, Row};

const COLUMNS: &str = "question, text, at_ms, answer, reason";

fn check(row: &Row<'_>) -> rusqlite::Result<AttentionCheck> {
    let answer: String = row.get(3)?;
    let answer: Option<Answer> = match answer.as_str() {
        "" => None,
        json => Some(serde_json::from_str(json).map_err(|e| bad(3, e))?),
    };
    Ok(AttentionCheck {
        question: QuestionId(row.get(0)?),
        text: TextId(row.get(1)?),
        at_ms: row.get(2)?,
        answer,
        reason: row.get(4)?,
    })
}

/// All facts by question and text, each group ordered from oldest to latest. Facts with equal
/// times, which can come from separate copies, are ordered by their columns, with answers ordered
/// by [`LevelOrder`].
fn every(c: &Connection) -> rusqlite::Result<Vec<AttentionCheck>> {
    let sql =
        format!("SELECT {COLUMNS} FROM attention_checks ORDER BY question, text, at_ms, answer, reason");
    let mut found = all(c, &sql, [], check)?;
    let (places, order) = (Places::read(c)?, LevelOrder::read(c)?);
    if !order.is_of_rows() {
        found.sort_by_cached_key(|one| {
            let answer = one.answer.as_ref().map(|answer| order.key(one.question, answer));
            (one.question, one.text, one.at_ms, answer.unwrap_or_default(), one.reason.clone())
        });
    }
    for one in &mut found {
        one.answer = one.answer.take().map(|answer| places.shown(one.question, answer));
    }
    Ok(found)
}

impl WriteTx<'_> {
    /// Sets or, with `None`, removes the right answer to a question about a text. It takes effect
    /// immediately, whatever the clock shows.
    ///
    /// # Errors
    /// There is no such question or text, or the answer is not on the scale.
    pub fn set_attention_check(&mut self, new: &AttentionCheck) -> Result<()> {
        let sql = "SELECT max(at_ms) FROM attention_checks WHERE question = ?1 AND text = ?2";
        let newest: Option<i64> = self.first(sql, (new.question.0, new.text.0), |r| r.get(0))?.flatten();
        let at_ms = newest.map_or(new.at_ms, |newest| new.at_ms.max(newest.saturating_add(1)));
        self.add_attention_check(&AttentionCheck { at_ms, ..new.clone() }).map(drop)
    }

    /// Adds the check as a fact. Returns whether it was new.
    pub(crate) fn add_attention_check(&mut self, new: &AttentionCheck) -> Result<bool> {
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
            "INSERT INTO attention_checks ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING"
        );
        let row = (new.question.0, new.text.0, new.at_ms, answer, &new.reason);
        Ok(self.run(&sql, row).map_err(|e| self.explain("setting an attention check", e))? > 0)
    }
}

impl Store {
    /// The attention checks in effect, by question and text.
    pub fn attention_checks(&self) -> Result<Vec<AttentionCheck>> {
        let mut found = self.all_attention_checks()?;
        // `dedup_by_key` keeps the first item of each group, so the order is reversed.
        found.reverse();
        found.dedup_by_key(|check| (check.question, check.text));
        found.reverse();
        found.retain(|check| check.answer.is_some());
        Ok(found)
    }

    /// All facts about attention checks.
    pub(crate) fn all_attention_checks(&self) -> Result<Vec<AttentionCheck>> {
        self.read("reading the attention checks", every)
    }
}
