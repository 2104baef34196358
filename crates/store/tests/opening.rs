//! Files that cannot be opened: each says why, and stays as it is.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod common;

use common::{label, small, state_of};
use dissensus_store::{Store, StoreError};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Opens to write and to read, expects `code` of both, and that nothing in the folder has changed.
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
fn what_is_no_project_says_what_it_is() {
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
fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE places (a); INSERT INTO places VALUES (1)").unwrap();
    other.close().unwrap();
    refused(&path, "project-not-ours");
}

#[test]
fn a_database_of_another_program_that_is_using_it_is_left_alone() {
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
fn a_newer_project_names_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_project(folder.path());
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", 7).unwrap();
    conn.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).unwrap();
    conn.close().unwrap();
    let message = refused(&path, "project-newer");
    assert!(message.contains("format 7") && message.contains("up to 3"), "{message}");
}

#[test]
fn a_project_with_parts_of_someone_else_is_refused() {
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
fn a_damaged_page_is_told() {
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
fn a_file_cut_short_is_told() {
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
fn a_new_project_replaces_nothing() {
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
fn one_project_is_open_once_under_any_name() {
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
    // The refusals must not have loosened the locks of the store that is open.
    store.append_label(&label(1, 1, 1)).unwrap();
    store.close().unwrap();
    let again = Store::open(&path).unwrap();
    assert_eq!(again.current_labels(common::QUESTION).unwrap().len(), 1);
}

#[test]
fn a_reader_looks_on_while_a_window_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 5, 1);
    let reader = Store::open_reader(&path).unwrap();
    assert!(reader.is_reader());
    for text in 1..=5 {
        store.append_label(&label(text, 1, 0)).unwrap();
        assert_eq!(reader.current_labels(common::QUESTION).unwrap().len(), text as usize);
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
fn a_read_only_file_is_told_and_can_be_read() {
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
fn closing_twice_is_fine_and_use_after_closing_is_told() {
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

/// A file system that cannot be written, with a project on it. Needs the right to mount, or at least not to be root.
#[cfg(unix)]
mod read_only_media {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};

    /// Makes `folder` writable again when the test ends, however it ends.
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

    /// Makes what lies in `folder` read-only: a mount of it upon itself, or its mode where we are not the superuser.
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
    fn a_closed_project_can_be_read() {
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
    fn one_that_was_not_closed_is_read_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let live = folder.path().join("live.dissensus");
        let store = small(&live, 3, 1);
        store.append_label(&label(1, 1, 1)).unwrap();
        // What a crash leaves: the file and its journal, and nothing else.
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
