//! Items that nothing depends on can be removed, and so can the last import: except for what is
//! used since, and without reusing row ids.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use dissensus_domain::{
    AnnotatorId, Answer, Attributes, Decision, LabelSource, MarkKind, Note, Outcome, Panel, PanelMembers,
    PanelRule, QuestionId, SavedPanel, Scale, ScaleKind, TextId,
};
use dissensus_store::{
    AnswerDetails, ImportTaken, NewAnnotator, NewLabel, NewMark, NewQuestion, NewText, QuestionEdit,
    Removable, Repeat, Store, StoreError,
};
use std::path::Path;

fn project(folder: &Path, name: &str) -> Store {
    small(&folder.join(format!("{name}.dissensus")), 4, 3)
}

fn remove(store: &Store, what: Removable) -> Result<(), StoreError> {
    store.write(move |tx| tx.remove(&[what]))
}

fn new_question(name: &str) -> NewQuestion {
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    NewQuestion { name: name.into(), prompt: format!("{name}?"), scale }
}

fn new_text(name: &str) -> NewText {
    NewText { external_id: name.into(), body: format!("The body of {name}"), ..NewText::default() }
}

fn new_annotator(name: &str) -> NewAnnotator {
    let attributes: Attributes = [("age".to_owned(), "40".to_owned())].into();
    NewAnnotator { external_id: name.into(), name: name.into(), attributes, ..NewAnnotator::default() }
}

/// The file is sound, and its rows are protected as before.
fn is_sound(store: Store) {
    store.check_current_answers().unwrap();
    let path = store.file().to_owned();
    store.close().unwrap();
    let conn = rusqlite::Connection::open(&path).unwrap();
    let broken: u32 =
        conn.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |r| r.get(0)).unwrap();
    assert_eq!(broken, 0);
    for table in ["events", "levels", "facts"] {
        let rows: u32 = conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |r| r.get(0)).unwrap();
        let deleted = conn.execute(&format!("DELETE FROM {table}"), []);
        assert_eq!(
            deleted.is_err(),
            rows > 0,
            "{table} has {rows} rows and is not protected by its triggers"
        );
    }
    drop(conn);
    // The schema is the one created by the migrations.
    Store::open(&path).unwrap().close().unwrap();
}

#[test]
fn unused_items_are_removed_and_ids_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    store.append_label(&label(1, 1, 2)).unwrap();
    let (question, text, person) = store
        .write(|tx| -> Result<_, StoreError> {
            Ok((
                tx.add_question(&new_question("wrong"))?,
                tx.add_text(&new_text("wrong"))?,
                tx.add_annotator(&new_annotator("wrong"))?,
            ))
        })
        .unwrap();
    let version = store.write(|tx| tx.rename_annotator(AnnotatorId(1), "Renamed", 5));
    version.unwrap();
    store
        .write(move |tx| {
            tx.remove(&[Removable::Question(question), Removable::Text(text), Removable::Annotator(person)])
        })
        .unwrap();
    assert_eq!(store.questions().unwrap().len(), 1);
    assert_eq!(store.text_ids().unwrap().len(), 4);
    assert_eq!(store.annotators().unwrap().len(), 3);
    let again = store
        .write(|tx| -> Result<_, StoreError> {
            Ok((
                tx.add_question(&new_question("wrong"))?,
                tx.add_text(&new_text("wrong"))?,
                tx.add_annotator(&new_annotator("wrong"))?,
            ))
        })
        .unwrap();
    assert_eq!(again, (QuestionId(question.0 + 1), TextId(text.0 + 1), AnnotatorId(person.0 + 1)));
    assert_eq!(store.current_labels(QUESTION).unwrap().len(), 1);
    is_sound(store);
}

#[test]
fn used_items_cannot_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    let answered = store.append_label(&label(1, 1, 2)).unwrap();
    store.retract(answered.id, 9, LabelSource::Window).unwrap();
    for what in
        [Removable::Question(QUESTION), Removable::Text(TextId(1)), Removable::Annotator(AnnotatorId(1))]
    {
        // Also if it was retracted: the history remains.
        let refused = remove(&store, what).unwrap_err();
        assert_eq!(refused.code(), "invalid");
        assert!(refused.to_string().contains("it stays, because of 2 entries in its history"), "{refused}");
    }
    let panel =
        Panel { question: None, members: PanelMembers::Named(vec!["a2".into()]), rule: PanelRule::Majority };
    let saved = SavedPanel { name: "two".into(), saved_at_ms: 1, panel: Some(panel) };
    store.write(move |tx| tx.save_panel(&saved)).unwrap();
    let refused = remove(&store, Removable::Annotator(AnnotatorId(2))).unwrap_err().to_string();
    assert!(refused.contains("the saved panel \"two\""), "{refused}");
    let saved = SavedPanel { name: "two".into(), saved_at_ms: 2, panel: None };
    store.write(move |tx| tx.save_panel(&saved)).unwrap();
    remove(&store, Removable::Annotator(AnnotatorId(2))).unwrap();
    assert_eq!(remove(&store, Removable::Annotator(AnnotatorId(2))).unwrap_err().code(), "unknown");
    // All or nothing.
    let both = store.write(|tx| tx.remove(&[Removable::Text(TextId(2)), Removable::Text(TextId(1))]));
    assert!(both.is_err());
    assert_eq!(store.text_ids().unwrap().len(), 4);
    is_sound(store);
}

#[test]
fn merge_restores_removed_items() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    let path = folder.path().join("copy.dissensus");
    let original = store.file().to_owned();
    store.close().unwrap();
    std::fs::copy(&original, &path).unwrap();
    let (store, copy) = (Store::open(&original).unwrap(), Store::open(&path).unwrap());
    remove(&store, Removable::Text(TextId(4))).unwrap();
    remove(&store, Removable::Annotator(AnnotatorId(3))).unwrap();
    copy.append_label(&label(4, 2, 1)).unwrap();
    for _ in 0..2 {
        store.merge_from(&copy).unwrap();
        copy.merge_from(&store).unwrap();
    }
    let names = |store: &Store| {
        let mut texts: Vec<String> = store
            .text_ids()
            .unwrap()
            .into_iter()
            .map(|id| store.text(id).unwrap().unwrap().external_id)
            .collect();
        texts.sort();
        texts
    };
    assert_eq!(names(&store), names(&copy));
    assert_eq!(names(&store), ["t1", "t2", "t3", "t4"]);
    assert_eq!(store.current_labels(QUESTION).unwrap().len(), 1);
    assert_eq!(store.annotators().unwrap().len(), 3);
    copy.close().unwrap();
    is_sound(store);
}

/// A typical import: a question, two texts and two annotators are new, and an existing annotator
/// has another age.
fn import(store: &Store) -> (QuestionId, [TextId; 2], [AnnotatorId; 2]) {
    store
        .write(|tx| -> Result<_, StoreError> {
            let begun = tx.begin_import("labels.csv", 77)?;
            let question = tx.add_question(&new_question("spam"))?;
            let texts = [tx.add_text(&new_text("i1"))?, tx.add_text(&new_text("i2"))?];
            let people = [tx.add_annotator(&new_annotator("p1"))?, tx.add_annotator(&new_annotator("p2"))?];
            tx.set_attributes(AnnotatorId(1), &[("age".to_owned(), "50".to_owned())].into(), 500)?;
            let mut labels = tx.label_appender()?;
            let details = AnswerDetails::default();
            for (question, text, annotator) in [
                (question, texts[0], people[0]),
                (question, texts[1], people[0]),
                (QUESTION, texts[0], people[1]),
                (QUESTION, TextId(1), AnnotatorId(1)),
                (QUESTION, TextId(2), people[1]),
            ] {
                let answer = Answer::from_level(1);
                let source = LabelSource::Import;
                let new =
                    NewLabel { question, text, annotator, answer, at_ms: 600, duration_ms: None, source };
                labels.append_with(&new, &details)?;
            }
            drop(labels);
            for (text, annotator) in [(texts[0], people[0]), (TextId(1), AnnotatorId(1))] {
                let (answer, source) = (Answer::from_level(0), LabelSource::Import);
                let details = AnswerDetails::default();
                let repeat = Repeat {
                    question: QUESTION,
                    text,
                    annotator,
                    occasion: 2,
                    answer,
                    at_ms: 700,
                    source,
                    details,
                    wording: None,
                };
                tx.add_repeat(&repeat, true)?;
            }
            tx.end_import(begun)?;
            Ok((question, texts, people))
        })
        .unwrap()
}

#[test]
fn removing_the_last_import_keeps_earlier_data() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    store.append_label(&label(1, 1, 4)).unwrap();
    assert!(store.last_import().unwrap().is_none());
    let (question, texts, people) = import(&store);
    let last = store.last_import().unwrap().unwrap();
    assert_eq!((last.file.as_str(), last.at_ms, last.answers), ("labels.csv", 77, 7));
    assert_eq!((last.questions, last.annotators), (vec![question], people.to_vec()));
    assert_eq!(last.texts, (2, Some(texts[1])));
    let taken = store.write(|tx| tx.remove_last_import()).unwrap();
    let expected = ImportTaken {
        answers: 7,
        texts: 2,
        annotators: 2,
        questions: 1,
        attributes: 1,
        ..ImportTaken::default()
    };
    assert_eq!(taken, expected);
    // The answer that the import replaced is current again, and so are the annotator's attributes.
    let labels = store.current_labels(QUESTION).unwrap();
    assert_eq!(labels.iter().map(|label| label.answer.clone()).collect::<Vec<_>>(), [Answer::from_level(4)]);
    assert!(store.annotator(AnnotatorId(1)).unwrap().unwrap().attributes.is_empty());
    assert!(store.last_import().unwrap().is_none());
    let none = store.write(|tx| tx.remove_last_import()).unwrap_err();
    assert!(none.to_string().contains("there is none that can be taken out"), "{none}");
    // The same file is imported again, with new row ids, and removed again.
    let (again, _, _) = import(&store);
    assert!(again.0 > question.0);
    assert_eq!(store.write(|tx| tx.remove_last_import()).unwrap(), expected);
    is_sound(store);
}

#[test]
fn removing_an_import_keeps_later_work() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    let (question, texts, people) = import(&store);
    // An imported answer is corrected, an imported text is labelled by another annotator, and an
    // imported annotator is renamed.
    let corrected = NewLabel { annotator: people[1], ..label(2, 1, 3) };
    store.append_label(&corrected).unwrap();
    let own = NewLabel { question, text: texts[1], ..label(1, 2, 0) };
    store.append_label(&own).unwrap();
    store
        .write(|tx| tx.set_attributes(AnnotatorId(1), &[("age".to_owned(), "51".to_owned())].into(), 900))
        .unwrap();
    let taken = store.write(|tx| tx.remove_last_import()).unwrap();
    let expected = ImportTaken {
        answers: 6,
        retained_answers: 1,
        texts: 1,
        retained_texts: 1,
        annotators: 1,
        retained_annotators: 1,
        questions: 0,
        retained_questions: 1,
        attributes: 1,
    };
    assert_eq!(taken, expected);
    let rude = store.current_labels(QUESTION).unwrap();
    assert_eq!(rude.iter().map(|l| (l.text, l.annotator)).collect::<Vec<_>>(), [(TextId(2), people[1])]);
    assert_eq!(rude[0].answer, Answer::from_level(3));
    assert_eq!(
        store.events_of(people[1], QUESTION).unwrap().iter().filter(|e| e.text == TextId(2)).count(),
        2
    );
    assert_eq!(store.current_labels(question).unwrap().len(), 1);
    assert_eq!(store.annotator(AnnotatorId(1)).unwrap().unwrap().attributes["age"], "51");
    is_sound(store);
}

#[test]
fn removing_an_import_keeps_later_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    let typo = store.write(|tx| -> Result<_, StoreError> {
        let begun = tx.begin_import("labels.csv", 77)?;
        let typo = tx.add_annotator(&new_annotator("typo"))?;
        tx.end_import(begun)?;
        Ok(typo)
    });
    remove(&store, Removable::Annotator(typo.unwrap())).unwrap();
    let decision = Decision {
        question: QUESTION,
        text: TextId(1),
        at_ms: 100,
        outcome: Outcome::Slip,
        answer: None,
        comment: "c".into(),
        by: "Ada".into(),
    };
    let decided = decision.clone();
    store.write(move |tx| tx.decide(&decided)).unwrap();
    store.write(|tx| tx.remove_last_import()).unwrap();
    assert_eq!(store.decisions(QUESTION).unwrap(), [decision]);
    is_sound(store);
}

#[test]
fn failed_import_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    let failed = store.write(|tx| -> Result<(), StoreError> {
        let begun = tx.begin_import("labels.csv", 1)?;
        tx.add_text(&new_text("i1"))?;
        drop(begun);
        tx.add_text(&new_text("i1")).map(drop)
    });
    assert_eq!(failed.unwrap_err().code(), "duplicate");
    assert!(store.last_import().unwrap().is_none());
    import(&store);
    assert_eq!(store.last_import().unwrap().unwrap().texts.0, 2);
    is_sound(store);
}

#[test]
fn empty_import_is_removed_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    import(&store);
    store
        .write(|tx| {
            let begun = tx.begin_import("nothing.csv", 99)?;
            tx.end_import(begun)
        })
        .unwrap();
    assert_eq!(store.last_import().unwrap().unwrap().file, "nothing.csv");
    assert_eq!(store.write(|tx| tx.remove_last_import()).unwrap(), ImportTaken::default());
    assert_eq!(store.last_import().unwrap().unwrap().file, "labels.csv");
    is_sound(store);
}

#[test]
fn import_record_omits_withdrawn_people() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    let (.., people) = import(&store);
    store.withdraw(people[0], 5_000).unwrap();
    assert!(store.last_import().unwrap().is_none());
    let setting: Option<serde_json::Value> = store.setting("imports").unwrap();
    assert_eq!(setting, None);
    is_sound(store);
}

#[test]
fn removing_an_import_keeps_people_and_work() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    let (question, texts, people) = import(&store);
    // An imported annotator labels by hand, the question gets another prompt, and a note is added
    // to an imported answer.
    let own = NewLabel { annotator: people[0], ..label(3, 1, 2) };
    store.append_label(&own).unwrap();
    let edit = QuestionEdit { prompt: Some("Is it really spam?".into()), ..QuestionEdit::default() };
    store.edit_question(question, &edit, 900).unwrap();
    let note = NewMark {
        annotator: people[1],
        question: QUESTION,
        text: TextId(2),
        kind: MarkKind::Note,
        at_ms: 900,
        source: LabelSource::Window,
        note: Note { note: Some("sarcasm".into()), ..Note::default() },
        guideline: None,
    };
    store.mark(&note).unwrap();
    let taken = store.write(|tx| tx.remove_last_import()).unwrap();
    assert_eq!((taken.annotators, taken.retained_annotators), (0, 2));
    assert_eq!((taken.questions, taken.retained_questions), (0, 1));
    assert_eq!((taken.answers, taken.retained_answers), (6, 1));
    for person in people {
        assert_eq!(store.annotator(person).unwrap().unwrap().attributes["age"], "40");
    }
    assert!(store.text(texts[0]).unwrap().is_none());
    is_sound(store);
}

#[test]
fn changed_later_round_answer_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    let (_, texts, people) = import(&store);
    let changed = Repeat {
        question: QUESTION,
        text: texts[0],
        annotator: people[0],
        occasion: 2,
        answer: Answer::from_level(3),
        at_ms: 1_700,
        source: LabelSource::Window,
        details: AnswerDetails::default(),
        wording: None,
    };
    store.write(move |tx| tx.add_repeat(&changed, true)).unwrap();
    let taken = store.write(|tx| tx.remove_last_import()).unwrap();
    assert_eq!((taken.answers, taken.retained_answers), (6, 1));
    assert!(store.text(texts[0]).unwrap().is_some());
    is_sound(store);
}

#[test]
fn event_ids_are_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(folder.path(), "p");
    import(&store);
    let last = store.last_event().unwrap();
    store.write(|tx| tx.remove_last_import()).unwrap();
    let next = store.append_label(&label(1, 1, 4)).unwrap();
    assert!(next.id > last, "{next:?} has the row of an event that went, of up to {last:?}");
    is_sound(store);
}
