//! Labels are appended, taken back, and found again; the rules of the schema hold.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod common;

use common::{QUESTION, label, small};
use dissensus_domain::{AnnotatorId, LabelEvent, LabelId, LabelSource, TextId, current_label};
use dissensus_store::{ExportScope, MarkKind, NewLabel, NewMark, Store, StoreError};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

const TEXTS: u32 = 6;
const ANNOTATORS: u32 = 4;
const SOURCES: [LabelSource; 4] =
    [LabelSource::Window, LabelSource::Command, LabelSource::Import, LabelSource::Simulated];

/// A random history, kept beside the store as plain events.
fn random_history(store: &Store, seed: u64) -> Vec<LabelEvent> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let plan: Vec<(bool, NewLabel, u32)> = (0..300)
        .map(|n| {
            let mut new =
                label(rng.random_range(1..=TEXTS), rng.random_range(1..=ANNOTATORS), rng.random_range(0..5));
            new.at_ms = n;
            new.source = SOURCES[rng.random_range(0..SOURCES.len())];
            (rng.random_bool(0.4), new, rng.random_range(1..=300))
        })
        .collect();
    store
        .write(move |tx| -> Result<Vec<LabelEvent>, StoreError> {
            let mut events: Vec<LabelEvent> = Vec::new();
            for (retract, new, target) in plan {
                let event = if retract {
                    let target = LabelId(target);
                    let at = new.at_ms;
                    match tx.retract(target, at, LabelSource::Window) {
                        Ok(id) => {
                            let old = events.iter().find(|e| e.id == target).unwrap().clone();
                            let (level, duration_ms, retracts) = (None, None, Some(target));
                            let source = LabelSource::Window;
                            LabelEvent { id, level, duration_ms, retracts, at_ms: at, source, ..old }
                        }
                        Err(StoreError::Unknown { .. }) => {
                            assert!(events.iter().all(|e| e.id != target));
                            continue;
                        }
                        Err(StoreError::NotALabel(_)) => {
                            assert!(events.iter().any(|e| e.id == target && e.level.is_none()));
                            continue;
                        }
                        Err(StoreError::AlreadyRetracted(_)) => {
                            assert!(events.iter().any(|e| e.retracts == Some(target)));
                            continue;
                        }
                        Err(other) => return Err(other),
                    }
                } else {
                    LabelEvent {
                        id: tx.add_label(&new)?,
                        question: new.question,
                        text: new.text,
                        annotator: new.annotator,
                        level: Some(new.level),
                        at_ms: new.at_ms,
                        duration_ms: new.duration_ms,
                        source: new.source,
                        retracts: None,
                    }
                };
                events.push(event);
                // What the transaction itself sees must follow the rule at every step, too.
                let last = events.last().unwrap();
                let seen = tx.current_label(QUESTION, last.text, last.annotator)?;
                assert_eq!(seen.map(|l| l.id), rule(&events, last.text, last.annotator).map(|e| e.id));
            }
            Ok(events)
        })
        .unwrap()
}

fn rule(events: &[LabelEvent], text: TextId, annotator: AnnotatorId) -> Option<LabelEvent> {
    let own: Vec<LabelEvent> =
        events.iter().filter(|e| e.text == text && e.annotator == annotator).cloned().collect();
    current_label(&own).cloned()
}

#[test]
fn current_labels_follow_the_rule_on_random_histories() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..12 {
        let store = small(&folder.path().join(format!("{seed}.dissensus")), TEXTS, ANNOTATORS);
        let events = random_history(&store, seed);
        assert!(events.iter().filter(|e| e.level.is_none()).count() > 20, "too few retractions");
        let mut expected: BTreeMap<(TextId, AnnotatorId), (LabelId, u16)> = BTreeMap::new();
        for text in (1..=TEXTS).map(TextId) {
            for annotator in (1..=ANNOTATORS).map(AnnotatorId) {
                let one = rule(&events, text, annotator);
                let found = store.current_label(QUESTION, text, annotator).unwrap();
                assert_eq!(found.map(|l| (l.id, Some(l.level))), one.as_ref().map(|e| (e.id, e.level)));
                if let Some(e) = one {
                    expected.insert((text, annotator), (e.id, e.level.unwrap()));
                }
                let own: Vec<_> =
                    events.iter().filter(|e| e.text == text && e.annotator == annotator).cloned().collect();
                assert_eq!(store.events(QUESTION, text, annotator).unwrap(), own);
            }
        }
        check_lists(&store, &events, &expected);
        store.close().unwrap();
    }
}

fn check_lists(
    store: &Store,
    events: &[LabelEvent],
    expected: &BTreeMap<(TextId, AnnotatorId), (LabelId, u16)>,
) {
    let all: Vec<_> = expected.iter().map(|(&(t, a), &(id, level))| (t, a, id, level)).collect();
    let seen = |labels: Vec<dissensus_domain::CurrentLabel>| -> Vec<_> {
        labels.into_iter().map(|l| (l.text, l.annotator, l.id, l.level)).collect()
    };
    assert_eq!(seen(store.current_labels(QUESTION).unwrap()), all);
    assert_eq!(store.counts().unwrap().labels as usize, all.len());
    assert_eq!(store.counts().unwrap().events as usize, events.len());
    assert_eq!(store.last_label().unwrap(), events.last().unwrap().id);
    let per_person: u32 = store.annotator_counts().unwrap().iter().map(|c| c.labels).sum();
    assert_eq!(per_person as usize, all.len());
    let stands = |e: &&LabelEvent| e.level.is_some() && !events.iter().any(|r| r.retracts == Some(e.id));
    for a in (1..=ANNOTATORS).map(AnnotatorId) {
        let own: Vec<_> = all.iter().copied().filter(|l| l.1 == a).collect();
        assert_eq!(seen(store.current_labels_of(a, QUESTION).unwrap()), own);
        let mut history: Vec<_> = events.iter().filter(|e| e.annotator == a).cloned().collect();
        history.reverse();
        assert_eq!(store.history(QUESTION, a, 1000).unwrap(), history);
        assert_eq!(store.history(QUESTION, a, 7).unwrap(), history[..7]);
        let newest = history.iter().find(|e| stands(e)).cloned();
        assert_eq!(store.newest_label(QUESTION, a).unwrap(), newest);
        let here = |e: &&LabelEvent| matches!(e.source, LabelSource::Window | LabelSource::Command);
        let since: BTreeSet<TextId> =
            history.iter().filter(|e| stands(e) && here(e) && e.at_ms >= 150).map(|e| e.text).collect();
        assert_eq!(store.texts_labelled_since(a, QUESTION, 150).unwrap() as usize, since.len());
    }
    for t in (1..=TEXTS).map(TextId) {
        let on: Vec<_> = all.iter().copied().filter(|l| l.0 == t).collect();
        assert_eq!(seen(store.current_labels_on(t, QUESTION).unwrap()), on);
    }
    check_export(store, events, &all);
}

fn check_export(store: &Store, events: &[LabelEvent], all: &[(TextId, AnnotatorId, LabelId, u16)]) {
    let mut rows = Vec::new();
    store
        .for_each_label(QUESTION, ExportScope::Current, |row| -> Result<(), StoreError> {
            assert_eq!(row.text.external_id, format!("t{}", row.event.text.0));
            assert_eq!(row.annotator.external_id, format!("a{}", row.event.annotator.0));
            assert_eq!(row.level.unwrap(), (row.event.level.unwrap() + 1).to_string());
            assert_eq!(Some(row.event), events.iter().find(|e| e.id == row.event.id));
            rows.push((row.text.id, row.annotator.id, row.event.id, row.event.level.unwrap()));
            Ok(())
        })
        .unwrap();
    assert_eq!(rows, all);
    let mut history = Vec::new();
    store
        .for_each_label(QUESTION, ExportScope::History, |row| -> Result<(), StoreError> {
            assert_eq!(row.level.is_none(), row.event.retracts.is_some());
            history.push(row.event.clone());
            Ok(())
        })
        .unwrap();
    history.sort_by_key(|e| e.id);
    assert_eq!(history, events);
}

#[test]
fn a_label_that_leads_nowhere_is_refused_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 2);
    let refused = |new: NewLabel| store.append_label(&new).unwrap_err();
    let error = refused(label(1, 1, 5));
    assert!(matches!(error, StoreError::LevelOutside { level: 5, levels: 5, .. }), "{error}");
    for (new, what) in [
        (label(3, 1, 0), "text"),
        (label(1, 9, 0), "annotator"),
        (NewLabel { question: dissensus_domain::QuestionId(4), ..label(1, 1, 0) }, "question"),
    ] {
        match refused(new) {
            StoreError::Unknown { what: found, .. } => assert_eq!(found, what),
            other => panic!("{other}"),
        }
    }
    assert_eq!(store.counts().unwrap().events, 0);
}

#[test]
fn the_file_itself_forbids_to_change_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 2, 2);
    let first = store.append_label(&label(1, 1, 3)).unwrap().id;
    assert_eq!(first, LabelId(1));
    store.close().unwrap();
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "foreign_keys", true).unwrap();
    conn.pragma_update(None, "recursive_triggers", true).unwrap();
    for sql in [
        "UPDATE labels SET level = 0",
        "DELETE FROM labels",
        "INSERT INTO labels (question, text, annotator, level, at_ms, source) VALUES (1, 1, 1, 5, 0, 'window')",
        "INSERT INTO labels (question, text, annotator, at_ms, source) VALUES (1, 1, 1, 0, 'window')",
        "INSERT INTO labels (question, text, annotator, level, at_ms, source, retracts) VALUES (1, 1, 1, 1, 0, 'window', 1)",
        "INSERT INTO labels (question, text, annotator, at_ms, source, retracts) VALUES (1, 1, 1, 0, 'window', 2)",
        "INSERT INTO labels (question, text, annotator, at_ms, source, retracts) VALUES (1, 1, 1, 0, 'window', 99)",
        "INSERT OR REPLACE INTO labels (id, question, text, annotator, level, at_ms, source) VALUES (1, 1, 1, 1, 1, 0, 'window')",
        "INSERT INTO labels (question, text, annotator, level, at_ms, source) VALUES (1, 1, 1, 1, 0, 'dream')",
        "UPDATE texts SET body = 'other'",
        "UPDATE levels SET name = 'other' WHERE level = 1",
        "INSERT INTO texts (external_id, body, metadata) VALUES ('x', 'y', 'no json')",
        "INSERT INTO texts (external_id, body) VALUES ('x', x'00')",
    ] {
        let error = conn.execute(sql, []).expect_err(sql);
        let text = error.to_string();
        assert_eq!(
            error.sqlite_error_code(),
            Some(rusqlite::ErrorCode::ConstraintViolation),
            "{sql}: {text}"
        );
    }
}

#[test]
fn the_newest_mark_holds() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 3, 2);
    let mark = |text, kind, note: Option<&str>| {
        let (annotator, note) = (AnnotatorId(1), note.map(str::to_owned));
        store
            .mark(&NewMark { annotator, question: QUESTION, text: TextId(text), kind, at_ms: 0, note })
            .unwrap();
    };
    mark(1, MarkKind::Skip, None);
    mark(1, MarkKind::Flag, Some("sarcasm?"));
    mark(2, MarkKind::Skip, None);
    mark(2, MarkKind::Unskip, None);
    let marks = store.marks(AnnotatorId(1), QUESTION).unwrap();
    assert!(marks[&TextId(1)].skipped && marks[&TextId(1)].flagged);
    assert_eq!(marks[&TextId(1)].note.as_deref(), Some("sarcasm?"));
    assert!(!marks[&TextId(2)].skipped && !marks.contains_key(&TextId(3)));
    assert!(store.marks(AnnotatorId(2), QUESTION).unwrap().is_empty());
    let (annotator, text) = (AnnotatorId(7), TextId(1));
    let nobody = NewMark { annotator, question: QUESTION, text, kind: MarkKind::Flag, at_ms: 0, note: None };
    assert!(matches!(store.mark(&nobody), Err(StoreError::Unknown { what: "annotator", .. })));
}
