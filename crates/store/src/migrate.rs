//! The numbered migrations, and the backup that is made before one.

use crate::copy::{self, CopyTarget};
use crate::identity::{IDENTITY_FORMAT, identify};
use crate::journal_mark::Mark;
use crate::migration_meter::Meter;
use crate::migration_steps::statements;
use crate::reannotations_of_18::{OCCASION_FORMAT, move_reannotations};
use crate::{Result, StoreError};
use dissensus_domain::{Progress, ProjectId, Silent};
use dissensus_files::with_suffix;
use rusqlite::{Connection, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Marks an SQLite file as a project: "DSSU".
pub(crate) const APPLICATION_ID: i32 = 0x4453_5355;

/// All migrations; the first one creates version 1.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../../../migrations/0001_project.sql"),
    include_str!("../../../migrations/0002_runs.sql"),
    include_str!("../../../migrations/0003_events.sql"),
    include_str!("../../../migrations/0004_runs.sql"),
    include_str!("../../../migrations/0005_repeats.sql"),
    include_str!("../../../migrations/0006_repeat_changes.sql"),
    include_str!("../../../migrations/0007_questions.sql"),
    include_str!("../../../migrations/0008_packets.sql"),
    include_str!("../../../migrations/0009_decisions.sql"),
    include_str!("../../../migrations/0010_annotator_changes.sql"),
    include_str!("../../../migrations/0011_remarks.sql"),
    include_str!("../../../migrations/0012_attention_checks.sql"),
    include_str!("../../../migrations/0013_withdrawals.sql"),
    include_str!("../../../migrations/0014_panels.sql"),
    include_str!("../../../migrations/0015_facts.sql"),
    include_str!("../../../migrations/0016_wordings.sql"),
    include_str!("../../../migrations/0017_repeat_origins.sql"),
    include_str!("../../../migrations/0018_one_log.sql"),
    include_str!("../../../migrations/0019_occasions.sql"),
];

/// The `user_version` after all `migrations`.
pub(crate) fn newest(migrations: &[&str]) -> u32 {
    u32::try_from(migrations.len()).unwrap_or(u32::MAX)
}

/// Migrates a database from version `from` to the newest one, in one transaction.
pub(crate) fn apply(conn: &mut Connection, migrations: &[&str], from: u32) -> rusqlite::Result<()> {
    let unwatched: Arc<dyn Progress> = Arc::new(Silent);
    apply_as(conn, migrations, from, None, &Mark::first(None), (&unwatched, ""))
}

/// Migrates the file from version `from` to the newest one, in one transaction with the mark
/// `mark`. A file without an identity becomes a copy of `project`, or a new project. Cancellation by
/// `progress`, which also learns what is being done, interrupts the statement and rolls back.
pub(crate) fn apply_as(
    conn: &mut Connection,
    migrations: &[&str],
    from: u32,
    project: Option<ProjectId>,
    mark: &Mark,
    (progress, doing): (&Arc<dyn Progress>, &str),
) -> rusqlite::Result<()> {
    let pending: Vec<(usize, Vec<&str>)> =
        (1..).zip(migrations).skip(from as usize).map(|(format, sql)| (format, statements(sql))).collect();
    let meter = Meter::start(conn, &pending, progress, doing)?;
    let applied = apply_pending(conn, migrations, &pending, project, mark, &meter);
    meter.stop(conn)?;
    applied
}

fn apply_pending(
    conn: &mut Connection,
    migrations: &[&str],
    pending: &[(usize, Vec<&str>)],
    project: Option<ProjectId>,
    mark: &Mark,
    meter: &Meter,
) -> rusqlite::Result<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (format, statements) in pending {
        for statement in statements {
            tx.execute_batch(statement)?;
            meter.advance()?;
        }
        if *format == IDENTITY_FORMAT {
            identify(&tx, project)?;
        }
        if *format == OCCASION_FORMAT {
            move_reannotations(&tx)?;
            meter.advance()?;
        }
    }
    mark.write(&tx)?;
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", newest(migrations))?;
    tx.commit()
}

/// Copies the project to `NAME.dissensus.before-EVENT`; the event is `vN` before a migration to
/// version N. If that name is taken, for example after an older copy was restored, the next free
/// one of `NAME.dissensus.before-EVENT-2`, `-3`, ... is used. Returns the copy's path.
pub(crate) fn back_up(
    conn: &Connection,
    file: &Path,
    shown: &Path,
    event: &str,
    progress: &dyn Progress,
) -> Result<PathBuf> {
    let names = std::iter::once(String::new()).chain((2..1000).map(|n| format!("-{n}")));
    for more in names {
        let target = with_suffix(file, &format!(".before-{event}{more}"));
        if std::fs::symlink_metadata(&target).is_ok() {
            continue;
        }
        let doing = format!("copying {} to {}", name(shown), name(&target));
        let mut report = |done, total| {
            progress.report(done, Some(total), &doing);
            progress.flow()
        };
        match copy::copy_to(conn, shown, &target, CopyTarget::New, &mut report) {
            Err(StoreError::Exists(_) | StoreError::JournalInTheWay(_)) => {}
            done => return done.map(|()| target),
        }
    }
    Err(StoreError::Exists(with_suffix(file, &format!(".before-{event}"))))
}

/// The name of a file without its folder.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::difference;

    #[test]
    fn runs_and_evaluations_of_format_2_are_migrated() {
        let migrated = || {
            let mut conn = Connection::open_in_memory().unwrap();
            conn.pragma_update(None, "foreign_keys", true).unwrap();
            apply(&mut conn, &MIGRATIONS[..2], 0).unwrap();
            conn.execute_batch(
                "INSERT INTO runs (id, kind, configuration, seed, metrics, device, started_ms, ended_ms, state, data_sha256)
                 VALUES (1, 'train', '{}', 1, '{\"labels\":3}', 'cpu', 10, 20, 'finished', NULL),
                        (2, 'evaluate', '{}', -1, NULL, 'cpu', 11, NULL, 'interrupted', NULL),
                        (3, 'training', '{\"a\":1}', 7, NULL, 'cpu', 1763775555555, NULL, 'interrupted', 'abcdef012345678901'),
                        (4, 'training', '{}', 7, NULL, 'cpu', -5, 9, 'cancelled', 'no hash'),
                        (5, 'training', '{}', 7, NULL, 'cpu', 9, 9, 'failed', NULL);
                 INSERT INTO run_labels VALUES (3, 'train', zeroblob(24), NULL), (3, 'test', zeroblob(12), zeroblob(8));
                 INSERT INTO run_labels VALUES (1, 'train', zeroblob(12), NULL);
                 DELETE FROM runs WHERE id = 5;",
            )
            .unwrap();
            apply(&mut conn, MIGRATIONS, 2).unwrap();
            conn
        };
        let (conn, again) = (migrated(), migrated());
        assert_eq!(difference(&conn, MIGRATIONS, newest(MIGRATIONS)).unwrap(), None);
        let uids = |conn: &Connection| -> Vec<(u32, uuid::Uuid)> {
            let mut all = conn.prepare("SELECT id, uid FROM runs ORDER BY id").unwrap();
            let rows = all.query_map([], |r| Ok((r.get(0)?, uuid::Uuid::from_bytes(r.get(1)?)))).unwrap();
            rows.map(|row: rusqlite::Result<_>| row.unwrap()).collect()
        };
        assert_eq!(uids(&conn), uids(&again), "two copies of a project come to the same ids");
        assert_eq!(uids(&conn).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [3, 4]);
        assert!(uids(&conn).iter().all(|(_, uid)| uid.get_version_num() == 8));
        let count = |sql: &str| conn.query_row(sql, [], |r| r.get::<_, u32>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM run_labels WHERE run = 3"), 2);
        assert_eq!(count("SELECT count(*) FROM run_labels WHERE probabilities IS NOT NULL"), 1);
        assert_eq!(count("SELECT count(*) FROM run_labels"), 2);
        assert_eq!(count("SELECT count(*) FROM evaluations WHERE kind = 'fit' AND metrics IS NOT NULL"), 1);
        assert_eq!(count("SELECT count(*) FROM evaluations WHERE kind = 'evaluation' AND seed = -1"), 1);
        conn.execute("DELETE FROM runs", []).unwrap();
        assert_eq!(count("SELECT count(*) FROM run_labels"), 0, "labels go with their run");
        conn.execute(
            "INSERT INTO runs (uid, configuration, seed, device, started_ms, state) VALUES (zeroblob(16), '{}', 0, 'cpu', 0, 'running')",
            [],
        )
        .unwrap();
        assert_eq!(count("SELECT id FROM runs"), 5, "no number is used again");
    }

    #[test]
    fn failed_migration_keeps_the_old_version() {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, MIGRATIONS, 0).unwrap();
        let broken = [MIGRATIONS, &["CREATE TABLE extra (a) STRICT; SELECT nothing FROM nowhere;"]].concat();
        assert!(apply(&mut conn, &broken, newest(MIGRATIONS)).is_err());
        let version: u32 = conn.pragma_query_value(None, "user_version", |r| r.get(0)).unwrap();
        assert_eq!(version, newest(MIGRATIONS));
        assert_eq!(difference(&conn, MIGRATIONS, newest(MIGRATIONS)).unwrap(), None);
    }
}
