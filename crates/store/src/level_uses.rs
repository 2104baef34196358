//! Finds what depends on the levels of a question: answers of every kind, and conditions of other
//! questions.

use crate::level_use::LevelUse;
use crate::log::{conditions_on, kind, names_where, select};
use crate::row::{bad, json};
use crate::tx::all;
use dissensus_domain::{Answer, LevelId, QuestionId};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The uses of the levels of a question. Unused levels are omitted.
pub(crate) fn uses_of(
    conn: &Connection,
    question: QuestionId,
) -> rusqlite::Result<BTreeMap<LevelId, LevelUse>> {
    let mut uses: BTreeMap<LevelId, LevelUse> = BTreeMap::new();
    let mut count = |level: LevelId, again: bool, answers: u32| {
        let LevelUse { answers: first, repeats, .. } = uses.entry(level).or_default();
        *(if again { repeats } else { first }) += answers;
    };
    let sql = "SELECT level, occasion > 1, count(*) FROM events
               WHERE question = ?1 AND level IS NOT NULL GROUP BY level, occasion > 1";
    for (level, again, answers) in
        all(conn, sql, [question.0], |r| Ok((LevelId(r.get(0)?), r.get(1)?, r.get(2)?)))?
    {
        count(level, again, answers);
    }
    let sql = "SELECT content, occasion > 1 FROM events WHERE question = ?1 AND content IS NOT NULL";
    for (answer, again) in all(conn, sql, [question.0], |r| Ok((json::<Answer>(r, 0)?, r.get(1)?)))? {
        levels_in(&answer).into_iter().for_each(|level| count(level, again, 1));
    }
    let with_answers = names_where(|kind| kind.used.is_some());
    for fact in select(conn, &format!("WHERE kind IN {with_answers} AND question = ?1"), [question.0])? {
        let answer: Option<Answer> =
            serde_json::from_value(fact.value["answer"].clone()).map_err(|e| bad(6, e))?;
        for row in answer.iter().flat_map(levels_in) {
            let used = uses.entry(row).or_default();
            if let Some(count) = kind(fact.kind).used {
                *count(used) += 1;
            }
        }
    }
    let harmful = select(conn, "WHERE kind = 'harmful' AND question = ?1", [question.0])?.pop();
    let row =
        harmful.and_then(|fact| fact.value.as_u64()).and_then(|row| u16::try_from(row).ok()).map(LevelId);
    if let Some(row) = row {
        uses.entry(row).or_default().conditions.push("what counts as harmful".to_owned());
    }
    for (name, rows) in conditions_on(conn, question)? {
        for row in rows {
            uses.entry(row).or_default().conditions.push(name.clone());
        }
    }
    Ok(uses)
}

/// The levels in an answer, without duplicates.
fn levels_in(answer: &Answer) -> Vec<LevelId> {
    let mut levels: Vec<LevelId> = match answer {
        Answer::CannotSay => Vec::new(),
        Answer::Level(level) => vec![*level],
        Answer::Options(set) => set.iter().map(|option| LevelId(option.into())).collect(),
        Answer::Spans(spans) => spans.as_slice().iter().map(|span| span.kind).collect(),
    };
    levels.sort_unstable();
    levels.dedup();
    levels
}
