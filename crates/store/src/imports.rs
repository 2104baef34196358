//! Records what imports added, so that the last one can be removed again.

use crate::events::Key;
use crate::identity::is_of_content;
use crate::log::ATTRIBUTE_OR_NAME;
use crate::recorded_events::{REMOVED, highest};
use crate::removal::{KEPT, PLACES, named_by_panels};
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, CopyId, QuestionId, TextId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use uuid::Uuid;

/// The setting with the recorded imports, in order.
pub(crate) const IMPORTS: &str = "imports";
/// Number of recorded imports. To remove an earlier one, users restore a copy.
const MAX_IMPORTS: usize = 5;

/// Tables with increasing row ids: an import added the rows after the last one before it.
const COUNTED: [&str; 5] = ["questions", "texts", "annotators", "events", "facts"];
/// Names and attributes of annotators that imports added before format 18, as rows of the former table:
/// annotator, what, time, value.
const PEOPLE_OF_OLD: &str = "annotator_changes";
/// Row ids of the events made of the re-annotations that imports added before format 19.
pub(crate) const EVENTS_OF_OLD: &str = "events";

/// The state of the tables before an import.
#[derive(Debug)]
pub struct ImportRows {
    file: String,
    at_ms: i64,
    rows: BTreeMap<String, u32>,
}

/// Temporary indexes for removing an import: without them, every deletion would scan other tables
/// for references.
const INDEXES: [&str; 9] = [
    "events (replaces)",
    "events (text)",
    "events (question)",
    "current_answers (event)",
    "embeddings (text)",
    "assignments (text)",
    "facts (question)",
    "facts (text)",
    "facts (annotator)",
];

/// What an import added: rows `(after, to]` of tables, and rows that earlier formats recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Import {
    file: String,
    at_ms: i64,
    rows: BTreeMap<String, (u32, u32)>,
    pub(crate) others: BTreeMap<String, Vec<Vec<serde_json::Value>>>,
}

impl Import {
    fn range(&self, table: &str) -> (u32, u32) {
        self.rows.get(table).copied().unwrap_or_default()
    }

    /// [`EVENTS_OF_OLD`] as JSON.
    fn events_of_old(&self) -> String {
        let rows = self.others.get(EVENTS_OF_OLD).into_iter().flatten();
        serde_json::Value::from_iter(rows.flatten().cloned()).to_string()
    }

    /// The rows of [`PEOPLE_OF_OLD`].
    fn people_of_old(&self) -> impl Iterator<Item = (u32, String, i64, String)> {
        let rows = self.others.get(PEOPLE_OF_OLD).into_iter().flatten();
        rows.filter_map(|row| serde_json::from_value(row.clone().into()).ok())
    }
}

/// The import that can be removed, and what is left of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastImport {
    pub file: String,
    pub at_ms: i64,
    /// Questions that it added.
    pub questions: Vec<QuestionId>,
    /// Texts that it added: their number and the last one.
    pub texts: (u32, Option<TextId>),
    /// Annotators that it added.
    pub annotators: Vec<AnnotatorId>,
    /// Number of answers and marks that it added.
    pub answers: u32,
    /// Number of names and attributes that it added to existing annotators.
    pub attributes: u32,
}

/// What was removed with an import, and what remains because it has been used since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportTaken {
    /// Removed answers, skips, flags and notes, including re-annotations.
    pub answers: u32,
    /// Remaining answers, which were changed or retracted since.
    pub retained_answers: u32,
    /// Removed texts.
    pub texts: u32,
    /// Remaining texts.
    pub retained_texts: u32,
    /// Removed annotators.
    pub annotators: u32,
    /// Remaining annotators.
    pub retained_annotators: u32,
    /// Removed questions.
    pub questions: u32,
    /// Remaining questions.
    pub retained_questions: u32,
    /// Removed names and attributes of annotators that existed before.
    pub attributes: u32,
}

/// Imported events: rows after `?1` up to `?2`, and those of the list `?3`.
const IMPORTED: &str =
    "SELECT id FROM events WHERE (id > ?1 AND id <= ?2) OR id IN (SELECT value FROM json_each(?3))";

/// Imported events to which nothing was added since: no other answer, retraction or note.
const UNTOUCHED: &str =
    "SELECT e.id FROM temp.imported AS i JOIN events AS e ON e.id = i.id WHERE NOT EXISTS (
        SELECT 1 FROM events AS later WHERE later.annotator = e.annotator AND later.question = e.question
            AND later.text = e.text AND later.occasion = e.occasion AND later.id > ?1
            AND later.id NOT IN (SELECT id FROM temp.imported))";

impl WriteTx<'_> {
    /// Starts to record what an import adds. Call this in the import's transaction, before anything
    /// is added.
    pub fn begin_import(&mut self, file: &str, at_ms: i64) -> Result<ImportRows> {
        let mut rows = BTreeMap::new();
        for table in COUNTED {
            let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
            rows.insert(table.to_owned(), self.first(&sql, [], |r| r.get(0))?.unwrap_or(0));
        }
        Ok(ImportRows { file: file.to_owned(), at_ms, rows })
    }

    /// Records what was added since `begun`, so that it can be removed again.
    pub fn end_import(&mut self, begun: ImportRows) -> Result<()> {
        let ImportRows { file, at_ms, rows: before } = begun;
        let mut import = Import { file, at_ms, rows: BTreeMap::new(), others: BTreeMap::new() };
        for (table, after) in before {
            let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
            let to = self.first(&sql, [], |r| r.get(0))?.unwrap_or(0);
            import.rows.insert(table, (after, to));
        }
        let mut imports: Vec<Import> = self.setting(IMPORTS)?.unwrap_or_default();
        imports.push(import);
        imports.drain(..imports.len().saturating_sub(MAX_IMPORTS));
        self.set_setting(IMPORTS, &imports)
    }

    /// Removes an erased annotator from the records of imports.
    pub(crate) fn forget_in_imports(&mut self, annotator: AnnotatorId) -> Result<()> {
        let Some(mut imports) = self.setting::<Vec<Import>>(IMPORTS)? else { return Ok(()) };
        for rows in imports.iter_mut().filter_map(|import| import.others.get_mut(PEOPLE_OF_OLD)) {
            rows.retain(|row| {
                row.first().and_then(serde_json::Value::as_u64) != Some(u64::from(annotator.0))
            });
        }
        self.set_setting(IMPORTS, &imports)
    }

    /// Removes what the last import added and nothing has used since. Answers that were changed,
    /// retracted or given a note since remain with their history, as does every text, annotator and
    /// question that something else depends on.
    ///
    /// # Errors
    /// There is no import that can be removed.
    pub fn remove_last_import(&mut self) -> Result<ImportTaken> {
        let mut imports: Vec<Import> = self.setting(IMPORTS)?.unwrap_or_default();
        let import = imports.pop().ok_or_else(no_import)?;
        let path = self.path;
        let explain = |e| StoreError::explain(path, "taking out an import", e);
        let tables: Vec<&str> = KEPT.iter().chain(&["events", "copies"]).copied().collect();
        let before = highest(self.conn).map_err(explain)?;
        let (taken, refresh, people) = self.deleting_from(&tables, |tx| {
            let taken = tx.delete_rows(&import).map_err(explain)?;
            tx.delete_copies_without_contents().map_err(explain)?;
            Ok(taken)
        })?;
        for key in refresh {
            self.refresh_current(key)?;
        }
        for id in people {
            self.refresh_annotator(id)?;
        }
        // The sequence numbers of deleted events must not be reused under the same copy id.
        self.appending.renew();
        self.remember_removed(before)?;
        self.set_setting(IMPORTS, &imports)?;
        Ok(taken)
    }

    /// Records the sequence numbers of each copy that were used before events were removed. Copies that are
    /// named by their contents are not remembered: see [`WriteTx::delete_copies_without_contents`].
    fn remember_removed(&mut self, before: HashMap<Uuid, u32>) -> Result<()> {
        let now = highest(self.conn).map_err(|e| self.explain("taking out an import", e))?;
        let mut removed: BTreeMap<Uuid, u32> = self.setting(REMOVED)?.unwrap_or_default();
        for (copy, sequence) in before {
            if !is_of_content(CopyId(copy)) && now.get(&copy).is_none_or(|now| *now < sequence) {
                let known = removed.entry(copy).or_default();
                *known = sequence.max(*known);
            }
        }
        match removed.is_empty() {
            true => Ok(()),
            false => self.set_setting(REMOVED, &removed),
        }
    }

    /// Deletes the rows. Returns the keys of current answers, and the annotators, that must be recomputed.
    fn delete_rows(
        &mut self,
        import: &Import,
    ) -> rusqlite::Result<(ImportTaken, Vec<Key>, BTreeSet<AnnotatorId>)> {
        let mut taken = ImportTaken::default();
        for (n, on) in INDEXES.iter().enumerate() {
            self.conn.execute_batch(&format!("CREATE INDEX taking_out_{n} ON {on}"))?;
        }
        let (after, to) = import.range("events");
        self.conn.execute_batch(
            "CREATE TEMP TABLE imported (id INTEGER PRIMARY KEY); CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY)",
        )?;
        let imported = self
            .run(&format!("INSERT INTO temp.imported {IMPORTED}"), (after, to, import.events_of_old()))?
            as u32;
        self.run(&format!("INSERT INTO temp.gone {UNTOUCHED}"), [to])?;
        let refresh = "SELECT DISTINCT e.question, e.text, e.annotator, e.occasion
             FROM temp.gone AS g JOIN events AS e ON e.id = g.id
             WHERE EXISTS (SELECT 1 FROM events AS o WHERE o.annotator = e.annotator AND o.question = e.question
                 AND o.text = e.text AND o.occasion = e.occasion AND o.id NOT IN (SELECT id FROM temp.gone))";
        let refresh = all(self.conn, refresh, [], |r| {
            Ok((QuestionId(r.get(0)?), TextId(r.get(1)?), AnnotatorId(r.get(2)?), r.get(3)?))
        })?;
        self.run("DELETE FROM current_answers WHERE event IN (SELECT id FROM temp.gone)", [])?;
        taken.answers += self.run("DELETE FROM events WHERE id IN (SELECT id FROM temp.gone)", [])? as u32;
        self.conn.execute_batch("DROP TABLE temp.gone; DROP TABLE temp.imported")?;
        taken.retained_answers = imported - taken.answers;
        // Records of what an annotator was shown apply to each of their remaining answers.
        let (after, to) = import.range("facts");
        let sql = format!(
            "DELETE FROM facts WHERE id > ?1 AND id <= ?2 AND NOT {ATTRIBUTE_OR_NAME} AND NOT EXISTS (
                 SELECT 1 FROM events AS e WHERE e.annotator = facts.annotator AND e.text = facts.text)"
        );
        self.run(&sql, [after, to])?;
        let panels = named_by_panels(self.conn)?;
        for place in PLACES {
            let (after, to) = import.range(place.table);
            let went = self.remove_unused(place, after, to, &panels)?;
            let sql = format!("SELECT count(*) FROM {} WHERE id > ?1 AND id <= ?2", place.table);
            let kept = self.conn.query_row(&sql, [after, to], |r| r.get(0))?;
            match place.table {
                "questions" => (taken.questions, taken.retained_questions) = (went, kept),
                "texts" => (taken.texts, taken.retained_texts) = (went, kept),
                _ => (taken.annotators, taken.retained_annotators) = (went, kept),
            }
        }
        // Attributes of annotators who were added by the import and remain are retained. Those of
        // annotators who existed before revert.
        let people = self.remove_attributes(import, &mut taken)?;
        // The live models refer to texts and annotators by index, so they are refitted.
        self.run("DELETE FROM heads", [])?;
        for n in 0..INDEXES.len() {
            self.conn.execute_batch(&format!("DROP INDEX taking_out_{n}"))?;
        }
        Ok((taken, refresh, people))
    }

    /// Removes names and attributes that the import added to annotators who existed before. Returns these
    /// annotators.
    fn remove_attributes(
        &self,
        import: &Import,
        taken: &mut ImportTaken,
    ) -> rusqlite::Result<BTreeSet<AnnotatorId>> {
        let (new, (after, to)) = (import.range("annotators").0, import.range("facts"));
        let of_import =
            format!("FROM facts WHERE id > ?1 AND id <= ?2 AND annotator <= ?3 AND {ATTRIBUTE_OR_NAME}");
        let sql = format!("SELECT DISTINCT annotator {of_import}");
        let people = all(self.conn, &sql, [after, to, new], |r| Ok(AnnotatorId(r.get(0)?)))?;
        let mut people: BTreeSet<AnnotatorId> = people.into_iter().collect();
        taken.attributes += self.run(&format!("DELETE {of_import}"), [after, to, new])? as u32;
        for (annotator, what, at_ms, value) in import.people_of_old().filter(|row| row.0 <= new) {
            let sql = format!(
                "DELETE FROM facts WHERE annotator = ?1 AND at_ms = ?3 AND json_extract(value, '$') = ?4
                     AND {ATTRIBUTE_OR_NAME} AND coalesce('attribute:' || key, 'name') = ?2"
            );
            taken.attributes += self.run(&sql, (annotator, what, at_ms, value))? as u32;
            people.insert(AnnotatorId(annotator));
        }
        let known = all(self.conn, "SELECT id FROM annotators", [], |r| Ok(AnnotatorId(r.get(0)?)))?;
        people.retain(|id| known.contains(id));
        Ok(people)
    }
}

fn no_import() -> StoreError {
    StoreError::Invalid {
        what: "the last import".to_owned(),
        why: "there is none that can be taken out: imports are noted since version 0.1, the last five"
            .to_owned(),
    }
}

impl Store {
    /// The import that [`WriteTx::remove_last_import`] would remove.
    pub fn last_import(&self) -> Result<Option<LastImport>> {
        let imports: Vec<Import> = self.setting(IMPORTS)?.unwrap_or_default();
        let Some(import) = imports.last() else { return Ok(None) };
        self.read("reading the last import", |c| {
            let rows = |table: &str| {
                let (after, to) = import.range(table);
                let sql = format!("SELECT id FROM {table} WHERE id > ?1 AND id <= ?2 ORDER BY id");
                all(c, &sql, [after, to], |r| r.get::<_, u32>(0))
            };
            let (after, to) = import.range("texts");
            let sql = "SELECT count(*), max(id) FROM texts WHERE id > ?1 AND id <= ?2";
            let texts =
                c.query_row(sql, [after, to], |r| Ok((r.get(0)?, r.get::<_, Option<u32>>(1)?.map(TextId))))?;
            let (after, to) = import.range("events");
            let sql = format!("SELECT count(*) FROM ({IMPORTED})");
            let answers = c.query_row(&sql, (after, to, import.events_of_old()), |r| r.get(0))?;
            let new = import.range("annotators").0;
            let (after, to) = import.range("facts");
            let sql = format!(
                "SELECT count(*) FROM facts WHERE id > ?1 AND id <= ?2 AND annotator <= ?3 AND {ATTRIBUTE_OR_NAME}"
            );
            let attributes: u32 = c.query_row(&sql, [after, to, new], |r| r.get(0))?;
            let attributes = attributes + import.people_of_old().filter(|row| row.0 <= new).count() as u32;
            Ok(Some(LastImport {
                attributes,
                file: import.file.clone(),
                at_ms: import.at_ms,
                questions: rows("questions")?.into_iter().map(QuestionId).collect(),
                texts,
                annotators: rows("annotators")?.into_iter().map(AnnotatorId).collect(),
                answers,
            }))
        })
    }
}
