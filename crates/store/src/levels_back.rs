//! Levels that come back. Copies of a project that are apart may take a level off in one and answer with it in another: it stands on the
//! scale again, where it stood, once both are together.
//!
//! Which levels these are follows from the edits and from what stands on levels, and from nothing else: so copies that came together have
//! the same levels, in whatever order they met. What was found is kept as a fact like an edit, so that everything reads levels in one place;
//! the copy keeps it to itself and finds it anew each time that another copy comes in.

use crate::level_use::{LevelUse, uses_of};
use crate::places::{began_with, ever, keys, latest_levels, levels_of, rows_by_key};
use crate::row::{bad, json as read_json};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{Fact, FactKind, Level, Levels, QuestionId};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// In the value of a fact: the names that the levels began with which came back. An edit has none.
const BACK: &str = "back";

/// Edits of the levels of one question, by time and then by what they say, which is the order in which they hold.
type Edits = BTreeSet<(i64, String)>;

/// Whether a fact is levels as a copy found them, and no edit of somebody's.
pub(crate) fn is_found(fact: &Fact) -> bool {
    fact.kind == FactKind::Levels && fact.value.get(BACK).is_some()
}

fn edits(conn: &Connection, question: QuestionId) -> rusqlite::Result<Edits> {
    let sql = "SELECT at_ms, value FROM facts WHERE kind = 'levels' AND coalesce(question, 0) = ?1
               AND json_type(value, '$.back') IS NULL";
    Ok(all(conn, sql, [question.0], |r| Ok((r.get(0)?, r.get(1)?)))?.into_iter().collect())
}

/// The names that the levels began with which came back and stand on the scale now.
pub(crate) fn back_now(conn: &Connection, question: QuestionId) -> rusqlite::Result<BTreeSet<String>> {
    let sql = "SELECT value FROM facts WHERE kind = 'levels' AND coalesce(question, 0) = ?1
               ORDER BY at_ms DESC, value DESC LIMIT 1";
    let found = first(conn, sql, [question.0], |r| read_json::<Value>(r, 0))?;
    let back = found.as_ref().and_then(|value| value.get(BACK)).and_then(Value::as_array);
    Ok(back.into_iter().flatten().filter_map(|key| key.as_str().map(str::to_owned)).collect())
}

/// The names that the levels began with on which there is such a use.
pub(crate) fn used_keys(
    conn: &Connection,
    question: QuestionId,
    counts: impl Fn(&LevelUse) -> bool,
) -> rusqlite::Result<BTreeSet<String>> {
    let uses = uses_of(conn, question)?;
    let rows = rows_by_key(conn, question)?.into_iter();
    Ok(rows.filter(|(_, row)| uses.get(row).is_some_and(&counts)).map(|(key, _)| key).collect())
}

/// Whether some level that the question ever had is not on the scale after these edits: it could come back.
fn takes_off(edits: &Edits, ever: &[String]) -> rusqlite::Result<bool> {
    let Some((_, last)) = edits.last() else { return Ok(false) };
    let levels: Levels = serde_json::from_str(last).map_err(|e| bad(0, e))?;
    let on_scale: BTreeSet<&str> = keys(&levels).into_iter().collect();
    Ok(ever.iter().any(|key| !on_scale.contains(key.as_str())))
}

/// The levels as they are after these edits while something stands on those that `used` names, and which of them came back.
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
        let last = LastKnown::of(key, &known, &began);
        let taken = |name: &str| levels.levels.iter().any(|level| level.name == name);
        let mut tried =
            (1_u32..).map(|n| if n == 1 { last.name.clone() } else { format!("{} ({n})", last.name) });
        let name = tried.find(|name| !taken(name)).unwrap_or_else(|| key.clone());
        let at = last.place_in(&levels);
        levels.levels.insert(at, Level { key: key.clone(), name, definition: last.definition });
    }
    Ok(Some((levels, back)))
}

/// A level when it was last on the scale.
struct LastKnown {
    name: String,
    definition: String,
    /// The levels below it, by the names that they began with.
    before: Vec<String>,
}

impl LastKnown {
    /// By the levels of before, the latest first, and by those that the question was added with.
    fn of(key: &str, known: &[Levels], began: &[String]) -> Self {
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

    /// Where it stands among these levels: behind the nearest of those that were below it.
    fn place_in(&self, levels: &Levels) -> usize {
        let place = |key: &String| levels.levels.iter().position(|level| level.key == *key);
        self.before.iter().rev().find_map(place).map_or(0, |at| at + 1)
    }
}

impl WriteTx<'_> {
    /// Finds the levels of a question anew: those of the last edit, and of those that it took off the ones on which something stands here,
    /// or in a copy that is coming in (`used_there`, asked for where it matters).
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
        if takes_off(&edits, &ever(self.conn, question).map_err(explain)?).map_err(explain)? {
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

impl Store {
    /// Whether taking in another copy may give levels of a question other numbers here: because they were added, removed or moved there, or
    /// because something stands there on levels that were removed here. Where a level stands for the sake of a condition alone, which may
    /// go, it says so too.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn is_rearranged_by(&self, other: &Self) -> Result<bool> {
        for question in self.questions()? {
            let Some(theirs) = other.question_by_name(&question.name)? else { continue };
            let edited = |store: &Self, id: QuestionId| {
                store.read("reading the levels", |c| Ok((edits(c, id)?, ever(c, id)?)))
            };
            let ((mut known, mut levels), (more, levels_there)) =
                (edited(self, question.id)?, edited(other, theirs.id)?);
            known.extend(more);
            levels.extend(levels_there);
            let off = self.read("reading the levels", |_| takes_off(&known, &levels))?;
            let used_in = |store: &Self, id: QuestionId| {
                let none = BTreeSet::new();
                store.read("reading the levels", |c| if off { used_keys(c, id, |_| true) } else { Ok(none) })
            };
            let mut used = used_in(self, question.id)?;
            used.extend(used_in(other, theirs.id)?);
            let moves = self.read("reading the levels", |c| {
                let now = levels_of(c, &question)?;
                let least = match off {
                    true => used_keys(c, question.id, LevelUse::is_answered)?,
                    false => BTreeSet::new(),
                };
                for used in [&used, &least] {
                    let after = levels_after(c, question.id, &known, used)?;
                    if after.is_some_and(|(after, _)| keys(&after) != keys(&now)) {
                        return Ok(true);
                    }
                }
                Ok(false)
            })?;
            if moves {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
