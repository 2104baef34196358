//! Labels are appended, retracted, and read back; the constraints of the schema are enforced.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use dissensus_domain::{
    AnnotatorId, Answer, CopyId, Event, EventId, EventKey, EventKind, LabelSource, MarkKind, Note, OptionSet,
    Scale, ScaleKind, TextId, current_answer, given_answers, unretracted_answers,
};
use dissensus_store::{ExportScope, NewLabel, NewMark, NewQuestion, Store, StoreError, Undo};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

const TEXTS: u32 = 6;
const ANNOTATORS: u32 = 4;
const SOURCES: [LabelSource; 4] =
    [LabelSource::Window, LabelSource::Command, LabelSource::Import, LabelSource::Simulated];

/// A random history, also recorded as plain events.
fn random_history(store: &Store, seed: u64) -> Vec<Event> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let plan: Vec<(bool, NewLabel, u32)> = (0..300)
        .map(|_| {
            let mut new =
                label(rng.random_range(1..=TEXTS), rng.random_range(1..=ANNOTATORS), rng.random_range(0..5));
            // A clock that jumps back and forth.
            new.at_ms = rng.random_range(0..1_000);
            new.source = SOURCES[rng.random_range(0..SOURCES.len())];
            (rng.random_bool(0.4), new, rng.random_range(1..=150))
        })
        .collect();
    store
        .write(move |tx| -> Result<Vec<Event>, StoreError> {
            let mut events: Vec<Event> = Vec::new();
            for (retract, new, target) in plan {
                let (target, clock) = (EventId(target), new.at_ms);
                let old = events.iter().find(|e| e.id == target).cloned();
                let (id, kind, on) = if retract {
                    match tx.retract(target, clock, new.source) {
                        Ok(id) => (id, EventKind::Retraction { of: target }, old.unwrap()),
                        Err(StoreError::Unknown { .. }) => {
                            assert!(old.is_none());
                            continue;
                        }
                        Err(StoreError::NotALabel(_)) => {
                            assert!(old.unwrap().answer().is_none());
                            continue;
                        }
                        Err(StoreError::AlreadyRetracted(_)) => {
                            assert!(events.iter().any(|e| e.retracts() == Some(target)));
                            continue;
                        }
                        Err(other) => return Err(other),
                    }
                } else {
                    let current = rule(&events, new.text, new.annotator);
                    let id = tx.add_label(&new)?;
                    let time = time_of(&events, &new, clock);
                    let replaces = current.filter(|e| e.at_ms <= time).map(|e| e.id);
                    let kind = EventKind::Answer {
                        answer: new.answer.clone(),
                        duration_ms: new.duration_ms,
                        replaces,
                    };
                    let on = Event {
                        id,
                        key: EventKey { copy: CopyId(uuid::Uuid::nil()), sequence: id.0 },
                        question: new.question,
                        text: new.text,
                        annotator: new.annotator,
                        occasion: 1,
                        at_ms: 0,
                        source: new.source,
                        kind: kind.clone(),
                        note: Note::default(),
                        guideline: None,
                        wording: None,
                    };
                    (id, kind, on)
                };
                let here = NewLabel { text: on.text, annotator: on.annotator, ..new };
                let at_ms = time_of(&events, &here, clock);
                let key = EventKey { sequence: id.0, ..on.key };
                events.push(Event { id, key, kind, at_ms, source: here.source, ..on });
                // What the transaction itself sees must also follow the rule at every step.
                let last = events.last().unwrap();
                let seen = tx.current_label(QUESTION, last.text, last.annotator)?;
                assert_eq!(seen.map(|l| l.id), rule(&events, last.text, last.annotator).map(|e| e.id));
            }
            Ok(events)
        })
        .unwrap()
}

/// An answer given here is later than everything seen of the same annotator and text, and than every
/// answer that the annotator gave; imported answers retain their time.
fn time_of(events: &[Event], new: &NewLabel, clock: i64) -> i64 {
    let own = events.iter().filter(|e| e.annotator == new.annotator);
    let same = own.filter(|e| e.text == new.text || e.answer().is_some() && e.source.is_given());
    match same.map(|e| e.at_ms + 1).max().filter(|_| new.source.is_given()) {
        Some(after) => clock.max(after),
        None => clock,
    }
}

fn rule(events: &[Event], text: TextId, annotator: AnnotatorId) -> Option<Event> {
    let own: Vec<Event> =
        events.iter().filter(|e| e.text == text && e.annotator == annotator).cloned().collect();
    current_answer(&own).cloned()
}

/// The same events without their copy, which the store chose, and their wording, of which there is
/// only one.
fn plain(events: Vec<Event>) -> Vec<Event> {
    let copy = CopyId(uuid::Uuid::nil());
    events.into_iter().map(|e| Event { key: EventKey { copy, ..e.key }, wording: None, ..e }).collect()
}

#[test]
fn current_labels_match_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..12 {
        let store = small(&folder.path().join(format!("{seed}.dissensus")), TEXTS, ANNOTATORS);
        let events = random_history(&store, seed);
        assert!(events.iter().filter(|e| e.answer().is_none()).count() > 20, "too few retractions");
        let mut expected: BTreeMap<(TextId, AnnotatorId), (EventId, Answer)> = BTreeMap::new();
        for text in (1..=TEXTS).map(TextId) {
            for annotator in (1..=ANNOTATORS).map(AnnotatorId) {
                let one = rule(&events, text, annotator);
                let found = store.current_label(QUESTION, text, annotator).unwrap();
                let answer = |e: &Event| (e.id, e.answer().unwrap().clone());
                assert_eq!(found.map(|l| (l.id, l.answer)), one.as_ref().map(answer));
                if let Some(e) = one {
                    expected.insert((text, annotator), answer(&e));
                }
                let own: Vec<_> =
                    events.iter().filter(|e| e.text == text && e.annotator == annotator).cloned().collect();
                assert_eq!(plain(store.events(QUESTION, text, annotator).unwrap()), own);
            }
        }
        check_lists(&store, &events, &expected);
        store.close().unwrap();
    }
}

fn check_lists(
    store: &Store,
    events: &[Event],
    expected: &BTreeMap<(TextId, AnnotatorId), (EventId, Answer)>,
) {
    let all: Vec<_> = expected.iter().map(|(&(t, a), (id, answer))| (t, a, *id, answer.clone())).collect();
    let seen = |labels: Vec<dissensus_domain::CurrentLabel>| -> Vec<_> {
        labels.into_iter().map(|l| (l.text, l.annotator, l.id, l.answer)).collect()
    };
    assert_eq!(seen(store.current_labels(QUESTION).unwrap()), all);
    assert_eq!(store.counts().unwrap().labels as usize, all.len());
    assert_eq!(store.counts().unwrap().events as usize, events.len());
    assert_eq!(store.last_event().unwrap(), events.last().unwrap().id);
    let since = events.len() / 2;
    assert_eq!(plain(store.events_since(EventId(0), u32::MAX).unwrap()), events);
    assert_eq!(plain(store.events_since(events[since].id, 7).unwrap()), events[since + 1..since + 8]);
    assert!(store.events_since(events.last().unwrap().id, 7).unwrap().is_empty());
    let per_person: u32 = store.annotator_counts().unwrap().iter().map(|c| c.labels).sum();
    assert_eq!(per_person as usize, all.len());
    for a in (1..=ANNOTATORS).map(AnnotatorId) {
        let own: Vec<_> = all.iter().filter(|l| l.1 == a).cloned().collect();
        assert_eq!(seen(store.current_labels_of(a, QUESTION).unwrap()), own);
        let mut history: Vec<_> = events.iter().filter(|e| e.annotator == a).cloned().collect();
        let newest = given_answers(&history).last().map(|e| e.id);
        assert_eq!(store.newest_given(QUESTION, a).unwrap().map(|e| e.id), newest);
        history.reverse();
        assert_eq!(plain(store.history(QUESTION, a, 1000).unwrap()), history);
        assert_eq!(plain(store.history(QUESTION, a, 7).unwrap()), history[..7]);
        history.sort_by_key(|e| (e.text, e.id));
        assert_eq!(plain(store.events_of(a, QUESTION).unwrap()), history);
    }
    for t in (1..=TEXTS).map(TextId) {
        let on: Vec<_> = all.iter().filter(|l| l.0 == t).cloned().collect();
        assert_eq!(seen(store.current_labels_on(t, QUESTION).unwrap()), on);
    }
    check_export(store, events, &all);
    check_unretracted(store, events, &all);
}

fn check_unretracted(store: &Store, events: &[Event], all: &[(TextId, AnnotatorId, EventId, Answer)]) {
    let current: Vec<EventId> = all.iter().map(|label| label.2).collect();
    let expected: Vec<_> = unretracted_answers(events)
        .into_iter()
        .map(|e| {
            (e.text, e.annotator, e.answer().unwrap().clone(), e.at_ms, e.source, current.contains(&e.id))
        })
        .collect();
    let mut found = Vec::new();
    store
        .snapshot(|snapshot| {
            snapshot.for_each_unretracted_answer(|a| {
                found.push((a.text, a.annotator, a.answer, a.at_ms, a.source, a.current));
                Ok::<(), StoreError>(())
            })
        })
        .unwrap();
    assert_eq!(found, expected);
    assert_eq!(found.iter().filter(|answer| answer.5).count(), all.len());
}

fn check_export(store: &Store, events: &[Event], all: &[(TextId, AnnotatorId, EventId, Answer)]) {
    let mut rows = Vec::new();
    store
        .for_each_label(QUESTION, ExportScope::Current, |row| -> Result<(), StoreError> {
            assert_eq!(row.text.external_id, format!("t{}", row.event.text.0));
            assert_eq!(row.annotator.external_id, format!("a{}", row.event.annotator.0));
            let answer = row.event.answer().unwrap();
            assert_eq!(row.level.unwrap(), (answer.level().unwrap().0 + 1).to_string());
            let found = events.iter().find(|e| e.id == row.event.id).unwrap();
            assert_eq!((row.event.at_ms, &row.event.kind), (found.at_ms, &found.kind));
            rows.push((row.text.id, row.annotator.id, row.event.id, answer.clone()));
            Ok(())
        })
        .unwrap();
    assert_eq!(rows, all);
    let mut history = Vec::new();
    store
        .for_each_label(QUESTION, ExportScope::History, |row| -> Result<(), StoreError> {
            assert_eq!(row.level.is_none(), row.event.retracts().is_some());
            history.push(row.event.clone());
            Ok(())
        })
        .unwrap();
    history.sort_by_key(|e| e.id);
    assert_eq!(plain(history), events);
}

#[test]
fn label_with_unknown_references_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 2);
    let refused = |new: NewLabel| store.append_label(&new).unwrap_err();
    let error = refused(label(1, 1, 5));
    assert_eq!(error.code(), "level-outside-scale");
    let expected = "question \"rude\": no level of the scale has the id 5; it may have been removed. The levels are 1, 2, 3, 4, 5";
    assert_eq!(error.to_string(), expected);
    let other_kind = NewLabel { answer: Answer::Options(OptionSet::default()), ..label(1, 1, 0) };
    assert_eq!(refused(other_kind).code(), "level-outside-scale");
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
fn refused_label_leaves_no_trace_in_its_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 2);
    store
        .write(|tx| {
            let nowhere = tx.add_label(&label(3, 1, 0));
            assert!(matches!(nowhere, Err(StoreError::Unknown { what: "text", .. })), "{nowhere:?}");
            tx.add_label(&label(1, 1, 2))
        })
        .unwrap();
    assert_eq!((store.counts().unwrap().events, store.counts().unwrap().labels), (1, 1));
    store.check_current_answers().unwrap();
}

#[test]
fn triggers_forbid_changing_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 2, 2);
    let first = store.append_label(&label(1, 1, 3)).unwrap().id;
    assert_eq!(first, EventId(1));
    store.close().unwrap();
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "foreign_keys", true).unwrap();
    conn.pragma_update(None, "recursive_triggers", true).unwrap();
    let event = |values: &str| {
        format!(
            "INSERT INTO events (id, copy, sequence, kind, question, text, annotator, at_ms, source, level, content, replaces) VALUES ({values})"
        )
    };
    // The following rows are rejected because of their contents, not their form.
    conn.execute(&event("2, 1, 2, 'answer', 1, 1, 1, 0, 'window', 1, NULL, 1"), []).unwrap();
    let events = [
        "3, 1, 3, 'answer', 1, 1, 1, 0, 'window', 5, NULL, NULL",
        "3, 1, 3, 'answer', 1, 1, 1, 0, 'window', NULL, NULL, NULL",
        "3, 1, 3, 'answer', 1, 1, 1, 0, 'window', 1, '[]', NULL",
        "3, 1, 3, 'answer', 1, 1, 1, 0, 'window', NULL, 'no json', NULL",
        "3, 1, 3, 'answer', 1, 1, 1, 0, 'dream', 1, NULL, NULL",
        "3, 1, 3, 'answer', 1, 1, 1, 0, 'window', 1, NULL, 3",
        "3, 1, 3, 'answer', 1, 9, 1, 0, 'window', 1, NULL, NULL",
        "3, 1, 2, 'answer', 1, 1, 1, 0, 'window', 1, NULL, NULL",
        "3, 2, 3, 'answer', 1, 1, 1, 0, 'window', 1, NULL, NULL",
        "3, 1, 3, 'retraction', 1, 1, 1, 0, 'window', NULL, NULL, NULL",
        "3, 1, 3, 'retraction', 1, 1, 1, 0, 'window', 1, NULL, 1",
        "3, 1, 3, 'skip', 1, 1, 1, 0, 'window', NULL, NULL, 1",
        "3, 1, 3, 'dream', 1, 1, 1, 0, 'window', NULL, NULL, NULL",
    ];
    let events = events.map(event);
    let replaced = event("1, 1, 1, 'answer', 1, 1, 1, 0, 'window', 1, NULL, NULL")
        .replace("INSERT", "INSERT OR REPLACE");
    for sql in events.iter().map(String::as_str).chain([
        replaced.as_str(),
        "UPDATE events SET level = 0",
        "DELETE FROM events",
        "UPDATE copies SET uid = x'00112233445566778899aabbccddeeff'",
        "DELETE FROM copies",
        "UPDATE project SET uid = x'00112233445566778899aabbccddeeff'",
        "DELETE FROM project",
        "UPDATE texts SET body = 'other'",
        "UPDATE levels SET name = 'other' WHERE level = 1",
        "INSERT INTO texts (external_id, body, metadata) VALUES ('x', 'y', 'no json')",
        "INSERT INTO texts (external_id, body) VALUES ('x', x'00')",
    ]) {
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
fn newest_mark_is_current() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 3, 2);
    let mark = |text, kind, note: Option<&str>| {
        let (annotator, note) = (AnnotatorId(1), note.map(str::to_owned));
        store
            .mark(&NewMark {
                annotator,
                question: QUESTION,
                text: TextId(text),
                kind,
                at_ms: 0,
                source: LabelSource::Window,
                note: Note { note, ..Note::default() },
                guideline: None,
            })
            .unwrap();
    };
    mark(1, MarkKind::Skip, None);
    mark(1, MarkKind::Flag, Some("sarcasm?"));
    mark(2, MarkKind::Skip, None);
    mark(2, MarkKind::Unskip, None);
    let marks = store.marks(AnnotatorId(1), QUESTION).unwrap();
    assert!(marks[&TextId(1)].skipped && marks[&TextId(1)].flagged);
    assert_eq!(marks[&TextId(1)].note.note.as_deref(), Some("sarcasm?"));
    assert!(!marks[&TextId(2)].skipped && !marks.contains_key(&TextId(3)));
    assert!(store.marks(AnnotatorId(2), QUESTION).unwrap().is_empty());
    let (annotator, text) = (AnnotatorId(7), TextId(1));
    let source = LabelSource::Window;
    let nobody = NewMark {
        annotator,
        question: QUESTION,
        text,
        kind: MarkKind::Flag,
        at_ms: 0,
        source,
        note: Note::default(),
        guideline: None,
    };
    assert!(matches!(store.mark(&nobody), Err(StoreError::Unknown { what: "annotator", .. })));
}

#[test]
fn sets_of_options_are_stored_as_sets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 2, 1);
    let scale = Scale::new(ScaleKind::MultiLabel, ["rude", "threat", "lie"]).unwrap();
    let asked = scale.clone();
    let question = store
        .write(move |tx| {
            tx.add_question(&NewQuestion { name: "harm".into(), prompt: "?".into(), scale: asked })
        })
        .unwrap();
    let both = Answer::Options(OptionSet::new([0, 2]).unwrap());
    let none = Answer::Options(OptionSet::default());
    store.append_label(&NewLabel { question, answer: both.clone(), ..label(1, 1, 0) }).unwrap();
    store.append_label(&NewLabel { question, answer: none.clone(), ..label(2, 1, 0) }).unwrap();
    let beyond = NewLabel { question, answer: Answer::Options(OptionSet::from_bits(8)), ..label(1, 1, 0) };
    assert_eq!(store.append_label(&beyond).unwrap_err().code(), "level-outside-scale");
    let level = NewLabel { question, ..label(1, 1, 0) };
    assert_eq!(store.append_label(&level).unwrap_err().code(), "level-outside-scale");
    store.close().unwrap();
    let store = Store::open(&path).unwrap();
    let question = store.question_by_name("harm").unwrap().unwrap();
    assert_eq!(question.scale, scale);
    let answers: Vec<Answer> =
        store.current_labels(question.id).unwrap().into_iter().map(|l| l.answer).collect();
    assert_eq!(answers, [both, none]);
    let mut names = Vec::new();
    store
        .for_each_label(question.id, ExportScope::Current, |row| -> Result<(), StoreError> {
            names.push(row.level.unwrap().to_owned());
            Ok(())
        })
        .unwrap();
    assert_eq!(names, ["rude + lie", "none"]);
}

#[test]
fn replacement_holds_despite_a_clock_jump() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 1, 1);
    let give = |level, at_ms, source| {
        store.append_label(&NewLabel { at_ms, source, ..label(1, 1, level) }).unwrap().id
    };
    let answer = || store.current_label(QUESTION, TextId(1), AnnotatorId(1)).unwrap().unwrap().answer;
    give(1, 1_000_000, LabelSource::Window);
    let later = give(2, 5, LabelSource::Window);
    assert_eq!(answer(), Answer::from_level(2));
    assert_eq!(store.event(later).unwrap().unwrap().at_ms, 1_000_001);
    // An imported label retains its time, and an earlier one changes nothing.
    let old = give(4, 999, LabelSource::Import);
    assert_eq!((answer(), store.event(old).unwrap().unwrap().at_ms), (Answer::from_level(2), 999));
    assert_eq!(store.event(old).unwrap().unwrap().replaces(), None);
    give(3, 1_000_001, LabelSource::Import);
    assert_eq!(answer(), Answer::from_level(3), "of equal times the later row counts");
    // Also marks: the skip was made after the flag was seen.
    let mark = |kind, at_ms| {
        let (annotator, text, source) = (AnnotatorId(1), TextId(1), LabelSource::Window);
        store
            .mark(&NewMark {
                annotator,
                question: QUESTION,
                text,
                kind,
                at_ms,
                source,
                note: Note::default(),
                guideline: None,
            })
            .unwrap();
    };
    mark(MarkKind::Skip, 2_000_000);
    mark(MarkKind::Unskip, 7);
    assert!(!store.marks(AnnotatorId(1), QUESTION).unwrap()[&TextId(1)].skipped);
}

#[test]
fn undo_skips_imported_labels() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 3, 1);
    let give = |text, source| store.append_label(&NewLabel { source, ..label(text, 1, 1) }).unwrap().id;
    let given = give(1, LabelSource::Command);
    give(2, LabelSource::Import);
    give(3, LabelSource::Simulated);
    assert_eq!(store.newest_given(QUESTION, AnnotatorId(1)).unwrap().unwrap().id, given);
    store.retract(given, 2_000, LabelSource::Command).unwrap();
    assert_eq!(store.newest_given(QUESTION, AnnotatorId(1)).unwrap(), None);
    let retraction = store.events_since(given, 10).unwrap().pop().unwrap();
    assert_eq!((retraction.retracts(), retraction.source), (Some(given), LabelSource::Command));
}

#[test]
fn undo_refuses_a_replaced_answer() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 1);
    let ada = AnnotatorId(1);
    let give = |text, level, at_ms, source| {
        store.append_label(&NewLabel { source, at_ms, ..label(text, 1, level) }).unwrap().id
    };
    let undo = || store.write(move |tx| tx.undo(QUESTION, ada, 9_000, LabelSource::Window)).unwrap();
    assert_eq!(undo(), Undo::Nothing);
    let first = give(1, 1, 1_000, LabelSource::Window);
    let second = give(2, 2, 1_001, LabelSource::Command);
    let import = give(2, 3, 5_000, LabelSource::Import);
    let last = store.last_event().unwrap();
    match undo() {
        Undo::Replaced { given, current } => assert_eq!((given.id, current.id), (second, import)),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.last_event().unwrap(), last, "something was appended");
    // The answer given after the import is retracted, and then nothing more.
    let third = give(2, 4, 6_000, LabelSource::Window);
    assert!(matches!(undo(), Undo::TakenBack(event) if event.id == third));
    assert!(matches!(undo(), Undo::Replaced { .. }));
    let current = |text| store.current_label(QUESTION, TextId(text), ada).unwrap().unwrap().id;
    assert_eq!((current(1), current(2)), (first, import));
}

#[test]
fn concurrent_undo_retracts_each_answer_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 40, 1);
    for text in 1..=40 {
        store.append_label(&NewLabel { source: LabelSource::Window, ..label(text, 1, 1) }).unwrap();
    }
    let undone: usize = std::thread::scope(|scope| {
        let undo = || {
            let undo = || store.write(|tx| tx.undo(QUESTION, AnnotatorId(1), 9_000, LabelSource::Window));
            (0..15).filter(|_| matches!(undo().unwrap(), Undo::TakenBack(_))).count()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(undo)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((undone, store.counts().unwrap().labels), (40, 0));
}
