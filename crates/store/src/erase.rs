//! Erasing an annotator who withdrew: all of their rows, everything that was learned from them, and
//! their bytes in the file.
//!
//! Rows that are otherwise never changed are protected by triggers. The triggers of the affected
//! tables are dropped and recreated unchanged in the same transaction, so other connections never
//! see the file without them.

use crate::imports::IMPORTS;
use crate::log::{
    Hash, Withdrawal, kind, name_hash, names_of, names_where, near_hash, person_hash, replace_value,
    rows_where,
};
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, CopyId, Fact, ProjectId};
use rusqlite::Connection;
use rusqlite::limits::Limit;
use std::collections::BTreeSet;
use uuid::Uuid;

/// The setting with what remains to be cleaned outside the transaction: ids of runs whose folders
/// must be deleted, and that the file must be rewritten. It is removed when everything is done, so
/// that the cleanup continues after the program was killed.
const CLEANING: &str = "erasing";

/// Append-only tables, whose rows are changed only here.
const APPEND_ONLY: [&str; 7] =
    ["events", "copies", "packets", "packet_questions", "assignments", "guidelines", "facts"];

/// What was erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Number of labels, skips, flags, notes and retractions, including re-annotations.
    pub answers: u32,
    /// Number of task packets for the annotator.
    pub packets: u32,
    /// Number of training runs that took place while the annotator was in the project.
    pub runs: u32,
    /// Number of decisions, guideline versions and saved panels that remain without the annotator's
    /// name.
    pub nameless: u32,
}

/// The identity of an annotator, as far as it is known.
struct Person {
    id: AnnotatorId,
    hash: Hash,
    names: BTreeSet<String>,
}

impl WriteTx<'_> {
    /// Withdraws an annotator: erases everything of theirs, and records the withdrawal.
    /// [`Store::clean_after_erasing`] must follow.
    ///
    /// # Errors
    /// There is no such annotator.
    pub fn withdraw(&mut self, id: AnnotatorId, at_ms: i64) -> Result<Erased> {
        let sql = "SELECT external_id FROM annotators WHERE id = ?1";
        let external_id = self.first(sql, [id.0], |r| r.get::<_, String>(0))?;
        let unknown = || StoreError::Unknown { what: "annotator", name: id.0.to_string() };
        let person = person_hash(self.project_id()?, &external_id.ok_or_else(unknown)?);
        let copy = CopyId(Uuid::now_v7());
        self.copy_row(copy, at_ms)?;
        self.add_withdrawal(&Withdrawal { person, at_ms, copy })?;
        self.erase(&[id])
    }

    /// Deletes every row of these annotators.
    pub(crate) fn erase(&mut self, people: &[AnnotatorId]) -> Result<Erased> {
        let path = self.path;
        let explain = |e| StoreError::explain(path, "erasing somebody who withdrew", e);
        let project = self.project_id()?;
        // Overwrites deleted data.
        self.conn.pragma_update(None, "secure_delete", true).map_err(explain)?;
        let mut erased = Erased::default();
        let mut folders: Vec<Uuid> = self.setting(CLEANING)?.unwrap_or_default();
        let before = folders.len();
        self.deleting_from(&APPEND_ONLY, |tx| {
            for id in people {
                let person = tx.person(project, *id)?;
                for name in &person.names {
                    tx.add_withdrawn_name(person.hash, name_hash(project, name))?;
                    tx.add_withdrawn_name(person.hash, near_hash(project, name))?;
                }
                let packets = all(tx.conn, "SELECT uid FROM packets WHERE annotator = ?1", [id.0], |r| {
                    crate::row::uid(r, 0)
                });
                for packet in packets.map_err(explain)? {
                    tx.add_withdrawn_packet(person.hash, packet)?;
                }
                folders.extend(tx.erase_runs(&person).map_err(explain)?);
                tx.erase_rows(&person, &mut erased).map_err(explain)?;
            }
            erased.nameless = tx.remove_names()?;
            Ok(())
        })?;
        if !people.is_empty() || erased.nameless > 0 {
            // The sequence numbers of deleted events must not be reused under the same copy id.
            self.appending.renew();
            erased.runs = (folders.len() - before) as u32;
            self.set_setting(CLEANING, &folders)?;
        }
        Ok(erased)
    }

    fn person(&self, project: ProjectId, id: AnnotatorId) -> Result<Person> {
        let explain = |e| StoreError::explain(self.path, "reading who withdraws", e);
        let sql = "SELECT external_id, name FROM annotators WHERE id = ?1";
        let (external_id, name): (String, String) =
            self.conn.query_row(sql, [id.0], |r| Ok((r.get(0)?, r.get(1)?))).map_err(explain)?;
        let mut names = names_of(self.conn, id).map_err(explain)?;
        names.extend([external_id.clone(), name]);
        names.retain(|name| !name.is_empty());
        Ok(Person { id, hash: person_hash(project, &external_id), names })
    }

    /// Deletes the training runs that used an annotator's data, together with their encoders and
    /// the embeddings of these, since a single person's data cannot be removed from a trained
    /// model.
    fn erase_runs(&self, person: &Person) -> rusqlite::Result<Vec<Uuid>> {
        let runs = runs_of(self.conn, person.id)?;
        let mut folders = Vec::new();
        for (id, uid) in runs {
            let versions = "SELECT id FROM encoder_versions WHERE name = 'run:' || ?1";
            for table in ["embeddings", "heads"] {
                self.run(&format!("DELETE FROM {table} WHERE version IN ({versions})"), [uid.to_string()])?;
            }
            self.run("DELETE FROM encoder_versions WHERE name = 'run:' || ?1", [uid.to_string()])?;
            self.run("DELETE FROM runs WHERE id = ?1", [id])?;
            folders.push(uid);
        }
        Ok(folders)
    }

    fn erase_rows(&self, person: &Person, erased: &mut Erased) -> rusqlite::Result<()> {
        let id = [person.id.0];
        let of = "packet IN (SELECT id FROM packets WHERE annotator = ?1)";
        // Events can refer to others of the same annotator: without an index, every deletion would
        // scan all events for references.
        self.conn.execute_batch("CREATE INDEX erasing ON events (replaces)")?;
        erased.answers += self.run("DELETE FROM events WHERE annotator = ?1", id)? as u32;
        self.conn.execute_batch("DROP INDEX erasing")?;
        self.delete_copies_without_contents()?;
        for table in ["assignments", "packet_questions"] {
            self.run(&format!("DELETE FROM {table} WHERE {of}"), id)?;
        }
        erased.packets += self.run("DELETE FROM packets WHERE annotator = ?1", id)? as u32;
        for table in ["current_answers", "facts"] {
            self.run(&format!("DELETE FROM {table} WHERE annotator = ?1"), id)?;
        }
        // The live models are refitted from the remaining labels. The records of imports reveal
        // answers, so they are deleted.
        self.run("DELETE FROM heads", [])?;
        self.run("DELETE FROM settings WHERE key = ?1", [IMPORTS])?;
        for name in &person.names {
            let quoted = serde_json::Value::from(name.as_str()).to_string();
            self.run(
                "DELETE FROM evaluations WHERE instr(configuration, ?1) OR instr(metrics, ?1)",
                [quoted],
            )?;
            let sql =
                "DELETE FROM jobs WHERE instr(lower(title), lower(?1)) OR instr(lower(note), lower(?1))";
            self.run(sql, [name])?;
        }
        self.run("DELETE FROM annotators WHERE id = ?1", id).map(drop)
    }

    /// Removes annotators who withdrew from facts and guidelines that name them. Facts that become equal
    /// are merged. Returns the number of affected rows.
    fn remove_names(&self) -> Result<u32> {
        let explain = |e| StoreError::explain(self.path, "taking a name off what somebody wrote", e);
        let mut changed = 0;
        let naming = names_where(|kind| kind.without_withdrawn.is_some());
        for (row, fact) in rows_where(self.conn, &format!("kind IN {naming}")).map_err(explain)? {
            let Some(without) = kind(fact.kind).without_withdrawn else { continue };
            let value = without(self, fact.value.clone())?;
            if value != fact.value {
                replace_value(self.conn, row, &Fact { value, ..fact }).map_err(explain)?;
                changed += 1;
            }
        }
        let names: Vec<String> =
            all(self.conn, "SELECT DISTINCT written_by FROM guidelines", [], |r| r.get(0))
                .map_err(explain)?;
        for name in names.iter().filter(|name| !name.is_empty()) {
            if self.name_unless_withdrawn(name)?.is_empty() {
                let sql = "UPDATE guidelines SET written_by = '' WHERE written_by = ?1";
                changed += self.run(sql, [name]).map_err(explain)? as u32;
            }
        }
        Ok(changed)
    }
}

/// Runs that used labels, attributes or the index of an annotator: every run that started while
/// they were in the project.
fn runs_of(c: &Connection, person: AnnotatorId) -> rusqlite::Result<Vec<(u32, Uuid)>> {
    let sql = "SELECT id, uid FROM runs WHERE EXISTS (
                       SELECT 1 FROM json_each(runs.start, '$.annotators') AS a WHERE a.value = ?1)";
    let mut runs = all(c, sql, [person.0], |r| Ok((r.get::<_, u32>(0)?, crate::row::uid(r, 1)?)))?;
    // Runs in format 2 have no `start`.
    let sql = "SELECT r.id, r.uid, l.labels FROM runs AS r JOIN run_labels AS l ON l.run = r.id WHERE r.start IS NULL";
    let old =
        all(c, sql, [], |r| Ok(((r.get::<_, u32>(0)?, crate::row::uid(r, 1)?), r.get::<_, Vec<u8>>(2)?)))?;
    let row = person.0.to_le_bytes();
    let theirs =
        old.into_iter().filter(|(_, labels)| labels.chunks_exact(12).any(|label| label[4..8] == row));
    runs.extend(theirs.map(|(run, _)| run));
    runs.sort_unstable();
    runs.dedup();
    Ok(runs)
}

impl Store {
    /// What would be erased if the annotator withdrew.
    pub fn traces_of(&self, id: AnnotatorId) -> Result<Erased> {
        self.read("reading what somebody left", |c| {
            let count = |sql: &str| c.query_row(sql, [id.0], |r| r.get::<_, u32>(0));
            Ok(Erased {
                answers: count("SELECT count(*) FROM events WHERE annotator = ?1")?,
                packets: count("SELECT count(*) FROM packets WHERE annotator = ?1")?,
                runs: u32::try_from(runs_of(c, id)?.len()).unwrap_or(u32::MAX),
                nameless: count(
                    "WITH names AS (SELECT external_id AS name FROM annotators WHERE id = ?1
                         UNION SELECT name FROM annotators WHERE id = ?1
                         UNION SELECT json_extract(value, '$') FROM facts
                         WHERE kind = 'annotator-name' AND annotator = ?1)
                     SELECT (SELECT count(*) FROM facts WHERE kind = 'decision'
                             AND json_extract(value, '$.by') <> '' AND json_extract(value, '$.by') IN names)
                         + (SELECT count(*) FROM guidelines WHERE written_by <> '' AND written_by IN names)",
                )?,
            })
        })
    }

    /// Withdraws an annotator. See [`WriteTx::withdraw`].
    pub fn withdraw(&self, id: AnnotatorId, at_ms: i64) -> Result<Erased> {
        self.write(move |tx| tx.withdraw(id, at_ms))
    }

    /// The cleanup that remains after erasing an annotator: ids of deleted runs whose folders must
    /// be deleted. `None` if everything is done.
    pub fn to_clean(&self) -> Result<Option<Vec<Uuid>>> {
        self.setting(CLEANING)
    }

    /// Rewrites the file, as [`Store::write_without_erased`], and marks the cleanup as done. Call this after
    /// deleting the folders listed by [`Store::to_clean`]; it can be called again.
    ///
    /// # Errors
    /// Those of [`Store::write_without_erased`].
    pub fn clean_after_erasing(&self) -> Result<bool> {
        let emptied = self.write_without_erased()?;
        if emptied {
            self.mark_cleaned()?;
        }
        Ok(emptied)
    }

    /// Rewrites the file, so that no byte of erased data remains in it or in its journal. Returns false if
    /// another program is reading the file, so that the journal could not be truncated: the cleanup is then
    /// still to be done.
    ///
    /// # Errors
    /// An I/O error, for example if the disk is full: it needs as much space as the project. The
    /// erased rows are deleted in any case.
    pub fn write_without_erased(&self) -> Result<bool> {
        self.on_writer("writing the file anew", |conn| {
            conn.flush_prepared_statement_cache();
            conn.pragma_update(None, "secure_delete", true)?;
            // VACUUM attaches a temporary database, which connections are otherwise not allowed to
            // do.
            conn.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 1)?;
            let written = conn.execute_batch("VACUUM");
            conn.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
            written?;
            conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |r| r.get::<_, bool>(0)).map(|busy| !busy)
        })
    }

    /// Marks the cleanup as done: nothing of erased people remains in the file or next to it.
    pub fn mark_cleaned(&self) -> Result<()> {
        self.write(|tx| {
            let gone = tx.run("DELETE FROM settings WHERE key = ?1", [CLEANING]);
            gone.map(drop).map_err(|e| tx.explain("noting that all is erased", e))
        })
    }
}
