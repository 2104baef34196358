//! What imports of files added, so that the last one can be taken out again.

use crate::current::Key;
use crate::removal::{KEPT, PLACES, named_by_panels};
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use rusqlite::types::Value;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The setting with what imports added, the last one last.
pub(crate) const IMPORTS: &str = "imports";
/// How many are kept: who finds out later goes back to a copy.
const MOST: usize = 5;

/// How many whole rows are kept of one import. One with more of them, such as very many answers of later occasions, cannot be taken out.
const MOST_ROWS: usize = 50_000;

/// Tables with rows that are counted up: what an import added are the rows behind the last one before it.
const COUNTED: [&str; 5] = ["questions", "texts", "annotators", "events", "facts"];
/// Tables without such rows: what an import added is told by comparing. Those that refer to another one first.
const COMPARED: [&str; 6] =
    ["repeat_changes", "repeat_remarks", "repeat_origins", "repeats", "annotator_changes", "level_names"];

/// How far tables were before an import.
#[derive(Debug)]
pub struct ImportRows {
    file: String,
    at_ms: i64,
    rows: BTreeMap<String, u32>,
}

/// By what rows are looked for while an import is taken out: without these each row that goes would be looked for in all others.
const INDEXES: [&str; 13] = [
    "events (replaces)",
    "events (text)",
    "events (question)",
    "current_answers (event)",
    "embeddings (text)",
    "assignments (text)",
    "repeats (text)",
    "repeats (annotator)",
    "decisions (text)",
    "attention_checks (text)",
    "repeat_remarks (text)",
    "repeat_origins (text)",
    "facts (text)",
];

/// What one import added: rows `(after, to]` of tables that count them, and whole rows of the others.
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
}

/// The import that can be taken out, and what of it is still there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastImport {
    /// The file that was imported.
    pub file: String,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Questions that it added.
    pub questions: Vec<QuestionId>,
    /// Texts that it added: how many, and the last one.
    pub texts: (u32, Option<TextId>),
    /// People whom it added.
    pub annotators: Vec<AnnotatorId>,
    /// Answers and marks that it added.
    pub answers: u32,
    /// Names and attributes that it added to people who were there before.
    pub attributes: u32,
}

/// What went with an import, and what stays because somebody used it since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportTaken {
    /// Answers, skips, flags and notes that went, with answers of later occasions.
    pub answers: u32,
    /// Those that stay, because they were changed or taken back since.
    pub kept_answers: u32,
    /// Texts that went, and that stay.
    pub texts: u32,
    /// Texts that stay.
    pub kept_texts: u32,
    /// People who went.
    pub annotators: u32,
    /// People who stay.
    pub kept_annotators: u32,
    /// Questions that went.
    pub questions: u32,
    /// Questions that stay.
    pub kept_questions: u32,
    /// Names and attributes of people who were there before that went.
    pub attributes: u32,
}

/// Imported events, rows behind `?1` up to `?2`, to which nothing was added since: no other answer, nothing taken back, no note.
const UNTOUCHED: &str = "SELECT e.id FROM events AS e WHERE e.id > ?1 AND e.id <= ?2 AND NOT EXISTS (
        SELECT 1 FROM events AS later WHERE later.annotator = e.annotator AND later.question = e.question
            AND later.text = e.text AND later.id > ?2)";

/// The columns of a primary key, which is the whole row in these tables but for what follows from it.
fn columns(tx: &WriteTx<'_>, table: &str) -> rusqlite::Result<Vec<String>> {
    all(tx.conn, &format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"), [], |r| r.get(0))
}

impl WriteTx<'_> {
    /// Begins to note what an import adds. To be called in the transaction of the import, before anything is added.
    ///
    /// # Errors
    /// Only what the disk says.
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

    /// Keeps what was added since `begun`, so that it can be taken out again.
    ///
    /// # Errors
    /// Only what the disk says.
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
            // It cannot be taken out, and neither can one before it be in its place.
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

    /// Forgets what imports added to somebody who is taken out.
    pub(crate) fn forget_in_imports(&mut self, annotator: AnnotatorId) -> Result<()> {
        let Some(mut imports) = self.setting::<Vec<Import>>(IMPORTS)? else { return Ok(()) };
        for rows in imports.iter_mut().filter_map(|import| import.others.get_mut("annotator_changes")) {
            rows.retain(|row| {
                row.first().and_then(serde_json::Value::as_u64) != Some(u64::from(annotator.0))
            });
        }
        self.set_setting(IMPORTS, &imports)
    }

    /// Takes out what the last import added and nobody used since. Answers that were changed, taken back or noted on since stay with their history,
    /// and so does every text, person and question on which something else stands.
    ///
    /// # Errors
    /// There is no import that can be taken out, or what the disk says.
    pub fn remove_last_import(&mut self) -> Result<ImportTaken> {
        let mut imports: Vec<Import> = self.setting(IMPORTS)?.unwrap_or_default();
        let import = imports.pop().ok_or_else(no_import)?;
        let path = self.path;
        let explain = |e| StoreError::explain(path, "taking out an import", e);
        self.keep_highest_rows().map_err(explain)?;
        let tables: Vec<&str> = KEPT
            .iter()
            .chain(&["events", "repeats", "repeat_changes", "repeat_remarks", "repeat_origins"])
            .copied()
            .collect();
        let (taken, refresh) = self.deleting_from(&tables, |tx| tx.take_out(&import).map_err(explain))?;
        for key in refresh {
            self.refresh_current(key)?;
        }
        let people = import.others.get("annotator_changes").into_iter().flatten();
        let people: BTreeSet<u32> =
            people.filter_map(|row| u32::try_from(row.first()?.as_u64()?).ok()).collect();
        for id in people {
            if self.first("SELECT 1 FROM annotators WHERE id = ?1", [id], |_| Ok(()))?.is_some() {
                self.refresh_annotator(AnnotatorId(id))?;
            }
        }
        // Sequences of events that are gone must not be given again under the same copy.
        self.appending.renew();
        self.set_setting(IMPORTS, &imports)?;
        Ok(taken)
    }

    /// The rows themselves. Returns what has to be decided anew.
    fn take_out(&mut self, import: &Import) -> rusqlite::Result<(ImportTaken, Vec<Key>)> {
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
        // What somebody was shown is told of every answer of theirs that stays.
        let (after, to) = import.range("facts");
        let sql = "DELETE FROM facts WHERE id > ?1 AND id <= ?2 AND NOT EXISTS (
                 SELECT 1 FROM events AS e WHERE e.annotator = facts.annotator AND e.text = facts.text)
             AND NOT EXISTS (
                 SELECT 1 FROM repeats AS r WHERE r.annotator = facts.annotator AND r.text = facts.text)";
        self.run(sql, [after, to])?;
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
        // What is known of people who came with the import and stay, stays. Of those who were there before it goes back to what was known.
        let new = import.range("annotators").0;
        for row in import.others.get("annotator_changes").into_iter().flatten() {
            if row.first().and_then(serde_json::Value::as_u64).is_some_and(|id| id <= u64::from(new)) {
                taken.attributes += self.take_out_row("annotator_changes", row)?;
            }
        }
        // Models in use know texts and people by their places; they are fitted anew.
        self.run("DELETE FROM heads", [])?;
        for n in 0..INDEXES.len() {
            self.conn.execute_batch(&format!("DROP INDEX taking_out_{n}"))?;
        }
        Ok((taken, refresh))
    }

    /// Takes out the answers of later occasions that the import added and nobody changed since, with what was said beside them. Returns how
    /// many went, and how many stay.
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
        // Where there is more of an occasion than the import added, somebody did the rest.
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

    /// Takes one whole row out of a table; 0 where it is not there any more.
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

/// Question, text, annotator and occasion of a row of later occasions, as one name.
fn occasion(row: &[serde_json::Value]) -> String {
    serde_json::Value::from(row.get(..4).unwrap_or_default().to_vec()).to_string()
}

/// A value of a table as JSON. Bytes are written as an object, so that they are told from text.
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
    /// The import that [`WriteTx::remove_last_import`] would take out.
    ///
    /// # Errors
    /// Only what the disk says.
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
            let before = |row: &&Vec<serde_json::Value>| {
                row.first().and_then(serde_json::Value::as_u64).is_some_and(|id| id <= u64::from(new))
            };
            let changes = import.others.get("annotator_changes").into_iter().flatten();
            let attributes = changes.filter(before).count() as u32;
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
