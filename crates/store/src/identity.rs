//! The identity of a project: the id shared by all copies, and the copies that appended events.

use crate::content_hash::feed;
use crate::row::uid;
use crate::tx::first;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{CopyId, ProjectId};
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The format that introduced identities; its migration is completed by [`identify`].
pub(crate) const IDENTITY_FORMAT: usize = 3;

/// Placeholder in `copies` until [`identify`] has written the id of the old history.
const NOT_YET: Uuid = Uuid::nil();

/// Completes migration 3: writes the id of the project and, if the file had labels, the id of the
/// copy that they belong to.
///
/// A new project gets a random id (UUIDv7), and a new copy of another project that project's id. An
/// older file may have been copied by hand before it was migrated, and both copies must get the
/// same ids, so these are derived from the content (UUIDv8): the project's id from its first
/// question and first text, which stay the same in a copy whatever is added; the copy's id from the
/// whole history, because two files that diverged must not assign the same key to different events.
/// (Events from before the divergence are then in both histories under two keys, and an answer that
/// was retracted in only one of them would reappear; such copies are therefore not merged, see
/// `merge/mod.rs`.)
pub(crate) fn identify(conn: &Connection, copy_of: Option<ProjectId>) -> rusqlite::Result<()> {
    let mut content = Sha256::new_with_prefix("dissensus project");
    let mut rows = feed(conn, &mut content, "SELECT name, prompt, scale FROM questions ORDER BY id LIMIT 1")?;
    rows += feed(
        conn,
        &mut content,
        "SELECT name FROM levels WHERE question = (SELECT min(id) FROM questions) ORDER BY level",
    )?;
    rows += feed(conn, &mut content, "SELECT external_id, body FROM texts ORDER BY id LIMIT 1")?;
    let project = match copy_of {
        Some(project) => project.0,
        None if rows == 0 => Uuid::now_v7(),
        None => from_content(content),
    };
    conn.execute("INSERT INTO project (id, uid) VALUES (1, ?1)", [project])?;
    let mut history = Sha256::new_with_prefix("dissensus copy");
    history.update(project);
    feed(
        conn,
        &mut history,
        "SELECT id, kind, question, text, annotator, at_ms, duration_ms, source, level, content, replaces, note
         FROM events ORDER BY id",
    )?;
    conn.execute(
        "UPDATE copies SET uid = ?1, made_at_ms = (SELECT min(at_ms) FROM events) WHERE uid = ?2",
        [from_content(history), NOT_YET],
    )?;
    Ok(())
}

fn from_content(hash: Sha256) -> Uuid {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    Uuid::new_v8(bytes)
}

/// The id of a copy that has one event and is named by its contents, from a hash. All of them are of
/// version 5, since version 8 marks the history of format 2.
pub(crate) fn id_of_content(hash: [u8; 16]) -> Uuid {
    uuid::Builder::from_sha1_bytes(hash).into_uuid()
}

/// Whether the id of a copy is that of its contents, which says nothing about where they were recorded.
pub(crate) fn is_of_content(copy: CopyId) -> bool {
    copy.0.get_version_num() == 5
}

const COPY_ROW: &str = "SELECT id FROM copies WHERE uid = ?1";

impl WriteTx<'_> {
    /// The row id of a copy in this file; the copy is added if it is not known yet.
    pub(crate) fn copy_row(&self, copy: CopyId, made_at_ms: i64) -> Result<u32> {
        if let Some(row) = self.first(COPY_ROW, [copy.0], |r| r.get(0))? {
            return Ok(row);
        }
        self.insert("INSERT INTO copies (uid, made_at_ms) VALUES (?1, ?2)", (copy.0, made_at_ms))
            .map_err(|e| self.explain("adding a copy", e))
    }

    /// Deletes copies that are named by the contents of an event which is no longer there: from the name one
    /// could find out what it was, by trying.
    pub(crate) fn delete_copies_without_contents(&self) -> rusqlite::Result<()> {
        let sql = "DELETE FROM copies WHERE substr(hex(uid), 13, 1) = '5'
                       AND NOT EXISTS (SELECT 1 FROM events AS e WHERE e.copy = copies.id)";
        self.run(sql, []).map(drop)
    }

    /// Whether this file has a copy with this id.
    pub(crate) fn has_copy(&self, copy: CopyId) -> Result<bool> {
        Ok(self.first(COPY_ROW, [copy.0], |_| Ok(()))?.is_some())
    }

    /// The id that all copies of this project share.
    pub fn project_id(&self) -> Result<ProjectId> {
        project_id(self.conn).map_err(|e| self.explain("reading the project's id", e))
    }
}

impl Store {
    /// The id that all copies of this project share.
    pub fn project_id(&self) -> Result<ProjectId> {
        self.read("reading the project's id", project_id)
    }

    /// Creation time of a copy, in milliseconds since 1970-01-01 UTC.
    pub(crate) fn copy_made_at(&self, copy: CopyId) -> Result<i64> {
        self.read("reading when a copy was made", |c| {
            let made = first(c, "SELECT made_at_ms FROM copies WHERE uid = ?1", [copy.0], |r| r.get(0))?;
            Ok(made.unwrap_or(0))
        })
    }
}

pub(crate) fn project_id(conn: &Connection) -> rusqlite::Result<ProjectId> {
    let found = first(conn, "SELECT uid FROM project", [], |r| uid(r, 0))?;
    found.map(ProjectId).ok_or(rusqlite::Error::QueryReturnedNoRows)
}

/// The time in a UUIDv7, in milliseconds since 1970-01-01 UTC.
pub(crate) fn made_at_ms(uid: Uuid) -> i64 {
    let (seconds, nanoseconds) = uid.get_timestamp().map_or((0, 0), |time| time.to_unix());
    i64::try_from(seconds).unwrap_or(i64::MAX / 1000) * 1000 + i64::from(nanoseconds / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::current::difference;
    use crate::migrate::{MIGRATIONS, apply};
    use crate::row::{EVENT_COLUMNS, EVENT_TABLES, event};
    use crate::tx::all;
    use dissensus_domain::{Answer, Event, EventKind, OptionSet, marks};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeMap;

    const OLD: usize = IDENTITY_FORMAT - 1;

    type CurrentOld = Vec<(u32, u32, u32, u32, u16)>;
    type MarksOld = BTreeMap<(u32, u32), (bool, bool)>;

    /// A file in format 2 with two questions (one multi-choice), corrected and retracted labels,
    /// and a clock that jumps.
    fn old_project(seed: u64, labels: u32) -> Connection {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.pragma_update(None, "foreign_keys", true).unwrap();
        apply(&mut conn, &MIGRATIONS[..OLD], 0).unwrap();
        conn.execute_batch(
            "INSERT INTO questions (name, prompt, scale) VALUES ('rude', '?', 'ordinal'), ('harm', '?', 'multi-choice');
             INSERT INTO levels VALUES (1, 0, '1'), (1, 1, '2'), (1, 2, '3'), (1, 3, '4');
             INSERT INTO levels VALUES (2, 0, 'none'), (2, 1, 'a'), (2, 2, 'b'), (2, 3, 'a + b');
             INSERT INTO texts (external_id, body) VALUES ('t1', 'one'), ('t2', 'two');
             INSERT INTO annotators (external_id, name) VALUES ('ada', 'Ada'), ('ben', 'Ben');
             INSERT INTO heads (question, model, made_at_ms, last_label, weights) VALUES (1, 'multilevel', 7, NULL, x'0102');",
        )
        .unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for id in 1..=labels {
            let (text, annotator) = (rng.random_range(1..=2), rng.random_range(1..=2));
            let (question, at_ms) = (rng.random_range(1..=2), rng.random_range(0..1_000));
            let target: u32 = rng.random_range(1..=id);
            let retracted: Option<u32> = conn
                .query_row(
                    "SELECT id FROM labels AS l WHERE id = ?1 AND level IS NOT NULL
                     AND NOT EXISTS (SELECT 1 FROM labels AS r WHERE r.retracts = l.id)",
                    [target],
                    |r| r.get(0),
                )
                .ok();
            match retracted.filter(|_| rng.random_bool(0.4)) {
                Some(of) => conn.execute(
                    "INSERT INTO labels (question, text, annotator, at_ms, source, retracts)
                     SELECT question, text, annotator, ?2, 'window', id FROM labels WHERE id = ?1",
                    (of, at_ms),
                ),
                None => conn.execute(
                    "INSERT INTO labels (question, text, annotator, level, at_ms, duration_ms, source)
                     VALUES (?1, ?2, ?3, ?4, ?5, 9, 'import')",
                    (question, text, annotator, rng.random_range(0..4), at_ms),
                ),
            }
            .unwrap();
            let kind = ["skip", "unskip", "flag", "unflag"][rng.random_range(0..4)];
            conn.execute(
                "INSERT INTO marks (annotator, question, text, kind, at_ms) VALUES (?1, 1, ?2, ?3, ?4)",
                (annotator, text, kind, at_ms),
            )
            .unwrap();
        }
        conn
    }

    fn old_current(conn: &Connection) -> CurrentOld {
        let sql = "SELECT question, text, annotator, id, level FROM current_labels ORDER BY 1, 2, 3";
        all(conn, sql, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?))).unwrap()
    }

    fn old_marks(conn: &Connection) -> MarksOld {
        let mut marks = MarksOld::new();
        let rows = all(conn, "SELECT annotator, text, kind FROM marks ORDER BY id", [], |r| {
            Ok(((r.get(0)?, r.get(1)?), r.get::<_, String>(2)?))
        });
        for (key, kind) in rows.unwrap() {
            let mark = marks.entry(key).or_default();
            match kind.as_str() {
                "skip" => mark.0 = true,
                "unskip" => mark.0 = false,
                "flag" => mark.1 = true,
                _ => mark.1 = false,
            }
        }
        marks
    }

    fn events(conn: &Connection) -> Vec<Event> {
        all(conn, &format!("SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} ORDER BY e.id"), [], event).unwrap()
    }

    #[test]
    fn migration_keeps_answers_marks_and_ids() {
        for seed in 0..20 {
            let mut conn = old_project(seed, 60);
            let (current, old_marks) = (old_current(&conn), old_marks(&conn));
            apply(&mut conn, MIGRATIONS, OLD as u32).unwrap();
            assert_eq!(difference(&conn).unwrap(), None, "the table of current answers follows the rule");
            let now: CurrentOld = all(
                &conn,
                "SELECT question, text, annotator, event, level, content FROM current_answers ORDER BY 1, 2, 3",
                [],
                |r| {
                    let level = match crate::row::answer(r, 4)? {
                        Answer::Level(level) => level.0,
                        Answer::Options(set) => set.bits() as u16,
                        Answer::Spans(_) | Answer::CannotSay => unreachable!(),
                    };
                    Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, level))
                },
            )
            .unwrap();
            assert_eq!(now, current);
            let events = events(&conn);
            assert_eq!(events.len(), 120);
            assert!(events.iter().all(|e| (e.answer().is_some()) == (e.duration_ms() == Some(9))));
            for ((annotator, text), (skipped, flagged)) in old_marks {
                let own: Vec<Event> = events
                    .iter()
                    .filter(|e| matches!(e.kind, EventKind::Mark(_)))
                    .filter(|e| (e.annotator.0, e.text.0) == (annotator, text))
                    .cloned()
                    .collect();
                let marks = marks(&own);
                assert_eq!((marks.skipped, marks.flagged), (skipped, flagged));
            }
            let options =
                "SELECT group_concat(name) FROM (SELECT name FROM levels WHERE question = 2 ORDER BY level)";
            assert_eq!(conn.query_row(options, [], |r| r.get::<_, String>(0)).unwrap(), "a,b");
            let head: Vec<u8> = conn.query_row("SELECT weights FROM heads", [], |r| r.get(0)).unwrap();
            assert_eq!(head, [1, 2]);
            let broken = conn.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap();
            assert!(!broken);
        }
    }

    #[test]
    fn migration_converts_sets_of_options() {
        let mut conn = old_project(1, 0);
        conn.execute_batch(
            "INSERT INTO labels (question, text, annotator, level, at_ms, source) VALUES
             (2, 1, 1, 0, 0, 'import'), (2, 2, 1, 2, 0, 'import'), (2, 1, 2, 3, 0, 'import')",
        )
        .unwrap();
        apply(&mut conn, MIGRATIONS, OLD as u32).unwrap();
        let found: Vec<Answer> = events(&conn).iter().filter_map(|e| e.answer().cloned()).collect();
        let set = |options: &[u8]| Answer::Options(OptionSet::new(options.iter().copied()).unwrap());
        assert_eq!(found, [set(&[]), set(&[1]), set(&[0, 1])]);
    }

    fn ids(conn: &Connection) -> (Uuid, Vec<Uuid>) {
        let copies = all(conn, "SELECT uid FROM copies ORDER BY id", [], |r| uid(r, 0)).unwrap();
        (project_id(conn).unwrap().0, copies)
    }

    #[test]
    fn migrated_ids_depend_only_on_the_history() {
        let migrated = |seed, labels| {
            let mut conn = old_project(seed, labels);
            apply(&mut conn, MIGRATIONS, OLD as u32).unwrap();
            ids(&conn)
        };
        let (project, copies) = migrated(3, 40);
        assert_eq!((project, copies.clone()), migrated(3, 40));
        assert_eq!((project.get_version_num(), copies[0].get_version_num()), (8, 8));
        let (same_project, longer) = migrated(3, 41);
        assert_eq!(same_project, project);
        assert_ne!(longer, copies);
        assert!(migrated(3, 0).1.is_empty(), "no history, no copy");
    }

    #[test]
    fn new_projects_have_unique_ids() {
        let new = || {
            let mut conn = Connection::open_in_memory().unwrap();
            apply(&mut conn, MIGRATIONS, 0).unwrap();
            ids(&conn)
        };
        let (one, copies) = new();
        assert_eq!((one.get_version_num(), copies.len()), (7, 0));
        assert_ne!(one, new().0);
    }
}
