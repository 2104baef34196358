//! Attention checks: texts with a known right answer.

use super::{About, Kind, Listed, SETTING, Submitted, checked, read, select, that_hold};
use crate::dependents::Use;
use crate::levels::answer_with_levels;
use crate::{Done, Result, Store, StoreError, WriteTx};
use dissensus_domain::{Answer, AttentionCheck, Fact, FactKind};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The value: the answer names levels by row id; without one, the text is no longer a check.
#[derive(Serialize, Deserialize)]
struct RightAnswer {
    answer: Option<Answer>,
    reason: String,
}

/// Checks the answer that a fact about a text states as decided or right, if any.
pub(super) fn check_right_answer(tx: &WriteTx<'_>, fact: &Fact, answer: Option<Answer>) -> Result<()> {
    let (Some(question), Some(text), Some(answer)) = (fact.question, fact.text, answer) else {
        return Ok(());
    };
    let unknown = || StoreError::Unknown { what: "question", name: question.0.to_string() };
    let asked = tx.question(question)?.ok_or_else(unknown)?;
    answer.check(&asked.scale).map_err(|source| tx.off_scale(question, source))?;
    if answer == Answer::CannotSay {
        let why = "name a level: that somebody cannot say is none".to_owned();
        return Err(StoreError::Invalid { what: format!("answer to {}", asked.name), why });
    }
    tx.spans_within(question, text, &answer)
}

pub(super) const KIND: Kind = Kind {
    about: About::Text,
    title: |fact| ("attention check", fact.at_ms.to_string()),
    check: |tx, fact| {
        let RightAnswer { answer, .. } = checked(fact)?;
        check_right_answer(tx, fact, answer)
    },
    is_in_effect: |value| !value["answer"].is_null(),
    with_levels: answer_with_levels,
    order: |value, _| {
        let RightAnswer { answer, reason } = read(value)?;
        let answer = answer.and_then(|answer| serde_json::to_string(&answer).ok()).unwrap_or_default();
        Ok([answer, reason].join("\0"))
    },
    submitted: Submitted::No,
    count: |report| &mut report.attention_checks,
    used: Some(|used| &mut used.checks),
    listed: Some(Listed { words: "json_extract(value, '$.reason')", ..Listed::new("'check'") }),
    done: |_, fact| {
        let RightAnswer { answer, reason } = read(&fact.value)?;
        Ok(Done::Check { answer, reason })
    },
    keeps: Some(Use::Checks),
    ..SETTING
};

impl WriteTx<'_> {
    /// Sets or, with `None`, removes the right answer to a question about a text. It takes effect
    /// immediately, whatever the clock shows.
    ///
    /// # Errors
    /// There is no such question or text, or the answer is not on the scale.
    pub fn set_attention_check(&mut self, new: &AttentionCheck) -> Result<()> {
        let AttentionCheck { question, text, at_ms, answer, reason } = new.clone();
        let value = json!(RightAnswer { answer, reason });
        let (question, text) = (Some(question), Some(text));
        self.note_fact(&Fact { question, text, ..Fact::of_project(FactKind::AttentionCheck, at_ms, value) })
    }
}

impl Store {
    /// The attention checks in effect, by question and text.
    pub fn attention_checks(&self) -> Result<Vec<AttentionCheck>> {
        self.read("reading the attention checks", |c| {
            let mut found = Vec::new();
            for Fact { question, text, at_ms, value, .. } in
                that_hold(select(c, "WHERE kind = 'attention-check'", [])?)
            {
                let (Some(question), Some(text)) = (question, text) else { continue };
                let RightAnswer { answer, reason } = read(&value)?;
                found.push(AttentionCheck { question, text, at_ms, answer, reason });
            }
            Ok(found)
        })
    }
}
