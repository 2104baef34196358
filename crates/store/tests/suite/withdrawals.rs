//! An annotator who withdraws is erased here and in every copy that learns of it, in whatever order
//! copies are merged.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, copied, label, merge_from, small};
use dissensus_domain::{
    AnnotatorId, Answer, Assignment, Decision, EventId, Guideline, GuidelineId, JobKind, LabelSource,
    MarkKind, Note, Outcome, Packet, PacketId, TextId, WorkState,
};
use dissensus_files::with_suffix;
use dissensus_store::{
    EncoderVersion, NewAnnotator, NewHead, NewJob, NewLabel, NewMark, NewRun, NewText, PacketKey, Repeat,
    RunLabel, RunPart, Store, StoreError, Submission,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::path::Path;
use uuid::Uuid;

const PACKET: PacketId = PacketId(Uuid::from_u128(77));
const KEY: PacketKey = PacketKey(*b"the key of the packet of zorro!!");
/// Everything in [`project`] that could identify the third annotator.
const TRACES: [&str; 9] = [
    "zorro-id",
    "Zorro Called",
    "Zorro Before",
    "Zorro Later",
    "zorro-attribute",
    "zorro-note",
    "zorro-file",
    "the key of the packet of zorro!!",
    "zorro-weights",
];

fn third(store: &Store) -> AnnotatorId {
    store.annotator_by_external("zorro-id").unwrap().unwrap().id
}

fn decide(store: &Store, text: u32, by: &str) {
    let decision = Decision {
        question: QUESTION,
        text: TextId(text),
        at_ms: 50,
        outcome: Outcome::Ambiguous,
        answer: None,
        comment: "both can be meant".into(),
        by: by.to_owned(),
    };
    store.write(move |tx| tx.decide(&decision)).unwrap();
}

/// A label of `who`, by the command.
fn labelled(store: &Store, text: u32, who: AnnotatorId, level: u16) {
    store.append_label(&NewLabel { annotator: who, ..label(text, 1, level) }).unwrap();
}

/// Five texts and three annotators. The third one, `zorro-id`, has left every kind of trace.
fn project(path: &Path) -> Store {
    let store = small(path, 5, 2);
    let zorro = store
        .write(|tx| -> Result<_, StoreError> {
            let attributes = [("hobby".to_owned(), "zorro-attribute".to_owned())].into();
            let (external_id, name) = ("zorro-id".to_owned(), "Zorro Before".to_owned());
            let zorro =
                tx.add_annotator(&NewAnnotator { external_id, name, attributes, ..Default::default() })?;
            tx.rename_annotator(zorro, "Zorro Called", 7)?;
            Ok(zorro)
        })
        .unwrap();
    for (text, who) in [(1, AnnotatorId(1)), (1, zorro), (2, zorro), (2, AnnotatorId(2)), (2, zorro)] {
        labelled(&store, text, who, 3);
    }
    let newest = store.newest_given(QUESTION, zorro).unwrap().unwrap();
    store.retract(newest.id, 9, LabelSource::Window).unwrap();
    let (annotator, text, source) = (zorro, TextId(3), LabelSource::Window);
    let note = Note { note: Some("zorro-note".to_owned()), ..Note::default() };
    store
        .mark(&NewMark {
            annotator,
            question: QUESTION,
            text,
            kind: MarkKind::Note,
            at_ms: 1,
            source,
            note,
            guideline: None,
        })
        .unwrap();
    let again = Repeat {
        question: QUESTION,
        text: TextId(1),
        annotator: zorro,
        occasion: 2,
        at_ms: 9,
        answer: Answer::from_level(4),
        source: LabelSource::Import,
        details: Default::default(),
        wording: None,
    };
    store.write(move |tx| tx.add_repeat(&again, true)).unwrap();
    let packet = Packet {
        id: PACKET,
        annotator: zorro,
        made_at_ms: 5,
        seed: 1,
        questions: vec![QUESTION],
        assignments: vec![Assignment { text: TextId(1), occasion: 1, anchor: true }],
    };
    store
        .write(move |tx| -> Result<_, StoreError> {
            tx.add_packet(&packet, &KEY)?;
            tx.add_submission(&Submission { packet: PACKET, at_ms: 6, answers: 1 })
        })
        .unwrap();
    let guideline = Guideline {
        id: GuidelineId(Uuid::from_u128(5)),
        at_ms: 3,
        body: "What is rude".into(),
        change: "the first".into(),
        by: "Zorro Before".into(),
    };
    store.write(move |tx| tx.write_guideline(&guideline, &[])).unwrap();
    decide(&store, 1, "Zorro Called");
    decide(&store, 2, "zorro-id");
    decide(&store, 3, "Person 1");
    let job = NewJob {
        kind: JobKind::Merge,
        title: "zorro-file Zorro Called.packet".into(),
        total: None,
        started_ms: 0,
    };
    let job = store.start_job(&job).unwrap();
    store.finish_job(job, WorkState::Finished, None, 1).unwrap();
    let weights = b"zorro-weights".to_vec();
    let head = NewHead { question: QUESTION, version: None, model: "m".into(), made_at_ms: 1, weights };
    store.put_head(head, store.questions().unwrap()[0].scale.ids()).unwrap();
    store
}

fn run_with(store: &Store, annotators: &[AnnotatorId]) -> Uuid {
    let id = store
        .add_run(&NewRun {
            configuration: serde_json::json!({}),
            seed: 1,
            device: "cpu".into(),
            started_ms: 1,
            data_sha256: None,
        })
        .unwrap();
    let ids: Vec<u32> = annotators.iter().map(|a| a.0).collect();
    let labels = vec![RunLabel { text: TextId(1), annotator: annotators[0], level: 1 }];
    store.set_run_start(id, serde_json::json!({"annotators": ids}), vec![(RunPart::Train, labels)]).unwrap();
    store.run(id).unwrap().unwrap().uid
}

/// The traces in the project file or its side files.
fn found(path: &Path) -> Vec<&'static str> {
    let files = [path.to_owned(), with_suffix(path, "-wal"), with_suffix(path, "-shm")];
    let bytes: Vec<u8> = files.iter().filter_map(|file| std::fs::read(file).ok()).flatten().collect();
    let here = |trace: &&str| bytes.windows(trace.len()).any(|window| window == trace.as_bytes());
    TRACES.into_iter().filter(here).collect()
}

#[test]
fn withdrawal_erases_every_row_and_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = project(&path);
    let zorro = third(&store);
    let (with, without) = (run_with(&store, &[AnnotatorId(1), zorro]), run_with(&store, &[AnnotatorId(2)]));
    let version = EncoderVersion {
        key: "tuned/1".into(),
        name: format!("run:{with}"),
        weights_sha256: "00".into(),
        pooling: "mean".into(),
        max_tokens: 8,
        dim: 2,
        precision: "fp32".into(),
    };
    store.add_encoder_version(&version).unwrap();
    store.put_embeddings("tuned/1", &[(TextId(1), vec![0.5; 2])]).unwrap();
    store.checkpoint().unwrap();
    assert!(found(&path).len() > 7, "the test looks for what is there: {:?}", found(&path));
    let (others, events) = (store.current_labels(QUESTION).unwrap(), store.last_event().unwrap());

    let erased = store.withdraw(zorro, 1_000).unwrap();
    // Three labels, one of them retracted, a note, and a re-annotation.
    assert_eq!((erased.answers, erased.packets, erased.runs, erased.nameless), (6, 1, 1, 3));
    assert_eq!(store.to_clean().unwrap(), Some(vec![with]));
    assert!(store.clean_after_erasing().unwrap());
    assert_eq!(store.to_clean().unwrap(), None);
    assert_eq!(found(&path), [""; 0], "while it is open");

    assert!(store.annotator(zorro).unwrap().is_none() && store.annotators().unwrap().len() == 2);
    let left = store.current_labels(QUESTION).unwrap();
    assert_eq!(left, others.into_iter().filter(|l| l.annotator != zorro).collect::<Vec<_>>());
    assert_eq!(left.len(), 2);
    assert!(store.packets().unwrap().is_empty() && store.submissions().unwrap().is_empty());
    assert!(store.last_event().unwrap() < events);
    assert_eq!(store.embedding_count("tuned/1").unwrap(), 0);
    assert_eq!(store.runs().unwrap().iter().map(|run| run.uid).collect::<Vec<_>>(), [without]);
    let by: Vec<String> = store.decisions(QUESTION).unwrap().into_iter().map(|d| d.by).collect();
    assert_eq!(by, ["", "", "Person 1"]);
    assert_eq!(store.guidelines().unwrap()[0].by, "");
    let [withdrawal] = store.withdrawals().unwrap()[..] else { panic!("one withdrawal") };
    assert_eq!(withdrawal.at_ms, 1_000);
    assert!(store.has_withdrawn("zorro-id").unwrap() && !store.has_withdrawn("a1").unwrap());
    assert!(store.is_withdrawn_packet(PACKET).unwrap());
    store.check_current_answers().unwrap();
    store.close().unwrap();
    assert_eq!(found(&path), [""; 0], "and when it is closed");

    // The whole file is checked when it is opened: schema, including its triggers, pages and
    // references.
    let store = Store::open(&path).unwrap();
    let again = NewAnnotator { external_id: "zorro-id".into(), ..NewAnnotator::default() };
    let error = store.write(move |tx| tx.add_annotator(&again)).unwrap_err();
    assert_eq!(error.code(), "withdrawn", "{error}");
    let (external_id, name) = ("d".to_owned(), "D".to_owned());
    let new = NewAnnotator { external_id, name, ..NewAnnotator::default() };
    let row = store.write(move |tx| tx.add_annotator(&new)).unwrap();
    assert!(row > zorro, "a row of somebody who is gone is nobody else's");
    decide(&store, 4, "Zorro Before");
    assert_eq!(store.decisions_on_text(QUESTION, TextId(4)).unwrap()[0].by, "", "a name they went by");
    store.close().unwrap();
    let outside = rusqlite::Connection::open(&path).unwrap();
    for sql in [
        "DELETE FROM events",
        "UPDATE events SET at_ms = 1",
        "DELETE FROM facts WHERE kind = 'withdrawal'",
        "DELETE FROM facts WHERE kind = 'decision'",
    ] {
        assert!(outside.execute(sql, []).is_err(), "{sql}: what is appended is protected again");
    }
}

#[test]
fn failed_withdrawal_is_rolled_back_or_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = project(&path);
    let zorro = third(&store);
    let before = store.events_since(EventId(0), u32::MAX).unwrap();
    let stopped = store.write(move |tx| -> Result<(), StoreError> {
        tx.withdraw(zorro, 5)?;
        Err(StoreError::WriteInsideWrite)
    });
    stopped.unwrap_err();
    assert_eq!(store.events_since(EventId(0), u32::MAX).unwrap(), before);
    assert!(store.withdrawals().unwrap().is_empty() && store.to_clean().unwrap().is_none());
    assert_eq!(store.withdraw(AnnotatorId(99), 5).unwrap_err().code(), "unknown");
    // Killed between the transaction and the cleanup: the next session continues.
    store.withdraw(zorro, 5).unwrap();
    store.close().unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.to_clean().unwrap(), Some(vec![]));
    // A reader still needs the journal.
    let reader = Store::open_reader(&path).unwrap();
    let emptied = reader
        .snapshot(|snapshot| {
            snapshot.last_event()?;
            store.clean_after_erasing()
        })
        .unwrap();
    assert!(!emptied && store.to_clean().unwrap().is_some());
    reader.close().unwrap();
    assert!(store.clean_after_erasing().unwrap() && store.clean_after_erasing().unwrap());
    assert_eq!(store.to_clean().unwrap(), None);
    store.close().unwrap();
    assert_eq!(found(&path), [""; 0]);
}

/// What copies must agree on.
fn state(path: &Path) -> BTreeSet<String> {
    let store = Store::open_reader(path).unwrap();
    let people = store.annotators().unwrap();
    let who = |id: AnnotatorId| people.iter().find(|p| p.id == id).unwrap().external_id.clone();
    let mut all: BTreeSet<String> =
        people.iter().map(|p| format!("{} {} {:?}", p.external_id, p.name, p.attributes)).collect();
    let events = store.events_since(EventId(0), u32::MAX).unwrap();
    let key = |id: EventId| events.iter().find(|e| e.id == id).unwrap().key.to_string();
    all.extend(events.iter().map(|e| format!("{} {} {} {}", e.key, who(e.annotator), e.text.0, e.at_ms)));
    let labels = store.current_labels(QUESTION).unwrap();
    all.extend(labels.iter().map(|l| format!("{} holds", key(l.id))));
    let decisions = store.decisions(QUESTION).unwrap();
    all.extend(decisions.iter().map(|d| format!("{} {} {}", d.text.0, d.at_ms, d.by)));
    all.extend(store.guidelines().unwrap().iter().map(|g| format!("{} {}", g.id, g.by)));
    all.extend(store.packets().unwrap().iter().map(|(p, _)| format!("{} {}", p.id, who(p.annotator))));
    all.extend(store.submissions().unwrap().iter().map(|h| format!("{} {}", h.packet, h.at_ms)));
    all.extend(store.withdrawals().unwrap().iter().map(|w| format!("{w:?}")));
    store.check_current_answers().unwrap();
    store.close().unwrap();
    all
}

#[test]
fn merged_withdrawal_erases_in_every_copy() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("here.dissensus");
    project(&here).close().unwrap();
    let there = copied(&here, "there.dissensus");
    // Meanwhile in another copy: more answers, another name, and a decision signed with that name.
    let store = Store::open(&there).unwrap();
    let zorro = third(&store);
    labelled(&store, 4, zorro, 2);
    labelled(&store, 4, AnnotatorId(2), 2);
    store.write(move |tx| tx.rename_annotator(zorro, "Zorro Later", 99)).unwrap();
    decide(&store, 5, "Zorro Later");
    store.close().unwrap();
    let apart = copied(&there, "apart.dissensus");
    let store = Store::open(&here).unwrap();
    store.withdraw(third(&store), 1_000).unwrap();
    // A session that continues after it: sequence numbers of the erased events are not reused.
    labelled(&store, 5, AnnotatorId(1), 1);
    store.close().unwrap();

    let taken = merge_from(&here, &there);
    assert_eq!((taken.annotators, taken.events, taken.withdrawn, taken.packets), (0, 1, 0, 0));
    // The later name is not known here, so this copy has it until it learns of it.
    let taken = merge_from(&there, &here);
    assert_eq!((taken.withdrawn, taken.events), (1, 1));
    assert_eq!(merge_from(&here, &there).withdrawn, 0);
    assert_eq!(merge_from(&apart, &here).withdrawn, 1);
    merge_from(&apart, &there);
    for copy in [&here, &there, &apart] {
        assert_eq!(state(copy), state(&here), "{}", copy.display());
        assert!(!state(copy).iter().any(|line| line.contains("orro")), "{:?}", state(copy));
        let store = Store::open(copy).unwrap();
        assert!(store.to_clean().unwrap().is_some());
        assert!(store.clean_after_erasing().unwrap());
        store.close().unwrap();
        assert_eq!(found(copy), [""; 0], "{}", copy.display());
    }
    for copy in [&here, &there, &apart] {
        let nothing = merge_from(copy, &there);
        assert_eq!((nothing.withdrawn, nothing.events, nothing.annotators, nothing.decisions), (0, 0, 0, 0));
    }
}

#[test]
fn repeated_withdrawals_merge_to_one() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    project(&a).close().unwrap();
    let b = copied(&a, "b.dissensus");
    for (path, at_ms) in [(&a, 10), (&b, 20)] {
        let store = Store::open(path).unwrap();
        store.withdraw(third(&store), at_ms).unwrap();
        store.close().unwrap();
    }
    assert_eq!(merge_from(&a, &b).withdrawn, 0);
    merge_from(&b, &a);
    assert_eq!(state(&a), state(&b));
    let store = Store::open(&a).unwrap();
    assert_eq!((store.people_withdrawn().unwrap(), store.withdrawals().unwrap().len()), (1, 2));
}

/// A session in one copy: labels, retractions, marks, decisions, and sometimes a withdrawal.
fn work(path: &Path, rng: &mut ChaCha8Rng) {
    let store = Store::open(path).unwrap();
    for _ in 0..rng.random_range(1..6) {
        let people = store.annotators().unwrap();
        let Some(who) = people.get(rng.random_range(0..4)) else { continue };
        let (id, text) = (who.id, rng.random_range(1..=5));
        match rng.random_range(0..12) {
            0 => drop(store.withdraw(id, rng.random_range(0..50)).unwrap()),
            1 => decide(&store, text, &who.name),
            2 => {
                if let Some(newest) = store.newest_given(QUESTION, id).unwrap() {
                    store.retract(newest.id, 3, LabelSource::Window).unwrap();
                }
            }
            3 => {
                let name = format!("Name {}", rng.random_range(0..3));
                store.write(move |tx| tx.rename_annotator(id, &name, 5)).unwrap();
            }
            4 => {
                let packet = Packet {
                    id: PacketId(Uuid::from_u128(rng.random())),
                    annotator: id,
                    made_at_ms: 5,
                    seed: 1,
                    questions: vec![QUESTION],
                    assignments: vec![],
                };
                store.write(move |tx| tx.add_packet(&packet, &KEY)).unwrap();
            }
            5 => {
                let n = rng.random_range(0..9);
                let new =
                    NewAnnotator { external_id: format!("new{n}"), name: "New".into(), ..Default::default() };
                let code = store.write(move |tx| tx.add_annotator(&new)).map_err(|e| e.code());
                assert!(matches!(code, Ok(_) | Err("duplicate" | "withdrawn")), "{code:?}");
            }
            6 => {
                let name = format!("x{}", rng.random_range(0..9));
                let new = NewText { external_id: name, body: "x".into(), ..NewText::default() };
                drop(store.write(move |tx| tx.add_text(&new)));
            }
            _ => labelled(&store, text, id, rng.random_range(0..5)),
        }
    }
    store.close().unwrap();
}

#[test]
fn withdrawals_merge_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..15 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let first = folder.path().join(format!("{seed}-a.dissensus"));
        small(&first, 5, 4).close().unwrap();
        let copies = [
            first.clone(),
            copied(&first, &format!("{seed}-b.dissensus")),
            copied(&first, &format!("{seed}-c.dissensus")),
        ];
        for _ in 0..10 {
            let copy = rng.random_range(0..3);
            work(&copies[copy], &mut rng);
            if rng.random_bool(0.3) {
                merge_from(&copies[rng.random_range(0..3)], &copies[copy]);
            }
        }
        let orders = [[0, 1, 2], [2, 0, 1], [1, 2, 0]];
        for _ in 0..2 {
            for (into, order) in copies.iter().zip(orders) {
                for from in order.map(|at| &copies[at]).into_iter().filter(|from| *from != into) {
                    merge_from(into, from);
                }
            }
        }
        assert_eq!(state(&copies[0]), state(&copies[1]), "seed {seed}");
        assert_eq!(state(&copies[0]), state(&copies[2]), "seed {seed}");
        let before = state(&copies[0]);
        let nothing = merge_from(&copies[0], &copies[1]);
        assert_eq!((nothing.events, nothing.withdrawn, nothing.decisions), (0, 0, 0), "seed {seed}");
        assert_eq!(state(&copies[0]), before);
    }
}

#[test]
fn withdrawn_name_of_another_copy_signs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    project(&a).close().unwrap();
    let b = copied(&a, "b.dissensus");
    let (store, other) = (Store::open(&a).unwrap(), Store::open(&b).unwrap());
    let who = third(&other);
    other.write(move |tx| tx.rename_annotator(who, "Alicia", 5)).unwrap();
    decide(&other, 1, "Alicia");
    let who = third(&store);
    store.write(move |tx| tx.withdraw(who, 9)).unwrap();
    store.merge_from(&other).unwrap();
    let decisions = store.decisions(QUESTION).unwrap();
    assert!(!decisions.is_empty(), "the decision stays");
    assert!(decisions.iter().all(|decision| decision.by != "Alicia"), "{decisions:?}");
}

#[test]
fn late_withdrawn_name_is_removed_from_signatures() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    project(&a).close().unwrap();
    let (b, c) = (copied(&a, "b.dissensus"), copied(&a, "c.dissensus"));
    let (store, called, signed) =
        (Store::open(&a).unwrap(), Store::open(&b).unwrap(), Store::open(&c).unwrap());
    let who = third(&called);
    called.write(move |tx| tx.rename_annotator(who, "Alicia", 5)).unwrap();
    decide(&signed, 1, "Alicia");
    store.withdraw(third(&store), 9).unwrap();
    store.merge_from(&signed).unwrap();
    let by = || -> Vec<String> {
        store.decisions(QUESTION).unwrap().into_iter().map(|decision| decision.by).collect()
    };
    assert!(by().contains(&"Alicia".to_owned()), "nobody here knows whose name that is");
    store.merge_from(&called).unwrap();
    assert!(!by().contains(&"Alicia".to_owned()), "{:?}", by());
}

#[test]
fn packet_of_a_withdrawn_person_is_refused_in_every_copy() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    project(&a).close().unwrap();
    let b = copied(&a, "b.dissensus");
    let (store, other) = (Store::open(&a).unwrap(), Store::open(&b).unwrap());
    let id = PacketId(Uuid::from_u128(78));
    let packet = Packet {
        id,
        annotator: third(&other),
        made_at_ms: 5,
        seed: 1,
        questions: vec![QUESTION],
        assignments: vec![Assignment { text: TextId(1), occasion: 1, anchor: true }],
    };
    other.write(move |tx| tx.add_packet(&packet, &KEY)).unwrap();
    store.withdraw(third(&store), 9).unwrap();
    assert!(!store.is_withdrawn_packet(id).unwrap());
    store.merge_from(&other).unwrap();
    assert!(store.is_withdrawn_packet(id).unwrap());
    // Copies that learned of both in a different order agree.
    other.merge_from(&store).unwrap();
    assert!(other.is_withdrawn_packet(id).unwrap());
}
