//! Facts: study settings, and records about annotators other than labels, in one table for all
//! kinds.

use crate::level_order::LevelOrder;
use crate::places::{names_levels, with_rows};
use crate::row::{bad, json, to_json};
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, Fact, FactKind, QuestionId, TextId};
use rusqlite::{Connection, Params, Row};
use std::str::FromStr;

const COLUMNS: &str = "kind, question, text, annotator, at_ms, value";
/// Orders facts by subject, from oldest to latest. Facts with equal times, which can come from
/// separate copies, are ordered by value, with levels ordered by [`LevelOrder`].
const ORDER: &str = "kind, coalesce(question, 0), coalesce(text, 0), coalesce(annotator, 0), at_ms, value";
const SUBJECT: &str =
    "kind = ?1 AND coalesce(question, 0) = ?2 AND coalesce(text, 0) = ?3 AND coalesce(annotator, 0) = ?4";

/// Maximum length of a value's JSON, in bytes, since values from other copies are read into memory.
pub const LARGEST_FACT: usize = 1 << 20;

fn fact(row: &Row<'_>) -> rusqlite::Result<Fact> {
    let kind = row.get_ref(0)?.as_str().map_err(|e| bad(0, e))?;
    Ok(Fact {
        kind: FactKind::from_str(kind).map_err(|e| bad(0, e))?,
        question: row.get::<_, Option<u32>>(1)?.map(QuestionId),
        text: row.get::<_, Option<u32>>(2)?.map(TextId),
        annotator: row.get::<_, Option<u32>>(3)?.map(AnnotatorId),
        at_ms: row.get(4)?,
        value: json(row, 5)?,
    })
}

pub(crate) fn select(c: &Connection, which: &str, params: impl Params) -> rusqlite::Result<Vec<Fact>> {
    let mut found = all(c, &format!("SELECT {COLUMNS} FROM facts {which} ORDER BY {ORDER}"), params, fact)?;
    if !found.iter().any(names_levels) {
        return Ok(found);
    }
    let order = LevelOrder::read(c)?;
    let value = |fact: &Fact| match fact.question {
        Some(question) if names_levels(fact) => {
            with_rows(fact.clone(), |row| order.rank(question, row)).value.to_string()
        }
        _ => String::new(),
    };
    if !order.is_of_rows() {
        found.sort_by_cached_key(|fact| (subject(fact), fact.at_ms, value(fact)));
    }
    Ok(found)
}

/// Filters facts in [`ORDER`] to those in effect.
pub(crate) fn that_hold(mut facts: Vec<Fact>) -> Vec<Fact> {
    // `dedup_by_key` keeps the first item of each group, so the order is reversed.
    facts.reverse();
    facts.dedup_by_key(|fact| fact.subject());
    facts.reverse();
    facts.retain(|fact| !fact.value.is_null());
    facts
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

    /// The facts in effect about the same subject as `like`, within the transaction.
    pub(crate) fn facts_about(&self, like: &Fact) -> Result<Vec<Fact>> {
        let found = select(self.conn, &format!("WHERE {SUBJECT}"), subject(like));
        found.map_err(|e| self.explain("reading facts", e))
    }

    fn latest_fact(&self, like: &Fact) -> Result<Option<(i64, serde_json::Value)>> {
        let sql =
            format!("SELECT at_ms, value FROM facts WHERE {SUBJECT} ORDER BY at_ms DESC, value DESC LIMIT 1");
        self.first(&sql, subject(like), |r| Ok((r.get(0)?, json(r, 1)?)))
    }

    /// Adds a fact made here or in another copy, unchanged. Returns whether it was new.
    pub(crate) fn add_fact(&mut self, new: &Fact) -> Result<bool> {
        let unknown = |what, id: u32| StoreError::Unknown { what, name: id.to_string() };
        for (what, table, id) in [
            ("question", "questions", new.question.map(|id| id.0)),
            ("text", "texts", new.text.map(|id| id.0)),
            ("annotator", "annotators", new.annotator.map(|id| id.0)),
        ] {
            if let Some(id) = id
                && self.first(&format!("SELECT 1 FROM {table} WHERE id = ?1"), [id], |_| Ok(()))?.is_none()
            {
                return Err(unknown(what, id));
            }
        }
        let value = to_json(new.kind.name(), &new.value)?;
        if value.len() > LARGEST_FACT {
            return Err(StoreError::Invalid {
                what: new.kind.to_string(),
                why: format!("it has {} bytes, and may have {LARGEST_FACT}", value.len()),
            });
        }
        let sql =
            format!("INSERT INTO facts ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING");
        let row = (
            new.kind.name(),
            new.question.map(|id| id.0),
            new.text.map(|id| id.0),
            new.annotator.map(|id| id.0),
            new.at_ms,
            value,
        );
        let added = self.run(&sql, row).map_err(|e| self.explain("noting a fact", e))? > 0;
        if added && new.kind == FactKind::FormAnswers {
            self.know_by_form(new)?;
        }
        Ok(added)
    }
}

fn subject(fact: &Fact) -> (&'static str, u32, u32, u32) {
    (
        fact.kind.name(),
        fact.question.map_or(0, |id| id.0),
        fact.text.map_or(0, |id| id.0),
        fact.annotator.map_or(0, |id| id.0),
    )
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
        let like = Fact { kind, question, text, annotator, at_ms: 0, value: serde_json::Value::Null };
        let about = subject(&like);
        let found = self.read("reading a fact", |c| select(c, &format!("WHERE {SUBJECT}"), about))?;
        Ok(that_hold(found).pop())
    }

    pub(crate) fn every_fact(&self) -> Result<Vec<Fact>> {
        self.read("reading facts", |c| select(c, "", []))
    }
}
