//! Files of every earlier format open, are migrated and retain every label; files of a later format
//! are rejected and unchanged. See `fixtures/formats/make.sh` for how the files were made.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::state_of;
use crate::contents::{contents, packet};
use dissensus_domain::WorkState;
use dissensus_domain::{FactKind, TextId};
use dissensus_store::{ExportScope, Store, StoreError};
use rusqlite::Connection;
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
fn migration_of_format_1_keeps_everything() {
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
fn migration_of_format_2_keeps_everything() {
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
fn later_format_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(2, folder.path());
    // The version is at byte 60 of the first page.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let before = state_of(folder.path());
    for error in [Store::open(&path).unwrap_err(), Store::open_reader(&path).unwrap_err()] {
        assert_eq!(error.code(), "project-newer");
        let message = error.to_string();
        assert!(message.contains("99") && message.contains("update Dissensus"), "{message}");
    }
    assert_eq!(state_of(folder.path()), before);
}

#[test]
fn copy_is_made_before_every_upgrade() {
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
fn migration_of_format_17_keeps_its_content() {
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

#[test]
fn last_import_of_format_17_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(of_17("version-17.dissensus", folder.path(), "p.dissensus")).unwrap();
    let ben = || store.annotator_by_external("ben").unwrap().unwrap();
    assert_eq!(store.last_import().unwrap().unwrap().attributes, 2);
    assert_eq!(ben().attributes["gender"], "imported");
    let taken = store.write(|tx| tx.remove_last_import()).unwrap();
    assert_eq!((taken.answers, taken.texts, taken.annotators, taken.attributes), (1, 1, 1, 2));
    assert_eq!(ben().attributes["gender"], "w");
    assert_eq!(ben().attributes.get("region"), None);
}

#[test]
fn removing_an_import_of_format_17_keeps_migrated_facts() {
    let folder = tempfile::tempdir().unwrap();
    let path = of_17("version-17.dissensus", folder.path(), "p.dissensus");
    // As if the import had added facts that were then removed with an annotator.
    let longer =
        "UPDATE settings SET value = json_set(value, '$[#-1].rows.facts[1]', 1000) WHERE key = 'imports'";
    assert_eq!(Connection::open(&path).unwrap().execute(longer, []).unwrap(), 1);
    let store = Store::open(&path).unwrap();
    let decisions = || -> usize {
        store.questions().unwrap().iter().map(|asked| store.decisions(asked.id).unwrap().len()).sum()
    };
    let before = (decisions(), store.attention_checks().unwrap(), store.panels().unwrap());
    assert!(before.0 > 0 && !before.1.is_empty() && !before.2.is_empty());
    store.write(|tx| tx.remove_last_import()).unwrap();
    assert_eq!((decisions(), store.attention_checks().unwrap(), store.panels().unwrap()), before);
}

#[test]
fn equal_rows_of_format_17_become_one_fact() {
    let folder = tempfile::tempdir().unwrap();
    let path = of_17("version-17.dissensus", folder.path(), "p.dissensus");
    let twice = "INSERT INTO conditions VALUES (4, 600, 1, '[2,3]'), (4, 600, 1, '[3,2]')";
    Connection::open(&path).unwrap().execute(twice, []).unwrap();
    let store = Store::open(&path).unwrap();
    let conditions = store.all_facts(FactKind::Condition).unwrap();
    assert_eq!(conditions.iter().filter(|fact| fact.at_ms == 600).count(), 1);
}

/// What is written to one copy of the file before it is migrated: a fact of each kind.
const MORE: &str = "
    INSERT INTO level_names VALUES (4, 600, '[\"p\",\"q\",\"r \\\"s\\\"\"]');
    INSERT INTO conditions VALUES (4, 600, 1, '[2,3]');
    INSERT INTO remark_forms VALUES (3, 600, '[\"é \\\"q\\\"\"]', 1);
    INSERT INTO annotator_changes VALUES (1, 'attribute:\"k\"', 600, 'a ''b'' \\ ' || char(1, 127, 8232)), (2, 'name', 600, 'B');
    INSERT INTO decisions VALUES (3, 2, 600, 'slip', '{\"kind\":\"spans\",\"value\":[{\"start\":0,\"end\":5,\"kind\":1},{\"start\":2,\"end\":4,\"kind\":0}]}', 'x', 'Ben');
    INSERT INTO attention_checks VALUES (2, 2, 600, '{\"kind\":\"options\",\"value\":[0,3]}', 'y');
    INSERT INTO panels VALUES ('new', 600, '{\"question\":null,\"members\":{\"drawn\":{\"size\":2,\"shares\":[{\"attribute\":\"a\",\"value\":\"b\",\"share\":1.0}],\"seed\":3}},\"rule\":\"mean\"}');
    INSERT INTO hand_ins SELECT id, 600, 5 FROM packets WHERE id = 1;
    INSERT INTO withdrawals VALUES (zeroblob(32), 600, zeroblob(16));
    INSERT INTO withdrawn_names VALUES (zeroblob(32), x'0101010101010101010101010101010101010101010101010101010101010101');
    INSERT INTO withdrawn_packets VALUES (zeroblob(32), x'02020202020202020202020202020202');";

#[test]
fn copies_migrated_separately_have_equal_facts() {
    let folder = tempfile::tempdir().unwrap();
    let here = Store::open(of_17("version-17.dissensus", folder.path(), "here.dissensus")).unwrap();
    let expected = contents(&here);
    // The same file, migrated later: nothing in it is new.
    let there = of_17("version-17.dissensus", folder.path(), "there.dissensus");
    let same = Store::open(of_17("version-17.dissensus", folder.path(), "same.dissensus")).unwrap();
    let taken = here.merge_from(&same).unwrap();
    assert_eq!((taken.facts, taken.question_changes, taken.annotator_changes), (0, 0, 0));
    assert_eq!((taken.decisions, taken.attention_checks, taken.panels, taken.submissions), (0, 0, 0, 0));
    assert_eq!(contents(&here), expected);
    // A copy in which an earlier version went on, migrated after that.
    Connection::open(&there).unwrap().execute_batch(MORE).unwrap();
    let there = Store::open(&there).unwrap();
    let before = std::fs::read(there.file()).unwrap();
    let taken = here.merge_from(&there).unwrap();
    assert_eq!((taken.question_changes, taken.annotator_changes, taken.withdrawn), (3, 2, 1), "{taken:?}");
    assert_eq!((taken.decisions, taken.attention_checks, taken.panels, taken.submissions), (1, 1, 1, 1));
    assert_eq!(std::fs::read(there.file()).unwrap(), before, "a copy that is merged is not changed");
    assert_eq!(there.merge_from(&here).unwrap().facts, 0);
    let facts = |store: &Store| -> Vec<String> {
        let sql = "SELECT concat_ws(' ', kind, question, text, annotator, key, at_ms, value) FROM facts
                   WHERE json_extract(value, '$.back') IS NULL ORDER BY 1";
        let conn = Connection::open(store.file()).unwrap();
        let mut rows = conn.prepare(sql).unwrap();
        rows.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(facts(&here), facts(&there), "to the last byte: a merge writes what a migration writes");
    for store in [here, there, same] {
        store.close().unwrap();
    }
}

#[test]
fn work_on_a_packet_of_format_17_is_merged_into_a_migrated_project() {
    let folder = tempfile::tempdir().unwrap();
    let project = Store::open(of_17("version-17.dissensus", folder.path(), "p.dissensus")).unwrap();
    let work = of_17("packet-17.dissensus", folder.path(), "work.dissensus");
    let copy = folder.path().join("copy.dissensus");
    Store::copy_of_earlier(&work, &copy, &dissensus_store::CheckRecords::default()).unwrap();
    let before = std::fs::read(&work).unwrap();
    let migrated = Store::open(&copy).unwrap();
    let taken = project.merge_packet(&migrated, packet(1)).unwrap();
    assert_eq!((taken.events, taken.repeats, taken.submissions), (1, 1, 1), "{taken:?}");
    assert_eq!((taken.facts, taken.question_changes), (0, 0));
    let again = project.merge_packet(&migrated, packet(1)).unwrap();
    assert_eq!((again.events, again.repeats, again.submissions), (0, 0, 0));
    assert_eq!(std::fs::read(&work).unwrap(), before);
}
