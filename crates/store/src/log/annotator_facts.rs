//! Names and attributes of annotators, with their times, so that copies of a project agree. An empty value
//! removes an attribute. The row of an annotator has what is in effect; it is updated after all facts about
//! the annotator are recorded, since that reads them all.

use super::{About, Kind, Listed, SETTING, Submitted, checked, read, select};
use crate::row::to_json;
use crate::tx::all;
use crate::{Done, Result, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, Attributes, Fact, FactKind};
use rusqlite::Connection;
use std::collections::BTreeSet;

/// SQL for whether a fact is a name or an attribute of an annotator.
pub(crate) const ATTRIBUTE_OR_NAME: &str = "kind IN ('annotator-name', 'annotator-attribute')";

pub(super) const NAME: Kind = Kind {
    about: About::Annotator,
    check: |_, fact| checked::<String>(fact).map(drop),
    order: |value, _| read(value),
    // A submission cannot change them.
    submitted: Submitted::Ignored,
    count: |report| &mut report.annotator_changes,
    // What was known when an annotator was added has no time.
    listed: Some(Listed { which: "at_ms <> 0", ..Listed::new("'person'") }),
    done: |_, fact| Ok(Done::Person { attribute: fact.key.clone(), value: read(&fact.value)? }),
    is_work: false,
    ..SETTING
};

pub(super) const ATTRIBUTE: Kind = Kind { keyed: true, ..NAME };

/// All names that an annotator ever had.
pub(crate) fn names_of(c: &Connection, id: AnnotatorId) -> rusqlite::Result<BTreeSet<String>> {
    let which = "WHERE kind = 'annotator-name' AND coalesce(question, 0) = 0 AND coalesce(text, 0) = 0
                 AND coalesce(annotator, 0) = ?1";
    select(c, which, [id.0])?.iter().map(|fact| read(&fact.value)).collect()
}

/// A name, or without one an attribute.
fn fact(annotator: AnnotatorId, attribute: Option<&str>, value: &str, at_ms: i64) -> Fact {
    let kind = if attribute.is_some() { FactKind::AnnotatorAttribute } else { FactKind::AnnotatorName };
    let key = attribute.map(str::to_owned);
    Fact { annotator: Some(annotator), key, ..Fact::of_project(kind, at_ms, value) }
}

impl WriteTx<'_> {
    /// Records the name and attributes of a new annotator, whose row has them, with time 0, so that any
    /// later change takes precedence, in this or another copy.
    pub(crate) fn note_new_annotator(
        &mut self,
        id: AnnotatorId,
        name: &str,
        known: &Attributes,
    ) -> Result<()> {
        let attributes = known.iter().map(|(attribute, value)| fact(id, Some(attribute), value, 0));
        for new in [fact(id, None, name, 0)].into_iter().chain(attributes) {
            super::insert(self.conn, &new, &new.value.to_string())
                .map_err(|e| self.explain("storing data about an annotator", e))?;
        }
        Ok(())
    }

    /// Records a new name, effective now; the row is not updated.
    pub(crate) fn note_name(&mut self, id: AnnotatorId, name: &str, now_ms: i64) -> Result<()> {
        let at_ms = self.time_after(&fact(id, None, name, now_ms))?;
        self.add_fact(&fact(id, None, name, at_ms)).map(drop)
    }

    /// Records the attributes that differ from `before`, effective now; the row is not updated.
    pub(crate) fn note_attributes(
        &mut self,
        id: AnnotatorId,
        before: &Attributes,
        now: &Attributes,
        now_ms: i64,
    ) -> Result<()> {
        let set = now.iter().filter(|(key, value)| before.get(*key) != Some(*value));
        let removed = before.keys().filter(|key| !now.contains_key(*key));
        let empty = String::new();
        for (attribute, value) in set.chain(removed.map(|key| (key, &empty))) {
            let at_ms = self.time_of_attribute(id, attribute, now_ms)?;
            self.record_attribute(id, attribute, value, at_ms)?;
        }
        Ok(())
    }

    /// Returns the time of a fact, or a time just after the latest one about the same name or attribute.
    fn time_after(&self, new: &Fact) -> Result<i64> {
        let Some((newest, _)) = self.latest_fact(new)? else { return Ok(new.at_ms) };
        let after = newest.checked_add(1).ok_or_else(|| StoreError::Invalid {
            what: new.key.clone().unwrap_or_else(|| "name".to_owned()),
            why: "it was set at the end of time by a file that was merged, so nothing can be set after it: go back to a copy of the \
                  project from before that"
                .to_owned(),
        })?;
        Ok(new.at_ms.max(after))
    }

    /// Returns the time to record for a change to an attribute made now, such that it takes effect.
    pub(crate) fn time_of_attribute(&self, id: AnnotatorId, attribute: &str, now_ms: i64) -> Result<i64> {
        self.time_after(&fact(id, Some(attribute), "", now_ms))
    }

    /// Records a value of an attribute at a given time; an empty value removes it. The row is not updated.
    pub(crate) fn record_attribute(
        &mut self,
        id: AnnotatorId,
        attribute: &str,
        value: &str,
        at_ms: i64,
    ) -> Result<()> {
        self.add_fact(&fact(id, Some(attribute), value, at_ms)).map(drop)
    }

    /// Updates the annotator's row to the latest recorded name and attributes.
    pub(crate) fn refresh_annotator(&mut self, id: AnnotatorId) -> Result<()> {
        // For each name or attribute, the last row in this order is in effect.
        let sql = format!(
            "SELECT key, json_extract(value, '$') AS value FROM facts WHERE {ATTRIBUTE_OR_NAME}
                 AND coalesce(question, 0) = 0 AND coalesce(text, 0) = 0 AND coalesce(annotator, 0) = ?1
             ORDER BY kind, key, at_ms, json_extract(value, '$')"
        );
        let facts =
            all(self.conn, &sql, [id.0], |r| Ok((r.get::<_, Option<String>>(0)?, r.get::<_, String>(1)?)));
        let facts = facts.map_err(|e| self.explain("reading data about an annotator", e))?;
        let (mut name, mut attributes) = (None, Attributes::new());
        for (attribute, value) in facts {
            match attribute {
                Some(attribute) if value.is_empty() => drop(attributes.remove(&attribute)),
                Some(attribute) => drop(attributes.insert(attribute, value)),
                None => name = Some(value),
            }
        }
        let attributes = to_json("attributes of an annotator", &attributes)?;
        let sql = "UPDATE annotators SET name = coalesce(?2, name), attributes = ?3 WHERE id = ?1";
        self.run(sql, (id.0, name, attributes)).map_err(|e| self.explain("changing an annotator", e))?;
        Ok(())
    }
}
