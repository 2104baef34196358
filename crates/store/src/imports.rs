//! Records what imports added, so that the last one can be removed again.

use crate::current::Key;
use crate::log::ATTRIBUTE_OR_NAME;
use crate::removal::{KEPT, PLACES, named_by_panels};
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use rusqlite::types::Value;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The setting with the recorded imports, in order.
pub(crate) const IMPORTS: &str = "imports";
/// Number of recorded imports. To remove an earlier one, users restore a copy.
const MOST: usize = 5;

/// Maximum number of whole rows recorded for one import. An import with more, such as one with very
/// many re-annotations, cannot be removed.
const MOST_ROWS: usize = 50_000;

/// Tables with increasing row ids: an import added the rows after the last one before it.
const COUNTED: [&str; 5] = ["questions", "texts", "annotators", "events", "facts"];
/// Tables without such row ids: what an import added is determined by comparison. Tables that refer
/// to others come first.
const COMPARED: [&str; 4] = ["repeat_changes", "repeat_remarks", "repeat_origins", "repeats"];
/// Names and attributes of annotators that imports added before format 18, as rows of the former table:
/// annotator, what, time, value.
const PEOPLE_OF_OLD: &str = "annotator_changes";

/// The state of the tables before an import.
#[derive(Debug)]
pub struct ImportRows {
    file: String,
    at_ms: i64,
    rows: BTreeMap<String, u32>,
}

/// Temporary indexes for removing an import: without them, every deletion would scan other tables
/// for references.
const INDEXES: [&str; 13] = [
    "events (replaces)",
    "events (text)",
    "events (question)",
    "current_answers (event)",
    "embeddings (text)",
    "assignments (text)",
    "repeats (text)",
    "repeats (annotator)",
    "repeat_remarks (text)",
    "repeat_origins (text)",
    "facts (question)",
    "facts (text)",
    "facts (annotator)",
];

/// What an import added: rows `(after, to]` of tables with increasing row ids, and whole rows of
/// the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Import {
    file: String,
    at_ms: i64,
    rows: BTreeMap<String, (u32, u32)>,
    others: BTreeMap<String, Vec<Vec<serde_json::Value>>>,
}

impl Import {
    fn range(&self, table: &str) -> (u32, u32) {
        self.rows.get(table).copied().unwrap_or_default()
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
    pub kept_answers: u32,
    /// Removed texts.
    pub texts: u32,
    /// Remaining texts.
    pub kept_texts: u32,
    /// Removed annotators.
    pub annotators: u32,
    /// Remaining annotators.
    pub kept_annotators: u32,
    /// Removed questions.
    pub questions: u32,
    /// Remaining questions.
    pub kept_questions: u32,
    /// Removed names and attributes of annotators that existed before.
    pub attributes: u32,
}

/// Imported events, rows after `?1` up to `?2`, to which nothing was added since: no other answer,
/// retraction or note.
const UNTOUCHED: &str = "SELECT e.id FROM events AS e WHERE e.id > ?1 AND e.id <= ?2 AND NOT EXISTS (
        SELECT 1 FROM events AS later WHERE later.annotator = e.annotator AND later.question = e.question
            AND later.text = e.text AND later.id > ?2)";

/// The columns of the primary key, which in these tables determines the whole row.
fn columns(tx: &WriteTx<'_>, table: &str) -> rusqlite::Result<Vec<String>> {
    all(tx.conn, &format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"), [], |r| r.get(0))
}

impl WriteTx<'_> {
    /// Starts to record what an import adds. Call this in the import's transaction, before anything
    /// is added.
    pub fn begin_import(&mut self, file: &str, at_ms: i64) -> Result<ImportRows> {
        let mut rows = BTreeMap::new();
        for table in COUNTED {
            let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
            rows.insert(table.to_owned(), self.first(&sql, [], |r| r.get(0))?.unwrap_or(0));
        }
        for table in COMPARED {
            let sql = format!(
                "DROP TABLE IF EXISTS temp.before_{table};
                 CREATE TEMP TABLE before_{table} AS SELECT * FROM main.{table}"
            );
            self.conn.execute_batch(&sql).map_err(|e| self.explain("beginning an import", e))?;
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
        for table in COMPARED {
            let added = self.added_to(table).map_err(|e| self.explain("noting what an import added", e))?;
            import.others.insert(table.to_owned(), added);
        }
        if import.others.values().map(Vec::len).sum::<usize>() > MOST_ROWS {
            // This import cannot be removed, and an earlier one must not be removed in its place.
            return self.set_setting::<[Import]>(IMPORTS, &[]);
        }
        let mut imports: Vec<Import> = self.setting(IMPORTS)?.unwrap_or_default();
        imports.push(import);
        imports.drain(..imports.len().saturating_sub(MOST));
        self.set_setting(IMPORTS, &imports)
    }

    fn added_to(&self, table: &str) -> rusqlite::Result<Vec<Vec<serde_json::Value>>> {
        let names = columns(self, table)?;
        let sql = format!("SELECT * FROM main.{table} EXCEPT SELECT * FROM temp.before_{table}");
        let added = all(self.conn, &sql, [], |row| {
            (0..names.len())
                .map(|column| Ok(as_json(row.get::<_, Value>(column)?)))
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        self.conn.execute_batch(&format!("DROP TABLE temp.before_{table}"))?;
        Ok(added)
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
        let tables: Vec<&str> = KEPT
            .iter()
            .chain(&["events", "repeats", "repeat_changes", "repeat_remarks", "repeat_origins"])
            .copied()
            .collect();
        let (taken, refresh, people) =
            self.deleting_from(&tables, |tx| tx.take_out(&import).map_err(explain))?;
        for key in refresh {
            self.refresh_current(key)?;
        }
        for id in people {
            self.refresh_annotator(id)?;
        }
        // The sequence numbers of deleted events must not be reused under the same copy id.
        self.appending.renew();
        self.set_setting(IMPORTS, &imports)?;
        Ok(taken)
    }

    /// Deletes the rows. Returns the keys of current answers, and the annotators, that must be recomputed.
    fn take_out(
        &mut self,
        import: &Import,
    ) -> rusqlite::Result<(ImportTaken, Vec<Key>, BTreeSet<AnnotatorId>)> {
        let mut taken = ImportTaken::default();
        for (n, on) in INDEXES.iter().enumerate() {
            self.conn.execute_batch(&format!("CREATE INDEX taking_out_{n} ON {on}"))?;
        }
        let (after, to) = import.range("events");
        self.conn.execute_batch("CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY)")?;
        let gone = format!("INSERT INTO temp.gone {UNTOUCHED}");
        self.run(&gone, [after, to])?;
        let refresh = "SELECT DISTINCT e.question, e.text, e.annotator FROM temp.gone AS g JOIN events AS e ON e.id = g.id
             WHERE EXISTS (SELECT 1 FROM events AS o WHERE o.annotator = e.annotator AND o.question = e.question
                 AND o.text = e.text AND o.id NOT IN (SELECT id FROM temp.gone))";
        let refresh = all(self.conn, refresh, [], |r| {
            Ok((QuestionId(r.get(0)?), TextId(r.get(1)?), AnnotatorId(r.get(2)?)))
        })?;
        self.run("DELETE FROM current_answers WHERE event IN (SELECT id FROM temp.gone)", [])?;
        taken.answers += self.run("DELETE FROM events WHERE id IN (SELECT id FROM temp.gone)", [])? as u32;
        self.conn.execute_batch("DROP TABLE temp.gone")?;
        let left = "SELECT count(*) FROM events WHERE id > ?1 AND id <= ?2";
        taken.kept_answers = self.conn.query_row(left, [after, to], |r| r.get(0))?;
        let (went, kept) = self.take_out_repeats(import)?;
        (taken.answers, taken.kept_answers) = (taken.answers + went, taken.kept_answers + kept);
        // Records of what an annotator was shown apply to each of their remaining answers.
        let (after, to) = import.range("facts");
        let sql = format!(
            "DELETE FROM facts WHERE id > ?1 AND id <= ?2 AND NOT {ATTRIBUTE_OR_NAME} AND NOT EXISTS (
                 SELECT 1 FROM events AS e WHERE e.annotator = facts.annotator AND e.text = facts.text)
             AND NOT EXISTS (
                 SELECT 1 FROM repeats AS r WHERE r.annotator = facts.annotator AND r.text = facts.text)"
        );
        self.run(&sql, [after, to])?;
        let panels = named_by_panels(self.conn)?;
        for place in PLACES {
            let (after, to) = import.range(place.table);
            let went = self.remove_unused(place, after, to, &panels)?;
            let sql = format!("SELECT count(*) FROM {} WHERE id > ?1 AND id <= ?2", place.table);
            let kept = self.conn.query_row(&sql, [after, to], |r| r.get(0))?;
            match place.table {
                "questions" => (taken.questions, taken.kept_questions) = (went, kept),
                "texts" => (taken.texts, taken.kept_texts) = (went, kept),
                _ => (taken.annotators, taken.kept_annotators) = (went, kept),
            }
        }
        // Attributes of annotators who were added by the import and remain are retained. Those of
        // annotators who existed before revert.
        let people = self.take_out_attributes(import, &mut taken)?;
        // The live models refer to texts and annotators by index, so they are refitted.
        self.run("DELETE FROM heads", [])?;
        for n in 0..INDEXES.len() {
            self.conn.execute_batch(&format!("DROP INDEX taking_out_{n}"))?;
        }
        Ok((taken, refresh, people))
    }

    /// Removes names and attributes that the import added to annotators who existed before. Returns these
    /// annotators.
    fn take_out_attributes(
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

    /// Removes the re-annotations that the import added and nobody has changed since, with their
    /// notes. Returns how many were removed, and how many remain.
    fn take_out_repeats(&self, import: &Import) -> rusqlite::Result<(u32, u32)> {
        let rows = |table: &str| import.others.get(table).map_or(&[][..], Vec::as_slice);
        let mut added: BTreeMap<String, u32> = BTreeMap::new();
        let beside = ["repeat_changes", "repeat_remarks", "repeat_origins"];
        for row in rows("repeats").iter().chain(beside.iter().flat_map(|table| rows(table))) {
            *added.entry(occasion(row)).or_default() += 1;
        }
        let same = "question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = ?4";
        let sql = format!(
            "SELECT (SELECT count(*) FROM repeats WHERE {same}) + (SELECT count(*) FROM repeat_changes WHERE {same})
                 + (SELECT count(*) FROM repeat_remarks WHERE {same}) + (SELECT count(*) FROM repeat_origins WHERE {same})"
        );
        // If a re-annotation has more rows than the import added, the others were added by an
        // annotator.
        let mut stays: BTreeSet<String> = BTreeSet::new();
        for row in rows("repeats") {
            let key: Vec<Value> = row.iter().take(4).map(as_sql).collect();
            let key = rusqlite::params_from_iter(key);
            let there: u32 = self.conn.prepare_cached(&sql)?.query_row(key, |r| r.get(0))?;
            if there > added.get(&occasion(row)).copied().unwrap_or(0) {
                stays.insert(occasion(row));
            }
        }
        let mut went = 0;
        for table in beside.into_iter().chain(["repeats"]) {
            for row in rows(table).iter().filter(|row| !stays.contains(&occasion(row))) {
                let gone = self.take_out_row(table, row)?;
                went += if table == "repeats" { gone } else { 0 };
            }
        }
        Ok((went, rows("repeats").iter().filter(|row| stays.contains(&occasion(row))).count() as u32))
    }

    /// Deletes a row with exactly these values; returns 0 if it does not exist.
    fn take_out_row(&self, table: &str, row: &[serde_json::Value]) -> rusqlite::Result<u32> {
        let names = columns(self, table)?;
        if names.len() != row.len() {
            return Ok(0);
        }
        let same: Vec<String> =
            names.iter().enumerate().map(|(n, name)| format!("{name} IS ?{}", n + 1)).collect();
        let sql = format!("DELETE FROM {table} WHERE {}", same.join(" AND "));
        Ok(self.run(&sql, rusqlite::params_from_iter(row.iter().map(as_sql)))? as u32)
    }
}

/// The question, text, annotator and annotation round of a row, as a string key.
fn occasion(row: &[serde_json::Value]) -> String {
    serde_json::Value::from(row.get(..4).unwrap_or_default().to_vec()).to_string()
}

/// A value of a table as JSON. Blobs are objects, to distinguish them from text.
fn as_json(value: Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Integer(number) => number.into(),
        Value::Real(number) => number.into(),
        Value::Text(text) => text.into(),
        Value::Blob(bytes) => serde_json::json!({ "bytes": bytes }),
    }
}

fn as_sql(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(number) => Value::Integer(number),
            None => Value::Real(number.as_f64().unwrap_or_default()),
        },
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Object(bytes) => {
            let bytes = bytes.get("bytes").and_then(|bytes| serde_json::from_value(bytes.clone()).ok());
            Value::Blob(bytes.unwrap_or_default())
        }
        _ => Value::Null,
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
            let sql = "SELECT count(*) FROM events WHERE id > ?1 AND id <= ?2";
            let events: u32 = c.query_row(sql, [after, to], |r| r.get(0))?;
            let repeats = import.others.get("repeats").map_or(0, Vec::len) as u32;
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
                answers: events + repeats,
            }))
        })
    }
}
