//! Guideline versions and notes on answers: stored as facts, the same in every copy, and task
//! packets contain only what their annotator needs.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, copied, label, small};
use dissensus_domain::{
    AnnotatorId, Answer, Assignment, Guideline, GuidelineId, LabelSource, MarkKind, Note, NoteForm, Packet,
    PacketId, Picture, TextId,
};
use dissensus_store::{AnswerDetails, NewLabel, NewMark, PacketKey, Repeat, Store, StoreError};
use sha2::{Digest, Sha256};
use uuid::Uuid;

fn version(n: u128, at_ms: i64, body: &str) -> Guideline {
    let (change, by) = (format!("change {n}"), "ada".to_owned());
    Guideline { id: GuidelineId(Uuid::from_u128(n)), at_ms, body: body.to_owned(), change, by }
}

/// A picture named by its contents.
fn picture(what: &str) -> Picture {
    let bytes = format!("BYTES-OF-{what}").into_bytes();
    let name: String = Sha256::digest(&bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    Picture { name, media_type: "image/png".to_owned(), bytes }
}

fn write(store: &Store, version: Guideline, pictures: &[Picture]) {
    let pictures = pictures.to_vec();
    store.write(move |tx| tx.write_guideline(&version, &pictures)).unwrap();
}

fn bodies(store: &Store) -> Vec<String> {
    store.guidelines().unwrap().into_iter().map(|version| version.body).collect()
}

fn note_with(note: &str, reasons: &[&str], confidence: Option<u8>) -> Note {
    let note = (!note.is_empty()).then(|| note.to_owned());
    Note { note, reasons: reasons.iter().map(|&r| r.to_owned()).collect(), confidence }
}

#[test]
fn latest_guideline_is_current_and_versions_are_immutable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 2, 1);
    assert!(store.newest_guideline().unwrap().is_none());
    write(&store, version(1, 5_000, "one"), &[]);
    write(&store, version(2, 10, "two"), &[picture("0123456789abcdef")]);
    let (newest, number) = store.newest_guideline().unwrap().unwrap();
    assert_eq!((newest.body.as_str(), number, newest.at_ms), ("two", 2, 5_001));
    assert_eq!(bodies(&store), ["one", "two"]);
    assert_eq!(store.picture(&picture("0123456789abcdef").name).unwrap(), Some(picture("0123456789abcdef")));
    assert_eq!(store.picture("f123456789abcdef").unwrap(), None);
    store.close().unwrap();
    let conn = rusqlite::Connection::open(&path).unwrap();
    for sql in ["UPDATE guidelines SET body = ''", "DELETE FROM guidelines", "DELETE FROM pictures"] {
        assert!(conn.execute(sql, []).unwrap_err().to_string().contains("added, never"), "{sql}");
    }
}

#[test]
fn guideline_versions_merge() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.dissensus"), folder.path().join("b.dissensus"));
    small(&a, 2, 2).close().unwrap();
    copied(&a, "b.dissensus");
    for (path, n, at, annotator) in [(&a, 1, 20, 1), (&b, 2, 10, 2)] {
        let store = Store::open(path).unwrap();
        write(&store, version(n, at, &format!("by {n}")), &[picture(&format!("{n:016}"))]);
        let guideline = Some(GuidelineId(Uuid::from_u128(n)));
        let details =
            AnswerDetails { note: note_with("why", &["slang"], Some(4)), guideline, removes_note: false };
        store.append_label_with(&label(1, annotator, 3), &details).unwrap();
        store.close().unwrap();
    }
    for (into, from) in [(&a, &b), (&b, &a)] {
        let (store, other) = (Store::open(into).unwrap(), Store::open_reader(from).unwrap());
        let report = store.merge_from(&other).unwrap();
        assert_eq!((report.guidelines, report.events), (1, 1));
        // The earlier one is the first one in both.
        assert_eq!(bodies(&store), ["by 2", "by 1"]);
        let saw: Vec<_> = store.labels_by_guideline(QUESTION).unwrap();
        let saw: Vec<_> =
            saw.iter().map(|(label, id)| (label.annotator.0, id.unwrap().0.as_u128())).collect();
        assert_eq!(saw, [(1, 1), (2, 2)]);
        assert_eq!(
            store.marks(AnnotatorId(2), QUESTION).unwrap()[&TextId(1)].note,
            note_with("why", &["slang"], Some(4))
        );
        assert!(store.picture(&picture(&format!("{:016}", 1)).name).unwrap().is_some());
        assert!(store.picture(&picture(&format!("{:016}", 2)).name).unwrap().is_some());
        other.close().unwrap();
        store.close().unwrap();
    }
}

#[test]
fn conflicting_guideline_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    small(&a, 2, 2).close().unwrap();
    let b = copied(&a, "b.dissensus");
    let (store, other) = (Store::open(&a).unwrap(), Store::open(&b).unwrap());
    write(&store, version(1, 10, "one"), &[]);
    write(&other, version(1, 10, "another"), &[]);
    other.append_label(&label(1, 1, 3)).unwrap();
    let refused = store.merge_from(&other).unwrap_err();
    assert!(matches!(refused, StoreError::Conflict { what: "version of the guideline", .. }), "{refused}");
    assert!(store.current_labels(QUESTION).unwrap().is_empty(), "nothing is half taken");
}

#[test]
fn answer_under_an_unknown_guideline_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 1);
    let guideline = Some(GuidelineId(Uuid::from_u128(9)));
    let details = AnswerDetails { note: Note::default(), guideline, removes_note: false };
    let refused = store.append_label_with(&label(1, 1, 3), &details).unwrap_err();
    assert!(matches!(refused, StoreError::Unknown { what: "version of the guideline", .. }), "{refused}");
    assert!(store.current_labels(QUESTION).unwrap().is_empty());
}

#[test]
fn undo_removes_the_note_of_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 1);
    let details =
        AnswerDetails { note: note_with("first", &[], Some(2)), guideline: None, removes_note: false };
    let first = store.append_label_with(&label(1, 1, 3), &details).unwrap();
    let now = || store.marks(AnnotatorId(1), QUESTION).unwrap().remove(&TextId(1)).unwrap_or_default().note;
    assert_eq!(now(), note_with("first", &[], Some(2)));
    let note = |note: Note| {
        store
            .mark(&NewMark {
                annotator: AnnotatorId(1),
                question: QUESTION,
                text: TextId(1),
                kind: MarkKind::Note,
                at_ms: 1,
                source: LabelSource::Window,
                note,
                guideline: None,
            })
            .unwrap()
    };
    note(note_with("second", &["slang", "quote"], None));
    assert_eq!(now(), note_with("second", &["slang", "quote"], None));
    store.retract(first.id, 2, LabelSource::Window).unwrap();
    assert_eq!(
        now(),
        note_with("second", &["slang", "quote"], None),
        "it is a note on the text, and not on the answer"
    );
    note(Note::default());
    assert!(now().is_empty());
}

#[test]
fn undo_restores_the_note_that_its_answer_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 1);
    let window = |note| AnswerDetails { note, guideline: None, removes_note: true };
    store.append_label_with(&label(1, 1, 3), &window(Note::default())).unwrap();
    let irony = NewMark {
        annotator: AnnotatorId(1),
        question: QUESTION,
        text: TextId(1),
        kind: MarkKind::Note,
        at_ms: 2_000,
        source: LabelSource::Window,
        note: note_with("irony", &[], None),
        guideline: None,
    };
    store.mark(&irony).unwrap();
    store.append_label_with(&NewLabel { at_ms: 3_000, ..label(1, 1, 0) }, &window(Note::default())).unwrap();
    let now = || store.marks(AnnotatorId(1), QUESTION).unwrap().remove(&TextId(1)).unwrap_or_default().note;
    assert!(now().is_empty());
    store.write(|tx| tx.undo(QUESTION, AnnotatorId(1), 4_000, LabelSource::Window)).unwrap();
    let current = store.current_label(QUESTION, TextId(1), AnnotatorId(1)).unwrap().unwrap().answer;
    assert_eq!((current, now()), (Answer::from_level(3), note_with("irony", &[], None)));
    assert_eq!(store.all_marks(QUESTION).unwrap()[0].marks.note, note_with("irony", &[], None));
}

#[test]
fn undo_keeps_a_note_cleared_at_the_same_time_of_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 1);
    let mark = |note| NewMark {
        annotator: AnnotatorId(1),
        question: QUESTION,
        text: TextId(1),
        kind: MarkKind::Note,
        at_ms: 0,
        source: LabelSource::Window,
        note,
        guideline: None,
    };
    store.mark(&mark(note_with("irony", &[], None))).unwrap();
    let details = AnswerDetails { note: note_with("slang", &[], None), guideline: None, removes_note: true };
    store.append_label_with(&NewLabel { at_ms: 0, ..label(1, 1, 0) }, &details).unwrap();
    store.mark(&mark(Note::default())).unwrap();
    store.write(|tx| tx.undo(QUESTION, AnnotatorId(1), 0, LabelSource::Window)).unwrap();
    let marks = store.marks(AnnotatorId(1), QUESTION).unwrap();
    assert!(marks.get(&TextId(1)).is_none_or(|marks| marks.note.is_empty()), "{marks:?}");
}

#[test]
fn packet_has_only_the_current_guideline() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 3, 2);
    let (old, new) = (picture("00000000000000aa"), picture("00000000000000bb"));
    write(&store, version(1, 10, &format!("OLD-WORDS ![x](picture:{})", old.name)), &[old]);
    write(&store, version(2, 20, &format!("new words ![x](picture:{})", new.name)), &[new]);
    let before = NoteForm { reasons: vec!["OLD-REASON".into()], confidence: false };
    store.write(move |tx| tx.set_note_form(QUESTION, &before, 4)).unwrap();
    let form = NoteForm { reasons: vec!["slang".into(), "irony".into()], confidence: true };
    let wanted = form.clone();
    store.write(move |tx| tx.set_note_form(QUESTION, &wanted, 5)).unwrap();
    let details =
        AnswerDetails { note: note_with("SECRET-NOTE", &[], None), guideline: None, removes_note: false };
    store.append_label_with(&label(1, 1, 3), &details).unwrap();
    let item = |text| Assignment { text: TextId(text), occasion: 1, anchor: false };
    let packet = Packet {
        id: PacketId(Uuid::from_u128(7)),
        annotator: AnnotatorId(2),
        made_at_ms: 5,
        seed: 1,
        questions: vec![QUESTION],
        assignments: vec![item(1), item(2)],
    };
    let id = packet.id;
    store.write(move |tx| tx.add_packet(&packet, &PacketKey([3; 32]))).unwrap();
    let file = folder.path().join("a2.dissensus");
    store.write_packet(id, &file).unwrap();

    let bytes = std::fs::read(&file).unwrap();
    let has = |words: &str| bytes.windows(words.len()).any(|at| at == words.as_bytes());
    assert!(has("new words") && has("BYTES-OF-00000000000000bb"));
    for secret in ["OLD-REASON", "OLD-WORDS", "BYTES-OF-00000000000000aa", "SECRET-NOTE"] {
        assert!(!has(secret), "{secret}");
    }
    let own = Store::open(&file).unwrap();
    assert_eq!(own.questions().unwrap()[0].note_form, form);
    // It has the number that the project assigns to it.
    let (guideline, number) = own.newest_guideline().unwrap().unwrap();
    assert_eq!((number, own.guideline_numbers().unwrap()[&guideline.id]), (2, 2));
    assert_eq!(store.guideline_numbers().unwrap()[&guideline.id], 2);
    let details = AnswerDetails {
        note: note_with("mine", &["irony"], Some(1)),
        guideline: Some(guideline.id),
        removes_note: false,
    };
    own.append_label_with(&label(1, 1, 2), &details).unwrap();
    let report = store.merge_packet(&own, id).unwrap();
    assert_eq!((report.events, report.guidelines, report.question_changes), (1, 0, 0));
    let saw = store.labels_by_guideline(QUESTION).unwrap();
    let hers = saw.iter().find(|(label, _)| label.annotator == AnnotatorId(2)).unwrap();
    assert_eq!(hers.1, Some(GuidelineId(Uuid::from_u128(2))));

    // A submission cannot add a guideline or a picture.
    write(&own, version(3, 30, "forged"), &[]);
    let refused = store.merge_packet(&own, id).unwrap_err().to_string();
    assert!(refused.contains("version of the guideline") && refused.contains("not handed out"), "{refused}");
    assert_eq!(bodies(&store).len(), 2);
}

#[test]
fn picture_with_another_hash_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    small(&a, 2, 2).close().unwrap();
    let b = copied(&a, "b.dissensus");
    let (store, other) = (Store::open(&a).unwrap(), Store::open(&b).unwrap());
    let forged = Picture { bytes: b"<svg/>".to_vec(), ..picture("real") };
    write(&other, version(1, 10, "one"), &[forged]);
    let refused = store.merge_from(&other).unwrap_err().to_string();
    assert!(refused.contains("does not match its name"), "{refused}");
    assert!(bodies(&store).is_empty(), "nothing is half taken");
}

#[test]
fn notes_of_later_rounds_merge() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    small(&a, 2, 1).close().unwrap();
    let b = copied(&a, "b.dissensus");
    let again = |details: AnswerDetails| Repeat {
        question: QUESTION,
        text: TextId(1),
        annotator: AnnotatorId(1),
        occasion: 2,
        answer: Answer::from_level(3),
        at_ms: 500,
        source: LabelSource::Import,
        details,
        wording: None,
    };
    let with = |note: &str| AnswerDetails { note: note_with(note, &[], None), ..AnswerDetails::default() };
    let now = |store: &Store| store.repeats(QUESTION).unwrap()[0].details.note.note.clone();
    // The same answer, without a note in one copy and with one in the other.
    let (one, other) = (Store::open(&a).unwrap(), Store::open(&b).unwrap());
    let (plain, noted) = (again(AnswerDetails::default()), again(with("theirs")));
    one.write(move |tx| tx.add_repeat(&plain, true)).unwrap();
    other.write(move |tx| tx.add_repeat(&noted, true)).unwrap();
    assert_eq!(one.merge_from(&other).unwrap().repeats, 1);
    assert_eq!(other.merge_from(&one).unwrap().repeats, 1);
    assert_eq!(now(&one), now(&other));
    assert_eq!(now(&one), Some("theirs".to_owned()), "of equal times the later copy's holds");
    // A file does not replace a note; a later note by an annotator does, without adding an answer.
    let late = again(with("from a file"));
    one.write(move |tx| tx.add_repeat(&late, true)).unwrap();
    assert_eq!(now(&one), Some("theirs".to_owned()));
    let note = NewMark {
        annotator: AnnotatorId(1),
        question: QUESTION,
        text: TextId(1),
        kind: MarkKind::Note,
        at_ms: 1,
        source: LabelSource::Window,
        note: with("mine").note,
        guideline: None,
    };
    one.write(move |tx| tx.add_mark_in(&note, 2)).unwrap();
    assert_eq!((now(&one), one.repeats(QUESTION).unwrap().len()), (Some("mine".to_owned()), 1));
    other.merge_from(&one).unwrap();
    assert_eq!(now(&other), Some("mine".to_owned()));
    assert_eq!(other.merge_from(&one).unwrap().repeat_changes, 0);
}

#[test]
fn answer_can_remove_the_earlier_note() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 1);
    let (annotator, text, source) = (AnnotatorId(1), TextId(1), LabelSource::Window);
    let new = NewMark {
        annotator,
        question: QUESTION,
        text,
        kind: MarkKind::Note,
        at_ms: 1,
        source,
        note: note_with("odd", &[], None),
        guideline: None,
    };
    store.mark(&new).unwrap();
    let now = || store.marks(annotator, QUESTION).unwrap()[&text].note.note.clone();
    store.append_label(&label(1, 1, 2)).unwrap();
    assert_eq!(now().as_deref(), Some("odd"), "a command without one leaves it");
    let nothing = AnswerDetails { removes_note: true, ..AnswerDetails::default() };
    store.append_label_with(&label(1, 1, 3), &nothing).unwrap();
    assert_eq!(now(), None);
    let events = store.last_event().unwrap();
    store.append_label_with(&label(1, 1, 4), &nothing).unwrap();
    assert_eq!(store.last_event().unwrap().0, events.0 + 1, "nothing is taken back twice");
}
