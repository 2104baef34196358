//! What is known of people and when it was said, so that copies agree on it.

use crate::row::to_json;
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, Attributes};

const NAME: &str = "name";
const ATTRIBUTE: &str = "attribute:";

/// That somebody has a name, or an attribute a value; an empty one is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnnotatorChange {
    pub(crate) annotator: AnnotatorId,
    pub(crate) what: String,
    pub(crate) changed_at_ms: i64,
    pub(crate) value: String,
}

impl WriteTx<'_> {
    /// Notes what is said of somebody who was just added. At no time: what is said later holds, in this copy or in another.
    pub(crate) fn note_new_annotator(
        &mut self,
        id: AnnotatorId,
        name: &str,
        known: &Attributes,
    ) -> Result<()> {
        self.say(id, NAME.to_owned(), name.to_owned(), 0)?;
        for (attribute, value) in known {
            self.say(id, format!("{ATTRIBUTE}{attribute}"), value.clone(), 0)?;
        }
        Ok(())
    }

    /// Notes that somebody has another name from now on.
    pub(crate) fn note_name(&mut self, id: AnnotatorId, name: &str, now_ms: i64) -> Result<()> {
        self.say_now(id, NAME.to_owned(), name.to_owned(), now_ms)
    }

    /// Notes what is known of somebody from now on, where that differs from `before`.
    pub(crate) fn note_attributes(
        &mut self,
        id: AnnotatorId,
        before: &Attributes,
        now: &Attributes,
        now_ms: i64,
    ) -> Result<()> {
        for (attribute, value) in now.iter().filter(|(key, value)| before.get(*key) != Some(*value)) {
            self.say_now(id, format!("{ATTRIBUTE}{attribute}"), value.clone(), now_ms)?;
        }
        for attribute in before.keys().filter(|key| !now.contains_key(*key)) {
            self.say_now(id, format!("{ATTRIBUTE}{attribute}"), String::new(), now_ms)?;
        }
        Ok(())
    }

    fn say_now(&mut self, annotator: AnnotatorId, what: String, value: String, now_ms: i64) -> Result<()> {
        let changed_at_ms = self.after_all_said(annotator, &what, now_ms)?;
        self.say(annotator, what, value, changed_at_ms)
    }

    /// Now, or later than everything that was said of it.
    fn after_all_said(&self, annotator: AnnotatorId, what: &str, now_ms: i64) -> Result<i64> {
        let sql = "SELECT max(changed_at_ms) FROM annotator_changes WHERE annotator = ?1 AND what = ?2";
        let newest: Option<i64> = self.first(sql, (annotator.0, what), |r| r.get(0))?.flatten();
        let Some(newest) = newest else { return Ok(now_ms) };
        let after = newest.checked_add(1).ok_or_else(|| StoreError::Invalid {
            what: what.strip_prefix(ATTRIBUTE).unwrap_or(what).to_owned(),
            why: "it was set at the end of time by a file that was taken in, so nothing can be set after it: go back to a copy of the \
                  project from before that"
                .to_owned(),
        })?;
        Ok(now_ms.max(after))
    }

    /// When something that is said now of an attribute is said, so that it holds.
    pub(crate) fn time_of_attribute(&self, id: AnnotatorId, attribute: &str, now_ms: i64) -> Result<i64> {
        self.after_all_said(id, &format!("{ATTRIBUTE}{attribute}"), now_ms)
    }

    /// Notes what was said of an attribute at a time; an empty value is none.
    pub(crate) fn say_attribute(
        &mut self,
        id: AnnotatorId,
        attribute: &str,
        value: String,
        at_ms: i64,
    ) -> Result<()> {
        self.say(id, format!("{ATTRIBUTE}{attribute}"), value, at_ms)
    }

    fn say(&mut self, annotator: AnnotatorId, what: String, value: String, changed_at_ms: i64) -> Result<()> {
        self.add_annotator_change(&AnnotatorChange { annotator, what, changed_at_ms, value }).map(drop)
    }

    /// Adds a fact, our own or one that another copy knows. Returns whether it was new.
    pub(crate) fn add_annotator_change(&mut self, new: &AnnotatorChange) -> Result<bool> {
        let sql =
            "INSERT INTO annotator_changes (annotator, what, changed_at_ms, value) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT DO NOTHING";
        let added = self.run(sql, (new.annotator.0, &new.what, new.changed_at_ms, &new.value));
        Ok(added.map_err(|e| self.explain("noting what is known of an annotator", e))? > 0)
    }

    /// Brings name and attributes of somebody to what holds of all that was said.
    pub(crate) fn refresh_annotator(&mut self, id: AnnotatorId) -> Result<()> {
        // The last of each in this order holds.
        let sql = "SELECT what, value FROM annotator_changes WHERE annotator = ?1 ORDER BY what, changed_at_ms, value";
        let said = all(self.conn, sql, [id.0], |r| Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?)));
        let said = said.map_err(|e| self.explain("reading what is known of an annotator", e))?;
        let (mut name, mut attributes) = (None, Attributes::new());
        for (what, value) in said {
            match what.strip_prefix(ATTRIBUTE) {
                Some(attribute) if value.is_empty() => drop(attributes.remove(attribute)),
                Some(attribute) => drop(attributes.insert(attribute.to_owned(), value)),
                None => name = Some(value),
            }
        }
        let attributes = to_json("attributes of an annotator", &attributes)?;
        let sql = "UPDATE annotators SET name = coalesce(?2, name), attributes = ?3 WHERE id = ?1";
        self.run(sql, (id.0, name, attributes)).map_err(|e| self.explain("changing an annotator", e))?;
        Ok(())
    }
}

impl Store {
    /// Everything that was ever said of people.
    pub(crate) fn all_annotator_changes(&self) -> Result<Vec<AnnotatorChange>> {
        let sql = "SELECT annotator, what, changed_at_ms, value FROM annotator_changes";
        self.read("reading what is known of annotators", |c| {
            all(c, sql, [], |r| {
                Ok(AnnotatorChange {
                    annotator: AnnotatorId(r.get(0)?),
                    what: r.get(1)?,
                    changed_at_ms: r.get(2)?,
                    value: r.get(3)?,
                })
            })
        })
    }
}
