//! The history: everything that was done is listed once, newest first, in pages and under any
//! filter.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use dissensus_domain::{
    AnnotatorId, Answer, Assignment, Condition, Decision, Fact, FactKind, HistoryKind, LabelSource, LevelId,
    MarkKind, Note, NoteForm, Outcome, Packet, PacketId, Scale, ScaleKind, TextId,
};
use dissensus_store::{
    CopyOrigin, Done, HistoryEntry, HistoryFilter, NewLabel, NewMark, NewQuestion, PacketKey, Repeat, Store,
    StoreError, Submission,
};
use uuid::Uuid;

fn all(store: &Store, filter: &HistoryFilter, page: u32) -> Vec<HistoryEntry> {
    let mut found: Vec<HistoryEntry> = Vec::new();
    loop {
        let next = store.log(filter, found.last().map(|entry| entry.place), page).unwrap();
        if next.is_empty() {
            return found;
        }
        assert!(next.len() <= page as usize);
        found.extend(next);
    }
}

/// Actions of every kind, many of them at the same time.
fn busy(store: &Store) {
    for at_ms in [50, 10, 50, 50, 20] {
        for text in 1..=3 {
            store.append_label(&NewLabel { at_ms, ..label(text, 1, 2) }).unwrap();
        }
    }
    let imported = NewLabel { at_ms: 50, source: LabelSource::Import, ..label(1, 2, 4) };
    store.append_label(&imported).unwrap();
    let newest = store.newest_given(QUESTION, AnnotatorId(1)).unwrap().unwrap();
    store.retract(newest.id, 60, LabelSource::Command).unwrap();
    for (kind, note) in [(MarkKind::Flag, None), (MarkKind::Note, Some("Sarcasm, I think".to_owned()))] {
        let (annotator, text) = (AnnotatorId(2), TextId(3));
        let note = Note { note, ..Note::default() };
        let source = LabelSource::Window;
        store
            .mark(&NewMark {
                annotator,
                question: QUESTION,
                text,
                kind,
                at_ms: 50,
                source,
                note,
                guideline: None,
            })
            .unwrap();
    }
    store
        .write(|tx| -> Result<(), StoreError> {
            let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
            let other = tx.add_question(&NewQuestion { name: "funny".into(), prompt: "?".into(), scale })?;
            tx.set_condition(other, Some(&Condition::new(QUESTION, vec![1, 2])), 50)?;
            tx.rename_levels(other, &["nein".to_owned(), "ja".to_owned()], 51)?;
            tx.set_note_form(QUESTION, &NoteForm { reasons: vec!["slang".into()], confidence: true }, 52)?;
            tx.rename_annotator(AnnotatorId(2), "Second", 53)?;
            for comment in ["one", "two"] {
                tx.decide(&Decision {
                    question: QUESTION,
                    text: TextId(2),
                    at_ms: 50,
                    outcome: Outcome::Ambiguous,
                    answer: Some(Answer::from_level(3)),
                    comment: comment.into(),
                    by: "Somebody".into(),
                })?;
            }
            let again = Repeat {
                question: QUESTION,
                text: TextId(1),
                annotator: AnnotatorId(1),
                occasion: 2,
                at_ms: 50,
                answer: Answer::from_level(4),
                source: LabelSource::Import,
                details: Default::default(),
                wording: None,
            };
            tx.add_repeat(&again, true)?;
            let packet = Packet {
                id: PacketId(Uuid::from_u128(7)),
                annotator: AnnotatorId(2),
                made_at_ms: 50,
                seed: 1,
                questions: vec![QUESTION],
                assignments: vec![Assignment { text: TextId(1), occasion: 1, anchor: true }],
            };
            tx.add_packet(&packet, &PacketKey([7; 32]))?;
            tx.add_submission(&Submission { packet: packet.id, at_ms: 50, answers: 4 })?;
            tx.set_fact(&Fact::of_project(FactKind::Reveal, 50, true))?;
            let (kind, annotator) = (FactKind::Shown, Some(AnnotatorId(2)));
            tx.note_fact(&Fact { kind, annotator, ..Fact::of_project(kind, 50, "answers") })?;
            Ok(())
        })
        .unwrap();
}

#[test]
fn history_lists_everything_once_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 3, 2);
    busy(&store);
    let whole = store.log(&HistoryFilter::default(), None, 1_000).unwrap();
    // 16 answers, a retraction, two marks, three changes of questions, a name, two decisions, a
    // re-annotation, a task packet and its submission, and two facts.
    assert_eq!(whole.len(), 16 + 1 + 2 + 3 + 1 + 2 + 1 + 2 + 2);
    assert!(whole.windows(2).all(|pair| pair[0].place.at_ms >= pair[1].place.at_ms));
    let at = |reported: fn(&HistoryEntry) -> bool| {
        whole.iter().filter(|entry| entry.place.at_ms == 50).position(reported).unwrap()
    };
    let decided = at(|entry| entry.kind == HistoryKind::Decision);
    assert!(
        decided < at(|entry| entry.kind == HistoryKind::Answer),
        "what is decided rests on the answers before it"
    );
    for page in [1, 2, 3, 7] {
        assert_eq!(all(&store, &HistoryFilter::default(), page), whole, "pages of {page}");
    }
    let events = store.events_since(dissensus_domain::EventId(0), 100).unwrap();
    let reported = whole.iter().filter(|entry| matches!(entry.what, Done::Event { .. })).count();
    assert_eq!(reported, events.len() + 1, "with the re-annotation");
    let kinds = |kinds: &[HistoryKind]| HistoryFilter { kinds: kinds.to_vec(), ..HistoryFilter::default() };
    for (kind, count) in [
        (HistoryKind::Answer, 15),
        (HistoryKind::ImportedAnswer, 1),
        (HistoryKind::Retraction, 1),
        (HistoryKind::Flag, 1),
        (HistoryKind::Note, 1),
        (HistoryKind::Question, 3),
        (HistoryKind::Person, 1),
        (HistoryKind::Decision, 2),
        (HistoryKind::Repeat, 1),
        (HistoryKind::Packet, 2),
        (HistoryKind::Setting, 1),
        (HistoryKind::Noted, 1),
        (HistoryKind::Withdrawal, 0),
    ] {
        let found = all(&store, &kinds(&[kind]), 2);
        assert_eq!(found.len(), count, "{kind}");
        assert!(found.iter().all(|entry| entry.kind == kind));
    }
    assert_eq!(all(&store, &kinds(&[HistoryKind::Flag, HistoryKind::Note]), 1).len(), 2);
}

#[test]
fn history_shows_previous_answers_and_filters() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 3, 2);
    busy(&store);
    let retraction = HistoryFilter { kinds: vec![HistoryKind::Retraction], ..HistoryFilter::default() };
    let found = all(&store, &retraction, 10);
    assert!(
        matches!(&found[0].what, Done::Event { before: Some(Answer::Level(LevelId(2))), .. }),
        "{found:?}"
    );
    assert!(found[0].copy.is_some());

    let of = |filter: HistoryFilter| all(&store, &filter, 3);
    let everything = || HistoryFilter::default();
    let whole = of(everything());
    let second = of(HistoryFilter { annotator: Some(AnnotatorId(2)), ..everything() });
    assert!(!second.is_empty() && second.iter().all(|entry| entry.annotator == Some(AnnotatorId(2))));
    assert_eq!(second.len(), whole.iter().filter(|entry| entry.annotator == Some(AnnotatorId(2))).count());
    let third = of(HistoryFilter { text: Some(TextId(3)), ..everything() });
    assert_eq!(third.len(), whole.iter().filter(|entry| entry.text == Some(TextId(3))).count());
    for (since, until) in [(20, 50), (51, 60), (50, 50), (0, 10)] {
        let found = of(HistoryFilter { since_ms: Some(since), until_ms: Some(until), ..everything() });
        let within = |entry: &&HistoryEntry| (since..=until).contains(&entry.place.at_ms);
        assert_eq!(found, whole.iter().filter(within).cloned().collect::<Vec<_>>(), "{since} to {until}");
    }
    let words = |words: &str| HistoryFilter { words: Some(words.into()), ..everything() };
    assert_eq!(of(words("sarcasm")).len(), 1, "in whatever case");
    assert_eq!(of(words("somebody")).len(), 0, "names are looked at where that is asked for");
    assert_eq!(of(HistoryFilter { signed: true, ..words("somebody") }).len(), 2);
    assert_eq!(of(words("t3")), third, "a text by its id");
    assert!(of(words("%")).is_empty());
    let people = HistoryFilter { people: vec![AnnotatorId(2)], ..words("nobody wrote this") };
    assert_eq!(of(people), second);
}

#[test]
fn history_marks_merged_entries_and_hides_withdrawals() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dissensus");
    let a = small(&path, 3, 3);
    a.append_label(&label(1, 1, 1)).unwrap();
    a.close().unwrap();
    let other = folder.path().join("b.dissensus");
    std::fs::copy(&path, &other).unwrap();
    let (a, b) = (Store::open(&path).unwrap(), Store::open(&other).unwrap());
    b.append_label(&label(2, 3, 4)).unwrap();
    a.merge_from(&b).unwrap();
    let origin = |entry: &HistoryEntry| {
        let origins = a.copy_origins().unwrap();
        origins.get(&entry.copy.unwrap()).copied().unwrap_or(CopyOrigin::Here)
    };
    let log = all(&a, &HistoryFilter::default(), 10);
    assert_eq!(log.len(), 2);
    assert_eq!([origin(&log[0]), origin(&log[1])], [CopyOrigin::Elsewhere, CopyOrigin::Here]);

    a.withdraw(AnnotatorId(3), 5_000).unwrap();
    let log = all(&a, &HistoryFilter::default(), 10);
    assert_eq!(log[0].kind, HistoryKind::Withdrawal);
    assert_eq!((log[0].annotator, log[0].by.as_str(), &log[0].what), (None, "", &Done::Withdrawal));
    assert!(log[1..].iter().all(|entry| entry.annotator == Some(AnnotatorId(1))), "{log:?}");
}
