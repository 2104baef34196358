//! Reads and writes the table of facts.

use super::{Ordering, kind, refused};
use crate::deleting::next_row;
use crate::level_order::LevelOrder;
use crate::row::{bad, json, to_json};
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, Fact, FactKind, QuestionId, TextId};
use rusqlite::{Connection, Params, Row};
use serde_json::Value;
use std::str::FromStr;

const COLUMNS: &str = "kind, question, text, annotator, key, at_ms, value";
/// Orders facts by subject, from oldest to latest. Facts with equal times, which can come from
/// separate copies, are then ordered by `Kind::order`.
const ORDER: &str =
    "kind, coalesce(question, 0), coalesce(text, 0), coalesce(annotator, 0), coalesce(key, ''), at_ms, value";
const SUBJECT: &str = "kind = ?1 AND coalesce(question, 0) = ?2 AND coalesce(text, 0) = ?3
    AND coalesce(annotator, 0) = ?4 AND coalesce(key, '') = ?5";

/// Maximum length of a value's JSON, in bytes, since values from other copies are read into memory.
pub const LARGEST_FACT: usize = 1 << 20;

/// Maximum length of a key, in bytes.
const LONGEST_KEY: usize = 1 << 16;

fn fact(row: &Row<'_>) -> rusqlite::Result<Fact> {
    let kind = row.get_ref(0)?.as_str().map_err(|e| bad(0, e))?;
    Ok(Fact {
        kind: FactKind::from_str(kind).map_err(|e| bad(0, e))?,
        question: row.get::<_, Option<u32>>(1)?.map(QuestionId),
        text: row.get::<_, Option<u32>>(2)?.map(TextId),
        annotator: row.get::<_, Option<u32>>(3)?.map(AnnotatorId),
        key: row.get(4)?,
        at_ms: row.get(5)?,
        value: json(row, 6)?,
    })
}

/// The facts that satisfy `which`, by subject, each group from oldest to latest.
pub(crate) fn select(c: &Connection, which: &str, params: impl Params) -> rusqlite::Result<Vec<Fact>> {
    let mut found = all(c, &format!("SELECT {COLUMNS} FROM facts {which} ORDER BY {ORDER}"), params, fact)?;
    let mut ordering: Option<Ordering<'_>> = None;
    let at_once = |a: &Fact, b: &Fact| (a.at_ms, subject(a)) == (b.at_ms, subject(b));
    for tied in found.chunk_by_mut(at_once).filter(|tied| tied.len() > 1) {
        if ordering.is_none() {
            ordering = Some(Ordering { conn: c, levels: LevelOrder::read(c)? });
        }
        let Some(ordering) = &ordering else { continue };
        let mut keyed = Vec::with_capacity(tied.len());
        for fact in &*tied {
            keyed.push((order(fact, ordering)?, fact.clone()));
        }
        keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
        tied.iter_mut().zip(keyed).for_each(|(place, (_, fact))| *place = fact);
    }
    Ok(found)
}

fn order(fact: &Fact, ordering: &Ordering<'_>) -> rusqlite::Result<String> {
    let kind = kind(fact.kind);
    let value = match fact.question {
        Some(question) => (kind.with_levels)(fact.value.clone(), &|row| ordering.levels.rank(question, row)),
        None => fact.value.clone(),
    };
    (kind.order)(&value, ordering)
}

/// Filters facts in the order of [`select`] to those in effect.
pub(crate) fn that_hold(mut facts: Vec<Fact>) -> Vec<Fact> {
    // `dedup_by_key` keeps the first item of each group, so the order is reversed.
    facts.reverse();
    facts.dedup_by(|a, b| subject(a) == subject(b));
    facts.reverse();
    facts.retain(|fact| (kind(fact.kind).is_in_effect)(&fact.value));
    facts
}

type Subject<'f> = (&'static str, u32, u32, u32, &'f str);

fn subject(fact: &Fact) -> Subject<'_> {
    (
        fact.kind.name(),
        fact.question.map_or(0, |id| id.0),
        fact.text.map_or(0, |id| id.0),
        fact.annotator.map_or(0, |id| id.0),
        fact.key.as_deref().unwrap_or_default(),
    )
}

/// The facts that satisfy a condition, each with its row id.
pub(crate) fn rows_where(c: &Connection, which: &str) -> rusqlite::Result<Vec<(u32, Fact)>> {
    let sql = format!("SELECT {COLUMNS}, id FROM facts WHERE {which} ORDER BY id");
    all(c, &sql, [], |r| Ok((r.get(7)?, fact(r)?)))
}

/// Adds a row without any check. Returns whether it is new.
pub(crate) fn insert(c: &Connection, new: &Fact, value: &str) -> rusqlite::Result<bool> {
    let sql = format!(
        "INSERT INTO facts (id, {COLUMNS}) VALUES ({}, ?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
        next_row("facts")
    );
    let (question, text, annotator) =
        (new.question.map(|id| id.0), new.text.map(|id| id.0), new.annotator.map(|id| id.0));
    let row = (new.kind.name(), question, text, annotator, &new.key, new.at_ms, value);
    Ok(c.prepare_cached(&sql)?.execute(row)? > 0)
}

/// Replaces a row by a fact with another value, under a new row id, unless there is already an equal fact.
/// The triggers of the table must be dropped before.
pub(crate) fn replace_value(c: &Connection, row: u32, new: &Fact) -> rusqlite::Result<()> {
    insert(c, new, &new.value.to_string())?;
    c.prepare_cached("DELETE FROM facts WHERE id = ?1")?.execute([row]).map(drop)
}

impl WriteTx<'_> {
    /// Sets a value, effective immediately, whatever the clock shows; null removes it. Nothing is
    /// written if the value is already in effect. Returns whether it was written.
    ///
    /// # Errors
    /// There is no such question, text or annotator, or the value is longer than [`LARGEST_FACT`].
    pub fn set_fact(&mut self, new: &Fact) -> Result<bool> {
        let latest = self.latest_fact(new)?;
        let same = latest.as_ref().map_or(new.value.is_null(), |(_, value)| *value == new.value);
        if same {
            return Ok(false);
        }
        self.append(new, latest.map(|(at_ms, _)| at_ms))
    }

    /// Records something that happened, even if it has happened before, with a time after the
    /// latest fact about the same subject, whatever the clock shows.
    ///
    /// # Errors
    /// Like [`WriteTx::set_fact`].
    pub fn note_fact(&mut self, new: &Fact) -> Result<()> {
        let latest = self.latest_fact(new)?.map(|(at_ms, _)| at_ms);
        self.append(new, latest).map(drop)
    }

    fn append(&mut self, new: &Fact, latest: Option<i64>) -> Result<bool> {
        let at_ms = latest.map_or(new.at_ms, |latest| new.at_ms.max(latest.saturating_add(1)));
        self.add_fact(&Fact { at_ms, ..new.clone() })
    }

    /// The facts about the same subject as `like`, from oldest to latest, within the transaction.
    pub(crate) fn facts_about(&self, like: &Fact) -> Result<Vec<Fact>> {
        let found = select(self.conn, &format!("WHERE {SUBJECT}"), subject(like));
        found.map_err(|e| self.explain("reading facts", e))
    }

    /// The time and value of the latest fact about the same subject as `like`.
    pub(crate) fn latest_fact(&self, like: &Fact) -> Result<Option<(i64, Value)>> {
        let sql =
            format!("SELECT at_ms, value FROM facts WHERE {SUBJECT} ORDER BY at_ms DESC, value DESC LIMIT 1");
        self.first(&sql, subject(like), |r| Ok((r.get(0)?, json(r, 1)?)))
    }

    /// Adds a fact made here or in another copy, after its kind has checked it. Returns whether it was
    /// new.
    pub(crate) fn add_fact(&mut self, new: &Fact) -> Result<bool> {
        self.check_subject(new)?;
        // Copies that share a fact of an earlier version, which did not check it, can be merged.
        if self.has_fact(new)? {
            return Ok(false);
        }
        let kind = kind(new.kind);
        (kind.check)(self, new)?;
        let new = match kind.without_withdrawn {
            Some(without) => &Fact { value: without(self, new.value.clone())?, ..new.clone() },
            None => new,
        };
        let json = to_json(new.kind.name(), &new.value)?;
        let key = new.key.as_ref().map_or(0, String::len);
        for (what, length, most) in [("value", json.len(), LARGEST_FACT), ("key", key, LONGEST_KEY)] {
            if length > most && !self.has_fact(new)? {
                return Err(refused(new, format!("its {what} has {length} bytes, and may have {most}")));
            }
        }
        let added = insert(self.conn, new, &json).map_err(|e| self.explain("noting a fact", e))?;
        if added {
            (kind.added)(self, new)?;
        }
        Ok(added)
    }

    /// Checks that a fact is about what facts of its kind are about, and that this is in the project.
    fn check_subject(&self, fact: &Fact) -> Result<()> {
        let kind = kind(fact.kind);
        if !kind.about.is_of(fact) {
            return Err(refused(fact, format!("it must be about {} only", kind.about.name())));
        }
        if fact.key.is_some() != kind.keyed {
            return Err(refused(fact, if kind.keyed { "it has no key" } else { "it must have no key" }));
        }
        for (what, table, id) in [
            ("question", "questions", fact.question.map(|id| id.0)),
            ("text", "texts", fact.text.map(|id| id.0)),
            ("annotator", "annotators", fact.annotator.map(|id| id.0)),
        ] {
            if let Some(id) = id
                && self.first(&format!("SELECT 1 FROM {table} WHERE id = ?1"), [id], |_| Ok(()))?.is_none()
            {
                return Err(StoreError::Unknown { what, name: id.to_string() });
            }
        }
        Ok(())
    }

    /// Whether there is an equal fact.
    fn has_fact(&self, like: &Fact) -> Result<bool> {
        let (kind, question, text, annotator, key) = subject(like);
        let sql = format!("SELECT 1 FROM facts WHERE {SUBJECT} AND at_ms = ?6 AND value = ?7");
        let row = (kind, question, text, annotator, key, like.at_ms, like.value.to_string());
        Ok(self.first(&sql, row, |_| Ok(()))?.is_some())
    }
}

impl Store {
    /// The facts of a kind in effect, by question, text and annotator.
    pub fn facts(&self, kind: FactKind) -> Result<Vec<Fact>> {
        self.all_facts(kind).map(that_hold)
    }

    /// All facts of a kind, by question, text and annotator, from oldest to latest.
    pub fn all_facts(&self, kind: FactKind) -> Result<Vec<Fact>> {
        self.read("reading facts", |c| select(c, "WHERE kind = ?1", [kind.name()]))
    }

    /// The fact in effect about a subject, if any.
    pub fn fact(
        &self,
        kind: FactKind,
        question: Option<QuestionId>,
        text: Option<TextId>,
        annotator: Option<AnnotatorId>,
    ) -> Result<Option<Fact>> {
        let like = Fact { question, text, annotator, ..Fact::of_project(kind, 0, Value::Null) };
        let about = subject(&like);
        let found = self.read("reading a fact", |c| select(c, &format!("WHERE {SUBJECT}"), about))?;
        Ok(that_hold(found).pop())
    }

    pub(crate) fn every_fact(&self) -> Result<Vec<Fact>> {
        self.read("reading facts", |c| select(c, "", []))
    }
}
