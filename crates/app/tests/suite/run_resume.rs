//! A resumed run reaches the same numbers as an uninterrupted one, regardless of changes to the project
//! meanwhile.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{StopHalfWay, encoded_sample, import_into, offensiveness, tiny};
use dissensus_api::{NewLabel, RunDetail, TrainChoices, WorkState};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, LabelSource, TextId};
use dissensus_editing::annotators;
use dissensus_editing::jobs;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::undo;
use dissensus_project::event::Event;
use dissensus_project::jobs::Silent;
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_training::runs::TextToPredict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

fn choices(session: &Session, model: ModelKind, tuning: &str) -> TrainChoices {
    let choices = runs::choices_for(&session.runs, offensiveness(session), model, tuning).unwrap();
    TrainChoices { epochs: 4, patience: 0, ..choices }
}

/// Bits of the test figures by name, and of the validation loss at each step.
type Figures = (Vec<(String, u64)>, Vec<(u32, Option<u64>)>);

/// All results of a run, to the last digit.
fn figures(run: &RunDetail) -> Figures {
    let metrics = &run.info.scores.as_ref().unwrap().metrics;
    (
        metrics.iter().map(|m| (m.key.clone(), m.value.to_bits())).collect(),
        run.info.epochs.iter().map(|e| (e.step, e.validation_loss.map(f64::to_bits))).collect(),
    )
}

/// Changes everything that a user can change while a run is interrupted.
fn change_everything(session: &Session) {
    let question = offensiveness(session);
    let someone = annotators::add(&session.project, "Robin", &Default::default()).unwrap().id;
    let known = annotators::list(&session.project).unwrap().into_iter().find(|a| a.id != someone).unwrap().id;
    for text in 1..=40 {
        for annotator in [someone, known] {
            let new = NewLabel {
                question,
                text: TextId(text),
                annotator,
                answer: Answer::from_level(2),
                duration_ms: None,
            };
            record::record_label(&session.labelling, RecordLabel::new(&new, LabelSource::Command)).unwrap();
        }
    }
    undo::undo(&session.labelling, known, question, LabelSource::Command).unwrap();
    let rows = "text_id,text,annotator_id,label,age\nx1,One more,Kim,3,40\nc001,,sim-ada,5,90\n";
    let rows = rows.replace("c001,,", "x2,Another,");
    import_into(session, "offensiveness", &rows);
    let choice = EncoderChoice { pooling: Some(dissensus_encoder::Pooling::Max), ..tiny() };
    session.encoding.encode(&choice, &Silent).unwrap();
}

fn resumes_to_the_same(model: ModelKind, tuning: &str) {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let asked = choices(&session, model, tuning);
    let whole = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap();
    let error = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &StopHalfWay::default()).unwrap_err();
    assert_eq!(error.code(), "cancelled");
    let stopped = runs::list(&session.runs).unwrap().remove(0);
    assert!(stopped.resumable && !stopped.data_changed);
    change_everything(&session);
    let stopped = runs::list(&session.runs).unwrap().remove(0);
    assert!(stopped.resumable && stopped.data_changed);
    let resumed = runs::resume_here(&session.runs, stopped.id, &Silent).unwrap();
    assert_eq!(figures(&resumed), figures(&whole), "{model} {tuning}");
    assert_eq!(resumed.sizes, whole.sizes);
    assert!(!runs::detail(&session.runs, stopped.id).unwrap().info.resumable);
    // It predicts like the other, for the original annotators and for those who were added later.
    let annotators = annotators::list(&session.project).unwrap();
    for annotator in [annotators.first().unwrap().id, annotators.last().unwrap().id] {
        let says = |run: u32| {
            runs::predict(&session.runs, &[run], annotator, TextToPredict::New("You fool"), &Silent)
                .unwrap()
                .swap_remove(0)
                .probabilities
        };
        assert_eq!(says(resumed.info.id), says(whole.info.id), "{model} {tuning}");
    }
}

#[test]
fn frozen_network_resumes_with_its_original_labels() {
    resumes_to_the_same(ModelKind::ShareRecFfn, "frozen");
}

#[test]
fn tuned_multilevel_resumes_with_its_original_labels() {
    resumes_to_the_same(ModelKind::Multilevel, "last-1");
}

#[test]
fn tuned_separate_heads_resume_with_their_original_labels() {
    resumes_to_the_same(ModelKind::SepHeads, "lora");
}

#[test]
fn soft_prompt_resumes_with_its_original_labels() {
    resumes_to_the_same(ModelKind::SepHeads, "prompt-4");
}

#[test]
fn failed_resume_can_be_retried() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let asked = choices(&session, ModelKind::ShareRecFfn, "frozen");
    let whole = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap();
    runs::train(&session.runs, &asked, DeviceChoice::Cpu, &StopHalfWay::default()).unwrap_err();
    let stopped = runs::list(&session.runs).unwrap().remove(0);
    let files = folder.path().join("sample.dissensus.runs").join(&stopped.uid);
    let aside = folder.path().join("aside");
    std::fs::rename(&files, &aside).unwrap();
    assert!(!runs::detail(&session.runs, stopped.id).unwrap().info.resumable);
    let error = runs::resume_here(&session.runs, stopped.id, &Silent).unwrap_err();
    assert!(error.code() == "not-resumable" && error.to_string().contains("not there"), "{error}");
    assert_eq!(runs::detail(&session.runs, stopped.id).unwrap().info.state, WorkState::Cancelled);
    std::fs::rename(&aside, &files).unwrap();
    let resumed = runs::resume_here(&session.runs, stopped.id, &Silent).unwrap();
    assert_eq!(figures(&resumed), figures(&whole));

    let convex = runs::train(
        &session.runs,
        &choices(&session, ModelKind::Shared, "frozen"),
        DeviceChoice::Cpu,
        &Silent,
    );
    let error = runs::resume_here(&session.runs, convex.unwrap().info.id, &Silent).unwrap_err();
    assert!(error.to_string().contains("was not interrupted"), "{error}");
}

#[test]
fn concurrent_run_starts_begin_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let session = Arc::new(encoded_sample(&folder));
    let asked = TrainChoices { epochs: 1, ..choices(&session, ModelKind::ShareRecFfn, "frozen") };
    for round in 0..6 {
        let begin_two = || {
            let barrier = Arc::new(Barrier::new(2));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let (session, barrier, asked) =
                        (Arc::clone(&session), Arc::clone(&barrier), asked.clone());
                    std::thread::spawn(move || {
                        barrier.wait();
                        runs::start(&session.runs, &asked).map_err(|error| error.code())
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        };
        // The reservation is released a moment after the previous run has ended: until then both are
        // refused.
        let begun = (0..500)
            .map(|_| begin_two())
            .find(|begun| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                begun.iter().any(Result::is_ok)
            })
            .unwrap();
        assert_eq!(begun.iter().filter(|result| result.is_ok()).count(), 1, "{begun:?}");
        assert!(begun.contains(&Err("busy")));
        let mut runs = runs::list(&session.runs).unwrap();
        assert_eq!(runs.len(), round + 1, "the one that did not begin left no row");
        while runs[0].state == WorkState::Running {
            std::thread::sleep(std::time::Duration::from_millis(20));
            runs = runs::list(&session.runs).unwrap();
        }
    }
}

#[test]
fn training_that_panics_fails_and_the_next_one_starts() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let asked = TrainChoices { epochs: 2, ..choices(&session, ModelKind::ShareRecFfn, "frozen") };
    let once = AtomicBool::new(true);
    session.subscribe(move |event| {
        // A listener is called on the training thread, in the middle of its work.
        let Event::Run(run) = event else { return };
        if run.state == WorkState::Running && run.epochs.len() == 1 && once.swap(false, Ordering::Relaxed) {
            panic!("no such luck");
        }
    });
    let id = runs::start(&session.runs, &asked).unwrap();
    let ended = |id: u32| loop {
        let run = runs::detail(&session.runs, id).unwrap().info;
        if run.state != WorkState::Running {
            break run;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let failed = ended(id);
    assert_eq!(failed.state, WorkState::Failed);
    assert!(failed.problem.unwrap().message.contains("no such luck"));
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(jobs::list(&session.project).unwrap().iter().all(|job| job.state != WorkState::Running));
    let next = runs::start(&session.runs, &asked).unwrap();
    assert_eq!(ended(next).state, WorkState::Finished);
}
