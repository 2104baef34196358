//! The power fails at any moment: confirmed writes are on the disk, and the project opens.
//!
//! Every write below SQLite is recorded, and the disk is reconstructed with only what was synced,
//! or with some of the rest (`dissensus_test_support::power_cut`). Killing a process proves less,
//! since its writes survive it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use crate::contents::contents;
use dissensus_domain::WorkState;
use dissensus_store::{CopyTarget, NewRun, NewText, Store, StoreError};
use dissensus_test_support::power_cut::{Recorder, Step};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const NAME: &str = "p.dissensus";

/// The texts of [`QUESTION`] that have a label.
fn labelled(store: &Store) -> BTreeSet<u32> {
    store.current_labels(QUESTION).unwrap().iter().map(|label| label.text.0).collect()
}

/// Opens the project from a disk after a power cut, like the next start of the program.
fn opened<T>(cut: &dissensus_test_support::power_cut::Cut, name: &str, look: impl FnOnce(&Store) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    cut.write_to(folder.path());
    let store = Store::open(folder.path().join(name))
        .unwrap_or_else(|e| panic!("step {}, {:?}: {e}", cut.step, cut.unsynced));
    store.check_current_answers().unwrap();
    let found = look(&store);
    store.close().unwrap();
    found
}

fn folder_with(texts: u32, annotators: u32) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    small(&path, texts, annotators).close().unwrap();
    (folder, path)
}

/// Labels texts one after another, with pauses in which the journal is written back to the file,
/// and closes the project.
fn label_all(path: &Path, recorder: &Recorder, texts: u32) {
    let store = Store::open(path).unwrap();
    for text in 1..=texts {
        store.append_label(&label(text, 1, 1)).unwrap();
        recorder.note(u64::from(text));
        if text % 37 == 0 {
            store.checkpoint().unwrap();
        }
    }
    store.close().unwrap();
}

/// How many disks lack a confirmed label. Every disk must contain labels from the first one on,
/// without gaps.
fn lost(recording: &dissensus_test_support::power_cut::Recording, points: usize) -> (usize, usize) {
    let mut lost = 0;
    let shown = recording.cuts(points, 1, |cut| {
        let found = opened(cut, NAME, labelled);
        assert_eq!(found, (1..=found.len() as u32).collect(), "step {}: a hole", cut.step);
        lost += usize::from((found.len() as u64) < cut.noted);
    });
    (lost, shown)
}

#[test]
fn power_cut_loses_no_confirmed_label() {
    let (folder, path) = folder_with(160, 1);
    let recorder = Recorder::watch(folder.path());
    label_all(&path, &recorder, 160);
    let recording = recorder.stop();
    assert!(recording.steps().len() >= 600, "{} steps are too few to cut between", recording.steps().len());
    assert_eq!(lost(&recording, 600), (0, 1200));
}

#[test]
fn disk_without_real_sync_is_detected() {
    let (folder, path) = folder_with(60, 1);
    let recorder = Recorder::watch_losing_syncs(folder.path());
    label_all(&path, &recorder, 60);
    let recording = recorder.stop();
    let mut lost = 0;
    let shown = recording.cuts(60, 1, |cut| {
        let folder = tempfile::tempdir().unwrap();
        cut.write_to(folder.path());
        // With writes of a checkpoint lost at random the file may even be damaged, which counts as
        // lost.
        let found = Store::open(folder.path().join(NAME)).map_or(0, |store| labelled(&store).len());
        lost += usize::from((found as u64) < cut.noted);
    });
    assert!(
        lost * 2 > shown,
        "without syncs only {lost} of {shown} disks lacked a label: the test sees nothing"
    );
}

/// Like the store's writing connection, except for the setting under test.
fn rows_lost_with(synchronous: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.db");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE rows (n INTEGER)").unwrap();
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    conn.pragma_update(None, "synchronous", synchronous).unwrap();
    let recorder = Recorder::watch(folder.path());
    for n in 1..=40_u32 {
        conn.execute("INSERT INTO rows VALUES (?1)", [n]).unwrap();
        recorder.note(u64::from(n));
    }
    let recording = recorder.stop();
    drop(conn);
    let mut lost = 0;
    recording.cuts(100, 3, |cut| {
        let folder = tempfile::tempdir().unwrap();
        cut.write_to(folder.path());
        let conn = Connection::open(folder.path().join("plain.db")).unwrap();
        let rows: u32 = conn.query_row("SELECT count(*) FROM rows", [], |r| r.get(0)).unwrap();
        lost += usize::from(u64::from(rows) < cut.noted);
    });
    lost
}

#[test]
fn test_distinguishes_sync_modes() {
    assert_eq!(rows_lost_with("FULL"), 0);
    assert!(rows_lost_with("NORMAL") > 0, "a commit that is not synced was not found out");
    assert!(rows_lost_with("OFF") > 0, "commits without any sync were not found out");
}

#[test]
fn import_is_atomic() {
    let (folder, path) = folder_with(1, 3);
    let recorder = Recorder::watch(folder.path());
    let store = Store::open(&path).unwrap();
    store
        .write(|tx| -> Result<(), StoreError> {
            for n in 0..600 {
                let (external_id, body) = (format!("n{n}"), "x".repeat(300));
                let text = tx.add_text(&NewText { external_id, body, ..NewText::default() })?;
                for annotator in 1..=3 {
                    tx.add_label(&label(text.0, annotator, 2))?;
                }
            }
            Ok(())
        })
        .unwrap();
    recorder.note(1);
    store.checkpoint().unwrap();
    store.append_label(&label(1, 1, 0)).unwrap();
    recorder.note(2);
    store.close().unwrap();
    let recording = recorder.stop();
    let shown = recording.cuts(125, 1, |cut| {
        let (texts, labels) = opened(cut, NAME, |store| {
            let counts = store.counts().unwrap();
            (counts.texts, counts.labels)
        });
        let all = cut.noted >= 1;
        assert!((!all && (texts, labels) == (1, 0)) || texts == 601, "step {}: {texts} texts", cut.step);
        assert!(
            texts == 1 || labels == 1800 + u32::from(cut.noted == 2) || labels == 1801,
            "{labels} labels"
        );
    });
    assert!(shown >= 200, "{shown}");
}

#[test]
fn migration_survives_a_power_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats/version-1.dissensus");
    std::fs::copy(old, &path).unwrap();
    let recorder = Recorder::watch(folder.path());
    let store = Store::open(&path).unwrap();
    let labels = labelled(&store);
    assert_eq!(labels, BTreeSet::from([1, 2, 4]));
    recorder.note(1);
    store.close().unwrap();
    let recording = recorder.stop();
    // The copy is on the disk before the first page of the project is written.
    let is_part = |path: &Path| path.to_string_lossy().ends_with(".part");
    let is_project = |path: &Path| path.to_string_lossy().contains(NAME) && !is_part(path);
    let steps = recording.steps();
    let last_of_copy = steps.iter().rposition(|s| matches!(s, Step::Write(p, ..) if is_part(p))).unwrap();
    let synced = steps.iter().rposition(|s| matches!(s, Step::Sync(p) if is_part(p))).unwrap();
    let first_of_project = steps
        .iter()
        .position(|s| matches!(s, Step::Write(p, _, bytes) if is_project(p) && bytes.len() > 200))
        .unwrap();
    assert!(last_of_copy < synced && synced < first_of_project, "{last_of_copy} {synced} {first_of_project}");
    let shown = recording.cuts(125, 1, |cut| assert_eq!(opened(cut, NAME, labelled), labels));
    assert!(shown >= 100, "{shown}");
}

#[test]
fn migration_of_facts_survives_a_power_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats/version-17.dissensus");
    std::fs::copy(old, &path).unwrap();
    let recorder = Recorder::watch(folder.path());
    let store = Store::open(&path).unwrap();
    let expected = contents(&store);
    recorder.note(1);
    store.close().unwrap();
    let shown = recorder.stop().cuts(40, 1, |cut| assert_eq!(opened(cut, NAME, contents), expected));
    assert!(shown >= 30, "{shown}");
}

#[test]
fn finished_runs_survive_a_power_cut() {
    let (folder, path) = folder_with(5, 1);
    let recorder = Recorder::watch(folder.path());
    let store = Store::open(&path).unwrap();
    for n in 1..=20_u32 {
        let new = NewRun {
            configuration: serde_json::json!({"model": "shared", "notes": "x".repeat(500)}),
            seed: u64::from(n),
            device: "cpu".into(),
            started_ms: 0,
            data_sha256: None,
        };
        let run = store.add_run(&new).unwrap();
        store.finish_run(run, WorkState::Finished, Some(serde_json::json!({"accuracy": n})), 9).unwrap();
        recorder.note(u64::from(n));
        if n % 6 == 0 {
            store.checkpoint().unwrap();
        }
    }
    store.close().unwrap();
    let shown = recorder.stop().cuts(125, 1, |cut| {
        let finished = opened(cut, NAME, |store| {
            let runs = store.runs().unwrap();
            runs.iter().filter(|run| run.state == WorkState::Finished).count() as u64
        });
        assert!(finished >= cut.noted, "step {}: {finished} of {} runs", cut.step, cut.noted);
    });
    assert!(shown >= 200, "{shown}");
}

#[test]
fn copy_is_complete_when_it_appears() {
    let (folder, path) = folder_with(400, 1);
    let store = Store::open(&path).unwrap();
    for text in 1..=30 {
        store.append_label(&label(text, 1, 1)).unwrap();
    }
    let recorder = Recorder::watch(folder.path());
    let target = folder.path().join("q.dissensus");
    store.copy_to(&target, CopyTarget::New, |_, _| ControlFlow::Continue(())).unwrap();
    let steps = recorder.steps();
    let part = steps.iter().find_map(|step| match step {
        Step::Write(path, ..) if path.to_string_lossy().ends_with(".part") => Some(path.clone()),
        _ => None,
    });
    // The rename is made by the system, not SQLite, after the last step of SQLite.
    recorder.renamed(&part.unwrap(), &target);
    recorder.note(1);
    store.append_label(&label(31, 1, 1)).unwrap();
    store.close().unwrap();
    let mut copies = 0;
    let shown = recorder.stop().cuts(125, 1, |cut| {
        assert!(opened(cut, NAME, |store| labelled(store).len()) >= 30);
        assert!(cut.has("q.dissensus") || cut.noted == 0);
        if cut.has("q.dissensus") {
            copies += 1;
            assert_eq!(opened(cut, "q.dissensus", |store| labelled(store).len()), 30, "step {}", cut.step);
        }
    });
    assert!(shown >= 60 && copies > 0, "{shown} disks, {copies} with the copy");
}
