//! Files that cannot be opened: the error states the reason, and the file is unchanged.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{label, small, state_of, unwatched};
use dissensus_store::{Store, StoreError};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Opens for writing and for reading, expects `code` from both, and that nothing in the folder has
/// changed.
fn refused(path: &Path, code: &str) -> String {
    let folder = path.parent().unwrap();
    let before = state_of(folder);
    let error = Store::open(path).expect_err("the file must not open");
    assert_eq!(error.code(), code, "{error}");
    assert_eq!(state_of(folder), before, "opening to write changed something");
    let reading = Store::open_reader(path).expect_err("the file must not open to read");
    assert_eq!(reading.code(), code, "{reading}");
    assert_eq!(state_of(folder), before, "opening to read changed something");
    error.to_string()
}

/// A closed project with some labels, large enough to have pages in its middle.
fn closed_project(folder: &Path) -> PathBuf {
    let path = folder.join("p.dissensus");
    let store = small(&path, 2000, 10);
    store
        .write(|tx| -> Result<(), StoreError> {
            (1..=2000).try_for_each(|t| tx.add_label(&label(t, t % 10 + 1, 2)).map(|_| ()))
        })
        .unwrap();
    store.close().unwrap();
    path
}

#[test]
fn other_files_are_refused_by_kind() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    refused(&at("nothing.dissensus"), "project-missing");
    std::fs::create_dir(at("folder.dissensus")).unwrap();
    refused(&at("folder.dissensus"), "project-directory");
    std::fs::write(at("empty.dissensus"), "").unwrap();
    refused(&at("empty.dissensus"), "project-empty");
    std::fs::write(at("tiny.dissensus"), "x").unwrap();
    refused(&at("tiny.dissensus"), "project-not-a-database");
    std::fs::write(at("rows.csv"), "text_id,text\n".repeat(1000)).unwrap();
    refused(&at("rows.csv"), "project-not-a-database");
    let inside = Store::open(at("rows.csv").join("inside")).unwrap_err();
    assert_eq!(inside.code(), "project-missing");
}

#[test]
fn foreign_database_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE places (a); INSERT INTO places VALUES (1)").unwrap();
    other.close().unwrap();
    refused(&path, "project-not-ours");
}

#[test]
fn foreign_database_in_use_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE places (a)").unwrap();
    other.execute_batch("PRAGMA wal_checkpoint; INSERT INTO places VALUES (1)").unwrap();
    refused(&path, "project-not-ours");
    let n: i64 = other.query_row("SELECT count(*) FROM places", [], |r| r.get(0)).unwrap();
    assert_eq!(n, 1);
}

#[test]
fn newer_project_names_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_project(folder.path());
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", 20).unwrap();
    conn.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).unwrap();
    conn.close().unwrap();
    let message = refused(&path, "project-newer");
    assert!(message.contains("format 20") && message.contains("up to 19"), "{message}");
}

#[rstest::rstest]
#[case::version("2.3.1-rc.1", true)]
#[case::terminal_codes("2.3\u{1b}[2J", false)]
#[case::sentence("2 and pay for it", false)]
#[case::endless("2.0000000000000000000000000000000000000000000000", false)]
#[case::nothing("", false)]
fn newer_project_names_the_program_that_wrote_it(#[case] program: &str, #[case] named: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_project(folder.path());
    let conn = Connection::open(&path).unwrap();
    let sql = "UPDATE settings SET value = json_set(value, '$.program', ?1) WHERE key = 'journal'";
    assert_eq!(conn.execute(sql, [program]).unwrap(), 1);
    conn.pragma_update(None, "user_version", 20).unwrap();
    conn.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).unwrap();
    conn.close().unwrap();
    let message = refused(&path, "project-newer");
    assert_eq!(message.contains("install version 2.3.1-rc.1 or a later one"), named, "{message}");
    assert_eq!(message.contains("update Dissensus"), !named, "{message}");
}

#[test]
fn project_with_foreign_tables_is_refused() {
    for sql in [
        "CREATE TRIGGER sly AFTER INSERT ON texts BEGIN DELETE FROM settings; END",
        "CREATE VIEW sly AS SELECT * FROM texts",
        "DROP TABLE current_answers; CREATE VIEW current_answers AS SELECT 1 AS question, 1 AS text, 1 AS annotator, 1 AS event, 1 AS level, NULL AS content",
        "DROP TRIGGER events_are_not_deleted",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = closed_project(folder.path());
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(sql).unwrap();
        conn.close().unwrap();
        refused(&path, "project-altered");
    }
}

#[test]
fn damaged_page_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_project(folder.path());
    let whole = std::fs::read(&path).unwrap();
    let pages = whole.len() / 4096;
    assert!(pages > 30, "{pages} pages are too few to have a middle");
    for page in [2, pages / 3, pages / 2, pages - 2] {
        let mut bytes = whole.clone();
        for byte in &mut bytes[page * 4096..(page + 1) * 4096] {
            *byte ^= 0xA5;
        }
        std::fs::write(&path, &bytes).unwrap();
        refused(&path, "project-damaged");
    }
    std::fs::write(&path, &whole).unwrap();
    Store::open(&path).unwrap().close().unwrap();
}

#[test]
fn truncated_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_project(folder.path());
    let whole = std::fs::read(&path).unwrap();
    for length in [4096, whole.len() / 2, whole.len() - 4096, whole.len() - 100] {
        std::fs::write(&path, &whole[..length]).unwrap();
        refused(&path, "project-damaged");
    }
    std::fs::write(&path, &whole[..60]).unwrap();
    refused(&path, "project-not-a-database");
}

#[test]
fn new_project_does_not_replace_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    std::fs::write(&path, "mine").unwrap();
    let before = state_of(folder.path());
    assert_eq!(Store::create(&path).unwrap_err().code(), "project-exists");
    assert_eq!(state_of(folder.path()), before);
    let nowhere = folder.path().join("no/folder/p.dissensus");
    assert_eq!(Store::create(nowhere).unwrap_err().code(), "project-no-folder");
}

#[test]
fn project_can_be_opened_once_under_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 1, 1);
    let error = Store::open(&path).unwrap_err();
    assert_eq!(error.code(), "project-locked");
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    #[cfg(unix)]
    {
        let link = folder.path().join("link.dissensus");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(Store::open(&link).unwrap_err().code(), "project-locked");
    }
    // The failed attempts must not have released the locks of the open store.
    store.append_label(&label(1, 1, 1)).unwrap();
    store.close().unwrap();
    let again = Store::open(&path).unwrap();
    assert_eq!(again.current_labels(crate::common::QUESTION).unwrap().len(), 1);
}

#[test]
fn reader_can_read_while_a_window_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 5, 1);
    let reader = Store::open_reader(&path).unwrap();
    assert!(reader.is_reader());
    for text in 1..=5 {
        store.append_label(&label(text, 1, 0)).unwrap();
        assert_eq!(reader.current_labels(crate::common::QUESTION).unwrap().len(), text as usize);
    }
    assert_eq!(reader.append_label(&label(1, 1, 1)).unwrap_err().code(), "project-opened-to-read");
    reader.close().unwrap();
    store.close().unwrap();
    assert_eq!(state_of(folder.path()).len(), 1, "side files are left");
}

#[test]
fn reading_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_project(folder.path());
    let before = state_of(folder.path());
    let reader = Store::open_reader(&path).unwrap();
    assert_eq!(reader.counts().unwrap().labels, 2000);
    reader.close().unwrap();
    assert_eq!(state_of(folder.path()), before);
}

#[cfg(unix)]
#[test]
fn read_only_file_is_reported_and_readable() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = closed_project(folder.path());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let before = state_of(folder.path());
    assert_eq!(Store::open(&path).unwrap_err().code(), "project-read-only");
    assert_eq!(state_of(folder.path()), before);
    let reader = Store::open_reader(&path).unwrap();
    assert_eq!(reader.counts().unwrap().labels, 2000);
    reader.close().unwrap();
    assert_eq!(state_of(folder.path()), before);
}

#[test]
fn use_after_closing_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 1, 1);
    let other = store.clone();
    store.close().unwrap();
    store.close().unwrap();
    assert_eq!(other.counts().unwrap_err().code(), "project-closed");
    assert_eq!(other.append_label(&label(1, 1, 1)).unwrap_err().code(), "project-closed");
    assert_eq!(state_of(folder.path()).len(), 1);
}

/// Changes a closed project in a way that the program never does.
fn spoil(path: &Path, sql: &str) {
    let conn = Connection::open(path).unwrap();
    conn.pragma_update(None, "ignore_check_constraints", true).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.execute_batch(sql).unwrap();
    conn.close().unwrap();
}

#[test]
fn invalid_row_is_refused_by_readers_and_writers() {
    for (sql, words) in [
        ("INSERT INTO settings (key, value) VALUES ('k', 'no JSON')", "CHECK constraint failed"),
        ("INSERT INTO texts (id, external_id, body) VALUES (9999, '', 'b')", "CHECK constraint failed"),
        ("INSERT INTO run_labels (run, part, labels) VALUES (77, 'train', x'')", "names a row of runs"),
        ("UPDATE texts SET metadata = '[\"a\"]' WHERE id = 7", "no JSON object of strings"),
        ("UPDATE texts SET metadata = '{\"year\":2020}' WHERE id = 7", "no JSON object of strings"),
        ("UPDATE annotators SET attributes = '{\"a\":null}' WHERE id = 1", "no JSON object of strings"),
        ("UPDATE texts SET split = CAST(x'ff41' AS TEXT) WHERE id = 7", "UTF-8"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = closed_project(folder.path());
        spoil(&path, sql);
        let message = refused(&path, "project-damaged");
        assert!(message.to_lowercase().contains(&words.to_lowercase()), "{sql}: {message}");
    }
}

#[test]
fn incomplete_index_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_project(folder.path());
    // The index is unknown while the row is added.
    spoil(
        &path,
        "PRAGMA writable_schema = ON; CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'heads_newest';
         DELETE FROM sqlite_schema WHERE name = 'heads_newest'",
    );
    spoil(&path, "INSERT INTO heads (question, model, made_at_ms, weights) VALUES (1, 'm', 0, x'00')");
    spoil(
        &path,
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM kept; DROP TABLE kept",
    );
    let message = refused(&path, "project-damaged");
    assert!(message.contains("heads_newest"), "{message}");
}

#[test]
fn analyzed_file_opens() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_project(folder.path());
    spoil(&path, "ANALYZE");
    assert_eq!(Store::open_reader(&path).unwrap().counts().unwrap().labels, 2000);
    assert_eq!(Store::open(&path).unwrap().counts().unwrap().labels, 2000);
}

#[cfg(unix)]
#[test]
fn link_in_place_of_the_lock_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_project(folder.path());
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, folder.path().join("p.dissensus.lock")).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert_eq!(error.code(), "project-lock-file", "{error}");
    assert!(
        error.to_string().contains("p.dissensus.lock") && error.to_string().contains("remove it"),
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    // Reading needs no lock.
    assert_eq!(Store::open_reader(&path).unwrap().counts().unwrap().labels, 2000);
    let made = folder.path().join("new.dissensus");
    std::os::unix::fs::symlink(folder.path().join("nowhere"), folder.path().join("new.dissensus.lock"))
        .unwrap();
    assert_eq!(Store::create(&made).unwrap_err().code(), "project-lock-file");
    assert!(!made.exists() && !folder.path().join("nowhere").exists());
}

#[test]
fn unusual_file_names_work() {
    let folder = tempfile::tempdir().unwrap();
    let mut names =
        vec![std::ffi::OsString::from("no ending"), "z.runs".into(), "a?b#c %41 ü.dissensus".into()];
    // Longer than the 260 characters that Windows allows without its setting for long paths.
    names.push(format!("{0}/{0}/{0}.dissensus", "long".repeat(25)).into());
    #[cfg(target_os = "linux")]
    names.push(std::os::unix::ffi::OsStringExt::from_vec(b"latin-\xe9.dissensus".to_vec()));
    for name in names {
        let path = folder.path().join(&name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let store = small(&path, 2, 1);
        store.append_label(&label(1, 1, 1)).unwrap();
        assert_eq!(Store::open_reader(&path).unwrap().counts().unwrap().labels, 1, "{name:?}");
        let copy = folder.path().join("copy");
        store
            .copy_to(&copy, dissensus_store::CopyTarget::Replace, |_, _| std::ops::ControlFlow::Continue(()))
            .unwrap();
        store.close().unwrap();
        assert_eq!(Store::open(&path).unwrap().counts().unwrap().labels, 1, "{name:?}");
        assert!(path.is_file());
    }
}

/// A project that is too large to be checked completely at every opening.
fn large_project(folder: &Path) -> PathBuf {
    let path = folder.join("p.dissensus");
    let store = small(&path, 1, 1);
    store
        .write(|tx| -> Result<(), StoreError> {
            for n in 0..400 {
                let new = dissensus_store::NewText {
                    external_id: format!("large-{n}"),
                    body: "x".repeat(100_000),
                    ..dissensus_store::NewText::default()
                };
                tx.add_text(&new)?;
            }
            Ok(())
        })
        .unwrap();
    store.close().unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 32 << 20);
    path
}

#[test]
fn large_file_is_rechecked_only_after_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = large_project(folder.path());
    let records = dissensus_store::CheckRecords::inside(&folder.path().join("cache"));
    // A constraint that only the check of the contents covers: detected if there is no record.
    spoil(&path, "UPDATE texts SET metadata = '[]' WHERE id = 1");
    assert_eq!(Store::open_recorded(&path, &records, &unwatched()).unwrap_err().code(), "project-damaged");
    spoil(&path, "UPDATE texts SET metadata = '{}' WHERE id = 1");
    let store = Store::open_recorded(&path, &records, &unwatched()).unwrap();
    store.append_label(&label(1, 1, 1)).unwrap();
    store.close().unwrap();
    assert_eq!(std::fs::read_dir(folder.path().join("cache")).unwrap().count(), 1);
    Store::open_reader_recorded(&path, &records).unwrap().close().unwrap();
    // Damage changes the file, so the record no longer applies: writers and readers both check
    // again.
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0xA5);
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(Store::open_recorded(&path, &records, &unwatched()).unwrap_err().code(), "project-damaged");
    assert_eq!(Store::open_reader_recorded(&path, &records).unwrap_err().code(), "project-damaged");
}

/// A project on a read-only file system. Requires the right to mount, or at least not to be root.
#[cfg(unix)]
mod read_only_media {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};

    /// Makes `folder` writable again when the test ends, in any case.
    struct ReadOnly {
        folder: PathBuf,
        mounted: bool,
    }

    impl Drop for ReadOnly {
        fn drop(&mut self) {
            if self.mounted {
                let _ = Command::new("umount").arg(&self.folder).status();
            } else {
                let _ = std::fs::set_permissions(&self.folder, std::fs::Permissions::from_mode(0o755));
            }
        }
    }

    fn mount(arguments: &[&str], folder: &Path) -> bool {
        let done = Command::new("mount").args(arguments).arg(folder).stderr(Stdio::null()).status();
        done.is_ok_and(|s| s.success())
    }

    /// Makes the contents of `folder` read-only: by a bind mount, or by its mode if we are not the
    /// superuser.
    fn read_only(folder: &Path) -> ReadOnly {
        let name = folder.to_str().unwrap();
        let guard = |mounted| ReadOnly { folder: folder.to_owned(), mounted };
        if mount(&["--bind", name], folder) {
            let guard = guard(true);
            assert!(mount(&["-o", "remount,bind,ro"], folder), "the mount cannot be made read-only");
            return guard;
        }
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o555)).unwrap();
        let guard = guard(false);
        assert!(
            std::fs::write(folder.join("probe"), "").is_err(),
            "run this test with the right to mount, or as another user than root"
        );
        guard
    }

    #[test]
    fn closed_project_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = closed_project(folder.path());
        let before = state_of(folder.path());
        let _guard = read_only(folder.path());
        let code = Store::open(&path).unwrap_err().code();
        assert!(["project-read-only", "project-folder-read-only"].contains(&code), "{code}");
        let reader = Store::open_reader(&path).unwrap();
        assert_eq!(reader.counts().unwrap().labels, 2000);
        reader.close().unwrap();
        assert_eq!(state_of(folder.path()), before);
        let new = folder.path().join("new.dissensus");
        assert_eq!(Store::create(new).unwrap_err().code(), "project-folder-read-only");
    }

    #[test]
    fn read_only_folder_refuses_an_invalid_project() {
        let folder = tempfile::tempdir().unwrap();
        let path = closed_project(folder.path());
        spoil(&path, "INSERT INTO settings (key, value) VALUES ('k', 'no JSON')");
        let _guard = read_only(folder.path());
        let error = Store::open_reader(&path).unwrap_err();
        assert_eq!(error.code(), "project-damaged", "{error}");
        assert!(error.to_string().contains("CHECK"), "{error}");
    }

    #[test]
    fn unclosed_project_is_read_completely_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let live = folder.path().join("live.dissensus");
        let store = small(&live, 3, 1);
        store.append_label(&label(1, 1, 1)).unwrap();
        // What a crash leaves: only the file and its journal.
        let left = folder.path().join("left");
        std::fs::create_dir(&left).unwrap();
        let path = left.join("p.dissensus");
        std::fs::copy(&live, &path).unwrap();
        std::fs::copy(folder.path().join("live.dissensus-wal"), left.join("p.dissensus-wal")).unwrap();
        let guard = read_only(&left);
        match Store::open_reader(&path) {
            Ok(reader) => assert_eq!(reader.counts().unwrap().labels, 1),
            Err(error) => assert_eq!(error.code(), "project-unfinished"),
        }
        drop(guard);
        assert_eq!(Store::open(&path).unwrap().counts().unwrap().labels, 1);
    }
}

#[test]
fn wrong_current_answers_are_reported() {
    for sql in [
        "DELETE FROM current_answers WHERE text = 7",
        "UPDATE current_answers SET level = 4 WHERE text = 7",
        "UPDATE current_answers SET event = event + 1 WHERE text = 7",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = closed_project(folder.path());
        let conn = Connection::open(&path).unwrap();
        assert_eq!(conn.execute(sql, []).unwrap(), 1, "{sql}");
        conn.close().unwrap();
        let message = refused(&path, "project-damaged");
        assert!(message.contains("current answer"), "{message}");
    }
}

#[test]
fn project_opens_during_labelling() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 20_000, 1);
    let opened = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in (0..20_000).take_while(|_| !opened.load(Ordering::Relaxed)) {
                store.append_label(&label(n + 1, 1, 2)).unwrap();
            }
        });
        // What was appended between two queries of the check is not reported as damage.
        let results: Vec<_> = (0..100).map(|_| Store::open_reader(&path).map(drop)).collect();
        opened.store(true, Ordering::Relaxed);
        results.into_iter().for_each(|result| result.unwrap());
    });
}
