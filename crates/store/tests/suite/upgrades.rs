//! Upgrades of files of earlier formats: what is reported, and what cancellation or the end of the process
//! leaves at every step.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and its child process speaks"
)]

use crate::common::{state_of, unwatched};
use crate::contents::contents;
use dissensus_domain::Progress;
use dissensus_store::{CheckRecords, Store, StoreError};
use rstest::rstest;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Passes the project to the child process, which is this test started again.
const CHILD: &str = "DISSENSUS_STORE_UPGRADE_CHILD";
/// Passes the report at which the child ends.
const AT: &str = "DISSENSUS_STORE_UPGRADE_AT";

const NAME: &str = "p.dissensus";

/// A copy of a kept file in a folder of its own.
fn earlier(file: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats").join(file);
    std::fs::copy(kept, &path).unwrap();
    (folder, path)
}

fn open(path: &Path, progress: &Arc<dyn Progress>) -> Result<Store, StoreError> {
    Store::open_recorded(path, &CheckRecords::default(), progress)
}

/// What a file says once it is upgraded without a disturbance.
fn upgraded(file: &str) -> String {
    let (_folder, path) = earlier(file);
    let store = open(&path, &unwatched()).unwrap();
    let found = contents(&store);
    store.close().unwrap();
    found
}

/// Notes what is reported, and does something at one of the reports.
struct At<F: Fn() + Send + Sync> {
    report: usize,
    act: F,
    seen: AtomicUsize,
    all: Mutex<Vec<(u64, Option<u64>, String)>>,
}

impl<F: Fn() + Send + Sync> At<F> {
    fn new(report: usize, act: F) -> Self {
        Self { report, act, seen: AtomicUsize::new(0), all: Mutex::default() }
    }
}

impl<F: Fn() + Send + Sync> Progress for At<F> {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        self.all.lock().unwrap().push((done, total, doing.to_owned()));
        if self.seen.fetch_add(1, Ordering::Relaxed) + 1 == self.report {
            (self.act)();
        }
    }
}

/// Cancels at one of the reports.
struct CancelAt {
    seen: At<fn()>,
    report: usize,
    cancelled: AtomicBool,
}

impl CancelAt {
    fn new(report: usize) -> Self {
        Self { seen: At::new(0, || ()), report, cancelled: AtomicBool::new(false) }
    }
}

impl Progress for CancelAt {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        self.seen.report(done, total, doing);
        if self.seen.seen.load(Ordering::Relaxed) == self.report {
            self.cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// How many reports an upgrade of the file makes while it copies, and in all.
fn reports(path: &Path) -> (usize, usize) {
    let copy = path.with_file_name("counted.dissensus");
    std::fs::copy(path, &copy).unwrap();
    let seen = Arc::new(At::new(0, || ()));
    let progress: Arc<dyn Progress> = seen.clone();
    open(&copy, &progress).unwrap().close().unwrap();
    for file in [&copy, &path.with_file_name("counted.dissensus.before-v19")] {
        std::fs::remove_file(file).unwrap();
    }
    let all = seen.all.lock().unwrap();
    (all.iter().filter(|(_, _, doing)| doing.starts_with("copying")).count(), all.len())
}

/// Adds rows to a file of format 17 that take its migration many reports.
fn enlarge(path: &Path) {
    let sql = "CREATE TEMP TABLE n AS
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT i FROM n;
         INSERT INTO decisions
             SELECT 1, 1 + i % 4, 1000 + i, 'slip', '{\"kind\":\"level\",\"value\":1}', 'c', 'by' FROM n;
         INSERT INTO facts (kind, question, text, annotator, at_ms, value)
             SELECT 'shown', 1, 1 + i % 4, 1, 1000 + i, '{\"answers\":true,\"predictions\":false}' FROM n;
         PRAGMA wal_checkpoint(TRUNCATE)";
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn copy_and_every_step_of_the_migration_are_reported() {
    let (_folder, path) = earlier("version-17.dissensus");
    enlarge(&path);
    let bytes = std::fs::metadata(&path).unwrap().len();
    let seen = Arc::new(At::new(0, || ()));
    let progress: Arc<dyn Progress> = seen.clone();
    open(&path, &progress).unwrap().close().unwrap();
    let all = seen.all.lock().unwrap();
    let copying = "copying p.dissensus to p.dissensus.before-v19";
    let upgrading = "upgrading p.dissensus from format 17 to 19";
    for (doing, at_least) in [(copying, 4), (upgrading, 60)] {
        let of: Vec<_> = all.iter().filter(|(_, _, what)| what == doing).collect();
        assert!(of.len() >= at_least, "{doing}: {} reports", of.len());
        assert!(of.is_sorted_by_key(|(done, ..)| *done), "{doing}: the share moves forward");
        let total = of[0].1.unwrap();
        assert!(of.iter().all(|(done, of, _)| *of == Some(total) && *done <= total), "{doing}");
        assert_eq!(of.last().unwrap().0, total, "{doing}");
        if doing == copying {
            assert_eq!(total, bytes);
        } else {
            let steps: Vec<u64> = of.iter().map(|(done, ..)| *done).collect();
            let longest = steps.windows(2).map(|two| two[1] - two[0]).max().unwrap();
            assert!(longest <= total / 10, "a step of {longest} of {total}");
        }
    }
    assert!(all.iter().all(|(_, _, doing)| [copying, upgrading].contains(&doing.as_str())));
}

#[test]
fn current_format_reports_no_migration() {
    let (_folder, path) = earlier("version-17.dissensus");
    open(&path, &unwatched()).unwrap().close().unwrap();
    let seen = Arc::new(At::new(0, || ()));
    let progress: Arc<dyn Progress> = seen.clone();
    open(&path, &progress).unwrap().close().unwrap();
    assert_eq!(seen.seen.load(Ordering::Relaxed), 0);
}

#[rstest]
#[case::first_format("version-1.dissensus", 150)]
#[case::second_format("version-2.dissensus", 120)]
#[case::last_with_tables_of_facts("version-17.dissensus", 30)]
#[case::last_with_tables_of_reannotations("version-18.dissensus", 8)]
#[case::packet("packet-17.dissensus", 30)]
fn cancel_at_any_step_leaves_the_file_unchanged(#[case] file: &str, #[case] at_least: usize) {
    let (folder, path) = earlier(file);
    let bytes = std::fs::read(&path).unwrap();
    let mut report = 1;
    loop {
        let progress: Arc<dyn Progress> = Arc::new(CancelAt::new(report));
        match open(&path, &progress) {
            Err(error) => assert_eq!(error.code(), "cancelled", "report {report}: {error}"),
            // Cancelled after the last step: the file is upgraded.
            Ok(store) => break store.close().unwrap(),
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "report {report}");
        assert_eq!(state_of(folder.path()).len(), 1, "report {report}: files are left");
        report += 1;
    }
    assert!(report > at_least, "{report} reports are too few");
    assert_eq!(contents(&Store::open_reader(&path).unwrap()), upgraded(file));
}

#[test]
fn cancel_within_a_statement_leaves_the_file_unchanged() {
    let (folder, path) = earlier("version-17.dissensus");
    enlarge(&path);
    let bytes = std::fs::read(&path).unwrap();
    let (copying, all) = reports(&path);
    let mut inside = 0;
    for report in (copying / 2..all).step_by(all / 12) {
        let watched = Arc::new(CancelAt::new(report));
        let progress: Arc<dyn Progress> = watched.clone();
        let error = open(&path, &progress).unwrap_err();
        assert!(error.to_string().contains("the file is as it was"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "report {report}");
        assert_eq!(state_of(folder.path()).len(), 1, "report {report}: files are left");
        let all = watched.seen.all.lock().unwrap();
        inside += usize::from(all.last().is_some_and(|(_, _, doing)| doing.starts_with("upgrading")));
    }
    assert!(inside > 5, "{inside}");
}

/// In the child: upgrades the project and ends, without a word to SQLite, at one of the reports.
fn upgrade_as_child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let at = std::env::var(AT).unwrap().parse().unwrap();
    let progress: Arc<dyn Progress> = Arc::new(At::new(at, || std::process::abort()));
    open(Path::new(&path), &progress).unwrap().close().unwrap();
    println!("upgraded to the end");
    std::process::exit(0);
}

/// Whether the upgrade ended before the report.
fn upgrade_until(test: &str, path: &Path, report: usize) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .env(AT, report.to_string())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let ended = String::from_utf8_lossy(&output.stdout).contains("upgraded to the end");
    assert_ne!(ended, !output.status.success(), "report {report}: {}", output.status);
    ended
}

#[rstest]
#[case::first_format("version-1.dissensus", "case_1_first_format", 150)]
#[case::last_with_tables_of_facts("version-17.dissensus", "case_2_last_with_tables_of_facts", 30)]
#[case::last_with_tables_of_reannotations(
    "version-18.dissensus",
    "case_3_last_with_tables_of_reannotations",
    8
)]
fn process_killed_at_any_step_is_upgraded_next_time(
    #[case] file: &str,
    #[case] case: &str,
    #[case] at_least: usize,
) {
    upgrade_as_child();
    let test = format!("upgrades::process_killed_at_any_step_is_upgraded_next_time::{case}");
    let expected = upgraded(file);
    let mut report = 1;
    loop {
        let (_folder, path) = earlier(file);
        let ended = upgrade_until(&test, &path, report);
        let store = Store::open(&path).unwrap_or_else(|e| panic!("report {report}: {e}"));
        assert_eq!(contents(&store), expected, "report {report}");
        store.close().unwrap();
        if ended {
            break;
        }
        report += 1;
    }
    assert!(report > at_least, "{report} reports are too few");
}

#[test]
fn process_killed_within_a_statement_is_upgraded_next_time() {
    upgrade_as_child();
    let test = "upgrades::process_killed_within_a_statement_is_upgraded_next_time";
    let (kept, enlarged) = earlier("version-17.dissensus");
    enlarge(&enlarged);
    let expected = {
        let path = kept.path().join("whole.dissensus");
        std::fs::copy(&enlarged, &path).unwrap();
        let store = Store::open(&path).unwrap();
        let found = contents(&store);
        store.close().unwrap();
        found
    };
    let (copying, all) = reports(&enlarged);
    for report in [copying / 2, copying + (all - copying) / 3, all - 25] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        std::fs::copy(&enlarged, &path).unwrap();
        assert!(!upgrade_until(test, &path, report), "report {report}");
        let store = Store::open(&path).unwrap_or_else(|e| panic!("report {report}: {e}"));
        assert!(contents(&store) == expected, "report {report}");
        store.close().unwrap();
    }
}

#[test]
fn upgraded_and_old_copies_can_both_be_read() {
    let (folder, path) = earlier("version-17.dissensus");
    let old = folder.path().join("old.dissensus");
    std::fs::copy(&path, &old).unwrap();
    let before = std::fs::read(&old).unwrap();
    let here = Store::open(&path).unwrap();
    // The copy that is not upgraded says so, with what to do; nothing in it changes.
    let error = Store::open_reader(&old).unwrap_err();
    assert_eq!(error.code(), "project-older");
    let sentence = error.to_string();
    for part in ["old.dissensus", "format 17", "format 19", "open it to write once"] {
        assert!(sentence.contains(part), "{part}: {sentence}");
    }
    // A copy of it is read and merged: nothing in it is new, in either direction.
    let copy = folder.path().join("copy.dissensus");
    Store::copy_of_earlier(&old, &copy, &CheckRecords::default()).unwrap();
    let there = Store::open(&copy).unwrap();
    assert_eq!(contents(&there), contents(&here));
    assert_eq!((here.merge_from(&there).unwrap().facts, there.merge_from(&here).unwrap().facts), (0, 0));
    assert_eq!(std::fs::read(&old).unwrap(), before);
    // It can still be upgraded itself.
    there.close().unwrap();
    let there = Store::open(&old).unwrap();
    assert_eq!(contents(&there), contents(&here));
    there.close().unwrap();
    here.close().unwrap();
}
