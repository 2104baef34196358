//! Whether an annotator answers too fast is determined by the times of labels given in the window.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, sample_with_question};
use dissensus_analysis::annotators;
use dissensus_api::{AnnotatorRow, NewLabel};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, QuestionId, TextId};
use dissensus_labelling::record;

fn label(session: &Session, question: QuestionId, annotator: AnnotatorId, text: u32, ms: Option<u32>) {
    let answer = Answer::from_level((text % 5) as u16);
    let new = NewLabel { question, annotator, text: TextId(text), answer, duration_ms: ms };
    record::record_label(&session.labelling, &new).unwrap();
}

fn rows(session: &Session, question: QuestionId) -> Vec<AnnotatorRow> {
    annotators::report_known(&session.analysis, question).unwrap().annotators
}

/// Seconds of an annotator who reads, slightly different for each annotator and text.
fn reading(person: u32, text: u32) -> u32 {
    4000 + 500 * person + 300 * (text * (person + 3) % 11)
}

#[test]
fn too_fast_annotator_is_flagged() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = sample_with_question(&folder);
    let people: Vec<AnnotatorId> =
        dissensus_editing::annotators::list(&session.project).unwrap().iter().map(|a| a.id).collect();
    assert!(
        rows(&session, question).iter().all(|row| (row.timed_labels, row.seconds_per_label) == (0, None))
    );
    for (person, id) in (0u32..).zip(&people) {
        for text in 1..=30 {
            let ms = if person == 2 { 250 + 10 * text } else { reading(person, text) };
            label(&session, question, *id, text, Some(ms));
        }
    }
    let found = rows(&session, question);
    for (person, row) in found.iter().enumerate() {
        let flag = row.flags.iter().find(|flag| flag.kind == "too-fast");
        assert_eq!(flag.is_some(), person == 2, "{row:?}");
        assert_eq!(row.timed_labels, 30);
    }
    let flag = found[2].flags.iter().find(|flag| flag.kind == "too-fast").unwrap();
    assert!(flag.words.starts_with("Answers in 0.4 s, where the others need"), "{}", flag.words);
    // The same from a copy of the file.
    let copy = folder.path().join("copy.dissensus");
    drop(session);
    std::fs::copy(folder.path().join("sample.dissensus"), &copy).unwrap();
    let session = Session::open(&copy, &home(folder.path())).unwrap();
    assert_eq!(rows(&session, question)[2].flags, found[2].flags);
    // A label that is given again without a time has no time, and with fewer than twenty times nothing is
    // reported.
    for text in 1..=11 {
        label(&session, question, people[2], text, None);
    }
    let row = &rows(&session, question)[2];
    assert_eq!(row.timed_labels, 19);
    assert!(row.flags.iter().all(|flag| flag.kind != "too-fast"));
}
