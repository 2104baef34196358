//! The conditions on which questions are asked.

use crate::level_order::LevelOrder;
use crate::places::Places;
use crate::row::json;
use crate::tx::{all, first};
use dissensus_domain::{Condition, QuestionId};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The condition of every question that has one. If conditions from separate copies form a cycle,
/// the latest one is ignored.
pub(crate) fn conditions(conn: &Connection) -> rusqlite::Result<BTreeMap<QuestionId, Condition>> {
    let sql = "SELECT c.question, c.other, c.levels, c.changed_at_ms, q.name, o.name
               FROM conditions AS c JOIN questions AS q ON q.id = c.question JOIN questions AS o ON o.id = c.other";
    let (places, order) = (Places::read(conn)?, LevelOrder::read(conn)?);
    let mut rows = all(conn, sql, [], |r| {
        let (question, at_ms): (_, i64) = (QuestionId(r.get(0)?), r.get(3)?);
        let (name, other): (String, String) = (r.get(4)?, r.get(5)?);
        let (of, rows) = (QuestionId(r.get(1)?), json::<Vec<u16>>(r, 2)?);
        let mut ranks: Vec<u16> = rows.iter().map(|row| order.rank(of, *row)).collect();
        ranks.sort_unstable();
        let only_if = Condition::new(of, rows.into_iter().map(|row| places.place(of, row)));
        Ok(((question, at_ms, other, ranks), (question, (at_ms, name, only_if))))
    })?;
    // Conditions with equal times, which can come from separate copies, are ordered in the same way
    // in every copy.
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    let rows = rows.into_iter().map(|(_, row)| row);
    let latest: BTreeMap<QuestionId, _> = rows.collect();
    let mut latest: Vec<_> =
        latest.into_iter().map(|(of, (at, name, only_if))| (at, name, of, only_if)).collect();
    // By time and name, which are the same in every copy; row ids are not.
    latest.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let mut found = BTreeMap::new();
    for (_, _, question, only_if) in latest {
        if !only_if.levels.is_empty() && !waits_for(&found, only_if.question, question) {
            found.insert(question, only_if);
        }
    }
    Ok(found)
}

/// The questions whose conditions refer to levels of this one, with the row ids of these levels.
pub(crate) fn conditions_by_row(
    conn: &Connection,
    question: QuestionId,
) -> rusqlite::Result<Vec<(String, Vec<u16>)>> {
    let places = Places::read(conn)?;
    let mut found = Vec::new();
    for (id, only_if) in conditions(conn)?.into_iter().filter(|(_, only_if)| only_if.question == question) {
        let name = first(conn, "SELECT name FROM questions WHERE id = ?1", [id.0], |r| r.get(0))?;
        let rows = only_if.levels.iter().map(|place| places.row(question, *place)).collect();
        found.extend(name.map(|name: String| (name, rows)));
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
