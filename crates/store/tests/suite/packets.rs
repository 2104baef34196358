//! Task packets contain nothing of other annotators, and submissions contain only what was
//! assigned.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use dissensus_domain::{
    AnnotatorId, Answer, Assignment, Condition, LabelSource, LevelEdit, LevelId, Note, Packet, PacketId,
    QuestionId, Scale, ScaleKind, TextId,
};
use dissensus_store::{
    AnswerDetails, MergedCounts, NewAnnotator, NewLabel, NewQuestion, NewText, PacketKey, QuestionEdit,
    Repeat, Store, StoreError, Submission,
};
use std::path::{Path, PathBuf};
use uuid::Uuid;

const PACKET: PacketId = PacketId(Uuid::from_u128(7));
const KEY: PacketKey = PacketKey([9; 32]);

/// Texts 3, 1 and 2 in this order for the second of three annotators, and the first text again at
/// the end.
fn packet() -> Packet {
    let item = |text, occasion| Assignment { text: TextId(text), occasion, anchor: text == 1 };
    Packet {
        id: PACKET,
        annotator: AnnotatorId(2),
        made_at_ms: 5,
        seed: 1,
        questions: vec![QUESTION],
        assignments: vec![item(3, 1), item(1, 1), item(2, 1), item(3, 2)],
    }
}

/// A project with five texts and three annotators, with that packet and labels and secrets of
/// others.
fn project(folder: &Path) -> PathBuf {
    let path = folder.join("study.dissensus");
    let store = small(&path, 5, 3);
    store
        .write(|tx| -> Result<(), StoreError> {
            let metadata = [("gold".to_owned(), "SECRET-GOLD".to_owned())].into();
            tx.add_text(&NewText {
                external_id: "t6".into(),
                body: "SECRET-BODY".into(),
                metadata,
                ..NewText::default()
            })?;
            for id in [1, 2, 3] {
                let attributes = [("gender".to_owned(), format!("SECRET-{id}"))].into();
                tx.set_attributes(AnnotatorId(id), &attributes, 1)?;
            }
            tx.rename_levels(QUESTION, &["fine", "b", "c", "d", "vile"].map(String::from), 3)?;
            tx.add_packet(&packet(), &KEY)?;
            tx.set_setting("study-notes", "SECRET-SETTING")
        })
        .unwrap();
    for text in 1..=3 {
        store.append_label(&label(text, 1, 4)).unwrap();
    }
    store.close().unwrap();
    path
}

fn handed_out(folder: &Path) -> (PathBuf, PathBuf) {
    let path = project(folder);
    let file = folder.join("a2.dissensus");
    let store = Store::open(&path).unwrap();
    store.write_packet(PACKET, &file).unwrap();
    store.close().unwrap();
    (path, file)
}

fn noted(note: &str) -> Note {
    Note { note: Some(note.to_owned()), ..Note::default() }
}

/// The annotator's work in the packet: answers all texts and one re-annotation, and submits it.
fn answered(file: &Path) {
    let store = Store::open(file).unwrap();
    let ids = store.questions().unwrap()[0].scale.ids().to_vec();
    for (text, at) in [(1, 0), (2, 1), (3, 4)] {
        store.append_label(&label(text, 1, ids[at].0)).unwrap();
    }
    let repeat = Repeat {
        question: QUESTION,
        text: TextId(1),
        annotator: AnnotatorId(1),
        occasion: 2,
        answer: Answer::from_level(3),
        at_ms: 2_000,
        source: LabelSource::Window,
        details: AnswerDetails { note: noted("again"), ..AnswerDetails::default() },
        wording: None,
    };
    store
        .write(move |tx| {
            tx.add_repeat(&repeat, true)?;
            tx.add_submission(&Submission { packet: PACKET, at_ms: 3_000, answers: 4 })
        })
        .unwrap();
    store.close().unwrap();
}

fn merged(path: &Path, file: &Path) -> Result<MergedCounts, StoreError> {
    let (store, other) = (Store::open(path).unwrap(), Store::open_reader(file).unwrap());
    let report = store.merge_packet(&other, PACKET);
    other.close().unwrap();
    store.close().unwrap();
    report
}

#[test]
fn packet_has_its_texts_and_no_other_data() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = handed_out(folder.path());
    let store = Store::open(&file).unwrap();
    let own = store.own_packet().unwrap().unwrap();
    assert_eq!((own.id, store.own_packet_key().unwrap()), (PACKET, Some(KEY)));
    let texts = store.texts_page(0, 10).unwrap();
    assert_eq!(texts.iter().map(|t| t.external_id.as_str()).collect::<Vec<_>>(), ["t3", "t1", "t2"]);
    assert_eq!(
        own.assignments.iter().map(|item| (item.text.0, item.occasion)).collect::<Vec<_>>(),
        [(1, 1), (2, 1), (3, 1), (1, 2)]
    );
    assert!(texts.iter().all(|text| text.metadata.is_empty()));
    let people = store.annotators().unwrap();
    assert_eq!((people.len(), people[0].external_id.as_str()), (1, "a2"));
    assert!(people[0].attributes.is_empty());
    assert_eq!(store.questions().unwrap()[0].scale.levels()[4], "vile", "levels have the names of today");
    assert_eq!(store.project_id().unwrap(), Store::open_reader(&path).unwrap().project_id().unwrap());
    store.close().unwrap();
    let bytes = std::fs::read(&file).unwrap();
    for secret in ["SECRET", "Person 1", "Person 3", "Comment number 4", "multilevel"] {
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "{secret} is in the packet");
    }
    let whole = std::fs::read(&path).unwrap();
    assert!(whole.windows(6).any(|window| window == b"SECRET"), "the search finds what is there");
}

#[test]
fn submission_merges_once_with_reannotations() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = handed_out(folder.path());
    answered(&file);
    let report = merged(&path, &file).unwrap();
    assert_eq!((report.events, report.repeats, report.submissions, report.packets), (3, 1, 1, 0));
    let again = merged(&path, &file).unwrap();
    assert_eq!(again, MergedCounts { known: 4, ..MergedCounts::default() });
    let store = Store::open_reader(&path).unwrap();
    let own: Vec<_> = (store.current_labels(QUESTION).unwrap().into_iter())
        .filter(|label| label.annotator == AnnotatorId(2))
        .map(|label| (label.text.0, label.answer))
        .collect();
    // The packet's texts are in a different order: its first one is the project's third.
    let mut expected = [(3, Answer::from_level(0)), (1, Answer::from_level(1)), (2, Answer::from_level(4))];
    expected.sort_by_key(|(text, _)| *text);
    assert_eq!(own, expected);
    let repeats = store.repeats(QUESTION).unwrap();
    assert_eq!((repeats[0].text, repeats[0].annotator), (TextId(3), AnnotatorId(2)));
    assert_eq!(store.repeats_on_text(QUESTION, TextId(3)).unwrap(), repeats);
    assert!(store.repeats_on_text(QUESTION, TextId(1)).unwrap().is_empty());
    assert_eq!(store.submissions().unwrap(), [Submission { packet: PACKET, at_ms: 3_000, answers: 4 }]);
    assert_eq!(store.annotators().unwrap()[1].attributes["gender"], "SECRET-2");
}

#[test]
fn packet_with_foreign_content_is_refused() {
    type Change = fn(&mut dissensus_store::WriteTx<'_>) -> Result<(), StoreError>;
    let changes: [(&str, Change); 5] = [
        ("person \"bob\"", |tx| {
            let new =
                NewAnnotator { external_id: "bob".into(), name: "Bob".into(), ..NewAnnotator::default() };
            tx.add_annotator(&new).map(drop)
        }),
        ("person \"a1\"", |tx| {
            let new =
                NewAnnotator { external_id: "a1".into(), name: "Person 1".into(), ..NewAnnotator::default() };
            tx.add_annotator(&new).map(drop)
        }),
        ("text \"t4\"", |tx| {
            let body = "Comment number 4".into();
            tx.add_text(&NewText { external_id: "t4".into(), body, ..NewText::default() }).map(drop)
        }),
        ("question \"more\"", |tx| {
            let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
            tx.add_question(&NewQuestion { name: "more".into(), prompt: "?".into(), scale }).map(drop)
        }),
        ("change of the question \"rude\"", |tx| {
            tx.rename_levels(QuestionId(1), &["1", "2", "3", "4", "x"].map(String::from), 99)
        }),
    ];
    for (reported, change) in changes {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = handed_out(folder.path());
        answered(&file);
        let store = Store::open(&file).unwrap();
        store.write(change).unwrap();
        store.close().unwrap();
        let error = merged(&path, &file).unwrap_err();
        assert_eq!(error.code(), "copies-conflict");
        assert!(error.to_string().contains(reported), "{error} should name {reported}");
        let store = Store::open_reader(&path).unwrap();
        assert_eq!(store.counts().unwrap().labels, 3, "nothing half taken");
    }
}

#[test]
fn packet_of_another_project_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = handed_out(folder.path());
    let store = Store::open(&path).unwrap();
    let other = Store::open_reader(&file).unwrap();
    let error = store.merge_packet(&other, PacketId(Uuid::from_u128(8))).unwrap_err();
    assert_eq!(error.code(), "unknown");
    let foreign = small(&folder.path().join("other.dissensus"), 3, 2);
    assert_eq!(foreign.merge_packet(&other, PACKET).unwrap_err().code(), "other-project");
}

#[test]
fn copies_merge_packets_and_refuse_conflicts() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let copy = folder.path().join("copy.dissensus");
    std::fs::copy(&path, &copy).unwrap();
    let add = |path: &Path, id: u128, text: u32| {
        let store = Store::open(path).unwrap();
        let items = vec![Assignment { text: TextId(text), occasion: 1, anchor: false }];
        let new = Packet { id: PacketId(Uuid::from_u128(id)), assignments: items, ..packet() };
        store.write(move |tx| tx.add_packet(&new, &KEY)).unwrap();
        store.close().unwrap();
    };
    add(&path, 20, 4);
    add(&copy, 30, 5);
    let meet = |path: &Path, other: &Path| {
        let (store, other) = (Store::open(path).unwrap(), Store::open_reader(other).unwrap());
        let report = store.merge_from(&other);
        let ids: Vec<u128> =
            store.packets().unwrap().iter().map(|(packet, _)| packet.id.0.as_u128()).collect();
        other.close().unwrap();
        store.close().unwrap();
        report.map(|report| (report.packets, ids))
    };
    assert_eq!(meet(&path, &copy).unwrap(), (1, vec![7, 20, 30]));
    assert_eq!(meet(&copy, &path).unwrap(), (1, vec![7, 30, 20]));
    assert_eq!(meet(&path, &copy).unwrap().0, 0);
    add(&path, 40, 4);
    add(&copy, 40, 5);
    assert_eq!(meet(&path, &copy).unwrap_err().code(), "copies-conflict");
}

#[test]
fn conditional_questions_are_handed_out_together() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 1);
    let more = store
        .write(|tx| -> Result<QuestionId, StoreError> {
            let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
            let more = tx.add_question(&NewQuestion { name: "why".into(), prompt: "?".into(), scale })?;
            tx.set_condition(more, Some(&Condition::new(QUESTION, vec![3, 4])), 1)?;
            Ok(more)
        })
        .unwrap();
    let made = |id: u128, questions: Vec<QuestionId>| {
        let items = vec![Assignment { text: TextId(2), occasion: 1, anchor: false }];
        let new = Packet {
            id: PacketId(Uuid::from_u128(id)),
            annotator: AnnotatorId(1),
            questions,
            assignments: items,
            ..packet()
        };
        let id = new.id;
        store.write(move |tx| tx.add_packet(&new, &KEY)).unwrap();
        let file = folder.path().join(format!("{}.dissensus", id));
        store.write_packet(id, &file).map(|()| file)
    };
    let error = made(1, vec![more]).unwrap_err();
    assert!(error.to_string().contains("asked only after rude"), "{error}");
    let file = Store::open_reader(made(2, vec![more, QUESTION]).unwrap()).unwrap();
    let asked = file.questions().unwrap();
    assert_eq!(asked.iter().map(|q| q.name.as_str()).collect::<Vec<_>>(), ["why", "rude"]);
    assert_eq!(asked[0].only_if, Some(Condition::new(asked[1].id, vec![3, 4])));
}

#[test]
fn copied_packets_merge() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = handed_out(folder.path());
    let copy = folder.path().join("copy of a2.dissensus");
    std::fs::copy(&file, &copy).unwrap();
    answered(&file);
    let store = Store::open(&copy).unwrap();
    store.append_label(&NewLabel { at_ms: 9_000, ..label(1, 1, 2) }).unwrap();
    store.close().unwrap();
    let other_way = folder.path().join("other way.dissensus");
    std::fs::copy(&path, &other_way).unwrap();
    for (path, order) in [(&path, [&file, &copy]), (&other_way, [&copy, &file])] {
        for file in order {
            merged(path, file).unwrap();
        }
        let store = Store::open_reader(path).unwrap();
        let answer = store.current_labels(QUESTION).unwrap().into_iter();
        let answer: Vec<_> =
            answer.filter(|l| l.annotator.0 == 2 && l.text.0 == 3).map(|l| l.answer).collect();
        assert_eq!(
            answer,
            [Answer::from_level(2)],
            "the later of two answers that did not know of each other"
        );
    }
}

#[test]
fn answers_of_all_rounds_are_ordered_despite_clocks() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 3, 2);
    let again = |text, level, at_ms| Repeat {
        question: QUESTION,
        text: TextId(text),
        annotator: AnnotatorId(1),
        occasion: 2,
        answer: Answer::from_level(level),
        at_ms,
        source: LabelSource::Window,
        details: AnswerDetails::default(),
        wording: None,
    };
    let mut last = i64::MIN;
    // A clock that stops, jumps ahead and back.
    for (step, clock) in [1_000, 1_000, 1_000, 9_000, 500, 500].into_iter().enumerate() {
        let text = step as u32 % 3 + 1;
        let event = store.append_label(&NewLabel { at_ms: clock, ..label(text, 1, 2) }).unwrap();
        let at = store.events(QUESTION, TextId(text), AnnotatorId(1)).unwrap();
        let at = at.iter().find(|e| e.id == event.id).unwrap().at_ms;
        assert!(at > last, "an answer after a later occasion");
        let repeat = again(text, step as u16 % 5, clock);
        store.write(move |tx| tx.give_repeat(&repeat)).unwrap();
        last = store.repeats(QUESTION).unwrap().iter().map(|repeat| repeat.at_ms).max().unwrap();
        assert!(last > at, "a later occasion after an answer");
    }
    // The clock of another annotator is independent.
    store.append_label(&NewLabel { at_ms: 7, ..label(1, 2, 2) }).unwrap();
    assert_eq!(store.events(QUESTION, TextId(1), AnnotatorId(2)).unwrap()[0].at_ms, 7);
}

#[test]
fn submission_has_no_key_and_packets_are_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = handed_out(folder.path());
    let key = serde_json::to_string(&KEY.0).unwrap();
    let has = |path: &Path, bytes: &[u8]| {
        std::fs::read(path).unwrap().windows(bytes.len()).any(|window| window == bytes)
    };
    assert!(has(&file, key.as_bytes()) && has(&path, &KEY.0));
    let store = Store::open(&file).unwrap();
    store.write(|tx| tx.forget_packet_key()).unwrap();
    store.close().unwrap();
    assert!(!has(&file, key.as_bytes()) && !has(&file, &KEY.0), "the key is still in the file");
    let store = Store::open(&file).unwrap();
    assert_eq!(
        (store.own_packet().unwrap().map(|own| own.id), store.own_packet_key().unwrap()),
        (Some(PACKET), None)
    );
    store.close().unwrap();
    assert_eq!(merged(&path, &file).unwrap().packets, 0);
    assert!(Store::open_reader(&path).unwrap().own_packet().unwrap().is_none(), "the project is none");
}

#[test]
fn packet_keeps_its_question_and_levels() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = handed_out(folder.path());
    answered(&file);
    // The study continues: the second level is replaced by a new one, and the question is reworded.
    let store = Store::open(&path).unwrap();
    let level = |name: &str, from: Option<u16>| LevelEdit {
        from: from.map(LevelId),
        name: name.into(),
        definition: format!("About {name}."),
    };
    let edit = QuestionEdit {
        prompt: Some("Really?".into()),
        levels: Some(vec![
            level("fine", Some(0)),
            level("new", None),
            level("c", Some(2)),
            level("d", Some(3)),
            level("vile", Some(4)),
        ]),
        ..QuestionEdit::default()
    };
    store.edit_question(QUESTION, &edit, 50).unwrap();
    let later = folder.path().join("later.dissensus");
    store.write_packet(PACKET, &later).unwrap();
    store.close().unwrap();
    let names = |path: &Path| {
        let store = Store::open_reader(path).unwrap();
        let asked = store.questions().unwrap().remove(0);
        store.close().unwrap();
        (
            asked.prompt.clone(),
            asked.scale.levels().join(" "),
            asked.definition(asked.scale.ids()[1]).to_owned(),
        )
    };
    assert_eq!(names(&later), ("Really?".into(), "fine new c d vile".into(), "About new.".into()));
    assert_eq!(names(&file).1, "fine b c d vile");
    // An answer with the removed level restores it; no answer changes its level.
    let report = merged(&path, &file).unwrap();
    assert_eq!((report.levels_back, report.rearranged, report.events), (1, 1, 3));
    assert_eq!(names(&path).1, "fine b new c d vile");
    let store = Store::open(&path).unwrap();
    let asked = store.questions().unwrap().remove(0);
    let labels = store.current_labels_of(AnnotatorId(2), QUESTION).unwrap();
    let named = |answer: &Answer| asked.scale.name_of_answer(answer).unwrap().into_owned();
    assert_eq!(labels.iter().map(|label| named(&label.answer)).collect::<Vec<_>>(), ["b", "vile", "fine"]);
    let again = store.repeats(QUESTION).unwrap().remove(0);
    assert_eq!((named(&again.answer).as_str(), again.details.note), ("d", noted("again")));
    store.close().unwrap();
    // The packet written later uses the new level, with a different row id there.
    answered(&later);
    let report = merged(&path, &later).unwrap();
    assert_eq!((report.levels_back, report.rearranged), (0, 0));
    let store = Store::open(&path).unwrap();
    let events = store.events(QUESTION, TextId(1), AnnotatorId(2)).unwrap();
    let given: Vec<String> = events.iter().filter_map(|event| event.answer()).map(named).collect();
    assert_eq!(given, ["b", "new"]);
    store.check_current_answers().unwrap();
    store.close().unwrap();
    // A submission cannot add a level.
    let store = Store::open(&later).unwrap();
    let ids = store.questions().unwrap()[0].scale.ids().to_vec();
    let own = QuestionEdit {
        levels: Some(
            ids.iter().map(|id| level(&id.to_string(), Some(id.0))).chain([level("own", None)]).collect(),
        ),
        ..QuestionEdit::default()
    };
    store.edit_question(QuestionId(1), &own, 99).unwrap();
    store.close().unwrap();
    let error = merged(&path, &later).unwrap_err();
    assert!(error.to_string().contains("was not handed out"), "{error}");
}
