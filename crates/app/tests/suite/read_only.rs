//! A read-only project: everything can be viewed, nothing is written, and changes by others are shown.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, tiny};
use dissensus_analysis::SlipChoices;
use dissensus_analysis::annotators;
use dissensus_analysis::encoder_trials;
use dissensus_analysis::overview;
use dissensus_analysis::ranking;
use dissensus_analysis::repeats;
use dissensus_analysis::slips;
use dissensus_analysis::text_detail;
use dissensus_api::{
    DisagreementMeasure, DisagreementQuery, HistoryRequest, ImportChoices, LabelDetails, MergeConsent,
    NewAttentionCheck, NewDecision, NewGuideline, NewLabel, NewPracticeAnswer, NewPracticeRule,
    NewPracticeText, NoteQuery, PanelOrder, PanelRequest, ProjectChoices, Removal, StudyCare, StudyRequest,
    TextQuery,
};
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_domain::{
    AfterFailing, Answer, AttributeForm, CheckRule, FormAnswers, FormAttribute, LabelSource, Note, NoteForm,
    Outcome, QuestionId, Scale, ScaleKind, TextId,
};
use dissensus_editing::QuestionChange;
use dissensus_editing::attribute_form;
use dissensus_editing::choices;
use dissensus_editing::copy;
use dissensus_editing::copy::CopyChoices;
use dissensus_editing::history;
use dissensus_editing::info;
use dissensus_editing::jobs;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_editing::remove;
use dissensus_editing::reveal;
use dissensus_editing::withdraw;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::care;
use dissensus_labelling::guideline::OnScreen;
use dissensus_labelling::marks;
use dissensus_labelling::notes;
use dissensus_labelling::practice_answers;
use dissensus_labelling::progress;
use dissensus_labelling::reannotation;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Follow, Progress, Silent};
use dissensus_project::sample;
use dissensus_stats::data::ModelKind;
use dissensus_store::Store;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use dissensus_transfer::study;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

fn project(folder: &Path) -> PathBuf {
    let path = folder.join("p.dissensus");
    sample::create(&path).unwrap();
    path
}

/// Names and bytes of the project and everything next to it, including folders of runs, excluding the
/// application's own folder.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with("home") => {}
                true => {
                    found.push((path.clone(), Vec::new()));
                    folders.push(path);
                }
                false => found.push((path.clone(), std::fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

const REFUSED: &str = "project-opened-to-read";

/// The error code of `result`.
fn code<T>(result: Result<T, ProjectError>) -> &'static str {
    result.map_or_else(|error| error.code(), |_| "done")
}

fn silent() -> Arc<dyn Progress> {
    Arc::new(Silent)
}

/// The sample with the traces of a study: embeddings, a finished run, a panel, a check, a guideline,
/// packets.
struct Study {
    path: PathBuf,
    question: QuestionId,
    run: u32,
    plan: StudyRequest,
    panel: PanelRequest,
}

fn check(question: QuestionId, text: u32) -> NewAttentionCheck {
    NewAttentionCheck {
        question,
        text: TextId(text),
        answer: Some(Answer::from_level(0)),
        reason: String::new(),
    }
}

fn practice(question: QuestionId, text: u32) -> NewPracticeText {
    NewPracticeText {
        question,
        text: TextId(text),
        answer: Some(Answer::from_level(0)),
        reason: String::new(),
    }
}

fn guideline() -> NewGuideline {
    let (change, by) = ("first".to_owned(), String::new());
    NewGuideline { body: "# How to judge".to_owned(), change, by, pictures: Vec::new(), after: None }
}

fn study(folder: &Path) -> Study {
    let path = project(folder);
    let session = Session::open(&path, &home(folder)).unwrap();
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    let choices = runs::choices_for(&session.runs, question, ModelKind::Shared, "frozen").unwrap();
    let run = runs::train(&session.runs, &choices, DeviceChoice::Cpu, &Silent).unwrap().info.id;
    let panel = PanelRequest {
        question,
        members: Vec::new(),
        size: 3,
        shares: Vec::new(),
        seed: 1,
        rule: "majority".to_owned(),
        draws: 20,
    };
    session.panels.save("three", &panel).unwrap();
    study::set_checks(&session.study, &[check(question, 3)]).unwrap();
    dissensus_editing::annotators::add(&session.project, "Mistaken", &Default::default()).unwrap();
    session.guideline.write(&guideline(), None).unwrap();
    let plan = StudyRequest {
        questions: vec![question],
        people: vec!["ada".to_owned(), "ben".to_owned()],
        per_text: 1,
        per_person: None,
        anchors: 2,
        repeat: 0.0,
        again_after: 0,
        new_people: true,
        balance: None,
        seed: 1,
    };
    study::hand_out(&session.study, &plan, &folder.join("packets"), &Silent).unwrap();
    session.close();
    Study { path, question, run, plan, panel }
}

fn request() -> HistoryRequest {
    HistoryRequest { hide_names: true, limit: 100, ..HistoryRequest::default() }
}

fn label(session: &Session, question: QuestionId) -> Result<(), &'static str> {
    let annotator = dissensus_editing::annotators::list(&session.project).unwrap()[0].id;
    let new =
        NewLabel { question, annotator, text: TextId(1), answer: Answer::from_level(0), duration_ms: None };
    record::record_label(&session.labelling, &new).map(drop).map_err(|error| error.code())
}

#[test]
fn read_only_project_is_shown_without_writing() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let before = files(folder.path());
    let workbench = Application::new(home(folder.path()));
    let info = workbench.open_project_to_read(&path.to_string_lossy()).unwrap();
    assert!(info.read_only && info.labels > 100);
    let session = workbench.session().unwrap();
    let question = info.questions[0].id;
    session.background.start();
    session.follow_others();
    assert!(!dissensus_editing::annotators::list(&session.project).unwrap().is_empty());
    assert!(!history::read(&session.project, &request()).unwrap().entries.is_empty());
    study::report(&session.study).unwrap();
    assert!(
        progress::count(
            &session.labelling,
            dissensus_editing::annotators::list(&session.project).unwrap()[0].id,
            question
        )
        .is_ok()
    );
    let out = tempfile::tempdir().unwrap();
    exchange::export(&session.exchange, &out.path().join("labels.csv"), &ExportChoices::default(), &Silent)
        .unwrap();

    // Automatic saves of the window are ignored; explicit writes are refused by name.
    choices::save(&session.project, &ProjectChoices::default()).unwrap();
    assert_eq!(label(&session, question), Err("project-opened-to-read"));
    let refused = |result: Result<(), dissensus_project::error::ProjectError>| {
        assert_eq!(result.unwrap_err().code(), "project-opened-to-read");
    };
    refused(dissensus_editing::annotators::add(&session.project, "New", &Default::default()).map(drop));
    let (outcome, answer) = (dissensus_domain::Outcome::Ambiguous, None);
    let decision =
        NewDecision { question, text: TextId(1), outcome, answer, comment: String::new(), by: String::new() };
    refused(study::decide(&session.study, &decision).map(drop));
    refused(
        workbench
            .alone(|session| withdraw::withdraw(&session.project, dissensus_domain::AnnotatorId(1)))
            .map(drop),
    );
    drop(session);
    workbench.close_project();
    assert!(files(folder.path()) == before, "a file next to the project was changed, or is new");

    // Opening the same file for writing, in place of the read-only one, and back.
    workbench.open_project_to_read(&path.to_string_lossy()).unwrap();
    assert!(!workbench.open_project(&path.to_string_lossy()).unwrap().read_only);
    assert!(workbench.open_project_to_read(&path.to_string_lossy()).unwrap().read_only);
}

/// All writing operations of a window, by name, with their result.
fn writing(session: &Session, study: &Study, out: &Path) -> Vec<(&'static str, &'static str)> {
    let Study { question, run, .. } = *study;
    let annotator = dissensus_editing::annotators::list(&session.project).unwrap()[0].id;
    let (text, source) = (TextId(9), LabelSource::Window);
    let answer = || Answer::from_level(0);
    let new = NewLabel { question, annotator, text, answer: answer(), duration_ms: None };
    let note = Note { note: Some("a word".to_owned()), ..Note::default() };
    let details = LabelDetails { note, guideline: None };
    let named = ImportChoices { question: Some("offensiveness".to_owned()), ..ImportChoices::default() };
    let decision = NewDecision {
        question,
        text,
        outcome: Outcome::Ambiguous,
        answer: None,
        comment: String::new(),
        by: String::new(),
    };
    let form = AttributeForm {
        attributes: vec![FormAttribute {
            name: "age".to_owned(),
            prompt: String::new(),
            values: vec!["young".to_owned(), "old".to_owned()],
            optional: true,
        }],
    };
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"].map(str::to_owned).to_vec()).unwrap();
    let edit = QuestionChange { prompt: Some("Other words?".to_owned()), ..QuestionChange::default() };
    let reasons = QuestionChange { note_form: Some(NoteForm::default()), ..QuestionChange::default() };
    let file = out.join("labels.csv");
    std::fs::write(&file, "text_id,text,annotator_id,label\nnew,New body,somebody,1\n").unwrap();
    let packet = study.path.with_file_name("packets").join("ada.dissensus");
    let rule = NewPracticeRule { pass: Some(0.5), within: None, then: Some(AfterFailing::Stop) };
    let care = StudyCare { limit: Some(5), strict: true, greyscale: true, harmful: Vec::new() };
    let labelling = &session.labelling;
    let mistaken = dissensus_editing::annotators::find(&session.project, "Mistaken").unwrap().id;
    vec![
        ("label", code(record::record_label(labelling, &new))),
        ("label again", code(reannotation::record(labelling, &RecordLabel::new(&new, source), 2))),
        ("remark", code(notes::write(labelling, annotator, question, text, &details, source))),
        ("skip", code(marks::skip(labelling, annotator, [question], text))),
        ("flag", code(marks::flag(labelling, annotator, question, text, true))),
        ("undo", code(undo::undo(labelling, annotator, [question], source))),
        ("person", code(dissensus_editing::annotators::add(&session.project, "New", &Default::default()))),
        (
            "change of a person",
            code(dissensus_editing::annotators::change(&session.project, annotator, Some("Other"), &[], &[])),
        ),
        ("removal", code(remove::remove(&session.project, &Removal::Annotator(mistaken)))),
        ("form", code(attribute_form::set(&session.project, &form))),
        (
            "form's answers",
            code(attribute_form::answer(&session.project, annotator, &FormAnswers::default())),
        ),
        ("care", code(dissensus_editing::care::set(&session.project, &care))),
        ("others' views", code(reveal::set(&session.project, false))),
        ("question", code(questions::add(&session.project, AddQuestion::new("new", "New?", scale)))),
        ("change of a question", code(questions::edit(&session.project, question, &edit))),
        ("reasons", code(questions::edit(&session.project, question, &reasons))),
        ("withdrawal", code(withdraw::withdraw(&session.project, annotator))),
        ("guideline", code(session.guideline.write(&guideline(), None))),
        ("decision", code(study::decide(&session.study, &decision))),
        ("check", code(study::set_checks(&session.study, &[check(question, 5)]))),
        (
            "mark of checks",
            code(study::set_check_rule(
                &session.study,
                Some(CheckRule { pass: 0.5, within: 0, then: AfterFailing::Stop }),
            )),
        ),
        ("mark of practice", code(study::set_practice_rule(&session.study, &rule))),
        ("hand out", code(study::hand_out(&session.study, &study.plan, &out.join("packets"), Follow::Job))),
        ("merge", code(study::merge(&session.study, &[packet], &MergeConsent::all(), Follow::Job))),
        ("import", code(exchange::import(&session.exchange, &file, &named, Some(&silent())))),
        ("import as a job", code(exchange::import(&session.exchange, &file, &named, None))),
        ("panel", code(session.panels.save("other", &study.panel))),
        ("panel no more", code(session.panels.forget("three"))),
        (
            "run",
            code(runs::start(
                &session.runs,
                &runs::choices_for(&session.runs, question, ModelKind::Majority, "frozen").unwrap(),
            )),
        ),
        ("run removed", code(runs::delete(&session.runs, run))),
        ("run no more in use", code(runs::use_run(&session.runs, None))),
        ("encode", code(session.background.start_encoding(EncoderChoice::default()))),
        ("other encoder", code(session.background.start_encoding(tiny()))),
        (
            "try encoders",
            code(encoder_trials::compare(&session.analysis, question, &[String::new()], Follow::Job)),
        ),
        ("repeats removed", code(repeats::remove(&session.analysis, question, None))),
    ]
}

/// Views everything that the window shows.
fn look(session: &Session, study: &Study, out: &Path) {
    let question = study.question;
    let ada = dissensus_editing::annotators::list(&session.project).unwrap()[0].id;
    session.overview(Some(ada)).unwrap();
    overview::agreement(&session.analysis, question).unwrap();
    overview::contested(&session.analysis, question, Some(ada), 10).unwrap();
    let texts = session.texts.find(&TextQuery::default(), 0, 50, None).unwrap();
    assert!(texts.total > 100);
    session.texts.measure_long(Follow::Job).unwrap();
    task::read(&session.labelling, ada, question, TextId(9), 1).unwrap();
    progress::count(&session.labelling, ada, question).unwrap();
    care::state(&session.labelling, ada).unwrap();
    session.live.fit(question, &Silent).unwrap();
    let query = DisagreementQuery {
        question,
        by: DisagreementMeasure::default(),
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    };
    assert!(ranking::rank(&session.analysis, &query).unwrap().texts.len() > 100);
    // A text that they have answered, so that others' answers are shown: in a writable project that is
    // recorded.
    let answered = dissensus_editing::annotators::list(&session.project).unwrap();
    for person in answered.iter().filter(|person| person.labels > 0).take(2) {
        text_detail::read(&session.analysis, &query, TextId(9), None, Some(person.id), true).unwrap();
    }
    study::discussion(&session.study, question, TextId(9)).unwrap();
    annotators::start_measuring(&session.analysis, question).unwrap();
    annotators::measure(&session.analysis, question).unwrap();
    slips::find(&session.analysis, question, SlipChoices::default(), Follow::Job).unwrap();
    session.panels.list().unwrap();
    session.panels.ask(&study.panel, None, PanelOrder::Unsure, 10, Follow::Job).unwrap();
    assert_eq!(runs::list(&session.runs).unwrap().len(), 1);
    runs::detail(&session.runs, study.run).unwrap();
    study::report(&session.study).unwrap();
    study::practice(&session.study).unwrap();
    study::list_checks(&session.study).unwrap();
    study::write_again(&session.study, &["ada".to_owned()], &out.join("again"), &Silent).unwrap();
    history::read(&session.project, &request()).unwrap();
    dissensus_editing::notes::list(&session.project, &NoteQuery::default()).unwrap();
    withdraw::traces(&session.project, ada).unwrap();
    jobs::list(&session.project).unwrap();
    session.guideline.versions().unwrap();
    session.guideline.agreement(OnScreen::Guideline).unwrap();
    exchange::export(&session.exchange, &out.join("all.csv"), &ExportChoices::default(), &Silent).unwrap();
    runs::export(&session.runs, &[study.run], &out.join("report.html"), false).unwrap();
    copy::save_copy(
        &session.project,
        &out.join("copy.dissensus"),
        CopyChoices { replace: true, ..CopyChoices::default() },
        Follow::Job,
    )
    .unwrap();
    choices::save(&session.project, &ProjectChoices::default()).unwrap();
}

#[test]
fn read_only_refuses_writes_and_leaves_bytes_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let out = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let before = files(folder.path());
    assert_eq!(before.len(), 4, "the project, and a folder with two packets");
    let workbench = Application::new(home(folder.path()));
    workbench.open_project_to_read(&study.path.to_string_lossy()).unwrap();
    let session = workbench.session().unwrap();
    session.follow_others();
    let done: Vec<_> =
        writing(&session, &study, out.path()).into_iter().filter(|(_, code)| *code != REFUSED).collect();
    assert!(done.is_empty(), "not refused as they should be: {done:?}");
    assert!(!out.path().join("packets").exists(), "refused, and nothing begun");
    session.background.start();
    look(&session, &study, out.path());
    drop(session);
    workbench.close_project();
    for (now, then) in files(folder.path()).iter().zip(&before) {
        assert!(now == then, "{} was changed, or is new", now.0.display());
    }
    assert_eq!(files(folder.path()).len(), before.len());
    // In a writable project the same operations are not refused for that reason.
    let session = Session::open(&study.path, &home(folder.path())).unwrap();
    let done: Vec<_> =
        writing(&session, &study, out.path()).into_iter().filter(|(_, code)| *code == REFUSED).collect();
    assert!(done.is_empty(), "{done:?}");
}

#[test]
fn read_only_packet_cannot_be_submitted() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let packet = study.path.with_file_name("packets").join("ada.dissensus");
    let before = files(folder.path());
    let session = Session::open_to_read(&packet, &home(folder.path())).unwrap();
    session.background.start();
    let info = info::read(&session.project).unwrap();
    let annotator = info.packet.unwrap().annotator;
    assert!(info.read_only && info.texts > 0);
    assert!(study::open_packet(&session.study).unwrap().is_some());
    assert!(session.texts.find(&TextQuery::default(), 0, 50, None).unwrap().total > 0);
    let file = folder.path().join("ada.handin");
    assert_eq!(code(study::hand_in(&session.study, &file, false)), REFUSED);
    assert_eq!(code(marks::skip(&session.labelling, annotator, [study.question], TextId(1))), REFUSED);
    session.close();
    assert!(files(folder.path()) == before);
}

#[test]
fn read_only_practice_cannot_be_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let session = Session::open(&path, &home(folder.path())).unwrap();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    study::set_practice(&session.study, &[practice(question, 1), practice(question, 2)]).unwrap();
    let annotator =
        dissensus_editing::annotators::add(&session.project, "New", &Default::default()).unwrap().id;
    session.close();
    let before = files(folder.path());
    let session = Session::open_to_read(&path, &home(folder.path())).unwrap();
    assert!(practice_answers::state_of(&session.labelling, annotator).unwrap().is_some());
    assert_eq!(code(study::set_practice(&session.study, &[practice(question, 4)])), REFUSED);
    let text = practice_answers::next(&session.labelling, annotator).unwrap().unwrap().text;
    let given = NewPracticeAnswer { annotator, question, text, answer: Answer::from_level(0) };
    assert_eq!(code(practice_answers::record(&session.labelling, &given)), REFUSED);
    session.close();
    assert!(files(folder.path()) == before);
}

#[test]
fn read_only_refuses_an_earlier_format() {
    let folder = tempfile::tempdir().unwrap();
    let old =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/fixtures/formats/version-2.dissensus");
    let path = folder.path().join("old.dissensus");
    std::fs::copy(old, &path).unwrap();
    let before = files(folder.path());
    let workbench = Application::new(home(folder.path()));
    let error = workbench.open_project_to_read(&path.to_string_lossy()).unwrap_err();
    assert_eq!(error.code(), "project-older");
    assert!(error.to_string().contains("open it to write once"), "{error}");
    assert!(files(folder.path()) == before, "no copy next to it, and not a byte of it");
}

#[test]
fn read_only_shows_writes_of_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let writer = Session::open(&path, &home(folder.path())).unwrap();
    let workbench = Application::new(home(folder.path()));
    let locked = workbench.open_project(&path.to_string_lossy()).unwrap_err();
    assert_eq!(locked.code(), "project-locked");
    let before = workbench.open_project_to_read(&path.to_string_lossy()).unwrap();
    let session = workbench.session().unwrap();
    let (send, received) = mpsc::channel();
    session.subscribe(move |event| {
        if matches!(event, Event::Project) {
            let _ = send.send(());
        }
    });
    session.follow_others();
    let newcomer =
        dissensus_editing::annotators::add(&writer.project, "Newcomer", &Default::default()).unwrap();
    let new = NewLabel {
        question: before.questions[0].id,
        annotator: newcomer.id,
        text: TextId(1),
        answer: Answer::from_level(0),
        duration_ms: None,
    };
    record::record_label(&writer.labelling, &new).unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(60);
    loop {
        received.recv_timeout(Duration::from_secs(60)).unwrap();
        let now = workbench.project().unwrap().unwrap();
        if (now.annotators, now.labels) == (before.annotators + 1, before.labels + 1) {
            break;
        }
        assert!(std::time::Instant::now() < until, "the figures never came up to date");
    }
    let entries = history::read(&session.project, &request()).unwrap().entries;
    assert!(entries[0].what.starts_with("answered "), "{:?}", entries[0]);
    drop(session);
    workbench.close_project();
    writer.close();
    assert_eq!(Store::open(&path).unwrap().annotators().unwrap().len() as u32, before.annotators + 1);
}

#[test]
fn read_only_reads_a_leftover_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let copy = tempfile::tempdir().unwrap();
    let left = copy.path().join("left.dissensus");
    let writer = Session::open(&path, &home(folder.path())).unwrap();
    dissensus_editing::annotators::add(&writer.project, "Newcomer", &Default::default()).unwrap();
    // File and journal in the state after a kill at this moment.
    std::fs::copy(&path, &left).unwrap();
    let wal = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    std::fs::copy(wal(&path), wal(&left)).unwrap();
    writer.close();
    let before = (std::fs::read(&left).unwrap(), std::fs::read(wal(&left)).unwrap());
    assert!(!before.1.is_empty(), "the test needs a journal");
    let session = Session::open_to_read(&left, &home(copy.path())).unwrap();
    assert!(dissensus_editing::annotators::find(&session.project, "Newcomer").is_ok());
    session.close();
    assert!((std::fs::read(&left).unwrap(), std::fs::read(wal(&left)).unwrap()) == before);
}
