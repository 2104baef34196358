//! The conditions on which questions are asked. A value names the other question by its name and the levels
//! by their initial names, which are the same in every copy; without levels, the question is always asked.

use super::question_facts::EDIT;
use super::{Kind, Listed, Ordering, checked, read, select, that_hold};
use crate::levels::{ever, rows_by_key};
use crate::tx::first;
use crate::{Done, Result, StoreError, WriteTx};
use dissensus_domain::{Condition, Fact, FactKind, LevelId, Question, QuestionId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The value.
#[derive(Serialize, Deserialize)]
struct OnlyIf {
    levels: Vec<String>,
    question: String,
}

pub(super) const KIND: Kind = Kind {
    check,
    is_in_effect: |value| value["levels"].as_array().is_some_and(|levels| !levels.is_empty()),
    order,
    other_question: |value| value["question"].as_str(),
    listed: Some(Listed::new("'question'")),
    done: |c, fact| {
        let found = in_file(c, &fact.value)?;
        let (other, levels) = found.unwrap_or((QuestionId(0), Vec::new()));
        Ok(Done::Condition { other, levels })
    },
    ..EDIT
};

/// The other question must be here.
fn check(tx: &WriteTx<'_>, fact: &Fact) -> Result<()> {
    let OnlyIf { question, .. } = checked(fact)?;
    let other = id_of(tx.conn, &question).map_err(|e| tx.explain("reading a question", e))?;
    match other {
        None => Err(StoreError::Unknown { what: "question", name: question }),
        Some(other) if Some(other) == fact.question => {
            let why = "a question cannot depend on its own answer: name another question".to_owned();
            Err(StoreError::Invalid { what: format!("condition of {question}"), why })
        }
        Some(_) => Ok(()),
    }
}

/// By the name of the other question, then by the ranks of its levels.
fn order(value: &Value, ordering: &Ordering<'_>) -> rusqlite::Result<String> {
    let OnlyIf { levels, question } = read(value)?;
    let Some(other) = id_of(ordering.conn, &question)? else { return Ok(question) };
    let rows = rows_by_key(ordering.conn, other)?;
    let rank = |key| rows.get(key).map(|row| ordering.levels.rank(other, *row));
    let mut ranks: Vec<LevelId> = levels.iter().filter_map(rank).collect();
    ranks.sort_unstable();
    let ranks: Vec<String> = ranks.iter().map(|rank| format!("{:05}", rank.0)).collect();
    Ok(format!("{question}\0{}", ranks.join(" ")))
}

fn id_of(c: &Connection, name: &str) -> rusqlite::Result<Option<QuestionId>> {
    first(c, "SELECT id FROM questions WHERE name = ?1", [name], |r| Ok(QuestionId(r.get(0)?)))
}

/// The other question of a condition and its levels; `None` if there is no such question.
fn in_file(c: &Connection, value: &Value) -> rusqlite::Result<Option<(QuestionId, Vec<LevelId>)>> {
    let OnlyIf { levels, question } = read(value)?;
    let Some(other) = id_of(c, &question)? else { return Ok(None) };
    let rows = rows_by_key(c, other)?;
    let mut levels: Vec<LevelId> = levels.iter().filter_map(|key| rows.get(key).copied()).collect();
    levels.sort_unstable();
    Ok(Some((other, levels)))
}

/// The condition of every question that has one. If conditions from separate copies form a cycle,
/// the latest one is ignored.
pub(crate) fn conditions(conn: &Connection) -> rusqlite::Result<BTreeMap<QuestionId, Condition>> {
    let mut latest = Vec::new();
    for Fact { question, at_ms, value, .. } in that_hold(select(conn, "WHERE kind = 'condition'", [])?) {
        let Some(question) = question else { continue };
        let name: String =
            conn.query_row("SELECT name FROM questions WHERE id = ?1", [question.0], |r| r.get(0))?;
        if let Some((other, levels)) = in_file(conn, &value)? {
            latest.push((at_ms, name, question, Condition::new(other, levels)));
        }
    }
    // By time and name, which are the same in every copy; row ids are not.
    latest.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let mut found = BTreeMap::new();
    for (_, _, question, only_if) in latest {
        if !waits_for(&found, only_if.question, question) {
            found.insert(question, only_if);
        }
    }
    Ok(found)
}

/// The questions whose conditions refer to levels of this one, with these levels.
pub(crate) fn conditions_on(
    conn: &Connection,
    question: QuestionId,
) -> rusqlite::Result<Vec<(String, Vec<LevelId>)>> {
    let mut found = Vec::new();
    for (id, only_if) in conditions(conn)?.into_iter().filter(|(_, only_if)| only_if.question == question) {
        let name = first(conn, "SELECT name FROM questions WHERE id = ?1", [id.0], |r| r.get(0))?;
        found.extend(name.map(|name: String| (name, only_if.levels)));
    }
    Ok(found)
}

/// Whether `question` is `other` or depends on it.
pub(crate) fn waits_for(
    conditions: &BTreeMap<QuestionId, Condition>,
    question: QuestionId,
    other: QuestionId,
) -> bool {
    let mut at = Some(question);
    while let Some(here) = at {
        if here == other {
            return true;
        }
        at = conditions.get(&here).map(|only_if| only_if.question);
    }
    false
}

impl WriteTx<'_> {
    /// Sets the condition of a question; `None` removes it. Labels are unchanged.
    ///
    /// # Errors
    /// There is no such question or level, no level is given, or the question would depend on
    /// itself.
    pub fn set_condition(
        &mut self,
        question: QuestionId,
        only_if: Option<&Condition>,
        now_ms: i64,
    ) -> Result<()> {
        let found = self.must_ask(question)?;
        if found.only_if.as_ref() == only_if {
            return Ok(());
        }
        if let Some(only_if) = only_if {
            self.check_condition(&found, only_if)?;
        }
        let before = found.only_if.map(|only_if| only_if.question);
        let Some(other) = only_if.map(|only_if| only_if.question).or(before) else { return Ok(()) };
        let asked = self.must_ask(other)?;
        let keys = ever(self.conn, asked.id).map_err(|e| self.explain("reading the levels", e))?;
        let levels = only_if.map(|only_if| only_if.levels.as_slice()).unwrap_or_default();
        let key = |level: &LevelId| keys.get(usize::from(level.0)).cloned();
        let mut levels: Vec<String> = levels.iter().filter_map(key).collect();
        // In an order that is the same in every copy, so that equal conditions are one fact.
        levels.sort_unstable();
        let value = json!(OnlyIf { levels, question: asked.name });
        let fact = Fact::of_project(FactKind::Condition, now_ms, value);
        self.note_fact(&Fact { question: Some(question), ..fact })
    }

    fn check_condition(&self, question: &Question, only_if: &Condition) -> Result<()> {
        let refused =
            |why: String| Err(StoreError::Invalid { what: format!("condition of {}", question.name), why });
        let other = self.must_ask(only_if.question)?;
        if other.id == question.id {
            return refused("a question cannot depend on its own answer: name another question".to_owned());
        }
        if only_if.levels.is_empty() {
            return refused(format!("name at least one answer to {}", other.name));
        }
        if let Some(level) = only_if.levels.iter().find(|level| other.scale.name_of(**level).is_none()) {
            return refused(format!(
                "{} has no level with the id {level}; it has {}",
                other.name,
                other.scale.levels().join(", ")
            ));
        }
        let known = conditions(self.conn).map_err(|e| self.explain("reading the conditions", e))?;
        if waits_for(&known, other.id, question.id) {
            return refused(format!(
                "{} is itself asked only after {}, so that neither would ever be asked",
                other.name, question.name
            ));
        }
        Ok(())
    }
}
