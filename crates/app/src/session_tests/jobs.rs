//! A panic in any background work ends only that work, as failed.

use crate::session::Session;
use dissensus_analysis::annotators;
use dissensus_analysis::held_out;
use dissensus_api::{ImportChoices, JobInfo, NewLabel, WorkState};
use dissensus_domain::{Answer, QuestionId, Scale, ScaleKind};
use dissensus_editing::jobs;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_labelling::record;
use dissensus_project::event::Event;
use dissensus_project::home::Home;
use dissensus_project::jobs::Follow;
use dissensus_project::jobs::Silent;
use dissensus_project::sample;
use dissensus_project::sync::lock;
use dissensus_training::encoding::EncoderChoice;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use tempfile::TempDir;

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny")
}

fn encoded_sample(folder: &TempDir) -> Session {
    let path = folder.path().join("sample.dissensus");
    sample::create(&path).unwrap();
    let session = Session::open(&path, &Home::inside(folder.path(), Vec::new())).unwrap();
    let tiny = tiny().to_string_lossy().into_owned();
    session
        .encoding
        .encode(&EncoderChoice { encoder: Some(tiny), ..EncoderChoice::default() }, &Silent)
        .unwrap();
    session
}

fn fail(session: &Session, what: &str) {
    *lock(&session.context.fail_at) = Some(what.to_owned());
}

fn fail_no_more(session: &Session) {
    *lock(&session.context.fail_at) = None;
}

/// Receives jobs that end from now on.
fn ends(session: &Session) -> mpsc::Receiver<JobInfo> {
    let (tell, hear) = mpsc::channel();
    session.subscribe(move |event| {
        if let Event::Job(job) = event
            && job.state != WorkState::Running
        {
            let _ = tell.send(job.clone());
        }
    });
    hear
}

fn next(hear: &mpsc::Receiver<JobInfo>) -> JobInfo {
    hear.recv_timeout(Duration::from_secs(120)).unwrap()
}

fn texts(folder: &TempDir, name: &str) -> PathBuf {
    let path = folder.path().join(format!("{name}.csv"));
    std::fs::write(&path, format!("text_id,text\n{name}-1,one more\n{name}-2,and another\n")).unwrap();
    path
}

#[test]
fn encoding_that_panics_fails_and_can_be_restarted() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let file = texts(&folder, "more");
    let silent: std::sync::Arc<dyn dissensus_project::jobs::Progress> = std::sync::Arc::new(Silent);
    exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    let hear = ends(&session);
    fail(&session, "encoding");
    session.background.start_encoding(EncoderChoice::default()).unwrap();
    let job = next(&hear);
    assert_eq!((job.kind.as_str(), job.state), ("encode", WorkState::Failed));
    assert_eq!(job.problem.unwrap().code, "panic");
    assert_eq!(
        session.encoding.state().unwrap().problem.unwrap().code,
        "panic",
        "the window shows the reason"
    );
    assert!(
        jobs::list(&session.project)
            .unwrap()
            .iter()
            .any(|kept| kept.id == job.id && kept.state == WorkState::Failed)
    );
    fail_no_more(&session);
    // The thread releases its reservation just after it has reported its end.
    let again = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        session.background.start_encoding(EncoderChoice::default()).ok()
    });
    assert!(again.is_some());
    assert_eq!(next(&hear).state, WorkState::Finished);
}

#[test]
fn import_and_export_that_panic_fail() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let hear = ends(&session);
    let file = texts(&folder, "more");
    fail(&session, "import");
    let error = exchange::import(&session.exchange, &file, &ImportChoices::default(), None).unwrap_err();
    assert_eq!(error.code(), "panic");
    assert_eq!(next(&hear).state, WorkState::Failed);
    fail(&session, "export");
    let out = folder.path().join("out.csv");
    assert_eq!(
        exchange::export(
            &session.exchange,
            &out,
            &ExportChoices { replace: true, ..ExportChoices::default() },
            Follow::Job
        )
        .unwrap_err()
        .code(),
        "panic"
    );
    assert_eq!(next(&hear).state, WorkState::Failed);
    fail_no_more(&session);
    exchange::import(&session.exchange, &file, &ImportChoices::default(), None).unwrap();
    exchange::export(
        &session.exchange,
        &out,
        &ExportChoices { replace: true, ..ExportChoices::default() },
        Follow::Job,
    )
    .unwrap();
    assert!(out.exists());
}

#[test]
fn fit_that_panics_leaves_no_model_and_labelling_continues() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    fail(&session, "fit");
    session.background.start();
    session.context.threads.join();
    assert!(session.live.models.with(question, |_| ()).is_none());
    label(&session, question, 0);
    session.context.threads.join();
    fail_no_more(&session);
    session.live.fit(question, &Silent).unwrap();
    assert!(session.live.models.with(question, |_| ()).is_some());
}

#[test]
fn model_damaged_by_a_panic_is_fitted_again() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    let died = std::thread::scope(|scope| {
        let work = || session.live.models.with(question, |_| panic!("in the middle of an update"));
        scope.spawn(work).join().is_err()
    });
    assert!(died);
    assert!(session.live.models.with(question, |_| ()).is_none(), "it would predict from a damaged model");
    label(&session, question, 1);
    session.live.fit(question, &Silent).unwrap();
    assert!(session.live.models.with(question, |_| ()).is_some());
}

#[test]
fn figures_are_measured_after_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    fail(&session, "measure");
    let died = std::thread::scope(|scope| {
        scope.spawn(|| annotators::measure(&session.analysis, question)).join().is_err()
    });
    assert!(died);
    fail_no_more(&session);
    assert!(
        annotators::measure(&session.analysis, question)
            .unwrap()
            .annotators
            .iter()
            .any(|a| a.held_out_labels > 0)
    );
}

#[test]
fn people_are_listed_at_once_and_accuracy_is_a_job() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    let hear = ends(&session);
    let so_far = || annotators::report_known(&session.analysis, question).unwrap();
    let first = so_far();
    assert!(!first.held_out_measured && first.alpha.is_some());
    assert!(first.annotators.iter().all(|a| a.labels > 0 && a.held_out_accuracy.is_none()));

    // A panic, and a stop: nothing is stored, and it can be requested again.
    fail(&session, "evaluate");
    annotators::start_measuring(&session.analysis, question).unwrap();
    assert_eq!(next(&hear).state, WorkState::Failed);
    fail_no_more(&session);
    session.context.threads.join();
    let gate = held_out::delay_measurement(&session.analysis, question);
    let id = {
        let _gate = lock(&gate);
        let id = annotators::start_measuring(&session.analysis, question).unwrap();
        assert_eq!(annotators::start_measuring(&session.analysis, question).unwrap(), id, "it is at work");
        assert!(!so_far().held_out_measured, "nobody waits for it");
        assert!(session.context.jobs.cancel(id));
        id
    };
    let stopped = next(&hear);
    assert_eq!((stopped.id, stopped.state), (id, WorkState::Cancelled));
    assert!(!so_far().held_out_measured);

    // A measurement of labels that have been replaced since does not replace a measurement of the current
    // ones.
    {
        let _gate = lock(&gate);
        let of_before = annotators::start_measuring(&session.analysis, question).unwrap();
        session.live.invalidate_all();
        let of_now = annotators::start_measuring(&session.analysis, question).unwrap();
        assert_ne!(of_before, of_now);
        assert_eq!(annotators::start_measuring(&session.analysis, question).unwrap(), of_now);
        assert!(session.context.jobs.cancel(of_before) && session.context.jobs.cancel(of_now));
    }
    assert_eq!([next(&hear).state, next(&hear).state], [WorkState::Cancelled; 2]);

    let again = annotators::start_measuring(&session.analysis, question).unwrap();
    assert_ne!(again, id);
    assert_eq!(next(&hear).state, WorkState::Finished);
    assert_eq!(so_far(), annotators::measure(&session.analysis, question).unwrap());
    assert!(so_far().annotators.iter().all(|a| a.held_out_accuracy.is_some()));
}

fn label(session: &Session, question: QuestionId, nth: usize) {
    let annotator = dissensus_editing::annotators::list(&session.project).unwrap()[0].id;
    let text = session.context.index().texts()[nth];
    let new = NewLabel { question, annotator, text, answer: Answer::from_level(1), duration_ms: None };
    record::record_label(&session.labelling, &new).unwrap();
}

#[test]
fn additions_during_a_failed_reload_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    session.live.fit(questions::find(&session.project, Some("offensiveness")).unwrap().id, &Silent).unwrap();
    fail(&session, "reload");
    let who = dissensus_editing::annotators::add(&session.project, "Zoe", &Default::default()).unwrap();
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let asked = questions::add(&session.project, AddQuestion::new("fair", "", scale)).unwrap();
    assert_eq!(
        (who.external_id.as_str(), asked.name.as_str(), asked.prompt.as_str()),
        ("Zoe", "fair", "fair")
    );
    let again = dissensus_editing::annotators::add(&session.project, "Zoe", &Default::default()).unwrap_err();
    assert_eq!(again.code(), "duplicate", "it is on disk, though not yet in memory");
    fail_no_more(&session);
    let text = session.context.index().texts()[0];
    let new = NewLabel {
        question: asked.id,
        annotator: who.id,
        text,
        answer: Answer::from_level(1),
        duration_ms: None,
    };
    record::record_label(&session.labelling, &new).unwrap();
    assert_eq!(dissensus_editing::annotators::find(&session.project, "Zoe").unwrap().id, who.id);
}

#[test]
fn stored_import_succeeds_if_the_reload_fails() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let file = texts(&folder, "more");
    let before = session.context.index().texts().len();
    fail(&session, "reload");
    let silent: std::sync::Arc<dyn dissensus_project::jobs::Progress> = std::sync::Arc::new(Silent);
    let report =
        exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    assert_eq!((report.texts, session.context.index().texts().len()), (2, before));
    fail_no_more(&session);
    assert_eq!(session.context.index().texts().len(), before + 2, "read when it is next asked for");
}

/// The stale mark of the index is cleared only once the new one is there: a thread that finds it cleared
/// has the new one.
#[test]
fn readers_during_a_reload_get_the_new_index() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    for round in 0..40 {
        fail(&session, "reload");
        let id =
            dissensus_editing::annotators::add(&session.project, &format!("p{round}"), &Default::default())
                .unwrap()
                .id;
        fail_no_more(&session);
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    start.wait();
                    for _ in 0..200 {
                        assert!(session.context.index().annotator_row(id).is_some(), "round {round}");
                    }
                });
            }
        });
    }
}
