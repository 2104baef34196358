//! Restores levels that were removed in one copy of a project but are still used in another. After
//! both copies are merged, such a level is on the scale again, at its previous position.
//!
//! Which levels are restored depends only on the edits and on the uses of levels, so that merged
//! copies have the same levels whatever the order of the merges. The result is stored as a fact
//! like an edit, so that levels are read from one place. It is not transferred to other copies, and
//! is recomputed with every merge.

use crate::level_use::LevelUse;
use crate::level_uses::uses_of;
use crate::levels::{began_with, ever, keys, latest_levels, rows_by_key};
use crate::row::{bad, json as read_json};
use crate::tx::{all, first};
use crate::{Result, StoreError, WriteTx};
use dissensus_domain::{Fact, FactKind, Level, Levels, QuestionId};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Key in the value of a fact: the initial names of restored levels. Edits do not have it.
const BACK: &str = "back";

/// Edits of the levels of a question, ordered by time and then by value. The last one is in effect.
type Edits = BTreeSet<(i64, String)>;

/// Whether a fact contains levels computed by a copy, as opposed to a user's edit.
pub(crate) fn is_found(fact: &Fact) -> bool {
    fact.kind == FactKind::Levels && fact.value.get(BACK).is_some()
}

fn edits(conn: &Connection, question: QuestionId) -> rusqlite::Result<Edits> {
    let sql = "SELECT at_ms, value FROM facts WHERE kind = 'levels' AND coalesce(question, 0) = ?1
               AND json_type(value, '$.back') IS NULL";
    Ok(all(conn, sql, [question.0], |r| Ok((r.get(0)?, r.get(1)?)))?.into_iter().collect())
}

/// The initial names of restored levels that are on the scale now.
pub(crate) fn back_now(conn: &Connection, question: QuestionId) -> rusqlite::Result<BTreeSet<String>> {
    let sql = "SELECT value FROM facts WHERE kind = 'levels' AND coalesce(question, 0) = ?1
               ORDER BY at_ms DESC, value DESC LIMIT 1";
    let found = first(conn, sql, [question.0], |r| read_json::<Value>(r, 0))?;
    let back = found.as_ref().and_then(|value| value.get(BACK)).and_then(Value::as_array);
    Ok(back.into_iter().flatten().filter_map(|key| key.as_str().map(str::to_owned)).collect())
}

/// The initial names of the levels whose use satisfies `counts`.
pub(crate) fn used_keys(
    conn: &Connection,
    question: QuestionId,
    counts: impl Fn(&LevelUse) -> bool,
) -> rusqlite::Result<BTreeSet<String>> {
    let uses = uses_of(conn, question)?;
    let rows = rows_by_key(conn, question)?.into_iter();
    Ok(rows.filter(|(_, row)| uses.get(row).is_some_and(&counts)).map(|(key, _)| key).collect())
}

/// Whether these edits removed a level that the question once had, so that one could be restored.
fn removes_levels(edits: &Edits, ever: &[String]) -> rusqlite::Result<bool> {
    let Some((_, last)) = edits.last() else { return Ok(false) };
    let levels: Levels = serde_json::from_str(last).map_err(|e| bad(0, e))?;
    let on_scale: BTreeSet<&str> = keys(&levels).into_iter().collect();
    Ok(ever.iter().any(|key| !on_scale.contains(key.as_str())))
}

/// Computes the levels after these edits if the levels in `used` are in use, and which of them are
/// restored.
fn levels_after(
    conn: &Connection,
    question: QuestionId,
    edits: &Edits,
    used: &BTreeSet<String>,
) -> rusqlite::Result<Option<(Levels, Vec<String>)>> {
    let read = |(_, value): &(i64, String)| serde_json::from_str::<Levels>(value).map_err(|e| bad(0, e));
    let known = edits.iter().rev().map(read).collect::<rusqlite::Result<Vec<Levels>>>()?;
    let Some(mut levels) = known.first().cloned() else { return Ok(None) };
    let on_scale: BTreeSet<&str> = keys(&known[0]).into_iter().collect();
    let back: Vec<String> = used.iter().filter(|key| !on_scale.contains(key.as_str())).cloned().collect();
    let began = began_with(conn, question, levels.began)?;
    for key in &back {
        let last = LastState::new(key, &known, &began);
        let taken = |name: &str| levels.levels.iter().any(|level| level.name == name);
        let mut tried =
            (1_u32..).map(|n| if n == 1 { last.name.clone() } else { format!("{} ({n})", last.name) });
        let name = tried.find(|name| !taken(name)).unwrap_or_else(|| key.clone());
        let at = last.place_in(&levels);
        levels.levels.insert(at, Level { key: key.clone(), name, definition: last.definition });
    }
    Ok(Some((levels, back)))
}

/// A level as it was when last on the scale.
struct LastState {
    name: String,
    definition: String,
    /// The levels below it, by initial name.
    before: Vec<String>,
}

impl LastState {
    /// Searches the earlier levels, latest first, then those that the question was added with.
    fn new(key: &str, known: &[Levels], began: &[String]) -> Self {
        for levels in known {
            if let Some(at) = levels.levels.iter().position(|level| level.key == key) {
                let before = keys(levels)[..at].iter().map(|key| (*key).to_owned()).collect();
                let Level { name, definition, .. } = levels.levels[at].clone();
                return Self { name, definition, before };
            }
        }
        let before = began.iter().take_while(|known| *known != key).cloned().collect();
        Self { name: key.to_owned(), definition: String::new(), before }
    }

    /// The position among these levels: after the nearest of the levels that were below it.
    fn place_in(&self, levels: &Levels) -> usize {
        let place = |key: &String| levels.levels.iter().position(|level| level.key == *key);
        self.before.iter().rev().find_map(place).map_or(0, |at| at + 1)
    }
}

impl WriteTx<'_> {
    /// Recomputes the levels of a question: those of the last edit, and those it removed that are
    /// used here or in a copy being merged (`used_there`, evaluated only if needed).
    pub(crate) fn find_levels(
        &mut self,
        question: QuestionId,
        used_there: impl FnOnce() -> Result<BTreeSet<String>>,
    ) -> Result<()> {
        let path = self.path.to_owned();
        let explain = |e| StoreError::explain(&path, "reading the levels", e);
        let edits = edits(self.conn, question).map_err(explain)?;
        if edits.is_empty() {
            return Ok(());
        }
        let mut used = BTreeSet::new();
        if removes_levels(&edits, &ever(self.conn, question).map_err(explain)?).map_err(explain)? {
            used = used_keys(self.conn, question, |_| true).map_err(explain)?;
            used.extend(used_there()?);
        }
        let found = levels_after(self.conn, question, &edits, &used).map_err(explain)?;
        let Some((levels, back)) = found else { return Ok(()) };
        if latest_levels(self.conn, question).map_err(explain)?.as_ref() == Some(&levels) {
            return Ok(());
        }
        let mut value = json!(levels);
        value[BACK] = json!(back);
        let sql = "SELECT max(at_ms) FROM facts WHERE kind = 'levels' AND coalesce(question, 0) = ?1";
        let newest: i64 = self.first(sql, [question.0], |r| r.get(0))?.unwrap_or(0);
        let at_ms = newest.saturating_add(1);
        self.add_fact(&Fact { question: Some(question), ..Fact::of_project(FactKind::Levels, at_ms, value) })
            .map(drop)
    }
}
