//! Labels by name, undo with imports, and labels by several people at once.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{open, sample_in};
use dissensus_api::{ImportChoices, NewLabel};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, LabelSource, QuestionId, TextId};
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::marks;
use dissensus_labelling::progress;
use dissensus_labelling::record;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_transfer::exchange;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

fn opened(folder: &Path) -> Session {
    let path = folder.join("sample.dissensus");
    if path.exists() { open(&path) } else { sample_in(folder) }
}

fn offensiveness(session: &Session) -> QuestionId {
    questions::find(&session.project, Some("offensiveness")).unwrap().id
}

#[test]
fn names_are_normalised_before_lookup() {
    let folder = tempfile::tempdir().unwrap();
    let session = opened(folder.path());
    let label = |name| {
        by_name::record(&session.labelling, &LabelByName::new(name, "c001", "3", Some("offensiveness")))
            .unwrap()
    };
    let known = label(" sim-ada ");
    assert_eq!((known.annotator.as_str(), known.new_annotator), ("sim-ada", false));
    let (new, again) = (label(" robin "), label("robin"));
    assert_eq!((new.annotator.as_str(), new.new_annotator), ("robin", true));
    assert_eq!((again.annotator.as_str(), again.new_annotator), ("robin", false));
    assert_eq!(annotators::find(&session.project, "robin ").unwrap().external_id, "robin");
}

#[test]
fn undo_retracts_own_labels_after_an_import() {
    let folder = tempfile::tempdir().unwrap();
    let session = opened(folder.path());
    let question = offensiveness(&session);
    by_name::record(&session.labelling, &LabelByName::new("ana", "c001", "3", Some("offensiveness")))
        .unwrap();
    by_name::record(&session.labelling, &LabelByName::new("ana", "c001", "4", Some("offensiveness")))
        .unwrap();
    let file = folder.path().join("more.csv");
    std::fs::write(&file, "text_id,annotator_id,label\nc002,ana,5\n").unwrap();
    let choices = ImportChoices { question: Some("offensiveness".into()), ..ImportChoices::default() };
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    assert_eq!(exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap().labels, 1);
    let ana = annotators::find(&session.project, "ana").unwrap().id;
    assert_eq!(progress::count(&session.labelling, ana, question).unwrap().done, 2);
    let undo = || undo::undo(&session.labelling, ana, question, LabelSource::Command).unwrap();
    let first = undo().unwrap();
    assert_eq!((first.answer, first.now), (Answer::from_level(3), Some(Answer::from_level(2))));
    let second = undo().unwrap();
    assert_eq!((second.answer, second.now, second.progress.done), (Answer::from_level(2), None, 1));
    assert_eq!(undo(), None, "the imported label stays");
}

#[test]
fn undo_refuses_a_label_replaced_by_an_import() {
    let folder = tempfile::tempdir().unwrap();
    let session = opened(folder.path());
    let question = offensiveness(&session);
    by_name::record(&session.labelling, &LabelByName::new("ana", "c001", "2", Some("offensiveness")))
        .unwrap();
    by_name::record(&session.labelling, &LabelByName::new("ana", "c002", "3", Some("offensiveness")))
        .unwrap();
    let file = folder.path().join("more.csv");
    std::fs::write(&file, "text_id,annotator_id,label\nc002,ana,5\n").unwrap();
    let choices = ImportChoices { question: Some("offensiveness".into()), ..ImportChoices::default() };
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    let report = exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
    assert_eq!((report.changes.replaced_labels, report.changes.replaced_given), (1, 1));
    let ana = annotators::find(&session.project, "ana").unwrap().id;
    // Actions of others make no difference.
    by_name::record(&session.labelling, &LabelByName::new("zed", "c003", "1", Some("offensiveness")))
        .unwrap();
    for _ in 0..2 {
        let error = undo::undo(&session.labelling, ana, question, LabelSource::Window).unwrap_err();
        assert_eq!(error.code(), "label-replaced");
        let message = error.to_string();
        assert!(
            message.contains("3 on c002") && message.contains("an import") && message.contains("by 5"),
            "{message}"
        );
        assert_eq!(progress::count(&session.labelling, ana, question).unwrap().done, 2);
    }
    // Later labels can be taken back: then the imported label is current again.
    by_name::record(&session.labelling, &LabelByName::new("ana", "c002", "1", Some("offensiveness")))
        .unwrap();
    let undone = undo::undo(&session.labelling, ana, question, LabelSource::Window).unwrap().unwrap();
    assert_eq!((undone.answer, undone.now), (Answer::from_level(0), Some(Answer::from_level(4))));
    assert_eq!(
        undo::undo(&session.labelling, ana, question, LabelSource::Window).unwrap_err().code(),
        "label-replaced"
    );
}

/// Labels, changes and takes back as soon as a fit has begun.
struct Meanwhile<'a> {
    session: &'a Session,
    question: QuestionId,
    done: AtomicBool,
}

impl Progress for Meanwhile<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        if self.done.swap(true, Ordering::Relaxed) {
            return;
        }
        for (text, level) in [("c001", "3"), ("c002", "4"), ("c001", "5"), ("c003", "2")] {
            by_name::record(
                &self.session.labelling,
                &LabelByName::new("ana", text, level, Some("offensiveness")),
            )
            .unwrap();
        }
        let ana = annotators::find(&self.session.project, "ana").unwrap().id;
        undo::undo(&self.session.labelling, ana, self.question, LabelSource::Command).unwrap().unwrap();
    }
}

#[test]
fn labels_given_during_a_fit_are_in_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let session = opened(folder.path());
    let question = offensiveness(&session);
    let before = session.live.active_model(question).unwrap().labels;
    let meanwhile = Meanwhile { session: &session, question, done: AtomicBool::new(false) };
    session.live.fit(question, &meanwhile).unwrap();
    let active = session.live.active_model(question).unwrap();
    assert_eq!((active.fitted_on, active.learned_since, active.labels), (Some(before), 2, before + 2));
    // The same when the stored model is updated.
    session.close();
    let session = opened(folder.path());
    by_name::record(&session.labelling, &LabelByName::new("ana", "c004", "1", Some("offensiveness")))
        .unwrap();
    session.live.fit(question, &Silent).unwrap();
    let active = session.live.active_model(question).unwrap();
    assert_eq!((active.fitted_on, active.learned_since, active.labels), (Some(before + 2), 1, before + 3));
}

#[test]
fn memory_matches_the_project_after_concurrent_labelling() {
    let folder = tempfile::tempdir().unwrap();
    let session = opened(folder.path());
    let question = offensiveness(&session);
    session.live.fit(question, &Silent).unwrap();
    let reported: Arc<Mutex<u32>> = Arc::default();
    let count = Arc::clone(&reported);
    session.subscribe(move |event| {
        if matches!(event, Event::Labels { .. }) {
            *count.lock().unwrap() += 1;
        }
    });
    let people: Vec<_> = (0..4)
        .map(|nth| {
            annotators::add(&session.project, &format!("person {nth}"), &Default::default()).unwrap().id
        })
        .collect();
    std::thread::scope(|scope| {
        for (nth, annotator) in (0_u16..).zip(people.iter().copied()) {
            let session = &session;
            scope.spawn(move || {
                for click in 0_u16..30 {
                    let text = TextId(u32::from(click % 20) + 1);
                    let answer = Answer::from_level((click + nth) % 5);
                    let new = NewLabel { question, annotator, text, answer, duration_ms: None };
                    record::record_label(&session.labelling, &new).unwrap();
                    match click % 7 {
                        3 => drop(
                            undo::undo(&session.labelling, annotator, question, LabelSource::Window).unwrap(),
                        ),
                        5 => drop(marks::flag(&session.labelling, annotator, question, text, true).unwrap()),
                        6 => drop(marks::skip(&session.labelling, annotator, question, TextId(100)).unwrap()),
                        _ => {}
                    }
                }
            });
        }
    });
    let seen = |session: &Session| {
        let of = |annotator| {
            let progress = progress::count(&session.labelling, annotator, question).unwrap();
            let answers: Vec<_> = (1..=20)
                .map(|text| {
                    task::read(&session.labelling, annotator, question, TextId(text), 1).unwrap().answer
                })
                .collect();
            (progress.done, progress.today, progress.skipped, progress.flagged, answers)
        };
        people.iter().map(|annotator| of(*annotator)).collect::<Vec<_>>()
    };
    let in_memory = seen(&session);
    session.close();
    let again = opened(folder.path());
    assert_eq!(in_memory, seen(&again));
    // Texts 11 and 18 were labelled once and taken back.
    assert!(in_memory.iter().all(|(done, today, skipped, ..)| *done == 18 && today == done && *skipped == 1));
    assert_eq!(*reported.lock().unwrap(), 4 * (30 + 4), "a listener was not notified, or twice");
    again.close();
}
