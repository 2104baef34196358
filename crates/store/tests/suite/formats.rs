//! Files of every earlier format open, are migrated and retain every label; files of a later format
//! are rejected and unchanged. See `fixtures/formats/make.sh` for how the files were made.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::state_of;
use crate::contents::contents;
use dissensus_domain::TextId;
use dissensus_domain::WorkState;
use dissensus_store::{ExportScope, Store, StoreError};
use std::path::{Path, PathBuf};

fn fixture(version: u32, folder: &Path) -> PathBuf {
    let name = format!("version-{version}.dissensus");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats").join(&name);
    let path = folder.join("p.dissensus");
    std::fs::copy(kept, &path).unwrap();
    path
}

/// A copy of a file of format 17 under this name.
fn of_17(file: &str, folder: &Path, name: &str) -> PathBuf {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats").join(file);
    let path = folder.join(name);
    std::fs::copy(kept, &path).unwrap();
    path
}

/// Question, text, annotator and answer of every current label, in order.
fn labels(store: &Store) -> Vec<String> {
    let mut all = Vec::new();
    for question in store.questions().unwrap() {
        store
            .for_each_label(question.id, ExportScope::Current, |row| {
                let (text, annotator) = (&row.text.external_id, &row.annotator.external_id);
                all.push(
                    format!("{} {text} {annotator} {}", question.name, row.level.unwrap_or("none"))
                        .replace(" + ", ";"),
                );
                Ok::<(), StoreError>(())
            })
            .unwrap();
    }
    all.sort();
    all
}

/// Checks what every old file contains in addition to its labels.
fn has_the_rest(store: &Store) {
    store.check_current_answers().unwrap();
    let texts: Vec<_> = (1..=4).map(|n| store.text(TextId(n)).unwrap().unwrap()).collect();
    assert_eq!(texts[1].body, "A comma, and \"quotes\" – ünïcode");
    let runs = store.runs().unwrap();
    let mut states: Vec<_> = runs.iter().map(|run| (run.asked.seed, run.state)).collect();
    states.sort_by_key(|(seed, _)| *seed);
    assert_eq!(states, [(7, WorkState::Finished), (8, WorkState::Interrupted)]);
    assert_eq!(store.embeddings("mini/1").unwrap().values, [1.0, 2.0]);
    assert_eq!(store.jobs(10).unwrap().last().unwrap().title, "labels.csv");
    assert_eq!(store.setting::<u32>("question").unwrap(), Some(1));
}

#[test]
fn a_file_of_the_first_format_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(1, folder.path());
    assert_eq!(Store::open_reader(&path).unwrap_err().code(), "project-older");
    let store = Store::open(&path).unwrap();
    assert_eq!(labels(&store), ["rude t1 ada 4", "rude t1 ben 3", "rude t2 ada 1", "rude t4 ada 4"]);
    has_the_rest(&store);
    store.close().unwrap();
    Store::open_reader(&path).unwrap();
}

#[test]
fn a_file_of_the_second_format_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(2, folder.path());
    let store = Store::open(&path).unwrap();
    let expected = [
        "funny t3 cleo yes",
        "rude t1 ada 4",
        "rude t1 ben 3",
        "rude t2 ada 1",
        "rude t3 ben 5",
        "rude t4 ada 4",
        "rude t4 cleo 1",
        "topics t3 cleo art;sport",
    ];
    assert_eq!(labels(&store), expected);
    has_the_rest(&store);
    store.close().unwrap();
    let again = Store::open(&path).unwrap();
    assert_eq!(labels(&again), expected);
}

#[test]
fn a_file_of_a_later_format_is_refused_with_the_way_out_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(2, folder.path());
    // The version is at byte 60 of the first page.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let before = state_of(folder.path());
    for error in [Store::open(&path).unwrap_err(), Store::open_reader(&path).unwrap_err()] {
        assert_eq!(error.code(), "project-newer");
        let said = error.to_string();
        assert!(said.contains("99") && said.contains("update Dissensus"), "{said}");
    }
    assert_eq!(state_of(folder.path()), before);
}

#[test]
fn a_copy_is_made_before_every_upgrade_even_where_one_of_that_name_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let copies = || {
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| name.contains(".before-v"))
            .collect();
        names.sort();
        names
    };
    for upgrade in 1..=3 {
        // The old file is restored and opened again.
        let path = fixture(1, folder.path());
        Store::open(&path).unwrap().close().unwrap();
        assert_eq!(copies().len(), upgrade, "{:?}", copies());
    }
    assert!(copies()[1].ends_with("-2") && copies()[2].ends_with("-3"), "{:?}", copies());
    for name in copies() {
        let copy = Store::open(folder.path().join(name)).unwrap();
        assert_eq!(copy.counts().unwrap().labels, 4);
    }
}

#[test]
fn a_file_of_format_17_says_the_same_from_one_log_of_facts() {
    let folder = tempfile::tempdir().unwrap();
    let path = of_17("version-17.dissensus", folder.path(), "p.dissensus");
    let store = Store::open(&path).unwrap();
    let expected = include_str!("../fixtures/formats/version-17.txt");
    let found = contents(&store);
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
    store.close().unwrap();
}
