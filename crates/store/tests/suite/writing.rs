//! Transactions are stored completely or not at all, and everything written reads back unchanged.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use dissensus_domain::{AnnotatorId, Attributes, EventId, Scale, ScaleKind, TextId};
use dissensus_domain::{JobKind, WorkState};
use dissensus_store::{
    EncoderVersion, NewAnnotator, NewHead, NewJob, NewQuestion, NewRun, NewText, RunLabel, RunLabels,
    RunPart, Store, StoreError,
};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn project(texts: u32, annotators: u32) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), texts, annotators);
    (folder, store)
}

#[test]
fn error_or_panic_rolls_back_the_write() {
    let (_folder, store) = project(1, 1);
    let text = || NewText { external_id: "new".into(), body: "b".into(), ..NewText::default() };
    let failed = store.write(move |tx| -> Result<(), StoreError> {
        tx.add_text(&text())?;
        tx.add_label(&label(2, 1, 4))?;
        tx.add_text(&text()).map(|_| ())
    });
    assert!(matches!(failed, Err(StoreError::Duplicate { what: "text", .. })), "{failed:?}");
    assert_eq!((store.counts().unwrap().texts, store.counts().unwrap().events), (1, 0));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        store.write(move |tx| -> Result<(), StoreError> {
            tx.add_text(&text())?;
            panic!("half way");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(store.counts().unwrap().texts, 1);
    store.append_label(&label(1, 1, 1)).unwrap(); // the writer continues
}

#[test]
fn nested_write_is_an_error() {
    let (_folder, store) = project(1, 1);
    let inner = store.clone();
    let reported = store.write(move |_| inner.append_label(&label(1, 1, 1)).map(|_| ()));
    assert!(matches!(reported, Err(StoreError::WriteInsideWrite)));
}

#[test]
fn last_handle_may_be_dropped_inside_a_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 1, 1);
    let (inner, (reported, done)) = (store.clone(), std::sync::mpsc::channel());
    let waiting = std::thread::spawn(move || {
        store.write(move |tx| {
            let added = tx.add_label(&label(1, 1, 1)).map(|_| ());
            drop(inner);
            let _ = reported.send(());
            added
        })
    });
    done.recv().unwrap();
    waiting.join().unwrap().unwrap();
    assert_eq!(Store::open_reader(&path).unwrap().counts().unwrap().labels, 1);
}

#[test]
fn many_threads_share_one_project() {
    let (_folder, store) = project(50, 8);
    std::thread::scope(|scope| {
        for annotator in 1..=8 {
            let store = &store;
            scope.spawn(move || {
                for text in 1..=50 {
                    let id = store.append_label(&label(text, annotator, 1)).unwrap().id;
                    assert_eq!(store.event(id).unwrap().unwrap().annotator, AnnotatorId(annotator));
                }
            });
        }
    });
    assert_eq!(store.current_labels(QUESTION).unwrap().len(), 400);
    assert_eq!(store.last_event().unwrap(), EventId(400));
}

#[test]
fn texts_round_trip() {
    let (_folder, store) = project(0, 0);
    let bodies = ["<script>alert(1)</script>", "שלום עולם", "👩‍👩‍👧 ÉTÉ à la STRASSE", "a\r\nb\0c", "", "ΣΟΦΟΣ"];
    let metadata = BTreeMap::from([("source \"x\"".to_owned(), "a\nb".to_owned())]);
    let kept = metadata.clone();
    store
        .write(move |tx| -> Result<(), StoreError> {
            for (n, body) in bodies.iter().enumerate() {
                let (group, split) = (Some("thread".to_owned()), Some("Dev".to_owned()));
                let (external_id, body) = (format!("x{n}"), (*body).to_owned());
                let id =
                    tx.add_text(&NewText { external_id, body, group, split, metadata: metadata.clone() })?;
                assert_eq!(tx.text_by_external(&format!("x{n}"))?, Some(id));
            }
            assert_eq!(tx.text_by_external("nobody")?, None);
            let long =
                NewText { external_id: "long".into(), body: "x".repeat((1 << 20) + 1), ..NewText::default() };
            assert!(matches!(tx.add_text(&long), Err(StoreError::Invalid { .. })));
            assert!(tx.add_text(&NewText { body: "x".repeat(1 << 20), ..long }).is_ok());
            Ok(())
        })
        .unwrap();
    let text = store.text_by_external("x1").unwrap().unwrap();
    assert_eq!((text.id, text.body.as_str()), (TextId(2), bodies[1]));
    assert_eq!((text.group.as_deref(), text.split.as_deref()), (Some("thread"), Some("Dev")));
    assert_eq!(text.metadata, kept);
    assert_eq!(store.text(TextId(2)).unwrap(), Some(text));
    assert_eq!(store.bodies(&[TextId(3), TextId(1)]).unwrap(), [bodies[2], bodies[0]]);
    assert!(matches!(store.bodies(&[TextId(99)]), Err(StoreError::Unknown { .. })));
    let page: Vec<_> = store.texts_page(2, 3).unwrap().into_iter().map(|t| t.id.0).collect();
    assert_eq!(page, [3, 4, 5]);
    let mut streamed = Vec::new();
    store
        .for_each_text(|t| -> Result<(), StoreError> {
            streamed.push((t.id, t.external_id));
            Ok(())
        })
        .unwrap();
    assert_eq!(streamed, store.all_text_ids_and_externals().unwrap());
    assert_eq!(streamed.len(), 7);
    for (query, found) in [("été", 3), ("strasse", 3), ("σοφος", 6), ("σοφοΣ", 6), ("<SCRIPT>", 1), ("X4", 5)]
    {
        assert_eq!(store.search_texts(query).unwrap(), [TextId(found)], "{query}");
    }
    assert!(store.search_texts("ete").unwrap().is_empty());
    assert!(store.search_texts("100%_").unwrap().is_empty());
}

#[test]
fn annotators_and_questions_round_trip() {
    let (_folder, store) = project(0, 1);
    let attributes = Attributes::from([("age".into(), "30-39".into()), ("gender".into(), "Woman".into())]);
    let wanted = attributes.clone();
    let scale = Scale::new(ScaleKind::Choice, ["red", "green", "blue"]).unwrap();
    let asked = NewQuestion { name: "colour".into(), prompt: "Which?".into(), scale };
    let again = asked.clone();
    store
        .write(move |tx| -> Result<(), StoreError> {
            let external_id = "sim".to_owned();
            let new = NewAnnotator { external_id, name: "Sim".into(), simulated: true, ..Default::default() };
            let id = tx.add_annotator(&new)?;
            assert!(matches!(tx.add_annotator(&new), Err(StoreError::Duplicate { .. })));
            tx.set_attributes(id, &attributes, 1)?;
            assert_eq!(tx.attributes(id)?, attributes);
            tx.rename_annotator(id, "Simone", 1)?;
            assert!(tx.set_attributes(AnnotatorId(9), &attributes, 1).is_err());
            tx.add_question(&asked)?;
            assert!(matches!(tx.add_question(&asked), Err(StoreError::Duplicate { what: "question", .. })));
            Ok(())
        })
        .unwrap();
    let people = store.annotators().unwrap();
    assert_eq!(people.len(), 2);
    assert_eq!((people[1].name.as_str(), people[1].simulated), ("Simone", true));
    assert_eq!(people[1].attributes, wanted);
    assert_eq!(store.annotator_by_external("sim").unwrap().as_ref(), Some(&people[1]));
    let questions = store.questions().unwrap();
    assert_eq!(questions.len(), 2);
    assert_eq!((&questions[1].scale, &questions[1].prompt), (&again.scale, &again.prompt));
    assert_eq!(store.question_by_name("colour").unwrap().as_ref(), Some(&questions[1]));
    assert_eq!(store.question_by_name("taste").unwrap(), None);
}

fn version(key: &str, dim: u32) -> EncoderVersion {
    EncoderVersion {
        key: key.into(),
        name: "mini".into(),
        weights_sha256: "ab".repeat(32),
        pooling: "mean".into(),
        max_tokens: 256,
        dim,
        precision: "fp32".into(),
    }
}

#[test]
fn embeddings_round_trip_exactly() {
    let (_folder, store) = project(4, 0);
    store.add_encoder_version(&version("mini/1", 3)).unwrap();
    store.add_encoder_version(&version("mini/1", 3)).unwrap();
    assert!(matches!(store.add_encoder_version(&version("mini/1", 4)), Err(StoreError::Duplicate { .. })));
    assert_eq!(store.encoder_versions().unwrap(), [version("mini/1", 3)]);
    let odd = [f32::MIN_POSITIVE / 2.0, -0.0, f32::MAX];
    let batch = [(TextId(3), odd.to_vec()), (TextId(1), vec![0.1, 0.2, 0.3])];
    store.put_embeddings("mini/1", &batch).unwrap();
    store.put_embeddings("mini/1", &[(TextId(1), vec![1.0, 2.0, 3.0])]).unwrap();
    let found = store.embeddings("mini/1").unwrap();
    assert_eq!((found.texts, found.dim), (vec![TextId(1), TextId(3)], 3));
    let bits: Vec<u32> = found.values.iter().map(|v| v.to_bits()).collect();
    let wanted: Vec<u32> = [1.0, 2.0, 3.0].iter().chain(&odd).map(|v: &f32| v.to_bits()).collect();
    assert_eq!(bits, wanted);
    let missing = |limit| store.texts_without_embedding("mini/1", None, limit).unwrap();
    assert_eq!(missing(10).iter().map(|t| t.0.0).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(missing(1), [(TextId(2), "Comment number 2".to_owned())]);
    let later = store.texts_without_embedding("mini/1", Some(TextId(2)), 10).unwrap();
    assert_eq!(later.iter().map(|t| t.0.0).collect::<Vec<_>>(), [4]);
    assert_eq!(store.texts_without_embedding("never/used", None, 10).unwrap().len(), 4);
    assert_eq!(store.embedding_count("mini/1").unwrap(), 2);
    for (version, text, values) in [
        ("mini/1", 2, vec![1.0]),
        ("mini/1", 2, vec![f32::NAN; 3]),
        ("mini/1", 9, vec![0.0; 3]),
        ("no", 2, vec![0.0; 3]),
    ] {
        let batch = [(TextId(4), vec![0.0; 3]), (TextId(text), values)];
        assert!(store.put_embeddings(version, &batch).is_err());
    }
    assert_eq!(store.embedding_count("mini/1").unwrap(), 2);
    assert!(matches!(store.embeddings("no"), Err(StoreError::Unknown { .. })));
}

#[test]
fn only_the_newest_head_is_stored() {
    let (_folder, store) = project(1, 1);
    store.add_encoder_version(&version("mini/1", 3)).unwrap();
    let head = |version: Option<&str>, weights: &[u8]| NewHead {
        question: QUESTION,
        version: version.map(str::to_owned),
        model: "multilevel".into(),
        made_at_ms: 5,

        weights: weights.to_vec(),
    };
    let levels = store.questions().unwrap()[0].scale.ids().to_vec();
    for weights in [[1, 2, 3], [4, 5, 6]] {
        store.put_head(head(Some("mini/1"), &weights), &levels).unwrap();
    }
    store.put_head(head(None, &[9]), &levels).unwrap();
    let found = |version| store.head(QUESTION, version, "multilevel").unwrap();
    assert_eq!(found(Some("mini/1")), Some(head(Some("mini/1"), &[4, 5, 6])));
    assert_eq!(found(None), Some(head(None, &[9])));
    assert_eq!(found(Some("other")), None);
    assert_eq!(store.head(QUESTION, None, "shared").unwrap(), None);
    assert!(matches!(store.put_head(head(Some("no"), &[]), &levels), Err(StoreError::Unknown { .. })));

    // A single head of any encoder version; if it cannot be stored, the earlier ones remain.
    assert!(matches!(store.put_only_head(head(Some("no"), &[]), &levels), Err(StoreError::Unknown { .. })));
    assert_eq!(found(None), Some(head(None, &[9])));
    let other = NewHead { model: "shared".into(), ..head(None, &[1]) };
    store.put_head(other.clone(), &levels).unwrap();
    store.put_only_head(head(Some("mini/1"), &[7]), &levels).unwrap();
    assert_eq!((found(Some("mini/1")), found(None)), (Some(head(Some("mini/1"), &[7])), None));
    assert_eq!(store.head(QUESTION, None, "shared").unwrap(), Some(other));
    store.forget_heads(QUESTION, "multilevel").unwrap();
    assert_eq!(found(Some("mini/1")), None);
}

#[test]
fn runs_and_settings_round_trip() {
    let (_folder, store) = project(0, 0);
    let asked = NewRun {
        configuration: serde_json::json!({"models": ["shared"], "rate": 0.1}),
        seed: u64::MAX,
        device: "cpu".into(),
        started_ms: 10,
        data_sha256: Some("ab".into()),
    };
    let id = store.add_run(&asked).unwrap();
    let history = serde_json::json!([{"epoch": 1}]);
    store.set_run_history(id, history.clone()).unwrap();
    let label = |text, level| RunLabel { text: TextId(text), annotator: AnnotatorId(1), level };
    let start = serde_json::json!({"texts": 2});
    assert!(store.set_run_predictions(id, vec![0.5]).is_err(), "it has no test labels yet");
    store.set_run_start(id, start.clone(), vec![(RunPart::Test, vec![label(1, 0), label(2, 4)])]).unwrap();
    let again = store.set_run_start(id, serde_json::json!({}), vec![(RunPart::Test, vec![label(7, 1)])]);
    assert!(matches!(again, Err(StoreError::Invalid { .. })), "what a run starts on is written once");
    store.set_run_predictions(id, vec![0.25, 0.75, 0.5, 0.5]).unwrap();
    let kept =
        RunLabels { labels: vec![label(1, 0), label(2, 4)], probabilities: vec![0.25, 0.75, 0.5, 0.5] };
    assert_eq!(store.run_labels(id, RunPart::Test).unwrap(), kept);
    assert_eq!(store.run(id).unwrap().unwrap().start, Some(start));
    assert_eq!(store.run_labels(id, RunPart::Train).unwrap(), RunLabels::default());
    assert!(store.finish_run(id, WorkState::Interrupted, None, 20).is_err());
    let metrics = serde_json::json!({"accuracy": 0.787});
    store.finish_run(id, WorkState::Finished, Some(metrics.clone()), 20).unwrap();
    let runs = store.runs().unwrap();
    assert_eq!(
        (&runs[0].asked, &runs[0].metrics, runs[0].state),
        (&asked, &Some(metrics), WorkState::Finished)
    );
    assert_eq!(runs[0].history.as_ref(), Some(&history));
    store.write(move |tx| tx.resume_run(id)).unwrap();
    assert_eq!(store.runs().unwrap()[0].state, WorkState::Running);
    let uid = store.run(id).unwrap().unwrap().uid;
    assert_eq!((uid.get_version_num(), store.run_by_uid(uid).unwrap().unwrap().id), (7, id));
    store.write(move |tx| tx.delete_run(id)).unwrap();
    assert!(store.runs().unwrap().is_empty() && store.run_by_uid(uid).unwrap().is_none());
    let next = store.add_run(&asked).unwrap();
    assert!(next > id, "the number of a deleted run is not used again");
    store.write(move |tx| tx.delete_run(next)).unwrap();
    assert_eq!(store.run_labels(id, RunPart::Test).unwrap(), RunLabels::default());
    assert!(store.write(move |tx| tx.delete_run(id)).is_err());
    assert_eq!(store.setting::<Vec<u32>>("chosen").unwrap(), None);
    store.set_setting("chosen", &[1, 2]).unwrap();
    store.set_setting("chosen", &[3, 4]).unwrap();
    assert_eq!(store.setting::<Vec<u32>>("chosen").unwrap(), Some(vec![3, 4]));
    assert_eq!(store.setting::<String>("chosen").unwrap(), None);
    assert!(store.set_setting("", &1).is_err());
}

#[test]
fn jobs_end_once_or_are_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 0, 0);
    let new = |title: &str| NewJob { kind: JobKind::Encode, title: title.into(), total: None, started_ms: 1 };
    let (done, left) = (store.start_job(&new("one")).unwrap(), store.start_job(&new("two")).unwrap());
    store.update_job(done, 5, Some(10), Some("half")).unwrap();
    store.finish_job(done, WorkState::Finished, None, 9).unwrap();
    assert!(store.finish_job(done, WorkState::Failed, None, 9).is_err());
    assert!(store.update_job(done, 6, None, None).is_err());
    store.update_job(left, 3, Some(4), None).unwrap();
    store.close().unwrap();
    let store = Store::open(&path).unwrap();
    let jobs = store.jobs(20).unwrap();
    assert_eq!((jobs[0].id, jobs[0].state, jobs[0].done), (left, WorkState::Interrupted, 3));
    assert_eq!((jobs[1].state, jobs[1].note.as_deref()), (WorkState::Finished, Some("half")));
    store.finish_job(left, WorkState::Cancelled, Some("stopped"), 20).unwrap();
    assert_eq!(store.jobs(20).unwrap()[0].state, WorkState::Cancelled);
}
