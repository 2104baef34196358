//! Decisions are stored in addition to labels, change none, and are merged into every copy.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use dissensus_domain::{Answer, Decision, Outcome, TextId};
use dissensus_store::Store;

fn decision(outcome: Outcome, at_ms: i64, by: &str) -> Decision {
    Decision {
        question: QUESTION,
        text: TextId(1),
        at_ms,
        outcome,
        answer: (outcome == Outcome::Slip).then_some(Answer::from_level(2)),
        comment: format!("because {by}"),
        by: by.to_owned(),
    }
}

fn holds(store: &Store) -> (Outcome, String) {
    let last = store.decisions(QUESTION).unwrap().pop().unwrap();
    (last.outcome, last.by)
}

#[test]
fn latest_decision_is_current_and_changes_no_label() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 2);
    store.append_label(&label(1, 1, 4)).unwrap();
    let labels = store.current_labels(QUESTION).unwrap();
    let decide = |new: Decision| store.write(move |tx| tx.decide(&new));
    decide(decision(Outcome::Slip, 100, "ada")).unwrap();
    // A clock that was set back.
    decide(decision(Outcome::RealDifference, 50, "ben")).unwrap();
    assert_eq!(holds(&store), (Outcome::RealDifference, "ben".to_owned()));
    assert_eq!(store.decisions(QUESTION).unwrap()[0].answer, Some(Answer::from_level(2)));
    assert_eq!(store.current_labels(QUESTION).unwrap(), labels);
    decide(Decision { text: TextId(2), ..decision(Outcome::Ambiguous, 1, "cleo") }).unwrap();
    let of_first = store.decisions_on_text(QUESTION, TextId(1)).unwrap();
    assert_eq!(of_first, store.decisions(QUESTION).unwrap()[..2], "those of one text alone");
    let off = Decision { answer: Some(Answer::from_level(9)), ..decision(Outcome::Slip, 1, "x") };
    assert_eq!(decide(off).unwrap_err().code(), "level-outside-scale");
    let nowhere = Decision { text: TextId(77), ..decision(Outcome::Slip, 1, "x") };
    assert_eq!(decide(nowhere).unwrap_err().code(), "unknown");
    assert_eq!(store.decisions(QUESTION).unwrap().len(), 3);
}

#[test]
fn decisions_of_copies_merge() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.dissensus"), folder.path().join("b.dissensus"));
    small(&a, 2, 2).close().unwrap();
    std::fs::copy(&a, &b).unwrap();
    let (a, b) = (Store::open(&a).unwrap(), Store::open(&b).unwrap());
    a.write(|tx| tx.decide(&decision(Outcome::Ambiguous, 100, "ada"))).unwrap();
    b.write(|tx| tx.decide(&decision(Outcome::GuidelineGap, 100, "ben"))).unwrap();
    b.write(|tx| tx.decide(&decision(Outcome::Reopened, 90, "cleo"))).unwrap();
    assert_eq!(a.merge_from(&b).unwrap().decisions, 2);
    assert_eq!(b.merge_from(&a).unwrap().decisions, 1);
    assert_eq!(a.merge_from(&b).unwrap().decisions, 0);
    assert_eq!(a.decisions(QUESTION).unwrap(), b.decisions(QUESTION).unwrap());
    assert_eq!(holds(&a), (Outcome::Reopened, "cleo".to_owned()), "it was decided after the one of its copy");
}
