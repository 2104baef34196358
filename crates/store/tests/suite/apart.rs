//! Separate work in two copies of a project: which answer undo retracts, which of two notes on a
//! text is in effect, which answers contradict each other, and under which wording answers were
//! given.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use dissensus_domain::{
    AnnotatorId, Answer, Assignment, EventId, HistoryKind, LabelSource, MarkKind, Note, Packet, PacketId,
    PracticeAnswer, QuestionHelp, QuestionId, Scale, ScaleKind, TextId, WordingId,
};
use dissensus_store::{
    AnswerDetails, CopyTarget, Done, ExportScope, HistoryFilter, NewAnnotator, NewLabel, NewMark,
    NewQuestion, NewText, PacketKey, QuestionEdit, Repeat, SplitChange, Store, StoreError, Undo,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use uuid::Uuid;

/// A project and a copy of it, both open.
fn two(folder: &Path) -> (Store, Store) {
    let a = small(&folder.join("a.dissensus"), 3, 2);
    let copy = folder.join("b.dissensus");
    a.copy_to(&copy, CopyTarget::New, |_, _| ControlFlow::Continue(())).unwrap();
    (a, Store::open(copy).unwrap())
}

fn both_ways(a: &Store, b: &Store) {
    a.merge_from(b).unwrap();
    b.merge_from(a).unwrap();
}

fn given(store: &Store, text: u32, level: u16, at_ms: i64) {
    store.append_label(&NewLabel { at_ms, ..label(text, 1, level) }).unwrap();
}

fn undone(store: &Store, at_ms: i64) -> Option<TextId> {
    let undo = store.write(move |tx| tx.undo(QUESTION, AnnotatorId(1), at_ms, LabelSource::Command));
    match undo.unwrap() {
        Undo::TakenBack(event) => Some(event.text),
        Undo::Nothing => None,
        Undo::Replaced { given, .. } => panic!("{given:?} is not current"),
    }
}

#[test]
fn undo_after_a_merge_retracts_the_latest_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two(folder.path());
    given(&b, 2, 4, 100);
    given(&a, 1, 3, 200);
    given(&b, 3, 2, 300);
    given(&a, 3, 1, 50); // not replaced: the other copy did not know it, and its time is earlier
    a.merge_from(&b).unwrap();
    // Of copy b at 300, of copy a at 50 (after 200 in its copy), of copy a at 200, of copy b at
    // 100.
    let taken: Vec<_> = (0..3).map(|n| undone(&a, 1_000 + n)).collect();
    assert_eq!(taken, [Some(TextId(3)), Some(TextId(3)), Some(TextId(1))]);
    assert_eq!((undone(&a, 2_000), undone(&a, 2_001)), (Some(TextId(2)), None));
}

#[test]
fn undo_ignores_clock_changes_and_imports() {
    let folder = tempfile::tempdir().unwrap();
    let (a, _) = two(folder.path());
    given(&a, 1, 3, 5_000);
    given(&a, 2, 3, 1_000);
    let imported = NewLabel { source: LabelSource::Import, at_ms: 9_000, ..label(3, 1, 2) };
    a.append_label(&imported).unwrap();
    assert_eq!(
        (undone(&a, 1_001), undone(&a, 1_002), undone(&a, 1_003)),
        (Some(TextId(2)), Some(TextId(1)), None)
    );
}

/// A packet of the first annotator.
fn one_text_packet(questions: Vec<QuestionId>) -> Packet {
    Packet {
        id: PacketId(Uuid::from_u128(7)),
        annotator: AnnotatorId(1),
        made_at_ms: 5_000,
        seed: 1,
        questions,
        assignments: vec![Assignment { text: TextId(2), occasion: 1, anchor: false }],
    }
}

/// Each session is a copy of its own, so that only times tell what was given last.
#[test]
fn undo_follows_sessions_with_a_clock_that_was_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 3, 2);
    let other = NewQuestion {
        name: "other".to_owned(),
        prompt: String::new(),
        scale: Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap(),
    };
    let other = store.write(move |tx| tx.add_question(&other)).unwrap();
    given(&store, 1, 3, 20_000);
    store.close().unwrap();
    let store = Store::open(&path).unwrap();
    given(&store, 2, 3, 18_000);
    store.append_label(&NewLabel { question: other, at_ms: 18_001, ..label(1, 1, 1) }).unwrap();
    store.append_label(&NewLabel { at_ms: 18_002, ..label(1, 2, 1) }).unwrap();
    let times: Vec<i64> = store.events_since(EventId(0), 9).unwrap().iter().map(|e| e.at_ms).collect();
    assert_eq!(times, [20_000, 20_001, 20_002, 18_002], "each person has an order of their own");
    store.close().unwrap();
    let store = Store::open(&path).unwrap();
    let undo = || {
        let undo =
            store.write(move |tx| tx.undo([QUESTION, other], AnnotatorId(1), 19_000, LabelSource::Window));
        match undo.unwrap() {
            Undo::TakenBack(event) => Some((event.question, event.text)),
            other => panic!("{other:?}"),
        }
    };
    let taken = [undo(), undo(), undo()].map(Option::unwrap);
    assert_eq!(taken, [(other, TextId(1)), (QUESTION, TextId(2)), (QUESTION, TextId(1))]);
}

/// Whether somebody practised since a missed check is decided by times.
#[test]
fn practice_follows_answers_despite_a_clock_that_was_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 3, 2);
    given(&store, 1, 3, 90_000);
    store.close().unwrap();
    let store = Store::open(&path).unwrap();
    let ada = AnnotatorId(1);
    let answer = |round, at_ms| PracticeAnswer {
        question: QUESTION,
        text: TextId(3),
        annotator: ada,
        round,
        answer: Answer::from_level(1),
        at_ms,
    };
    let (first, of_other) =
        (answer(1, 4_000), PracticeAnswer { annotator: AnnotatorId(2), ..answer(1, 4_000) });
    store.write(move |tx| tx.add_practice_answer(&first, true)).unwrap();
    store.write(move |tx| tx.add_practice_answer(&of_other, true)).unwrap();
    let times = |store: &Store| -> Vec<i64> {
        let mut times: Vec<i64> = store.practice().unwrap().answers.iter().map(|one| one.at_ms).collect();
        times.sort();
        times
    };
    assert_eq!(times(&store), [4_000, 90_001]);
    // A packet has none of these answers, and what requires the round.
    store.write(move |tx| tx.ask_to_practise_again(ada, 2, 5_000)).unwrap();
    let packet = one_text_packet(vec![QUESTION]);
    let (id, right) = (packet.id, Answer::from_level(1));
    store.write(move |tx| tx.set_practice_text(QUESTION, TextId(3), Some(&right), "", 1)).unwrap();
    store.write(move |tx| tx.add_packet(&packet, &PacketKey([3; 32]))).unwrap();
    let file = folder.path().join("a1.dissensus");
    store.write_packet(id, &file).unwrap();
    let own = Store::open(&file).unwrap();
    let text = own.text_by_external("t3").unwrap().unwrap().id;
    let me = own.annotators().unwrap()[0].id;
    let second = PracticeAnswer { text, annotator: me, ..answer(2, 6_000) };
    own.write(move |tx| tx.add_practice_answer(&second, true)).unwrap();
    assert!(times(&own).into_iter().max() > Some(90_000), "{:?}", times(&own));
}

/// All rows of an export, in order.
fn exported(store: &Store) -> Vec<String> {
    let mut rows = Vec::new();
    for question in store.snapshot(|snapshot| snapshot.questions()).unwrap() {
        rows.push(format!("{} {} {:?}", question.name, question.prompt, question.scale));
        store
            .for_each_label(question.id, ExportScope::Current, |row| {
                rows.push(format!(
                    "{} {} {} {:?} {:?} {:?} {:?} {:?} {} {}",
                    row.question.name,
                    row.text.external_id,
                    row.annotator.external_id,
                    row.level,
                    row.text.split,
                    row.text.group,
                    row.text.metadata,
                    row.annotator.attributes,
                    row.annotator.simulated,
                    row.event.at_ms,
                ));
                Ok::<(), StoreError>(())
            })
            .unwrap();
    }
    rows
}

fn noted(split: Option<&str>, group: Option<&str>, metadata: &[(&str, &str)]) -> NewText {
    let metadata: BTreeMap<String, String> =
        metadata.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let owned = |value: Option<&str>| value.map(str::to_owned);
    NewText {
        external_id: "x".into(),
        body: "one body".into(),
        group: owned(group),
        split: owned(split),
        metadata,
    }
}

fn add(store: &Store, text: NewText, prompt: &str, simulated: bool, at_ms: i64) {
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let question = NewQuestion { name: "funny".into(), prompt: prompt.into(), scale };
    let own = NewText { external_id: format!("only of {prompt}"), body: "own".into(), ..NewText::default() };
    let person = NewAnnotator {
        external_id: "both".into(),
        name: "Both".into(),
        simulated,
        ..NewAnnotator::default()
    };
    store
        .write(move |tx| -> Result<(), StoreError> {
            let own = tx.add_text_at(&own, at_ms)?;
            let text = tx.add_text_at(&text, at_ms)?;
            let question = tx.add_question_at(&question, at_ms)?;
            let annotator = tx.add_annotator(&person)?;
            for text in [text, own] {
                let answer = Answer::from_level(1);
                tx.add_label(&NewLabel { question, text, annotator, answer, at_ms, ..label(1, 1, 0) })?;
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn later_text_metadata_wins_in_both_copies() {
    let folder = tempfile::tempdir().unwrap();
    for (earlier, later) in [(10, 20), (20, 10), (10, 10), (0, 0)] {
        let inside = folder.path().join(format!("{earlier}-{later}"));
        std::fs::create_dir(&inside).unwrap();
        let (a, b) = two(&inside);
        add(&a, noted(Some("train"), Some("g1"), &[("topic", "x"), ("only a", "1")]), "A?", false, earlier);
        add(&b, noted(Some("test"), None, &[("topic", "x2")]), "B?", true, later);
        let (into_a, into_b) = (a.merge_from(&b).unwrap(), b.merge_from(&a).unwrap());
        assert_eq!(exported(&a), exported(&b), "{earlier} {later}");
        let x = a.text_by_external("x").unwrap().unwrap();
        let (split, prompt) = match earlier > later {
            true => ("train", "A?"),
            // With equal times, the greater value is in effect.
            false if earlier == later => ("train", "B?"),
            false => ("test", "B?"),
        };
        assert_eq!(x.split.as_deref(), Some(split));
        assert_eq!(a.question_by_name("funny").unwrap().unwrap().prompt, prompt);
        // A value that only one of them recorded is not lost.
        assert_eq!((x.group.as_deref(), x.metadata["only a"].as_str()), (Some("g1"), "1"));
        let changed = if split == "test" { &into_a } else { &into_b };
        assert_eq!(changed.splits_changed, 1);
        let (was, now) = if split == "test" { ("train", "test") } else { ("test", "train") };
        let change = SplitChange { text: "x".into(), was: Some(was.into()), now: Some(now.into()) };
        assert_eq!(changed.splits, [change]);
        assert!(b.annotator_by_external("both").unwrap().unwrap().simulated);
        assert!(a.annotator_by_external("both").unwrap().unwrap().simulated);
        let again = a.merge_from(&b).unwrap();
        assert_eq!((again.texts_changed, again.question_changes, again.events), (0, 0, 0));
    }
}

#[test]
fn edited_prompt_replaces_only_earlier_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two(folder.path());
    add(&a, noted(None, None, &[]), "A?", false, 10);
    let edit = QuestionEdit { prompt: Some("Edited?".into()), ..QuestionEdit::default() };
    let id = a.question_by_name("funny").unwrap().unwrap().id;
    a.edit_question(id, &edit, 20).unwrap();
    add(&b, noted(None, None, &[]), "B?", false, 30);
    both_ways(&a, &b);
    let prompt = |store: &Store| store.question_by_name("funny").unwrap().unwrap().prompt;
    assert_eq!((prompt(&a), prompt(&b)), ("B?".to_owned(), "B?".to_owned()));
    // A packet shows what the project asks.
    let packet = one_text_packet(vec![id]);
    let (file, packet_id) = (folder.path().join("packet.dissensus"), packet.id);
    a.write(move |tx| tx.add_packet(&packet, &PacketKey([3; 32]))).unwrap();
    let in_packet = || {
        a.write_packet(packet_id, &file).unwrap();
        let packet = Store::open(&file).unwrap();
        let shown = prompt(&packet);
        packet.close().unwrap();
        std::fs::remove_file(&file).unwrap();
        shown
    };
    assert_eq!(in_packet(), "B?");
    let edit = QuestionEdit { prompt: Some("Edited?".into()), ..QuestionEdit::default() };
    a.edit_question(id, &edit, 25).unwrap(); // by a clock that was set back
    both_ways(&a, &b);
    assert_eq!((prompt(&a), prompt(&b)), ("Edited?".to_owned(), "Edited?".to_owned()));
    assert_eq!(in_packet(), "Edited?");
}

#[test]
fn contradicting_answers_are_listed_with_the_current_one() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two(folder.path());
    given(&a, 1, 4, 100);
    given(&b, 1, 0, 200);
    given(&a, 2, 3, 100);
    given(&b, 2, 3, 300); // the same answer is no contradiction
    let taken = a.merge_from(&b).unwrap();
    assert_eq!((taken.contradicted, taken.contradictions.len()), (1, 1));
    let one = &taken.contradictions[0];
    assert_eq!((one.question, one.text, one.annotator), (QUESTION, TextId(1), AnnotatorId(1)));
    let answers: Vec<_> = one.answers.iter().map(|e| (e.answer().cloned().unwrap(), e.at_ms)).collect();
    assert_eq!(answers, [(Answer::from_level(4), 100), (Answer::from_level(0), 200)]);
    assert_eq!(a.current_labels(QUESTION).unwrap()[0].answer, Answer::from_level(0));
    assert_eq!(a.merge_from(&b).unwrap().contradicted, 0, "once");
}

#[test]
fn every_answer_names_its_wording() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two(folder.path());
    given(&a, 1, 1, 100);
    let help = QuestionHelp { text: "What is meant counts".into(), ..QuestionHelp::default() };
    let edit =
        QuestionEdit { prompt: Some("How rude is it?".into()), help: Some(help), ..QuestionEdit::default() };
    a.edit_question(QUESTION, &edit, 150).unwrap();
    given(&a, 2, 1, 200);
    // Later than the edit, by an annotator who never saw it.
    given(&b, 3, 1, 300);
    a.append_label(&NewLabel { source: LabelSource::Import, ..label(1, 2, 2) }).unwrap();
    both_ways(&a, &b);
    for store in [&a, &b] {
        let wordings = store.wordings().unwrap();
        let reported: Vec<_> =
            wordings.iter().map(|w| (w.number, w.wording.prompt.as_str(), w.first_ms, w.answers)).collect();
        assert_eq!(reported, [(1, "How rude?", 100, 2), (2, "How rude is it?", 200, 1)]);
        assert_eq!(wordings[1].wording.help.text, "What is meant counts");
        let by: Vec<_> = store
            .labels_by_wording(QUESTION)
            .unwrap()
            .into_iter()
            .map(|(label, id)| {
                let number = wordings.iter().find(|w| Some(w.id) == id).map(|w| w.number);
                (label.text.0, label.annotator.0, number)
            })
            .collect();
        assert_eq!(by, [(1, 1, Some(1)), (1, 2, None), (2, 1, Some(2)), (3, 1, Some(1))]);
    }
}

#[test]
fn later_rounds_name_their_wording() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two(folder.path());
    let again = |text: u32, annotator: u32, at_ms: i64| Repeat {
        question: QUESTION,
        text: TextId(text),
        annotator: AnnotatorId(annotator),
        occasion: 2,
        answer: Answer::from_level(1),
        at_ms,
        source: LabelSource::Window,
        details: AnswerDetails::default(),
        wording: None,
    };
    let give = |store: &Store, repeat: Repeat| {
        store.write(move |tx| tx.give_repeat(&repeat)).unwrap();
    };
    let first = again(1, 1, 100);
    give(&a, first.clone());
    let edit = QuestionEdit { prompt: Some("How rude is it?".into()), ..QuestionEdit::default() };
    a.edit_question(QUESTION, &edit, 150).unwrap();
    give(&a, again(2, 1, 200));
    // A later note does not state what was on screen.
    let note = NewMark {
        annotator: first.annotator,
        question: QUESTION,
        text: first.text,
        kind: MarkKind::Note,
        at_ms: 210,
        source: LabelSource::Window,
        note: Note { note: Some("hm".into()), ..Note::default() },
        guideline: None,
    };
    a.write(move |tx| tx.add_mark_in(&note, 2)).unwrap();
    give(&b, again(3, 1, 300));
    b.write(move |tx| tx.add_repeat(&Repeat { source: LabelSource::Import, ..again(3, 2, 400) }, true))
        .unwrap();
    both_ways(&a, &b);
    for store in [&a, &b] {
        let wordings = store.wordings().unwrap();
        let counted: Vec<_> =
            wordings.iter().map(|w| (w.number, w.wording.prompt.as_str(), w.first_ms, w.answers)).collect();
        assert_eq!(counted, [(1, "How rude?", 100, 2), (2, "How rude is it?", 200, 1)]);
        let numbers = store.wording_numbers().unwrap();
        let of = |id: Option<WordingId>| id.map(|id| numbers[&id]);
        let found: Vec<_> =
            store.repeats(QUESTION).unwrap().into_iter().map(|r| (r.text.0, of(r.wording))).collect();
        assert_eq!(found, [(1, Some(1)), (2, Some(2)), (3, Some(1)), (3, None)]);
        assert_eq!(store.repeats(QUESTION).unwrap()[0].details.note.note.as_deref(), Some("hm"));
        let filter = HistoryFilter { kinds: vec![HistoryKind::Repeat], ..HistoryFilter::default() };
        let log = store.log(&filter, None, 20).unwrap();
        let mut logged: Vec<_> = log
            .iter()
            .filter_map(|entry| match &entry.what {
                Done::Event { event, .. } if event.answer().is_some() => {
                    Some((event.text.0, of(event.wording)))
                }
                _ => None,
            })
            .collect();
        logged.sort_unstable();
        assert_eq!(logged, [(1, Some(1)), (2, Some(2)), (3, None), (3, Some(1))]);
    }
}

/// One copy has an answer that was given there, the other one the same answer from a file: both are in the
/// history of both copies, and the same one counts.
#[test]
fn equal_later_answers_merge_to_one_current() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two(folder.path());
    let answer = |source: LabelSource| Repeat {
        question: QUESTION,
        text: TextId(1),
        annotator: AnnotatorId(1),
        occasion: 2,
        answer: Answer::from_level(1),
        at_ms: 100,
        source,
        details: AnswerDetails::default(),
        wording: None,
    };
    a.write(move |tx| tx.give_repeat(&answer(LabelSource::Command))).unwrap();
    b.write(move |tx| tx.add_repeat(&answer(LabelSource::Import), true)).unwrap();
    both_ways(&a, &b);
    both_ways(&a, &b);
    let held = |store: &Store| {
        let found = store.repeats(QUESTION).unwrap();
        assert_eq!(found.iter().map(|one| &one.answer).collect::<Vec<_>>(), [&Answer::from_level(1)]);
        let given = store.newest_given(QUESTION, AnnotatorId(1)).unwrap().unwrap();
        assert_eq!((given.source, given.occasion), (LabelSource::Command, 2));
        (found, given.key, store.wordings().unwrap())
    };
    assert_eq!(held(&a), held(&b));
}

#[test]
fn shared_events_are_read_only_if_they_differ() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two(folder.path());
    for text in 1..=3 {
        given(&a, text, 1, 100);
    }
    b.merge_from(&a).unwrap();
    given(&b, 1, 4, 200); // replaces an answer that both have
    let taken = a.merge_from(&b).unwrap();
    assert_eq!((taken.events, taken.known), (1, 3));
    assert_eq!(a.current_labels(QUESTION).unwrap()[0].answer, Answer::from_level(4));
    a.check_current_answers().unwrap();
    // A copy that continued under the same id with different events, like a restored machine would.
    let file = b.file().to_owned();
    b.close().unwrap();
    let conn = rusqlite::Connection::open(&file).unwrap();
    conn.execute_batch(
        "DROP TRIGGER events_are_not_changed;
         UPDATE events SET at_ms = at_ms + 1 WHERE text = 3;
         CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
         BEGIN
             SELECT RAISE(ABORT, 'events are appended, never changed');
         END;",
    )
    .unwrap();
    drop(conn);
    let b = Store::open(&file).unwrap();
    let taken = a.merge_from(&b).unwrap();
    assert_eq!((taken.events, taken.left_out), (0, 1));
    a.check_current_answers().unwrap();
}
