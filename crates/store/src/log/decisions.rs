//! Decisions about texts, stored in addition to labels.

use super::attention_checks::check_right_answer;
use super::{About, Kind, Listed, SETTING, Submitted, checked, read, select};
use crate::dependents::Use;
use crate::levels::answer_with_levels;
use crate::{Done, Result, Store, WriteTx};
use dissensus_domain::{Answer, Decision, Fact, FactKind, Outcome, QuestionId, TextId};
use rusqlite::{Connection, Params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The value: an answer names levels by row id.
#[derive(Serialize, Deserialize)]
struct DecisionValue {
    answer: Option<Answer>,
    by: String,
    comment: String,
    outcome: Outcome,
}

pub(super) const KIND: Kind = Kind {
    about: About::Text,
    title: |fact| ("decision", fact.at_ms.to_string()),
    check: |tx, fact| {
        let DecisionValue { answer, .. } = checked(fact)?;
        check_right_answer(tx, fact, answer)
    },
    with_levels: answer_with_levels,
    order: |value, _| {
        let DecisionValue { answer, by, comment, outcome } = read(value)?;
        let answer = answer.and_then(|answer| serde_json::to_string(&answer).ok()).unwrap_or_default();
        Ok([outcome.name(), &answer, &comment, &by].join("\0"))
    },
    submitted: Submitted::No,
    count: |report| &mut report.decisions,
    used: Some(|used| &mut used.decisions),
    listed: Some(Listed {
        words: "json_extract(value, '$.comment')",
        signed: "json_extract(value, '$.by')",
        ..Listed::new("'decision'")
    }),
    done: |_, fact| {
        let DecisionValue { answer, comment, outcome, .. } = read(&fact.value)?;
        Ok(Done::Decision { outcome: outcome.name().to_owned(), answer, comment })
    },
    keeps: Some(Use::Decisions),
    without_withdrawn: Some(|tx, mut value| {
        if let Some(by) = value.get("by").and_then(Value::as_str) {
            value["by"] = tx.name_unless_withdrawn(by)?.into();
        }
        Ok(value)
    }),
    ..SETTING
};

fn decisions(c: &Connection, which: &str, params: impl Params) -> rusqlite::Result<Vec<Decision>> {
    let mut found = Vec::new();
    for Fact { question, text, at_ms, value, .. } in select(c, which, params)? {
        let (Some(question), Some(text)) = (question, text) else { continue };
        let DecisionValue { answer, by, comment, outcome } = read(&value)?;
        found.push(Decision { question, text, at_ms, outcome, answer, comment, by });
    }
    Ok(found)
}

impl WriteTx<'_> {
    /// Adds a decision. It takes effect for its text immediately, whatever the clock shows.
    ///
    /// # Errors
    /// There is no such question or text, or the answer is not on the scale.
    pub fn decide(&mut self, new: &Decision) -> Result<()> {
        let Decision { question, text, at_ms, outcome, answer, comment, by } = new.clone();
        let value = json!(DecisionValue { answer, by, comment, outcome });
        let (question, text) = (Some(question), Some(text));
        self.note_fact(&Fact { question, text, ..Fact::of_project(FactKind::Decision, at_ms, value) })
    }
}

impl Store {
    /// All decisions for a question, by text; the last one of each text is in effect.
    pub fn decisions(&self, question: QuestionId) -> Result<Vec<Decision>> {
        let which = "WHERE kind = 'decision' AND coalesce(question, 0) = ?1";
        self.read("reading decisions", |c| decisions(c, which, [question.row().0]))
    }

    /// Like [`Store::decisions`], for one text.
    pub fn decisions_on_text(&self, question: QuestionId, text: TextId) -> Result<Vec<Decision>> {
        let which = "WHERE kind = 'decision' AND coalesce(question, 0) = ?1 AND coalesce(text, 0) = ?2";
        self.read("reading decisions", |c| decisions(c, which, (question.row().0, text.0)))
    }
}
