//! What depends on the levels of a question: answers of every kind, and conditions of other
//! questions.

use crate::log::{conditions_by_row, kind, names_where, select};
use crate::row::{bad, json};
use crate::tx::all;
use dissensus_domain::{Answer, QuestionId};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fmt;

/// What depends on a level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelUse {
    /// Number of answers, including those that were changed or retracted since and are in the
    /// history.
    pub answers: u32,
    /// Number of re-annotations.
    pub repeats: u32,
    /// Number of decisions about texts.
    pub decisions: u32,
    /// Number of right answers of attention checks.
    pub checks: u32,
    /// Number of right answers of practice texts and of practice answers.
    pub practice: u32,
    /// Names of questions whose condition refers to it.
    pub conditions: Vec<String>,
}

impl LevelUse {
    /// Whether it is used by any answer, decision or right answer. Conditions of other questions do
    /// not count.
    pub fn is_answered(&self) -> bool {
        self.answers + self.repeats + self.decisions + self.checks + self.practice > 0
    }
}

impl fmt::Display for LevelUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (n, one, many) in [
            (self.answers, "answer", "answers"),
            (self.repeats, "answer of a later occasion", "answers of later occasions"),
            (self.decisions, "decision", "decisions"),
            (self.checks, "attention check", "attention checks"),
            (self.practice, "answer of practice", "answers of practice"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { one } else { many }));
            }
        }
        parts.extend(self.conditions.iter().map(|name| format!("the condition of {name}")));
        let one = parts.len() == 1 && (parts[0].starts_with("1 ") || parts[0].starts_with("the "));
        write!(f, "{} {}", parts.join(", "), if one { "stands" } else { "stand" })
    }
}

/// The uses of the levels of a question, by row id. Unused levels are omitted.
pub(crate) fn uses_of(conn: &Connection, question: QuestionId) -> rusqlite::Result<BTreeMap<u16, LevelUse>> {
    let mut uses: BTreeMap<u16, LevelUse> = BTreeMap::new();
    let sql = "SELECT level, count(*) FROM events WHERE question = ?1 AND level IS NOT NULL GROUP BY level";
    for (row, answers) in all(conn, sql, [question.0], |r| Ok((r.get(0)?, r.get(1)?)))? {
        uses.entry(row).or_default().answers = answers;
    }
    let sql = "SELECT content FROM events WHERE question = ?1 AND content IS NOT NULL";
    for answer in all(conn, sql, [question.0], |r| json::<Answer>(r, 0))? {
        rows_in(&answer).into_iter().for_each(|row| uses.entry(row).or_default().answers += 1);
    }
    let sql = "SELECT answer FROM repeats WHERE question = ?1";
    for answer in all(conn, sql, [question.0], |r| json::<Answer>(r, 0))? {
        rows_in(&answer).into_iter().for_each(|row| uses.entry(row).or_default().repeats += 1);
    }
    let with_answers = names_where(|kind| kind.used.is_some());
    for fact in select(conn, &format!("WHERE kind IN {with_answers} AND question = ?1"), [question.0])? {
        let answer: Option<Answer> =
            serde_json::from_value(fact.value["answer"].clone()).map_err(|e| bad(6, e))?;
        for row in answer.iter().flat_map(rows_in) {
            let used = uses.entry(row).or_default();
            if let Some(count) = kind(fact.kind).used {
                *count(used) += 1;
            }
        }
    }
    let harmful = select(conn, "WHERE kind = 'harmful' AND question = ?1", [question.0])?.pop();
    let row = harmful.and_then(|fact| fact.value.as_u64()).and_then(|row| u16::try_from(row).ok());
    if let Some(row) = row {
        uses.entry(row).or_default().conditions.push("what counts as harmful".to_owned());
    }
    for (name, rows) in conditions_by_row(conn, question)? {
        for row in rows {
            uses.entry(row).or_default().conditions.push(name.clone());
        }
    }
    Ok(uses)
}

/// The levels in an answer, without duplicates.
fn rows_in(answer: &Answer) -> Vec<u16> {
    let mut rows: Vec<u16> = match answer {
        Answer::CannotSay => Vec::new(),
        Answer::Level(row) => vec![*row],
        Answer::Options(set) => set.iter().map(u16::from).collect(),
        Answer::Spans(spans) => spans.as_slice().iter().map(|span| span.kind).collect(),
    };
    rows.sort_unstable();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use super::LevelUse;

    #[test]
    fn what_stands_on_a_level_is_said_in_words() {
        let one = LevelUse { answers: 1, ..LevelUse::default() };
        assert_eq!(one.to_string(), "1 answer stands");
        let many = LevelUse { checks: 2, conditions: vec!["why".into()], ..one };
        assert_eq!(many.to_string(), "1 answer, 2 attention checks, the condition of why stand");
    }
}
