//! Answers of later occasions: kept apart from labels, the same in all copies, in files of older formats too.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod common;

use common::{QUESTION, label, small};
use dissensus_domain::{AnnotatorId, Answer, LabelSource, TextId};
use dissensus_store::{Repeat, Store, StoreError};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

fn repeat(text: u32, occasion: u16, level: u16, at_ms: i64) -> Repeat {
    Repeat {
        question: QUESTION,
        text: TextId(text),
        annotator: AnnotatorId(1),
        occasion,
        answer: Answer::Level(level),
        at_ms,
        source: LabelSource::Import,
    }
}

fn add(store: &Store, new: Repeat, timed: bool) -> bool {
    store.write(move |tx| tx.add_repeat(&new, timed)).unwrap()
}

fn levels(store: &Store) -> Vec<(u32, u16, Answer)> {
    let all = store.repeats(QUESTION).unwrap().into_iter();
    all.map(|r| (r.text.0, r.occasion, r.answer)).collect()
}

#[test]
fn they_touch_no_label_and_the_later_one_of_an_occasion_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 3, 2);
    store.append_label(&label(1, 1, 0)).unwrap();
    let before = (store.current_labels(QUESTION).unwrap(), store.last_event().unwrap());
    assert!(add(&store, repeat(1, 2, 1, 50), true));
    assert!(!add(&store, repeat(1, 2, 1, 50), true), "the same fact again");
    assert!(add(&store, repeat(1, 2, 0, 40), true), "an earlier one is kept, and does not count");
    assert!(add(&store, repeat(1, 3, 0, 60), true));
    assert_eq!(levels(&store), [(1, 2, Answer::Level(1)), (1, 3, Answer::Level(0))]);
    // Without a time what is known is known, and what is new comes after what is there.
    assert!(!add(&store, repeat(1, 2, 1, 0), false));
    assert!(add(&store, repeat(2, 2, 1, 7), false));
    assert!(add(&store, repeat(2, 2, 0, 7), false));
    assert_eq!(levels(&store)[2], (2, 2, Answer::Level(0)));
    assert_eq!((store.current_labels(QUESTION).unwrap(), store.last_event().unwrap()), before);
}

#[test]
fn what_is_no_repeat_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 1);
    let refused = |new: Repeat| store.write(move |tx| tx.add_repeat(&new, true)).unwrap_err();
    assert!(matches!(refused(repeat(1, 2, 60_000, 0)), StoreError::OffScale { .. }));
    assert!(matches!(refused(repeat(9, 2, 0, 0)), StoreError::Unknown { .. }));
    refused(repeat(1, 1, 0, 0));
    assert_eq!(levels(&store), []);
}

fn copy(folder: &Path, name: &str) -> std::path::PathBuf {
    let to = folder.join(name);
    std::fs::copy(folder.join("p.dissensus"), &to).unwrap();
    to
}

fn taken_in(into: &Path, from: &Path) -> u32 {
    let (into, from) = (Store::open(into).unwrap(), Store::open_reader(from).unwrap());
    into.take_in(&from).unwrap().repeats
}

#[test]
fn copies_agree_after_taking_in_each_others() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        drop(small(&folder.path().join("p.dissensus"), 3, 2));
        let copies: Vec<_> = ["a", "b", "c"].into_iter().map(|name| copy(folder.path(), name)).collect();
        for _ in 0..rng.random_range(1..12) {
            let (text, occasion) = (rng.random_range(1..3), rng.random_range(2..4));
            let new = repeat(text, occasion, rng.random_range(0..2), rng.random_range(0..4));
            add(&Store::open(&copies[rng.random_range(0..3)]).unwrap(), new, true);
        }
        for (into, from) in [(0, 1), (0, 2), (2, 1), (1, 0), (2, 0), (1, 2)] {
            taken_in(&copies[into], &copies[from]);
        }
        let all: Vec<_> = copies.iter().map(|path| levels(&Store::open(path).unwrap())).collect();
        assert_eq!((&all[0], &all[0]), (&all[1], &all[2]));
        assert_eq!(taken_in(&copies[0], &copies[1]), 0);
    }
}
