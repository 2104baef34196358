//! A single file is the whole project: while it is open, after it was copied, and in any location.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small, state_of};
use dissensus_domain::{AnnotatorId, LabelSource, MarkKind, Note, Scale, ScaleKind, TextId};
use dissensus_domain::{JobKind, WorkState};
use dissensus_store::{
    CopyTarget, EncoderVersion, ExportScope, NewAnnotator, NewHead, NewJob, NewMark, NewQuestion, NewRun,
    NewText, Store, StoreError, checkpoint_all,
};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// All rows of all tables, in order.
fn contents(path: &Path) -> Vec<(String, Vec<Vec<Value>>)> {
    let conn = Connection::open(path).unwrap();
    let names: Vec<String> = conn
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap()
        .query_map([], |r| r.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let rows = |table: &String| {
        let mut statement = conn.prepare(&format!("SELECT * FROM \"{table}\" ORDER BY 1, 2")).unwrap();
        let columns = statement.column_count();
        statement
            .query_map([], |r| (0..columns).map(|n| r.get(n)).collect())
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    names.iter().map(|table| (table.clone(), rows(table))).collect()
}

/// Copies only the file itself, like a mail program or a backup, and opens the copy.
fn file_alone(path: &Path) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.dissensus");
    std::fs::copy(path, &copy).unwrap();
    let store = Store::open(&copy).unwrap();
    (folder, store)
}

type Change = (&'static str, Box<dyn Fn(&Store)>);

/// Every kind of change to a project.
fn changes() -> Vec<Change> {
    let change = |name, f: fn(&Store)| -> Change { (name, Box::new(f)) };
    vec![
        change("text", |s| {
            let new = NewText { external_id: "new".into(), body: "b".into(), ..NewText::default() };
            s.write(move |tx| tx.add_text(&new)).map(|_| ()).unwrap();
        }),
        change("annotator", |s| {
            let new =
                NewAnnotator { external_id: "new".into(), name: "New".into(), ..NewAnnotator::default() };
            s.write(move |tx| tx.add_annotator(&new)).map(|_| ()).unwrap();
        }),
        change("question", |s| {
            let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
            let new = NewQuestion { name: "new".into(), prompt: "New?".into(), scale };
            s.write(move |tx| tx.add_question(&new)).map(|_| ()).unwrap();
        }),
        change("label", |s| {
            s.append_label(&label(1, 1, 2)).unwrap();
        }),
        change("retraction", |s| {
            let newest = s.newest_given(QUESTION, AnnotatorId(1)).unwrap().unwrap();
            s.retract(newest.id, 2_000, LabelSource::Window).unwrap();
        }),
        change("mark", |s| {
            let (annotator, text) = (AnnotatorId(1), TextId(2));
            let (question, kind, source) = (QUESTION, MarkKind::Flag, LabelSource::Window);
            let new = NewMark {
                annotator,
                question,
                text,
                kind,
                at_ms: 1,
                source,
                note: Note::default(),
                guideline: None,
            };
            s.mark(&new).unwrap();
        }),
        change("import", |s| {
            s.write(|tx| -> Result<(), StoreError> {
                for n in 0..500 {
                    let external_id = format!("imported-{n}");
                    let text =
                        tx.add_text(&NewText { external_id, body: "b".into(), ..NewText::default() })?;
                    tx.add_label(&label(text.0, 1, 3))?;
                }
                Ok(())
            })
            .unwrap();
        }),
        change("setting", |s| s.set_setting("choice", "kept").unwrap()),
        change("job", |s| {
            let job = NewJob { kind: JobKind::Encode, title: "all".into(), total: Some(2), started_ms: 0 };
            let id = s.start_job(&job).unwrap();
            s.finish_job(id, WorkState::Finished, None, 5).unwrap();
        }),
        change("embedding", |s| {
            let text = |name: &str| name.to_owned();
            let version = EncoderVersion {
                key: text("mini/1"),
                name: text("mini"),
                weights_sha256: text("00"),
                pooling: text("mean"),
                max_tokens: 8,
                dim: 3,
                precision: text("fp32"),
            };
            s.add_encoder_version(&version).unwrap();
            s.put_embeddings("mini/1", &[(TextId(1), vec![0.5; 3])]).unwrap();
        }),
    ]
}

#[test]
fn file_alone_becomes_complete_without_closing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 5, 2);
    for (name, change) in changes() {
        change(&store);
        // Usually within two seconds; a busy disk takes longer.
        let begun = Instant::now();
        loop {
            std::thread::sleep(Duration::from_secs(2));
            let (copy, opened) = file_alone(&path);
            opened.close().unwrap();
            let (alone, whole) = (contents(&copy.path().join("copy.dissensus")), contents(&path));
            if alone == whole {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{name}: {alone:?}\n{whole:?}");
        }
    }
    store.close().unwrap();
}

#[test]
fn checkpoint_writes_everything_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 5, 2);
    for text in 1..=5 {
        store.append_label(&label(text, 1, 0)).unwrap();
    }
    assert!(store.checkpoint().unwrap());
    assert_eq!(file_alone(&path).1.counts().unwrap().labels, 5);
    store.append_label(&label(1, 2, 0)).unwrap();
    checkpoint_all(); // like a program that must exit immediately
    assert_eq!(file_alone(&path).1.counts().unwrap().labels, 6);
    store.close().unwrap();
}

#[test]
fn long_reader_delays_checkpoints_without_blocking() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 20, 1);
    store.append_label(&label(1, 1, 0)).unwrap();
    assert!(store.checkpoint().unwrap());
    let mut slowest = Duration::ZERO;
    store
        .for_each_label(QUESTION, ExportScope::Current, |_| {
            // From here on a reader needs the current pages.
            for text in 2..=20 {
                let began = Instant::now();
                store.append_label(&label(text, 1, 0)).unwrap();
                slowest = slowest.max(began.elapsed());
            }
            assert!(!store.checkpoint().unwrap(), "the reader was not in the way: nothing was tested");
            Ok::<(), StoreError>(())
        })
        .unwrap();
    // Waiting for the reader would have taken the five seconds of SQLite's timeout.
    assert!(slowest < Duration::from_secs(4), "{slowest:?}");
    let began = Instant::now();
    while file_alone(&path).1.counts().unwrap().labels < 20 {
        assert!(began.elapsed() < Duration::from_secs(30), "it was never brought in");
        std::thread::sleep(Duration::from_millis(100));
    }
    store.close().unwrap();
}

#[test]
fn copy_of_an_open_project_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 300, 2);
    for text in 1..=50 {
        store.append_label(&label(text, 1, 0)).unwrap();
    }
    let reader = Store::open_reader(&path).unwrap();
    for (name, from) in [("of-writer", &store), ("of-reader", &reader)] {
        let target = folder.path().join(name);
        let mut seen = Vec::new();
        from.copy_to(&target, CopyTarget::New, |done, all| {
            seen.push((done, all));
            ControlFlow::Continue(())
        })
        .unwrap();
        let (done, all) = *seen.last().unwrap();
        assert_eq!((done, all), (all, std::fs::metadata(&target).unwrap().len()));
        // Except for the mark of its state: a copy has its own, and does not use a journal of the
        // original file.
        let marked = |path| {
            let mut all = contents(path);
            let settings = &mut all.iter_mut().find(|(table, _)| table == "settings").unwrap().1;
            let mark = settings.iter().position(|row| row[0] == Value::from("journal".to_owned())).unwrap();
            let mark = settings.remove(mark);
            (mark, all)
        };
        let (of_copy, of_file) = (marked(&target), marked(&path));
        assert_eq!(of_copy.1, of_file.1, "{name}");
        assert_ne!(of_copy.0, of_file.0, "{name}");
        let copy = Store::open(&target).unwrap();
        assert_eq!(copy.counts().unwrap().labels, 50);
        copy.close().unwrap();
    }
    reader.close().unwrap();
    store.close().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "something is left next to the files");
}

#[test]
fn copy_is_one_snapshot_despite_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 3000, 1);
    store.write(|tx| (1..=2000).try_for_each(|t| tx.add_label(&label(t, 1, 2)).map(|_| ()))).unwrap();
    let target = folder.path().join("q.dissensus");
    let (mut steps, mut added) = (0, 0);
    store
        .copy_to(&target, CopyTarget::New, |_, _| {
            steps += 1;
            for _ in 0..3 {
                added += 1;
                store.append_label(&label(2000 + added, 1, 0)).unwrap();
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(steps < 50, "the copy began anew with every label: {steps} steps");
    let copy = Store::open(&target).unwrap();
    assert_eq!(copy.counts().unwrap().labels, 2000);
    assert_eq!(store.counts().unwrap().labels, 2000 + added);
}

#[test]
fn copy_replaces_only_on_request_and_cleans_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 300, 1);
    let go = |_, _| ControlFlow::Continue(());
    let taken = folder.path().join("taken");
    std::fs::write(&taken, "mine").unwrap();
    let error = store.copy_to(&taken, CopyTarget::New, go).unwrap_err();
    assert_eq!(error.code(), "project-exists", "{error}");
    let own = store.copy_to(&path, CopyTarget::New, go).unwrap_err();
    assert_eq!(own.code(), "project-exists", "{own}");
    let nowhere = folder.path().join("no/folder/q");
    assert_eq!(store.copy_to(&nowhere, CopyTarget::New, go).unwrap_err().code(), "project-no-folder");
    let in_the_way = store.copy_to(folder.path(), CopyTarget::Replace, go).unwrap_err();
    assert_eq!(in_the_way.code(), "project-directory", "{in_the_way}");
    let stopped = store.copy_to(&folder.path().join("q"), CopyTarget::New, |_, _| ControlFlow::Break(()));
    assert_eq!(stopped.unwrap_err().code(), "cancelled");
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "mine");
    store.copy_to(&taken, CopyTarget::Replace, go).unwrap();
    assert_eq!(Store::open_reader(&taken).unwrap().counts().unwrap().texts, 300);
    store.close().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn copy_onto_itself_is_refused_under_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 3, 1);
    let go = |_, _| ControlFlow::Continue(());
    let error = store.copy_to(&path, CopyTarget::Replace, go).unwrap_err();
    assert_eq!(error.code(), "project-exists", "{error}");
    let other = folder.path().join("sub/../p.dissensus");
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    assert_eq!(store.copy_to(&other, CopyTarget::Replace, go).unwrap_err().code(), "project-exists");
    store.append_label(&label(1, 1, 0)).unwrap();
    store.close().unwrap();
    assert_eq!(Store::open(&path).unwrap().counts().unwrap().labels, 1);
}

#[test]
fn run_is_in_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 5, 2);
    let run = store
        .add_run(&NewRun {
            configuration: serde_json::json!({"model": "shared"}),
            seed: 1,
            device: "cpu".into(),
            started_ms: 0,
            data_sha256: None,
        })
        .unwrap();
    store.finish_run(run, WorkState::Finished, Some(serde_json::json!({"accuracy": 0.5})), 9).unwrap();
    let question = QUESTION;
    store
        .put_head(
            NewHead {
                question,
                version: None,
                model: "multilevel".into(),
                made_at_ms: 1,
                weights: vec![1, 2, 3],
            },
            store.questions().unwrap()[0].scale.ids(),
        )
        .unwrap();
    std::thread::sleep(Duration::from_millis(2_000));
    let (copy, opened) = file_alone(&path);
    opened.close().unwrap();
    assert_eq!(contents(&copy.path().join("copy.dissensus")), contents(&path));
    assert_eq!(state_of(copy.path()).len(), 1);
}

#[test]
fn copy_never_replaces_an_open_project() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (store, other) = (small(&at("p.dissensus"), 3, 1), small(&at("q.dissensus"), 4, 1));
    let go = |_, _| ControlFlow::Continue(());
    let error = store.copy_to(&at("q.dissensus"), CopyTarget::Replace, go).unwrap_err();
    assert_eq!(error.code(), "project-locked", "{error}");
    other.append_label(&label(4, 1, 1)).unwrap();
    std::fs::copy(at("q.dissensus-wal"), at("new.dissensus-wal")).unwrap();
    other.close().unwrap();
    for what in [CopyTarget::New, CopyTarget::Replace] {
        let error = store.copy_to(&at("new.dissensus"), what, go).unwrap_err();
        assert_eq!(error.code(), "project-journal", "{error}");
    }
    assert!(!at("new.dissensus").exists());
    store.copy_to(&at("q.dissensus"), CopyTarget::Replace, go).unwrap();
    assert_eq!(Store::open(at("q.dissensus")).unwrap().counts().unwrap().texts, 3);
}
