//! Copies of a project that were labelled separately are merged, in any order and any number of
//! times.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, copied, label, merge_from, small};
use dissensus_domain::{
    AnnotatorId, Answer, CopyId, Event, EventId, EventKey, EventKind, Guideline, GuidelineId, LabelSource,
    LevelId, MarkKind, Marks, Note, NoteForm, Scale, ScaleKind, Span, SpanSet, TextId,
};
use dissensus_store::{
    AnswerDetails, MergedCounts, NewAnnotator, NewLabel, NewMark, NewQuestion, NewText, Store, StoreError,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const TEXTS: u32 = 3;
const ANNOTATORS: u32 = 2;
const COPIES: usize = 3;

/// Everything that copies must agree on, by names and ids instead of row ids.
#[derive(Clone, Debug, PartialEq)]
struct State {
    current: BTreeMap<(String, String), (EventKey, Answer)>,
    marks: BTreeMap<(String, String), Marks>,
    histories: BTreeMap<(String, String), BTreeSet<String>>,
    texts: BTreeSet<String>,
    guidelines: Vec<Guideline>,
    note_form: NoteForm,
}

fn state(store: &Store) -> State {
    let texts: BTreeMap<TextId, String> = store.all_text_ids_and_externals().unwrap().into_iter().collect();
    let people = store.annotators().unwrap();
    let events = store.events_since(EventId(0), u32::MAX).unwrap();
    let keys: BTreeMap<EventId, EventKey> = events.iter().map(|e| (e.id, e.key)).collect();
    let mut found = State {
        current: BTreeMap::new(),
        marks: BTreeMap::new(),
        histories: BTreeMap::new(),
        texts: texts.values().cloned().collect(),
        guidelines: store.guidelines().unwrap(),
        note_form: store.questions().unwrap()[0].note_form.clone(),
    };
    for person in &people {
        for (text, marks) in store.marks(person.id, QUESTION).unwrap() {
            found.marks.insert((texts[&text].clone(), person.external_id.clone()), marks);
        }
    }
    let who = |id: AnnotatorId| people.iter().find(|p| p.id == id).unwrap().external_id.clone();
    for label in store.current_labels(QUESTION).unwrap() {
        let place = (texts[&label.text].clone(), who(label.annotator));
        found.current.insert(place, (keys[&label.id], label.answer));
    }
    for event in &events {
        let names = event.replaces().or(event.retracts()).map(|id| keys[&id]);
        let message = match &event.kind {
            EventKind::Answer { answer, duration_ms, .. } => format!("{answer:?} {duration_ms:?}"),
            EventKind::Retraction { .. } => "retraction".to_owned(),
            EventKind::Mark(mark) => mark.to_string(),
        };
        let line = format!(
            "{} {} {} {message} {names:?} {:?} {:?}",
            event.key, event.at_ms, event.source, event.note, event.guideline
        );
        let place = (texts[&event.text].clone(), who(event.annotator));
        found.histories.entry(place).or_default().insert(line);
    }
    found
}

fn state_at(path: &Path) -> State {
    let store = Store::open_reader(path).unwrap();
    let state = state(&store);
    store.close().unwrap();
    state
}

/// A session in one copy: labels, corrections, undo, marks and imports, with its own clock.
fn work(path: &Path, rng: &mut ChaCha8Rng) {
    let store = Store::open(path).unwrap();
    for _ in 0..rng.random_range(1..8) {
        let (text, annotator) = (rng.random_range(1..=TEXTS), rng.random_range(1..=ANNOTATORS));
        let at_ms = rng.random_range(0..50);
        let source = [LabelSource::Window, LabelSource::Command, LabelSource::Import][rng.random_range(0..3)];
        match rng.random_range(0..8) {
            0 => {
                if let Some(newest) = store.newest_given(QUESTION, AnnotatorId(annotator)).unwrap() {
                    store.retract(newest.id, at_ms, source).unwrap();
                }
            }
            1 => {
                let kind =
                    [MarkKind::Skip, MarkKind::Unskip, MarkKind::Flag, MarkKind::Unflag, MarkKind::Note]
                        [rng.random_range(0..5)];
                let note = (kind == MarkKind::Note).then(|| format!("note {at_ms}"));
                let note = Note { note, ..Note::default() };
                let guideline = store.newest_guideline().unwrap().map(|(newest, _)| newest.id);
                let (annotator, text) = (AnnotatorId(annotator), TextId(text));
                store
                    .mark(&NewMark {
                        annotator,
                        question: QUESTION,
                        text,
                        kind,
                        at_ms,
                        source,
                        note,
                        guideline,
                    })
                    .unwrap();
            }
            2 => {
                let (id, by) = (GuidelineId(uuid::Uuid::from_u128(rng.random())), String::new());
                let new = Guideline { id, at_ms, body: format!("by {at_ms}"), change: String::new(), by };
                store.write(move |tx| tx.write_guideline(&new, &[])).unwrap();
            }
            3 => {
                let form = NoteForm { reasons: vec![format!("r{at_ms}")], confidence: text == 1 };
                store.write(move |tx| tx.set_note_form(QUESTION, &form, at_ms)).unwrap();
            }
            _ => {
                let new = label(text, annotator, rng.random_range(0..5));
                let confidence = Some(rng.random_range(1..=5)).filter(|sure| *sure > 3);
                let reasons = if rng.random() { vec![format!("r{at_ms}")] } else { Vec::new() };
                let note = Note { note: None, reasons, confidence };
                let guideline = store.newest_guideline().unwrap().map(|(newest, _)| newest.id);
                let details = AnswerDetails { note, guideline, removes_note: false };
                store.append_label_with(&NewLabel { at_ms, source, ..new }, &details).unwrap();
            }
        }
    }
    store.close().unwrap();
}

/// Copies of one project that were labelled separately, sometimes merged, and copied over each
/// other by hand.
fn copies(folder: &Path, seed: u64) -> Vec<PathBuf> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let first = folder.join(format!("{seed}-0.dissensus"));
    small(&first, TEXTS, ANNOTATORS).close().unwrap();
    work(&first, &mut rng);
    let mut all = vec![first.clone()];
    all.extend((1..COPIES).map(|n| copied(&first, &format!("{seed}-{n}.dissensus"))));
    for _ in 0..8 {
        let (one, other) = (rng.random_range(0..COPIES), rng.random_range(0..COPIES));
        match rng.random_range(0..6) {
            0 if one != other => drop(merge_from(&all[one], &all[other])),
            1 if one != other => drop(std::fs::copy(&all[one], &all[other]).unwrap()),
            _ => work(&all[one], &mut rng),
        }
    }
    all
}

#[test]
fn merge_is_commutative_and_idempotent() {
    let folder = tempfile::tempdir().unwrap();
    let mut differed = 0;
    for seed in 0..25 {
        let all = copies(folder.path(), seed);
        let [a, b, c] = [&all[0], &all[1], &all[2]];
        differed += usize::from(state_at(a).current != state_at(b).current);

        let ab = copied(a, "ab.dissensus");
        let report = merge_from(&ab, b);
        let ba = copied(b, "ba.dissensus");
        merge_from(&ba, a);
        assert_eq!(state_at(&ab), state_at(&ba), "seed {seed}: commutative");

        let again = merge_from(&ab, b);
        assert_eq!(again, MergedCounts { known: report.events + report.known, ..MergedCounts::default() });
        assert_eq!(state_at(&ab), state_at(&ba), "seed {seed}: idempotent");

        merge_from(&ab, c);
        let bc = copied(b, "bc.dissensus");
        merge_from(&bc, c);
        let a_bc = copied(a, "a-bc.dissensus");
        merge_from(&a_bc, &bc);
        assert_eq!(state_at(&ab), state_at(&a_bc), "seed {seed}: associative");

        // The derived tables match the events.
        let store = Store::open_reader(&a_bc).unwrap();
        store.check_current_answers().unwrap();
        store.close().unwrap();
    }
    assert!(differed > 15, "the copies hardly differed: {differed} of 25");
}

#[test]
fn replacement_in_a_copy_wins_despite_its_clock() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    small(&a, 1, 1).close().unwrap();
    let b = copied(&a, "b.dissensus");
    let give = |path: &Path, level, at_ms| {
        let store = Store::open(path).unwrap();
        store.append_label(&NewLabel { at_ms, ..label(1, 1, level) }).unwrap();
        store.close().unwrap();
    };
    give(&a, 1, 5_000_000);
    merge_from(&b, &a);
    give(&b, 2, 10); // this clock is years behind
    merge_from(&a, &b);
    for path in [&a, &b] {
        let current: Vec<_> = state_at(path).current.into_values().map(|(_, answer)| answer).collect();
        assert_eq!(current, [Answer::from_level(2)]);
    }
    // Given independently: the later time is current.
    let c = copied(&a, "c.dissensus");
    give(&a, 3, 9_000_000);
    give(&c, 4, 8_000_000);
    merge_from(&c, &a);
    merge_from(&a, &c);
    assert_eq!(state_at(&a), state_at(&c));
    assert_eq!(state_at(&a).current.into_values().next().unwrap().1, Answer::from_level(3));
}

#[test]
fn every_writing_session_has_a_new_copy_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    small(&path, 2, 1).close().unwrap();
    let backup = copied(&path, "backup.dissensus");
    let append = |path: &Path| -> EventKey {
        let store = Store::open(path).unwrap();
        let first = store.append_label(&label(1, 1, 1)).unwrap().id;
        let failed: Result<(), StoreError> = store.write(|tx| {
            tx.add_label(&label(2, 1, 1))?;
            Err(StoreError::Invalid { what: "test".into(), why: "undone".into() })
        });
        assert!(failed.is_err());
        let second = store.append_label(&label(1, 1, 2)).unwrap().id;
        let keys = [first, second].map(|id| store.event(id).unwrap().unwrap().key);
        assert_eq!(keys[0].copy, keys[1].copy);
        assert_eq!(keys.map(|k| k.sequence), [1, 2]);
        store.close().unwrap();
        keys[0]
    };
    let mut seen: BTreeSet<CopyId> = BTreeSet::new();
    assert!(seen.insert(append(&path).copy));
    assert!(seen.insert(append(&path).copy));
    // The file is restored: what is appended now must not reuse the keys of what was lost.
    std::fs::copy(&backup, &path).unwrap();
    assert!(seen.insert(append(&path).copy));
    let store = Store::open(&path).unwrap();
    assert_eq!(store.project_id().unwrap(), Store::open_reader(&backup).unwrap().project_id().unwrap());
    store.close().unwrap();
    // A first append that fails leaves no copy id behind, and the next one is sound.
    let store = Store::open(&path).unwrap();
    let before = store.events_since(EventId(0), 10).unwrap().len();
    assert!(store.append_label(&label(9, 1, 1)).is_err());
    store.append_label(&label(1, 1, 3)).unwrap();
    assert_eq!(store.events_since(EventId(0), 10).unwrap().len(), before + 1);
}

fn refused(into: &Path, from: &Path, code: &str) -> String {
    let before = state_at(into);
    let (store, other) = (Store::open(into).unwrap(), Store::open_reader(from).unwrap());
    let error = store.merge_from(&other).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    store.close().unwrap();
    assert_eq!(state_at(into), before, "a refused copy left something behind");
    error.to_string()
}

#[test]
fn conflicting_copies_are_refused_entirely() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    small(&a, 1, 1).close().unwrap();
    let add_text = |path: &Path, name: &str, body: &str| {
        let store = Store::open(path).unwrap();
        let new = NewText { external_id: name.into(), body: body.into(), ..NewText::default() };
        store.write(move |tx| tx.add_text(&new)).unwrap();
        store.close().unwrap();
    };
    let add_question = |path: &Path, levels: &[&str]| {
        let store = Store::open(path).unwrap();
        let scale = Scale::new(ScaleKind::Choice, levels).unwrap();
        store
            .write(move |tx| {
                tx.add_question(&NewQuestion { name: "topic".into(), prompt: "?".into(), scale })
            })
            .unwrap();
        store.close().unwrap();
    };
    let b = copied(&a, "b.dissensus");
    add_text(&a, "new", "one body");
    add_text(&b, "also new", "fine");
    add_text(&b, "new", "another body");
    let message = refused(&a, &b, "copies-conflict");
    assert!(message.contains("text \"new\""), "{message}");

    let (c, d) = (copied(&a, "c.dissensus"), copied(&a, "d.dissensus"));
    add_question(&c, &["x", "y"]);
    add_question(&d, &["y", "x"]);
    let message = refused(&c, &d, "copies-conflict");
    assert!(message.contains("question \"topic\""), "{message}");

    let other = folder.path().join("other.dissensus");
    small(&other, 1, 1).close().unwrap();
    let message = refused(&a, &other, "other-project");
    assert!(message.contains("another project"), "{message}");

    // The same key with different content, which our program never creates, but a damaged or forged
    // file may contain. Each copy retains its own.
    let store = Store::open(&a).unwrap();
    store.append_label(&label(1, 1, 1)).unwrap();
    store.close().unwrap();
    let e = copied(&a, "e.dissensus");
    for (path, level) in [(&a, 2), (&e, 3)] {
        let conn = rusqlite::Connection::open(path).unwrap();
        conn.execute(
            "INSERT INTO events (id, copy, sequence, kind, question, text, annotator, at_ms, source, level, replaces)
             VALUES (2, 1, 2, 'answer', 1, 1, 1, 2000, 'window', ?1, 1)",
            [level],
        )
        .unwrap();
        conn.execute("UPDATE current_answers SET event = 2, level = ?1", [level]).unwrap();
    }
    for (into, from, level) in [(&a, &e, 2), (&e, &a, 3)] {
        let (store, other) = (Store::open(into).unwrap(), Store::open(from).unwrap());
        let taken = store.merge_from(&other).unwrap();
        assert_eq!((taken.events, taken.left_out), (0, 1));
        assert_eq!(taken.left_out_about, [(QUESTION, TextId(1), AnnotatorId(1))]);
        assert_eq!(store.current_labels(QUESTION).unwrap()[0].answer, Answer::from_level(level));
        store.check_current_answers().unwrap();
        store.close().unwrap();
        other.close().unwrap();
    }
}

#[test]
fn texts_annotators_and_questions_merge_with_events() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    small(&a, 1, 1).close().unwrap();
    let b = copied(&a, "b.dissensus");
    // The same names have different row ids in the two copies.
    for (path, names) in [(&a, ["x", "y"]), (&b, ["y", "z"])] {
        let store = Store::open(path).unwrap();
        store
            .write(move |tx| -> Result<(), StoreError> {
                for name in names {
                    let text = NewText { external_id: name.into(), body: name.into(), ..NewText::default() };
                    let text = tx.add_text(&text)?;
                    let attributes = [(name.to_owned(), "1".to_owned())].into();
                    let new = NewAnnotator {
                        external_id: format!("person {name}"),
                        attributes,
                        ..NewAnnotator::default()
                    };
                    let annotator = tx.add_annotator(&new)?;
                    tx.add_label(&NewLabel { text, annotator, ..label(1, 1, 2) })?;
                }
                Ok(())
            })
            .unwrap();
        store.close().unwrap();
    }
    let report = merge_from(&a, &b);
    assert_eq!((report.texts, report.annotators, report.questions, report.events), (1, 1, 0, 2));
    merge_from(&b, &a);
    assert_eq!(state_at(&a), state_at(&b));
    assert_eq!(state_at(&a).current.len(), 3);
}

#[test]
fn spans_are_stored_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let a = folder.path().join("a.dissensus");
    let store = small(&a, 1, 1);
    let body = store.text(TextId(1)).unwrap().unwrap().body;
    let scale = Scale::new(ScaleKind::Spans, ["rude", "threat"]).unwrap();
    let words = NewQuestion { name: "words".to_owned(), prompt: "Which?".to_owned(), scale: scale.clone() };
    let question = store.write(move |tx| tx.add_question(&words)).unwrap();
    assert_eq!(store.question_by_name("words").unwrap().unwrap().scale, scale);
    let b = copied(&a, "b.dissensus");
    let end = body.chars().count() as u32;
    let of = |spans: &[Span]| Answer::Spans(SpanSet::new(spans.iter().copied()).unwrap());
    let answer = of(&[Span { start: 0, end: 2, kind: LevelId(1) }, Span { start: 1, end, kind: LevelId(0) }]);
    let new = NewLabel { question, answer: answer.clone(), ..label(1, 1, 1) };
    store.append_label(&new).unwrap();
    // After the end of the text, of an unknown type, and as an answer to a question of another
    // kind.
    for (question, answer) in [
        (question, of(&[Span { start: 0, end: end + 1, kind: LevelId(0) }])),
        (question, of(&[Span { start: 0, end: 1, kind: LevelId(2) }])),
        (QUESTION, answer.clone()),
    ] {
        let refused = store.append_label(&NewLabel { question, answer, ..label(1, 1, 1) }).unwrap_err();
        assert_eq!(refused.code(), "level-outside-scale", "{refused}");
    }
    // The empty answer counts as an answer.
    store.append_label(&NewLabel { question, answer: of(&[]), at_ms: 9_000, ..label(1, 1, 1) }).unwrap();
    store.close().unwrap();
    assert_eq!(merge_from(&b, &a).events, 2);
    let store = Store::open(&b).unwrap();
    let events: Vec<Event> = store.events_since(EventId(0), 10).unwrap();
    assert_eq!(events.iter().filter_map(Event::answer).collect::<Vec<_>>(), [&answer, &of(&[])]);
    assert_eq!(store.current_labels(question).unwrap()[0].answer, of(&[]));
    // For a type: whether there is a span of it.
    assert_eq!(store.current_labels(question.of_option(1)).unwrap()[0].answer, Answer::from_level(0));
    assert_eq!(answer.to(question.of_option(1)), Answer::from_level(1));
}

#[test]
fn old_copies_labelled_before_migration_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let old =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats/version-2.dissensus");
    let copies = ["one", "two", "three"].map(|name| folder.path().join(format!("{name}.dissensus")));
    for copy in &copies {
        std::fs::copy(&old, copy).unwrap();
    }
    // Labelling continued in the second one with the program of that time.
    let conn = rusqlite::Connection::open(&copies[1]).unwrap();
    let more = "INSERT INTO labels (question, text, annotator, level, at_ms, source)
                SELECT question, text, annotator, level, at_ms + 1, source FROM labels
                WHERE level IS NOT NULL ORDER BY id LIMIT 1";
    assert_eq!(conn.execute(more, []).unwrap(), 1);
    drop(conn);
    let [one, two, three] = copies.map(|copy| Store::open(copy).unwrap());
    assert_eq!(one.merge_from(&two).unwrap_err().code(), "copies-conflict");
    assert_eq!(two.merge_from(&one).unwrap_err().code(), "copies-conflict");
    one.merge_from(&three).unwrap();
}

#[test]
fn names_and_attributes_merge() {
    let known = |store: &Store| {
        let people = store.annotators().unwrap().into_iter();
        people.map(|p| (p.external_id, (p.name, p.attributes))).collect::<BTreeMap<_, _>>()
    };
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..20 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let paths: Vec<PathBuf> =
            (0..3).map(|n| folder.path().join(format!("{seed}-{n}.dissensus"))).collect();
        small(&paths[0], 1, 2).close().unwrap();
        std::fs::copy(&paths[0], &paths[1]).unwrap();
        std::fs::copy(&paths[0], &paths[2]).unwrap();
        for path in &paths {
            let store = Store::open(path).unwrap();
            for _ in 0..rng.random_range(1..5) {
                let (id, at) = (AnnotatorId(rng.random_range(1..=2)), rng.random_range(0..4));
                let value = ["x", "y", "z"][rng.random_range(0..3)].to_owned();
                match rng.random_range(0..4) {
                    0 => store.write(move |tx| tx.rename_annotator(id, &value, at)).unwrap(),
                    1 => store.write(move |tx| tx.set_attributes(id, &BTreeMap::new(), at)).unwrap(),
                    2 => store
                        .write(move |tx| tx.set_attributes(id, &[("a".to_owned(), value)].into(), at))
                        .unwrap(),
                    _ => {
                        let attributes = [("b".to_owned(), value.clone())].into();
                        let external_id = format!("new{}", rng.random_range(0..2));
                        let new = NewAnnotator { external_id, name: value, attributes, simulated: false };
                        // If a copy adds a name twice, the first one is added.
                        drop(store.write(move |tx| tx.add_annotator(&new)));
                    }
                }
            }
            store.close().unwrap();
        }
        let merged = |order: [usize; 4]| {
            let path = folder.path().join("merged.dissensus");
            std::fs::copy(&paths[order[0]], &path).unwrap();
            for other in &order[1..] {
                merge_from(&path, &paths[*other]);
            }
            let store = Store::open(&path).unwrap();
            let found = known(&store);
            store.close().unwrap();
            found
        };
        let first = merged([0, 1, 2, 1]);
        assert_eq!(first, merged([2, 1, 0, 0]), "seed {seed}");
        assert_eq!(first, merged([1, 0, 2, 2]), "seed {seed}");
    }
}
