//! Re-annotations: separate from labels, and the same in all copies.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use dissensus_domain::{AnnotatorId, Answer, EventId, LabelSource, TextId};
use dissensus_store::{AnswerDetails, NewLabel, NewText, Repeat, RepeatAdded, Store, StoreError, Undo};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

fn repeat(text: u32, occasion: u16, level: u16, at_ms: i64) -> Repeat {
    Repeat {
        question: QUESTION,
        text: TextId(text),
        annotator: AnnotatorId(1),
        occasion,
        answer: Answer::from_level(level),
        at_ms,
        source: LabelSource::Import,
        details: AnswerDetails::default(),
        wording: None,
    }
}

fn add(store: &Store, new: Repeat, timed: bool) -> RepeatAdded {
    store.write(move |tx| tx.add_repeat(&new, timed)).unwrap()
}

/// The current time in these tests.
const NOW: i64 = 1_000;

fn remove(store: &Store, occasion: Option<u16>, now: i64) -> u32 {
    store.write(move |tx| tx.remove_repeats(QUESTION, occasion, now)).unwrap()
}

fn levels(store: &Store) -> Vec<(u32, u16, Answer)> {
    let all = store.repeats(QUESTION).unwrap().into_iter();
    all.map(|r| (r.text.0, r.occasion, r.answer)).collect()
}

#[test]
fn later_rounds_change_no_label() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 3, 2);
    store.append_label(&label(1, 1, 0)).unwrap();
    let labels = || (store.current_labels(QUESTION).unwrap(), store.events_since(EventId(0), 9).unwrap());
    let before = labels();
    assert_eq!(add(&store, repeat(1, 2, 1, 50), true), RepeatAdded::New);
    assert_eq!(add(&store, repeat(1, 2, 1, 50), true), RepeatAdded::Known, "the same fact again");
    assert_eq!(
        add(&store, repeat(1, 2, 0, 40), true),
        RepeatAdded::New,
        "an earlier one is stored, and does not count"
    );
    assert_eq!(add(&store, repeat(1, 3, 0, 60), true), RepeatAdded::New);
    assert_eq!(levels(&store), [(1, 2, Answer::from_level(1)), (1, 3, Answer::from_level(0))]);
    // Without a time, an equal answer is known, and a new one follows the existing ones.
    assert_eq!(add(&store, repeat(1, 2, 1, 0), false), RepeatAdded::Known);
    assert_eq!(add(&store, repeat(2, 2, 1, 7), false), RepeatAdded::New);
    assert_eq!(add(&store, repeat(2, 2, 0, 7), false), RepeatAdded::New);
    assert_eq!(levels(&store)[2], (2, 2, Answer::from_level(0)));
    assert_eq!(add(&store, repeat(2, 2, 1, 7), false), RepeatAdded::Outdated, "another one counts since");
    assert_eq!(add(&store, repeat(2, 2, 0, 7), false), RepeatAdded::Known);
    assert_eq!(levels(&store)[2], (2, 2, Answer::from_level(0)));
    assert_eq!(labels(), before);
}

#[test]
fn invalid_later_round_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 1);
    let refused = |new: Repeat| store.write(move |tx| tx.add_repeat(&new, true)).unwrap_err();
    assert!(matches!(refused(repeat(1, 2, 60_000, 0)), StoreError::OffScale { .. }));
    assert!(matches!(refused(repeat(9, 2, 0, 0)), StoreError::Unknown { .. }));
    refused(repeat(1, 1, 0, 0));
    assert_eq!(levels(&store), []);
}

#[test]
fn removed_later_round_answers_can_be_added_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 3, 2);
    for (text, occasion, level, at_ms) in [(1, 2, 1, 50), (1, 2, 0, 40), (1, 3, 0, 60), (2, 2, 1, 50)] {
        add(&store, repeat(text, occasion, level, at_ms), true);
    }
    assert_eq!(remove(&store, Some(2), NOW), 2, "the overruled one of the two goes with it");
    assert_eq!(levels(&store), [(1, 3, Answer::from_level(0))]);
    assert_eq!(remove(&store, Some(2), NOW), 0, "twice is as once");
    assert_eq!(remove(&store, Some(9), NOW), 0);
    assert_eq!(remove(&store, None, NOW), 1);
    assert_eq!(levels(&store), []);
    // The same row of a file again, although the clock was set back; then the answer counts and is
    // known again.
    assert_eq!(add(&store, repeat(1, 2, 0, 40), true), RepeatAdded::New);
    assert_eq!(add(&store, repeat(1, 2, 0, 40), true), RepeatAdded::Known);
    assert_eq!(levels(&store), [(1, 2, Answer::from_level(0))]);
    // Without a time, a retracted answer is not known.
    assert_eq!(add(&store, repeat(2, 2, 1, 0), false), RepeatAdded::New);
    assert_eq!(add(&store, repeat(2, 2, 1, 0), false), RepeatAdded::Known);
    assert_eq!(levels(&store), [(1, 2, Answer::from_level(0)), (2, 2, Answer::from_level(1))]);
    drop(store);
    assert_eq!(levels(&Store::open(&path).unwrap()).len(), 2, "closed and opened again");
}

#[test]
fn undo_retracts_the_last_answer_of_any_round() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 3, 1);
    let again =
        |text, occasion, level| Repeat { source: LabelSource::Window, ..repeat(text, occasion, level, 10) };
    let give = |new: Repeat| store.write(move |tx| tx.give_repeat(&new)).unwrap();
    store.append_label(&NewLabel { at_ms: 10, ..label(1, 1, 0) }).unwrap();
    give(again(1, 2, 1));
    give(again(1, 2, 0));
    store.append_label(&NewLabel { at_ms: 10, ..label(2, 1, 0) }).unwrap();
    give(again(1, 3, 1));
    // A session of its own, with a clock that was set back.
    let path = store.file().to_owned();
    store.close().unwrap();
    let store = Store::open(path).unwrap();
    let new = again(2, 2, 1);
    store.write(move |tx| tx.give_repeat(&Repeat { at_ms: 1, ..new })).unwrap();
    let undone: Vec<_> = (0..7)
        .map(|_| {
            let undo = store.write(|tx| tx.undo(QUESTION, AnnotatorId(1), 20, LabelSource::Window)).unwrap();
            match undo {
                Undo::TakenBack(event) => Some((event.text.0, event.occasion)),
                Undo::Nothing => None,
                Undo::Replaced { given, .. } => panic!("{given:?} is not current"),
            }
        })
        .collect();
    let expected = [(2, 2), (1, 3), (2, 1), (1, 2), (1, 2), (1, 1)].map(Some);
    assert_eq!((&undone[..6], undone[6]), (&expected[..], None));
    assert_eq!((levels(&store), store.current_labels(QUESTION).unwrap()), (vec![], vec![]));
}

fn copy(folder: &Path, name: &str) -> std::path::PathBuf {
    let to = folder.join(name);
    std::fs::copy(folder.join("p.dissensus"), &to).unwrap();
    to
}

fn merged(into: &Path, from: &Path) -> u32 {
    let (into, from) = (Store::open(into).unwrap(), Store::open_reader(from).unwrap());
    into.merge_from(&from).unwrap().repeats
}

#[test]
fn later_rounds_merge() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        drop(small(&folder.path().join("p.dissensus"), 3, 2));
        let copies: Vec<_> = ["a", "b", "c"].into_iter().map(|name| copy(folder.path(), name)).collect();
        for _ in 0..rng.random_range(1..12) {
            let (text, occasion) = (rng.random_range(1..3), rng.random_range(2..4));
            let new = repeat(text, occasion, rng.random_range(0..2), rng.random_range(0..4));
            let store = Store::open(&copies[rng.random_range(0..3)]).unwrap();
            match rng.random_range(0..4) {
                0 => drop(remove(&store, Some(occasion), rng.random_range(0..4))),
                1 => drop(remove(&store, None, rng.random_range(0..4))),
                _ => drop(add(&store, new, true)),
            }
        }
        for (into, from) in [(0, 1), (0, 2), (2, 1), (1, 0), (2, 0), (1, 2)] {
            merged(&copies[into], &copies[from]);
        }
        let all: Vec<_> = copies.iter().map(|path| levels(&Store::open(path).unwrap())).collect();
        assert_eq!((&all[0], &all[0]), (&all[1], &all[2]));
        assert_eq!(merged(&copies[0], &copies[1]), 0);
    }
}

/// Each re-annotation has its own text: those added while the other copy is being read are left for
/// the next merge, including their texts.
#[test]
fn additions_during_a_merge_wait_for_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    drop(small(&folder.path().join("p.dissensus"), 3, 1));
    let theirs = copy(folder.path(), "theirs");
    let other = Store::open(&theirs).unwrap();
    let writing = other.clone();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        let mut added = 0_u32;
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            let new = NewText {
                external_id: format!("new {added}"),
                body: format!("new {added}"),
                group: None,
                split: None,
                metadata: Default::default(),
            };
            writing
                .write(move |tx| {
                    let text = tx.add_text(&new)?;
                    tx.add_repeat(&Repeat { text, ..repeat(1, 2, 0, 1) }, true)
                })
                .unwrap();
            added += 1;
        }
        added
    });
    for n in 0..40 {
        let ours = Store::open(copy(folder.path(), &format!("ours {n}"))).unwrap();
        ours.merge_from(&other).unwrap();
    }
    stop.send(()).unwrap();
    assert!(writer.join().unwrap() > 0);
}
