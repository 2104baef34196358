//! "Cannot say": an answer like others, but not a label.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use dissensus_domain::{
    AnnotatorId, Answer, AttentionCheck, CANNOT_SAY, Decision, LabelSource, LevelEdit, LevelId, Outcome,
    Scale, ScaleKind, TextId,
};
use dissensus_store::{ExportScope, NewLabel, NewQuestion, QuestionEdit, Store, StoreError};

fn cannot_say_label(text: u32, annotator: u32) -> NewLabel {
    NewLabel { answer: Answer::CannotSay, ..label(text, annotator, 0) }
}

fn offer(store: &Store, cannot_say: bool, at_ms: i64) {
    let edit = QuestionEdit { cannot_say: Some(cannot_say), ..QuestionEdit::default() };
    store.edit_question(QUESTION, &edit, at_ms).unwrap();
}

fn levels(store: &Store) -> Vec<(u32, u32, Option<u16>)> {
    let labels = store.current_labels(QUESTION).unwrap();
    labels
        .iter()
        .map(|label| (label.text.0, label.annotator.0, label.answer.level().map(|id| id.0)))
        .collect()
}

#[test]
fn cannot_say_is_recorded_changed_and_undone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 3, 2);
    offer(&store, true, 5);
    store.append_label(&label(1, 1, 2)).unwrap();
    store.append_label(&label(2, 1, 3)).unwrap();
    let id = store.append_label(&cannot_say_label(1, 1)).unwrap().id;
    store.append_label(&cannot_say_label(1, 2)).unwrap();
    // The first text has no label any more; both annotators have answered it.
    assert_eq!(levels(&store), [(2, 1, Some(3))]);
    assert_eq!(store.question_snapshot(QUESTION).unwrap().labels.len(), 1);
    assert_eq!(store.current_labels_on(TextId(1), QUESTION).unwrap(), []);
    assert_eq!(store.current_labels_of(AnnotatorId(1), QUESTION).unwrap().len(), 1);
    assert_eq!(store.labels_by_guideline(QUESTION).unwrap().len(), 1);
    assert_eq!(
        store.cannot_say(QUESTION).unwrap(),
        [(TextId(1), AnnotatorId(1)), (TextId(1), AnnotatorId(2))]
    );
    let counts = store.annotator_counts().unwrap();
    let reported: Vec<(u32, u32)> = counts.iter().map(|count| (count.labels, count.cannot_say)).collect();
    assert_eq!((reported, store.counts().unwrap().labels), (vec![(1, 1), (0, 1)], 1));
    let current = store.current_label(QUESTION, TextId(1), AnnotatorId(1)).unwrap().unwrap();
    assert_eq!(current.answer, Answer::CannotSay);
    // After retraction, the answer that it replaced is current again; a level replaces it.
    store.retract(id, 9_000, LabelSource::Window).unwrap();
    store.append_label(&label(1, 2, 4)).unwrap();
    assert_eq!(levels(&store), [(1, 1, Some(2)), (1, 2, Some(4)), (2, 1, Some(3))]);
    store.append_label(&cannot_say_label(3, 2)).unwrap();
    store.check_current_answers().unwrap();
    let mut cells = Vec::new();
    store
        .for_each_label(QUESTION, ExportScope::Current, |row| {
            cells.push(row.level.unwrap().to_owned());
            Ok::<(), StoreError>(())
        })
        .unwrap();
    assert_eq!(cells, ["3", "5", "4", CANNOT_SAY]);
    // No longer offered: existing answers remain.
    offer(&store, false, 6);
    assert_eq!(store.cannot_say(QUESTION).unwrap(), [(TextId(3), AnnotatorId(2))]);
}

#[test]
fn cannot_say_uses_no_level_and_is_never_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 2, 1);
    offer(&store, true, 5);
    store.append_label(&cannot_say_label(1, 1)).unwrap();
    let level = |name: &str, from| LevelEdit {
        from: Some(LevelId(from)),
        name: name.into(),
        definition: String::new(),
    };
    let edit = QuestionEdit { levels: Some(vec![level("4", 3), level("1", 0)]), ..QuestionEdit::default() };
    assert!(store.edit_question(QUESTION, &edit, 7).unwrap().rearranged);
    assert_eq!(store.cannot_say(QUESTION).unwrap().len(), 1);
    let answer = Some(Answer::CannotSay);
    let (decision, check) = (
        Decision {
            question: QUESTION,
            text: TextId(1),
            at_ms: 5,
            outcome: Outcome::Slip,
            answer: answer.clone(),
            comment: String::new(),
            by: String::new(),
        },
        AttentionCheck { question: QUESTION, text: TextId(1), at_ms: 5, answer, reason: String::new() },
    );
    assert!(store.write(move |tx| tx.decide(&decision)).unwrap_err().to_string().contains("name a level"));
    assert!(store.write(move |tx| tx.set_attention_check(&check)).is_err());
    // For spans, mark nothing instead.
    let scale = Scale::new(ScaleKind::Spans, ["insult"]).unwrap();
    let words = store
        .write(move |tx| tx.add_question(&NewQuestion { name: "words".into(), prompt: "?".into(), scale }))
        .unwrap();
    let edit = QuestionEdit { cannot_say: Some(true), ..QuestionEdit::default() };
    assert!(store.edit_question(words, &edit, 8).unwrap_err().to_string().contains("mark nothing"));
    assert!(store.append_label(&NewLabel { question: words, ..cannot_say_label(1, 1) }).is_err());
}

#[test]
fn cannot_say_merges() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dissensus");
    small(&path, 2, 2).close().unwrap();
    let other = path.with_file_name("b.dissensus");
    std::fs::copy(&path, &other).unwrap();
    let (a, b) = (Store::open(&path).unwrap(), Store::open(&other).unwrap());
    offer(&a, true, 5);
    a.append_label(&label(1, 1, 2)).unwrap();
    b.append_label(&NewLabel { at_ms: 2_000, ..cannot_say_label(1, 1) }).unwrap();
    b.append_label(&cannot_say_label(2, 2)).unwrap();
    for _ in 0..2 {
        a.merge_from(&b).unwrap();
        b.merge_from(&a).unwrap();
    }
    for store in [&a, &b] {
        assert_eq!(
            store.cannot_say(QUESTION).unwrap(),
            [(TextId(1), AnnotatorId(1)), (TextId(2), AnnotatorId(2))]
        );
        assert_eq!((levels(store).len(), store.questions().unwrap()[0].cannot_say), (0, true));
        store.check_current_answers().unwrap();
    }
}
