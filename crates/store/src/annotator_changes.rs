//! Changes to names and attributes of annotators, with their times, so that copies of a project
//! agree.

use crate::row::to_json;
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, Attributes};

const NAME: &str = "name";
const ATTRIBUTE: &str = "attribute:";

/// A name or attribute value of an annotator; an empty value removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnnotatorChange {
    pub(crate) annotator: AnnotatorId,
    pub(crate) what: String,
    pub(crate) changed_at_ms: i64,
    pub(crate) value: String,
}

impl WriteTx<'_> {
    /// Records the name and attributes of a new annotator with time 0, so that any later change
    /// takes precedence, in this or another copy.
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

    /// Records a new name, effective now.
    pub(crate) fn note_name(&mut self, id: AnnotatorId, name: &str, now_ms: i64) -> Result<()> {
        self.say_now(id, NAME.to_owned(), name.to_owned(), now_ms)
    }

    /// Records the attributes that differ from `before`, effective now.
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

    /// Returns the current time, or a time just after the latest change to the same name or
    /// attribute.
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

    /// Returns the time to record for a change to an attribute made now, such that it takes effect.
    pub(crate) fn time_of_attribute(&self, id: AnnotatorId, attribute: &str, now_ms: i64) -> Result<i64> {
        self.after_all_said(id, &format!("{ATTRIBUTE}{attribute}"), now_ms)
    }

    /// Records a value of an attribute at a given time; an empty value removes it.
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

    /// Adds a change made here or in another copy. Returns whether it was new.
    pub(crate) fn add_annotator_change(&mut self, new: &AnnotatorChange) -> Result<bool> {
        let sql =
            "INSERT INTO annotator_changes (annotator, what, changed_at_ms, value) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT DO NOTHING";
        let added = self.run(sql, (new.annotator.0, &new.what, new.changed_at_ms, &new.value));
        Ok(added.map_err(|e| self.explain("noting what is known of an annotator", e))? > 0)
    }

    /// Updates the annotator's row to the latest recorded name and attributes.
    pub(crate) fn refresh_annotator(&mut self, id: AnnotatorId) -> Result<()> {
        // For each name or attribute, the last row in this order is in effect.
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
    /// All changes ever recorded, for every annotator.
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
