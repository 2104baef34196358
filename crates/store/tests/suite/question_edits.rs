//! Editing prompts, help and levels of questions while labels use them.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, copied, label, small};
use dissensus_domain::{
    AnnotatorId, Answer, AttentionCheck, Condition, Decision, EventKind, LabelSource, LevelEdit, LevelId,
    OptionSet, Outcome, QuestionHelp, QuestionId, Scale, ScaleKind, Span, SpanSet, StudyLimits, TextId,
};
use dissensus_store::{
    AnswerDetails, NewHead, NewLabel, NewQuestion, QuestionEdit, QuestionEdited, Repeat, Store, StoreError,
};
use std::path::Path;

/// Sets all levels of a question: existing ones by name, others are new.
fn set(store: &Store, name: &str, levels: &[&str], at_ms: i64) -> Result<QuestionEdited, StoreError> {
    let question = store.question_by_name(name).unwrap().unwrap();
    let level = |name: &&str| LevelEdit {
        from: question.scale.id_named(name),
        name: (*name).to_owned(),
        definition: String::new(),
    };
    let levels = Some(levels.iter().map(level).collect());
    store.edit_question(question.id, &QuestionEdit { levels, ..QuestionEdit::default() }, at_ms)
}

fn levels(store: &Store, name: &str) -> Vec<String> {
    store.question_by_name(name).unwrap().unwrap().scale.levels().to_vec()
}

fn add(store: &Store, name: &str, kind: ScaleKind, levels: &[&str]) -> QuestionId {
    let new = NewQuestion { name: name.into(), prompt: "?".into(), scale: Scale::new(kind, levels).unwrap() };
    store.write(move |tx| tx.add_question(&new)).unwrap()
}

/// The names of the current answers, by text and annotator.
fn named(store: &Store, question: &str) -> Vec<(u32, u32, String)> {
    let asked = store.question_by_name(question).unwrap().unwrap();
    let named = |answer: &Answer| asked.scale.name_of_answer(answer).unwrap().into_owned();
    let labels = store.current_labels(asked.id).unwrap();
    labels.iter().map(|label| (label.text.0, label.annotator.0, named(&label.answer))).collect()
}

#[test]
fn inserted_level_keeps_existing_labels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 4, 2);
    store.append_label(&label(1, 1, 0)).unwrap();
    store.append_label(&label(2, 1, 4)).unwrap();
    let head = NewHead {
        question: QUESTION,
        version: None,
        model: "multilevel".into(),
        made_at_ms: 1,
        weights: vec![1],
    };
    store.put_head(head.clone(), store.questions().unwrap()[0].scale.ids()).unwrap();
    let edited = set(&store, "rude", &["1", "2", "2.5", "3", "4", "5"], 2_000).unwrap();
    assert!(edited.changed && edited.rearranged);
    assert_eq!(levels(&store, "rude"), ["1", "2", "2.5", "3", "4", "5"]);
    let of = |text, name: &str| (text, 1, name.to_owned());
    assert_eq!(named(&store, "rude"), [of(1, "1"), of(2, "5")]);
    // What was learned with the earlier columns is gone, and cannot be stored any more.
    assert!(store.head(QUESTION, None, "multilevel").unwrap().is_none());
    store.put_head(head.clone(), &[0, 1, 2, 3, 4].map(LevelId)).unwrap();
    assert!(store.head(QUESTION, None, "multilevel").unwrap().is_none());
    let ids = store.questions().unwrap()[0].scale.ids().to_vec();
    assert_eq!(ids, [0, 1, 5, 2, 3, 4].map(LevelId), "a level keeps its id");
    store.put_head(head, &ids).unwrap();
    assert!(store.head(QUESTION, None, "multilevel").unwrap().is_some());
    // Labels that are given now, replace others, are retracted or imported retain their meaning.
    store.append_label(&label(3, 1, 5)).unwrap();
    store.append_label(&label(1, 1, 4)).unwrap();
    let taken_back = store.append_label(&label(4, 1, 2)).unwrap().id;
    store.retract(taken_back, 9_000, LabelSource::Window).unwrap();
    store.write(|tx| tx.label_appender()?.append(&label(4, 2, 3))).unwrap();
    let expected = [of(1, "5"), of(2, "5"), of(3, "2.5"), (4, 2, "4".to_owned())];
    assert_eq!(named(&store, "rude"), expected);
    let history = store.events(QUESTION, TextId(1), AnnotatorId(1)).unwrap();
    let reported: Vec<Option<LevelId>> =
        history.iter().map(|event| event.answer().and_then(Answer::level)).collect();
    assert_eq!(reported, [Some(LevelId(0)), Some(LevelId(4))]);
    store.check_current_answers().unwrap();
    store.close().unwrap();
    let again = Store::open(&path).unwrap();
    assert_eq!(named(&again, "rude"), expected);
    let mut exported = Vec::new();
    again
        .for_each_label(QUESTION, dissensus_store::ExportScope::Current, |row| {
            exported.push(row.level.unwrap().to_owned());
            Ok::<(), StoreError>(())
        })
        .unwrap();
    assert_eq!(exported, ["5", "5", "2.5", "4"]);
    let mut levels = Vec::new();
    again
        .snapshot(|snapshot| {
            snapshot.for_each_unretracted_answer(|one| {
                levels.extend(one.answer.level());
                Ok::<(), StoreError>(())
            })
        })
        .unwrap();
    assert_eq!(levels, [0, 4, 5, 4, 3].map(LevelId));
}

#[test]
fn only_unused_levels_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 9, 2);
    let sure = add(&store, "sure", ScaleKind::Binary, &["no", "yes"]);
    // Each level is used differently: a retracted answer, a re-annotation, a decision, a check, a
    // condition.
    let id = store.append_label(&label(1, 1, 0)).unwrap().id;
    store.retract(id, 2_000, LabelSource::Window).unwrap();
    store
        .write(move |tx| {
            tx.give_repeat(&Repeat {
                question: QUESTION,
                text: TextId(1),
                annotator: AnnotatorId(1),
                occasion: 2,
                answer: Answer::from_level(1),
                at_ms: 5,
                source: LabelSource::Window,
                details: AnswerDetails::default(),
                wording: None,
            })?;
            tx.decide(&Decision {
                question: QUESTION,
                text: TextId(1),
                at_ms: 5,
                outcome: Outcome::Slip,
                answer: Some(Answer::from_level(2)),
                comment: String::new(),
                by: String::new(),
            })?;
            tx.set_attention_check(&AttentionCheck {
                question: QUESTION,
                text: TextId(2),
                at_ms: 5,
                answer: Some(Answer::from_level(3)),
                reason: String::new(),
            })?;
            tx.set_condition(sure, Some(&Condition::new(QUESTION, [4])), 5)
        })
        .unwrap();
    for (left, why) in [
        (["2", "3", "4", "5"], "\"1\" of rude: it cannot be removed, because 1 answer uses it"),
        (["1", "3", "4", "5"], "1 answer of a later round uses it"),
        (["1", "2", "4", "5"], "1 decision uses it"),
        (["1", "2", "3", "5"], "1 attention check uses it"),
        (["1", "2", "3", "4"], "the condition of sure uses it"),
    ] {
        let message = set(&store, "rude", &left, 9).unwrap_err().to_string();
        assert!(message.contains(why), "{message}");
    }
    let uses = store.level_uses(QUESTION).unwrap();
    assert!(uses.iter().all(|(_, used)| used.is_some()) && !uses[4].1.as_ref().unwrap().is_answered());
    // Levels used in answers retain their order; the others can move between them.
    let message = set(&store, "rude", &["2", "1", "3", "4", "5"], 9).unwrap_err().to_string();
    assert!(message.contains("\"1\" of rude: it cannot change places"), "{message}");
    set(&store, "rude", &["5", "1", "2", "3", "4"], 9).unwrap();
    // Everything refers to the same levels as before.
    assert_eq!(store.repeats(QUESTION).unwrap()[0].answer, Answer::from_level(1));
    assert_eq!(store.decisions(QUESTION).unwrap()[0].answer, Some(Answer::from_level(2)));
    assert_eq!(store.attention_checks().unwrap()[0].answer, Some(Answer::from_level(3)));
    assert_eq!(store.question_by_name("sure").unwrap().unwrap().only_if.unwrap().levels, [LevelId(4)]);
    // Without the condition it can be removed, and added again.
    store.write(move |tx| tx.set_condition(sure, None, 10)).unwrap();
    set(&store, "rude", &["1", "2", "3", "4"], 11).unwrap();
    set(&store, "rude", &["1", "2", "3", "4", "5"], 12).unwrap();
    assert_eq!(store.repeats(QUESTION).unwrap()[0].answer, Answer::from_level(1));
    assert_eq!(levels(&store, "rude").len(), 5);
    let versions = store.question_versions(QUESTION).unwrap();
    assert!(versions.len() == 3 && versions.iter().all(|version| version.rearranged));
}

#[test]
fn practice_keeps_its_levels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 2, 1);
    let right = Answer::from_level(4);
    store.write(move |tx| tx.set_practice_text(QUESTION, TextId(1), Some(&right), "because", 5)).unwrap();
    let message = set(&store, "rude", &["1", "2", "3", "4"], 6).unwrap_err().to_string();
    assert!(message.contains("1 answer of practice uses it"), "{message}");
    store.close().unwrap();
    let other = copied(&path, "b.dissensus");
    let (a, b) = (Store::open(&path).unwrap(), Store::open(&other).unwrap());
    set(&a, "rude", &["0", "1", "2", "3", "4", "5"], 7).unwrap();
    assert_eq!(a.practice().unwrap().texts[0].answer, Answer::from_level(4));
    // What the other copy sets is the same level here.
    let again = Answer::from_level(0);
    b.write(move |tx| tx.set_practice_text(QUESTION, TextId(2), Some(&again), "", 8)).unwrap();
    a.merge_from(&b).unwrap();
    b.merge_from(&a).unwrap();
    for store in [&a, &b] {
        let found: Vec<Answer> = store.practice().unwrap().texts.into_iter().map(|one| one.answer).collect();
        assert_eq!(found, [Answer::from_level(4), Answer::from_level(0)]);
    }
    assert_eq!(a.merge_from(&b).unwrap().facts, 0);
}

#[test]
fn options_and_span_types_keep_their_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 2, 1);
    let topics = add(&store, "topics", ScaleKind::MultiLabel, &["art", "law", "war"]);
    let words = add(&store, "words", ScaleKind::Spans, &["insult", "threat"]);
    let give = |question, text, answer| {
        store.append_label(&NewLabel { question, answer, ..label(text, 1, 0) }).unwrap()
    };
    give(topics, 1, Answer::Options(OptionSet::new([0, 2]).unwrap()));
    give(words, 1, Answer::Spans(SpanSet::new([Span { start: 0, end: 3, kind: LevelId(1) }]).unwrap()));
    // Without an order they can be swapped.
    set(&store, "topics", &["war", "new", "art"], 5).unwrap();
    set(&store, "words", &["threat"], 5).unwrap();
    assert_eq!(named(&store, "topics"), [(1, 1, "war + art".to_owned())]);
    let spans = Answer::Spans(SpanSet::new([Span { start: 0, end: 3, kind: LevelId(1) }]).unwrap());
    assert_eq!(store.current_labels(words).unwrap()[0].answer, spans);
    let war = store.question_by_name("topics").unwrap().unwrap().option(LevelId(2)).unwrap().id;
    assert_eq!(store.current_labels(war).unwrap()[0].answer, Answer::from_level(1));
    give(topics, 2, Answer::Options(OptionSet::new([3]).unwrap()));
    give(words, 1, spans);
    let reported = named(&store, "topics");
    assert_eq!((reported[1].2.as_str(), store.check_current_answers().is_ok()), ("new", true));
    // A removed level and a new one may have the same name.
    set(&store, "topics", &["war", "new", "art", "law"], 6).unwrap();
    assert_eq!(levels(&store, "topics"), ["war", "new", "art", "law"]);
}

#[test]
fn question_help_and_definitions_are_edited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 1, 1);
    store.append_label(&label(1, 1, 0)).unwrap();
    let help = QuestionHelp {
        text: " Think of a stranger. ".into(),
        low: "not at all".into(),
        high: "extremely".into(),
    };
    let named = |name: &str, from: Option<u16>, definition: &str| LevelEdit {
        from: from.map(LevelId),
        name: name.into(),
        definition: definition.into(),
    };
    let five = |last: &str| {
        let mut all: Vec<LevelEdit> = (0..4).map(|n| named(&(n + 1).to_string(), Some(n), "")).collect();
        all.push(named("5", Some(4), last));
        all
    };
    let edit = QuestionEdit {
        prompt: Some("How rude is it?".into()),
        help: Some(help),
        levels: Some(five(" a slap in the face ")),
        levels_before: None,
        cannot_say: None,
    };
    let edited = store.edit_question(QUESTION, &edit, 5_000).unwrap();
    assert!(edited.changed && !edited.rearranged);
    assert!(!store.edit_question(QUESTION, &edit, 6_000).unwrap().changed, "it changes nothing");
    let found = store.question_by_name("rude").unwrap().unwrap();
    assert_eq!(
        (found.prompt.as_str(), found.help.text.as_str()),
        ("How rude is it?", "Think of a stranger.")
    );
    assert_eq!((found.definition(LevelId(4)), found.definition(LevelId(0))), ("a slap in the face", ""));
    assert_eq!(store.question_versions(QUESTION).unwrap().len(), 3);
    assert_eq!(store.labels_before(QUESTION, 5_000).unwrap(), 1);
    let long = "x".repeat(5_000);
    for (edit, why) in [
        (QuestionEdit { prompt: Some(" ".into()), ..QuestionEdit::default() }, "cannot be empty"),
        (QuestionEdit { prompt: Some(long.clone()), ..QuestionEdit::default() }, "may have 4000"),
        (QuestionEdit { levels: Some(five(&long)), ..QuestionEdit::default() }, "may have 1000"),
        (
            QuestionEdit {
                help: Some(QuestionHelp { low: long, ..QuestionHelp::default() }),
                ..QuestionEdit::default()
            },
            "may have 80",
        ),
        (
            QuestionEdit {
                levels: Some(vec![named("1", Some(0), ""), named("2", Some(9), "")]),
                ..QuestionEdit::default()
            },
            "no level with the id 9",
        ),
        (
            QuestionEdit {
                levels: Some(vec![named("1", Some(0), ""), named("2", Some(0), "")]),
                ..QuestionEdit::default()
            },
            "listed twice",
        ),
    ] {
        let before = store.question_versions(QUESTION).unwrap();
        let message = store.edit_question(QUESTION, &edit, 9_000).unwrap_err().to_string();
        assert!(message.contains(why), "{message}");
        assert_eq!(store.question_versions(QUESTION).unwrap(), before, "nothing half written");
    }
}

#[test]
fn level_changes_merge_without_changing_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dissensus");
    let a = small(&path, 6, 3);
    a.close().unwrap();
    let other = copied(&path, "b.dissensus");
    let (a, b) = (Store::open(&path).unwrap(), Store::open(&other).unwrap());
    // One removes the third level and adds two; the other adds one at another position, renames,
    // and answers the third.
    set(&a, "rude", &["0", "1", "2", "4", "5", "unsure"], 10).unwrap();
    a.append_label(&label(1, 1, 5)).unwrap();
    a.append_label(&label(2, 1, 6)).unwrap();
    set(&b, "rude", &["1", "2", "3", "4", "5", "6"], 20).unwrap();
    b.append_label(&label(3, 2, 2)).unwrap();
    b.append_label(&label(4, 2, 5)).unwrap();
    let taken = a.merge_from(&b).unwrap();
    assert_eq!((taken.rearranged, taken.levels_back, taken.question_changes), (1, 2, 1));
    b.merge_from(&a).unwrap();
    a.merge_from(&b).unwrap();
    // The later arrangement is in effect, and the level used in the other copy is at the position
    // that it had there.
    assert_eq!(levels(&a, "rude"), ["0", "1", "2", "3", "4", "5", "unsure", "6"]);
    assert_eq!(levels(&a, "rude"), levels(&b, "rude"));
    let expected = [(1, 1, "0"), (2, 1, "unsure"), (3, 2, "3"), (4, 2, "6")];
    let expected = expected.map(|(text, who, name)| (text, who, name.to_owned()));
    assert_eq!((named(&a, "rude"), named(&b, "rude")), (expected.to_vec(), expected.to_vec()));
    assert_eq!(a.merge_from(&b).unwrap().rearranged, 0);
    for store in [&a, &b] {
        store.check_current_answers().unwrap();
        assert_eq!(store.all_facts(dissensus_domain::FactKind::Levels).unwrap().len(), 3);
    }
}

#[test]
fn late_answer_restores_a_removed_level() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dissensus");
    let a = small(&path, 2, 2);
    a.close().unwrap();
    let other = copied(&path, "b.dissensus");
    let (a, b) = (Store::open(&path).unwrap(), Store::open(&other).unwrap());
    b.append_label(&label(1, 1, 2)).unwrap();
    set(&a, "rude", &["1", "2", "4", "5"], 10).unwrap();
    let taken = a.merge_from(&b).unwrap();
    assert_eq!((taken.levels_back, taken.rearranged), (1, 1));
    assert_eq!(levels(&a, "rude"), ["1", "2", "3", "4", "5"]);
    assert_eq!(named(&a, "rude"), [(1, 1, "3".to_owned())]);
    // No copy loses it again: the copy that still had it agrees.
    b.merge_from(&a).unwrap();
    assert_eq!((levels(&b, "rude"), a.merge_from(&b).unwrap().question_changes), (levels(&a, "rude"), 0));
}

/// Copies that edit levels, answer and merge at random, in any order, end with the same levels and
/// the same answers by name.
#[test]
fn random_level_edits_merge_consistently() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..12_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let path = folder.path().join(format!("{seed}-0.dissensus"));
        small(&path, 8, 3).close().unwrap();
        let mut stores = vec![Store::open(&path).unwrap()];
        for copy in 1..3 {
            let other = copied(&path, &format!("{seed}-{copy}.dissensus"));
            stores.push(Store::open(&other).unwrap());
        }
        // The name of each answer when it is given, which must not change.
        let mut given: Vec<(i64, String)> = Vec::new();
        for step in 0..60_i64 {
            let who = draw(3) as usize;
            let store = &stores[who];
            match draw(10) {
                0..5 => {
                    let scale = store.question_by_name("rude").unwrap().unwrap().scale;
                    let at = draw(scale.len() as u64) as usize;
                    let level = scale.ids()[at].0;
                    let at_ms = 1_000 + step;
                    let new = NewLabel {
                        at_ms,
                        source: LabelSource::Import,
                        ..label(1 + draw(8) as u32, 1 + who as u32, level)
                    };
                    store.append_label(&new).unwrap();
                    given.push((at_ms, scale.levels()[at].clone()));
                }
                5..8 => {
                    let mut now = levels(store, "rude");
                    match draw(3) {
                        0 if now.len() > 2 => drop(now.remove(draw(now.len() as u64) as usize)),
                        1 => now.insert(draw(now.len() as u64 + 1) as usize, format!("new {}", draw(4))),
                        _ => {
                            let (a, b) = (draw(now.len() as u64) as usize, draw(now.len() as u64) as usize);
                            now.swap(a, b);
                        }
                    }
                    let now: Vec<&str> = now.iter().map(String::as_str).collect();
                    // Some are rejected, because a level is in use or a name is repeated.
                    drop(set(store, "rude", &now, draw(50) as i64));
                }
                _ => {
                    let other = &stores[(who + 1 + draw(2) as usize) % 3];
                    store.merge_from(other).unwrap();
                }
            }
        }
        for _ in 0..3 {
            for (a, b) in [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)] {
                stores[a].merge_from(&stores[b]).unwrap();
            }
        }
        let first = (levels(&stores[0], "rude"), named(&stores[0], "rude"));
        for store in &stores {
            assert_eq!((levels(store, "rude"), named(store, "rude")), first, "seed {seed}");
            store.check_current_answers().unwrap();
            let scale = store.question_by_name("rude").unwrap().unwrap().scale;
            let events = store.events_since(dissensus_domain::EventId(0), 1_000).unwrap();
            for event in events {
                let EventKind::Answer { answer, .. } = &event.kind else { continue };
                let name = scale.name_of_answer(answer).unwrap();
                let was = &given.iter().find(|(at_ms, _)| *at_ms == event.at_ms).unwrap().1;
                assert_eq!(name.as_ref(), was, "seed {seed}: an answer keeps its meaning");
            }
        }
    }
}

/// Copies of the closed project at `path`, each open under its name.
fn copies<const N: usize>(path: &Path, names: [&str; N]) -> [Store; N] {
    names.map(|name| Store::open(copied(path, name)).unwrap())
}

#[test]
fn restored_levels_are_independent_of_merge_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    small(&path, 2, 2).close().unwrap();
    let [a, b, c, one, other] = copies(&path, ["a", "b", "c", "one", "other"]);
    // One removes a level, one uses it in an answer, and one adds a level at the time at which the
    // first two would restore it.
    set(&a, "rude", &["1", "2", "4", "5"], 10).unwrap();
    b.append_label(&label(1, 1, 2)).unwrap();
    set(&c, "rude", &["0", "1", "2", "3", "4", "5"], 11).unwrap();
    for from in [&a, &b, &c] {
        one.merge_from(from).unwrap();
    }
    for from in [&c, &a, &b] {
        other.merge_from(from).unwrap();
    }
    for store in [&one, &other] {
        assert_eq!(levels(store, "rude"), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(named(store, "rude"), [(1, 1, "3".to_owned())]);
    }
    let nothing = one.merge_from(&other).unwrap();
    assert_eq!((nothing.question_changes, nothing.rearranged, nothing.levels_back), (0, 0, 0));
}

#[test]
fn level_used_only_by_a_withdrawn_person_stays_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    small(&path, 2, 2).close().unwrap();
    let [a, b, c, one, other] = copies(&path, ["a", "b", "c", "one", "other"]);
    set(&a, "rude", &["1", "2", "4", "5"], 10).unwrap();
    b.append_label(&label(1, 2, 2)).unwrap();
    c.withdraw(AnnotatorId(2), 20).unwrap();
    one.merge_from(&a).unwrap();
    assert_eq!(one.merge_from(&b).unwrap().levels_back, 1);
    assert_eq!(one.merge_from(&c).unwrap().rearranged, 1, "it has no reason to stand there any more");
    for from in [&c, &b, &a] {
        other.merge_from(from).unwrap();
    }
    for store in [&one, &other] {
        assert_eq!(levels(store, "rude"), ["1", "2", "4", "5"]);
        store.check_current_answers().unwrap();
    }
}

#[test]
fn binary_question_keeps_its_two_levels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dissensus");
    let a = small(&path, 2, 2);
    let sure = add(&a, "sure", ScaleKind::Binary, &["no", "yes"]);
    a.close().unwrap();
    let [a, b] = copies(&path, ["b", "c"]);
    // If another copy has an answer with the removed level, there would be three.
    b.append_label(&NewLabel { question: sure, ..label(1, 1, 1) }).unwrap();
    let message = set(&a, "sure", &["no", "maybe"], 10).unwrap_err().to_string();
    assert!(message.contains("sure: its two levels stay") && message.contains("rename them"), "{message}");
    a.write(move |tx| tx.rename_levels(sure, &["no".into(), "maybe".into()], 10)).unwrap();
    a.merge_from(&b).unwrap();
    assert_eq!((levels(&a, "sure").len(), named(&a, "sure")), (2, vec![(1, 1, "maybe".to_owned())]));
}

#[test]
fn merge_refuses_too_many_options() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dissensus");
    let a = small(&path, 2, 2);
    let topics = add(&a, "topics", ScaleKind::MultiLabel, &["art", "law"]);
    a.close().unwrap();
    let [a, b] = copies(&path, ["b", "c"]);
    for (store, prefix) in [(&a, "a"), (&b, "b")] {
        let mut names = vec!["art".to_owned(), "law".to_owned()];
        names.extend((0..40).map(|n| format!("{prefix}{n}")));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        set(store, "topics", &names, 10).unwrap();
        let answer = Answer::Options(OptionSet::new([0, 41]).unwrap());
        store.append_label(&NewLabel { question: topics, answer, ..label(1, 1, 0) }).unwrap();
    }
    let message = a.merge_from(&b).unwrap_err().to_string();
    assert!(message.contains("can have no more") && message.contains("64 levels"), "{message}");
    assert_eq!((levels(&a, "topics").len(), named(&a, "topics")), (42, vec![(1, 1, "art + a39".to_owned())]));
}

/// Copies that add levels in a different order assign different row ids, but agree on simultaneous
/// answers all the same.
#[test]
fn simultaneous_answers_merge_despite_other_row_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let first = small(&path, 2, 1);
    let sure = add(&first, "sure", ScaleKind::Binary, &["no", "yes"]);
    first.close().unwrap();
    let [a, b] = copies(&path, ["a", "b"]);
    let five = ["1", "2", "3", "4", "5"];
    for (store, one, other) in [(&a, "x", "y"), (&b, "y", "x")] {
        set(store, "rude", &[&five[..], &[one]].concat(), 10).unwrap();
        set(store, "rude", &[&five[..], &[one, other]].concat(), 11).unwrap();
        let (question, text, answer) = (QUESTION, TextId(1), Answer::from_level(5));
        store
            .write(move |tx| {
                tx.decide(&Decision {
                    question,
                    text,
                    at_ms: 50,
                    outcome: Outcome::Slip,
                    answer: Some(answer.clone()),
                    comment: String::new(),
                    by: String::new(),
                })?;
                tx.set_attention_check(&AttentionCheck {
                    question,
                    text,
                    at_ms: 50,
                    answer: Some(answer.clone()),
                    reason: String::new(),
                })?;
                tx.give_repeat(&Repeat {
                    question,
                    text,
                    annotator: AnnotatorId(1),
                    occasion: 2,
                    answer: answer.clone(),
                    at_ms: 50,
                    source: LabelSource::Window,
                    details: AnswerDetails::default(),
                    wording: None,
                })?;
                tx.set_practice_text(question, text, Some(&answer), "", 50)?;
                tx.set_study_care(StudyLimits::default(), &[(question, LevelId(5))], 50)?;
                tx.set_condition(sure, Some(&Condition::new(question, [5])), 50)
            })
            .unwrap();
    }
    a.merge_from(&b).unwrap();
    b.merge_from(&a).unwrap();
    let reported = |store: &Store| -> Vec<String> {
        let scale = store.question_by_name("rude").unwrap().unwrap().scale;
        let of = |id: LevelId| scale.name_of(id).unwrap().to_owned();
        let name = |answer: &Answer| of(answer.level().unwrap());
        let condition = store.question_by_name("sure").unwrap().unwrap().only_if.unwrap();
        vec![
            name(store.decisions(QUESTION).unwrap()[1].answer.as_ref().unwrap()),
            name(store.attention_checks().unwrap()[0].answer.as_ref().unwrap()),
            name(&store.repeats(QUESTION).unwrap()[0].answer),
            name(&store.practice().unwrap().texts[0].answer),
            of(store.harmful_levels().unwrap()[0].1),
            of(condition.levels[0]),
        ]
    };
    assert_eq!(reported(&a), reported(&b));
    let uses = |store: &Store| {
        let names = levels(store, "rude").into_iter();
        names.zip(store.level_uses(QUESTION).unwrap().into_iter().map(|(_, used)| used)).collect::<Vec<_>>()
    };
    assert_eq!(uses(&a), uses(&b));
}

#[test]
fn edit_of_levels_that_changed_meanwhile_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 1, 1);
    let shown = |store: &Store| -> Vec<LevelEdit> {
        let question = store.question_by_name("rude").unwrap().unwrap();
        let of = |(level, name): (&LevelId, &String)| LevelEdit {
            from: Some(*level),
            name: name.clone(),
            definition: question.definition(*level).to_owned(),
        };
        question.scale.ids().iter().zip(question.scale.levels()).map(of).collect()
    };
    let began = shown(&store);
    set(&store, "rude", &["1", "2", "2.5", "3", "4", "5"], 2_000).unwrap();
    let mut wanted = began.clone();
    wanted[0].name = "none".into();
    let mut edit =
        QuestionEdit { levels: Some(wanted), levels_before: Some(began), ..QuestionEdit::default() };
    let error = store.edit_question(QUESTION, &edit, 3_000).unwrap_err().to_string();
    assert!(error.contains("changed elsewhere meanwhile"), "{error}");
    assert_eq!(levels(&store, "rude"), ["1", "2", "2.5", "3", "4", "5"]);
    let mut wanted = shown(&store);
    wanted[0].name = "none".into();
    edit = QuestionEdit { levels: Some(wanted), levels_before: Some(shown(&store)), ..edit };
    assert!(store.edit_question(QUESTION, &edit, 4_000).unwrap().changed);
    assert_eq!(levels(&store, "rude"), ["none", "2", "2.5", "3", "4", "5"]);
}
