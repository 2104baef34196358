//! Levels that are renamed while labels use them, and questions that depend on others.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, copied, label, small};
use dissensus_domain::{
    AnnotatorId, Answer, Condition, LabelSource, LevelId, QuestionId, Scale, ScaleKind, TextId,
};
use dissensus_store::{NewLabel, NewQuestion, Store, StoreError, Undo};
use std::path::Path;

fn add(store: &Store, name: &str, kind: ScaleKind, levels: &[&str]) -> QuestionId {
    let new = NewQuestion { name: name.into(), prompt: "?".into(), scale: Scale::new(kind, levels).unwrap() };
    store.write(move |tx| tx.add_question(&new)).unwrap()
}

fn rename(store: &Store, question: QuestionId, names: &[&str], at_ms: i64) -> Result<(), StoreError> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    store.write(move |tx| tx.rename_levels(question, &names, at_ms))
}

fn ask(
    store: &Store,
    question: QuestionId,
    only_if: Option<Condition>,
    at_ms: i64,
) -> Result<(), StoreError> {
    store.write(move |tx| tx.set_condition(question, only_if.as_ref(), at_ms))
}

fn found(store: &Store, name: &str) -> (Vec<String>, Option<Condition>) {
    let question = store.question_by_name(name).unwrap().unwrap();
    (question.scale.levels().to_vec(), question.only_if)
}

#[test]
fn levels_in_use_are_renamed_and_labels_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 1, 1);
    store.append_label(&label(1, 1, 4)).unwrap();
    // Two names are swapped, and one is new.
    rename(&store, QUESTION, &["2", "1", "3", "4", " vile "], 10).unwrap();
    assert_eq!(found(&store, "rude").0, ["2", "1", "3", "4", "vile"]);
    let names: Vec<String> = store.questions().unwrap()[0].scale.levels().to_vec();
    assert_eq!(names, found(&store, "rude").0);
    assert_eq!(store.current_labels(QUESTION).unwrap()[0].answer, Answer::from_level(4));
    // A clock that was set back does not restore the previous names.
    rename(&store, QUESTION, &["1", "2", "3", "4", "worst"], -5).unwrap();
    assert_eq!(found(&store, "rude").0[4], "worst");
    for (names, why) in [
        (vec!["1", "2", "3", "4"], "name all of them"),
        (vec!["1", "2", "3", "4", "5", "6"], "name all of them"),
        (vec!["1", "2", "3", "4", "4"], "listed twice"),
        (vec!["1", "2", "3", "4", " "], "has no name"),
    ] {
        let message = rename(&store, QUESTION, &names, 20).unwrap_err().to_string();
        assert!(message.contains(why), "{message}");
    }
    store.close().unwrap();
    let again = Store::open(&path).unwrap();
    assert_eq!(found(&again, "rude").0, ["1", "2", "3", "4", "worst"]);
    again.check_current_answers().unwrap();
}

#[test]
fn renamed_options_and_types_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 1, 1);
    let topics = add(&store, "topics", ScaleKind::MultiLabel, &["art", "law", "war"]);
    let words = add(&store, "words", ScaleKind::Spans, &["insult"]);
    rename(&store, topics, &["arts", "law", "war"], 1).unwrap();
    rename(&store, words, &["slur"], 1).unwrap();
    assert_eq!(
        (found(&store, "topics").0[0].as_str(), found(&store, "words").0[0].as_str()),
        ("arts", "slur")
    );
    for name in ["none", "a + b"] {
        assert!(rename(&store, words, &[name], 2).unwrap_err().to_string().contains("cannot be called"));
        assert!(rename(&store, topics, &[name, "law", "war"], 2).is_err());
    }
}

#[test]
fn triggers_forbid_removing_levels_and_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 1, 1);
    let sure = add(&store, "sure", ScaleKind::Binary, &["no", "yes"]);
    rename(&store, QUESTION, &["1", "2", "3", "4", "vile"], 1).unwrap();
    ask(&store, sure, Some(Condition::new(QUESTION, [3])), 1).unwrap();
    store.close().unwrap();
    let conn = rusqlite::Connection::open(&path).unwrap();
    for statement in [
        "DELETE FROM levels WHERE question = 1 AND level = 4",
        "UPDATE levels SET name = 'x' WHERE question = 1 AND level = 4",
        "DELETE FROM facts",
        "UPDATE facts SET value = '[]'",
        "DELETE FROM facts WHERE kind = 'condition'",
        "UPDATE facts SET value = '[]' WHERE kind = 'condition'",
    ] {
        assert!(conn.execute(statement, []).is_err(), "{statement}");
    }
}

#[test]
fn conditions_are_set_changed_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 1, 1);
    let sure = add(&store, "sure", ScaleKind::Binary, &["no", "yes"]);
    let why = add(&store, "why", ScaleKind::MultiLabel, &["a", "b"]);
    ask(&store, sure, Some(Condition::new(QUESTION, [4, 3])), 10).unwrap();
    ask(&store, why, Some(Condition::new(sure, [1])), 10).unwrap();
    assert_eq!(found(&store, "sure").1, Some(Condition::new(QUESTION, [3, 4])));
    // By index: another name of the level is the same level.
    rename(&store, QUESTION, &["1", "2", "3", "rude", "vile"], 11).unwrap();
    assert_eq!(found(&store, "sure").1, Some(Condition::new(QUESTION, [3, 4])));
    for (question, only_if, reported) in [
        (sure, Condition::new(sure, [0]), "its own answer"),
        (QUESTION, Condition::new(sure, [0]), "neither would ever be asked"),
        (QUESTION, Condition::new(why, [0]), "neither would ever be asked"),
        (why, Condition::new(QUESTION, [5]), "no level with the id 5"),
        (why, Condition::new(QUESTION, [0; 0]), "at least one answer"),
        (why, Condition::new(QuestionId(9), [0]), "question 9"),
        (QuestionId(9), Condition::new(why, [0]), "question 9"),
    ] {
        let message = ask(&store, question, Some(only_if), 12).unwrap_err().to_string();
        assert!(message.contains(reported), "{message}");
    }
    ask(&store, sure, None, 5).unwrap();
    assert_eq!(found(&store, "sure").1, None);
    // The cycle is broken now.
    ask(&store, QUESTION, Some(Condition::new(why, [0])), 13).unwrap();
    store.close().unwrap();
    let again = Store::open_reader(&path).unwrap();
    assert_eq!((found(&again, "sure").1, found(&again, "rude").1), (None, Some(Condition::new(why, [0]))));
}

#[test]
fn level_names_and_conditions_merge() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    let store = small(&a, 1, 1);
    let sure = add(&store, "sure", ScaleKind::Binary, &["no", "yes"]);
    store.close().unwrap();
    let (b, c) = (copied(&a, "b.dissensus"), copied(&a, "c.dissensus"));
    let open = |path: &Path| Store::open(path).unwrap();
    let (a, b, c) = (open(&a), open(&b), open(&c));
    rename(&a, QUESTION, &["1", "2", "3", "4", "vile"], 10).unwrap();
    rename(&b, QUESTION, &["1", "2", "3", "bad", "5"], 20).unwrap();
    // Row ids differ between copies: this question is the third there and the fourth here.
    add(&a, "fun", ScaleKind::Binary, &["no", "yes"]);
    let topic = add(&b, "topic", ScaleKind::Choice, &["x", "y"]);
    ask(&b, topic, Some(Condition::new(sure, [1])), 30).unwrap();
    rename(&b, topic, &["war", "y"], 30).unwrap();
    // They depend on each other: the condition that was set last is ignored.
    ask(&a, sure, Some(Condition::new(QUESTION, [4])), 50).unwrap();
    ask(&c, QUESTION, Some(Condition::new(sure, [1])), 40).unwrap();
    assert_eq!(a.merge_from(&b).unwrap().question_changes, 3);
    assert_eq!(a.merge_from(&b).unwrap().question_changes, 0);
    a.merge_from(&c).unwrap();
    for (one, other) in [(&c, &b), (&c, &a), (&b, &c)] {
        one.merge_from(other).unwrap();
    }
    for copy in [&a, &b, &c] {
        let named = |(names, only_if): (Vec<String>, Option<Condition>)| {
            let name =
                |id: QuestionId| copy.questions().unwrap().iter().find(|q| q.id == id).unwrap().name.clone();
            (names.join(" "), only_if.map(|only_if| (name(only_if.question), only_if.levels)))
        };
        assert_eq!(
            named(found(copy, "rude")),
            ("1 2 3 bad 5".into(), Some(("sure".into(), vec![LevelId(1)])))
        );
        assert_eq!(named(found(copy, "sure")), ("no yes".into(), None));
        assert_eq!(named(found(copy, "topic")), ("war y".into(), Some(("sure".into(), vec![LevelId(1)]))));
    }
}

#[test]
fn invalid_scale_is_reported_as_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 1, 1);
    add(&store, "sure", ScaleKind::Binary, &["no", "yes"]);
    store.close().unwrap();
    let conn = rusqlite::Connection::open(&path).unwrap();
    let sql = "INSERT INTO facts (kind, question, at_ms, value) VALUES ('level-names', 1, 0, '[\"one\"]')";
    conn.execute(sql, []).unwrap();
    drop(conn);
    let store = Store::open(&path).unwrap();
    let message = store.questions().unwrap_err().to_string();
    assert!(message.contains("is damaged") && message.contains("there is 1"), "{message}");
}

#[test]
fn undo_covers_all_questions() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 1);
    let sure = add(&store, "sure", ScaleKind::Binary, &["no", "yes"]);
    let ada = AnnotatorId(1);
    // The clock jumps back between the two: what was appended last was given last.
    store.append_label(&NewLabel { at_ms: 9_000, ..label(1, 1, 3) }).unwrap();
    store.append_label(&NewLabel { question: sure, at_ms: 10, ..label(2, 1, 1) }).unwrap();
    let undo = || store.write(move |tx| tx.undo([sure, QUESTION], ada, 9_500, LabelSource::Window)).unwrap();
    let taken = |undo: Undo| match undo {
        Undo::TakenBack(event) => (event.question, event.text),
        other => panic!("{other:?}"),
    };
    assert_eq!(taken(undo()), (sure, TextId(2)));
    assert_eq!(taken(undo()), (QUESTION, TextId(1)));
    assert_eq!(undo(), Undo::Nothing);
}
