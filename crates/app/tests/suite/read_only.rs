//! A read-only project: everything can be viewed, nothing is written, and changes by others are shown.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, tiny};
use dissensus_analysis::SlipChoices;
use dissensus_api::{
    Beside, DisagreementMeasure, DisagreementQuery, HistoryWish, ImportChoices, MergeConsent,
    NewAttentionCheck, NewDecision, NewGuideline, NewLabel, NewPracticeAnswer, NewPracticeRule,
    NewPracticeText, PanelOrder, PanelWish, ProjectChoices, RemarkQuery, Removal, StudyCare, StudyWish,
    TextQuery,
};
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_domain::{
    AfterFailing, Answer, AttributeForm, CheckRule, FormAnswers, FormAttribute, LabelSource, Outcome,
    QuestionId, Remark, RemarkForm, Scale, ScaleKind, TextId,
};
use dissensus_editing::QuestionChange;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::guideline::OnScreen;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::sample;
use dissensus_stats::data::ModelKind;
use dissensus_store::Store;
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
    plan: StudyWish,
    panel: PanelWish,
}

fn check(question: QuestionId, text: u32) -> NewAttentionCheck {
    NewAttentionCheck { question, text: TextId(text), answer: Some(Answer::Level(0)), reason: String::new() }
}

fn practice(question: QuestionId, text: u32) -> NewPracticeText {
    NewPracticeText { question, text: TextId(text), answer: Some(Answer::Level(0)), reason: String::new() }
}

fn guideline() -> NewGuideline {
    let (change, by) = ("first".to_owned(), String::new());
    NewGuideline { body: "# How to judge".to_owned(), change, by, pictures: Vec::new(), after: None }
}

fn study(folder: &Path) -> Study {
    let path = project(folder);
    let session = Session::open(&path, &home(folder)).unwrap();
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let question = session.project.question(Some("offensiveness")).unwrap().id;
    let choices = session.runs.choices(question, ModelKind::Shared, "frozen").unwrap();
    let run = session.runs.train(&choices, DeviceChoice::Cpu, &Silent).unwrap().info.id;
    let panel = PanelWish {
        question,
        members: Vec::new(),
        size: 3,
        shares: Vec::new(),
        seed: 1,
        rule: "majority".to_owned(),
        draws: 20,
    };
    session.panels.save("three", &panel).unwrap();
    session.study.set_checks(&[check(question, 3)]).unwrap();
    session.project.add_annotator("Mistaken", &Default::default()).unwrap();
    session.guideline.write(&guideline(), None).unwrap();
    let plan = StudyWish {
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
    session.study.hand_out(&plan, &folder.join("packets"), &Silent).unwrap();
    session.close();
    Study { path, question, run, plan, panel }
}

fn wish() -> HistoryWish {
    HistoryWish { hide_names: true, limit: 100, ..HistoryWish::default() }
}

fn label(session: &Session, question: QuestionId) -> Result<(), &'static str> {
    let annotator = session.project.annotators().unwrap()[0].id;
    let new = NewLabel { question, annotator, text: TextId(1), answer: Answer::Level(0), duration_ms: None };
    session.labelling.record_label(&new).map(drop).map_err(|error| error.code())
}

#[test]
fn everything_is_looked_at_nothing_is_written_and_the_bytes_stay() {
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
    assert!(!session.project.annotators().unwrap().is_empty());
    assert!(!session.project.history(&wish()).unwrap().entries.is_empty());
    session.study.report().unwrap();
    assert!(session.labelling.progress(session.project.annotators().unwrap()[0].id, question).is_ok());
    let out = tempfile::tempdir().unwrap();
    session.exchange.export(&out.path().join("labels.csv"), None, false, &Silent).unwrap();

    // Automatic saves of the window are ignored; explicit writes are refused by name.
    session.project.save_choices(&ProjectChoices::default()).unwrap();
    assert_eq!(label(&session, question), Err("project-opened-to-read"));
    let refused = |result: Result<(), dissensus_project::error::ProjectError>| {
        assert_eq!(result.unwrap_err().code(), "project-opened-to-read");
    };
    refused(session.project.add_annotator("New", &Default::default()).map(drop));
    let (outcome, answer) = (dissensus_domain::Outcome::Ambiguous, None);
    let decision =
        NewDecision { question, text: TextId(1), outcome, answer, comment: String::new(), by: String::new() };
    refused(session.study.decide(&decision).map(drop));
    refused(workbench.alone(|session| session.project.withdraw(dissensus_domain::AnnotatorId(1))).map(drop));
    drop(session);
    workbench.close_project();
    assert!(files(folder.path()) == before, "a file beside the project was changed, or is new");

    // Opening the same file for writing, in place of the read-only one, and back.
    workbench.open_project_to_read(&path.to_string_lossy()).unwrap();
    assert!(!workbench.open_project(&path.to_string_lossy()).unwrap().read_only);
    assert!(workbench.open_project_to_read(&path.to_string_lossy()).unwrap().read_only);
}

/// All writing operations of a window, by name, with their result.
fn writing(session: &Session, study: &Study, out: &Path) -> Vec<(&'static str, &'static str)> {
    let Study { question, run, .. } = *study;
    let annotator = session.project.annotators().unwrap()[0].id;
    let (text, source) = (TextId(9), LabelSource::Window);
    let answer = || Answer::Level(0);
    let new = NewLabel { question, annotator, text, answer: answer(), duration_ms: None };
    let note = Remark { note: Some("a word".to_owned()), ..Remark::default() };
    let said = Beside { remark: note, guideline: None };
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
    let file = out.join("labels.csv");
    std::fs::write(&file, "text_id,text,annotator_id,label\nnew,New body,somebody,1\n").unwrap();
    let packet = study.path.with_file_name("packets").join("ada.dissensus");
    let rule = NewPracticeRule { pass: Some(0.5), within: None, then: Some(AfterFailing::Stop) };
    let care = StudyCare { limit: Some(5), strict: true, greyscale: true, harmful: Vec::new() };
    let labelling = &session.labelling;
    let mistaken = session.project.annotator("Mistaken").unwrap().id;
    vec![
        ("label", code(labelling.record_label(&new))),
        ("label again", code(labelling.record_again(&new, 2, source))),
        ("remark", code(labelling.remark(annotator, question, text, &said, source))),
        ("skip", code(labelling.skip(annotator, [question], text))),
        ("flag", code(labelling.flag(annotator, question, text, true))),
        ("undo", code(labelling.undo(annotator, [question], source))),
        ("person", code(session.project.add_annotator("New", &Default::default()))),
        ("change of a person", code(session.project.change_annotator(annotator, Some("Other"), &[], &[]))),
        ("removal", code(session.project.remove(&Removal::Annotator(mistaken)))),
        ("form", code(session.project.set_attribute_form(&form))),
        ("form's answers", code(session.project.answer_form(annotator, &FormAnswers::default()))),
        ("care", code(session.project.set_care(&care))),
        ("others' views", code(session.project.set_reveal(false))),
        ("question", code(session.project.add_question("new", "New?", scale))),
        ("change of a question", code(session.project.change_question(question, &edit))),
        ("condition", code(session.project.set_condition(question, None))),
        ("remarks of a question", code(session.project.set_remark_form(question, &RemarkForm::default()))),
        ("withdrawal", code(session.project.withdraw(annotator))),
        ("guideline", code(session.guideline.write(&guideline(), None))),
        ("decision", code(session.study.decide(&decision))),
        ("check", code(session.study.set_checks(&[check(question, 5)]))),
        (
            "mark of checks",
            code(session.study.set_check_rule(Some(CheckRule {
                pass: 0.5,
                within: 0,
                then: AfterFailing::Stop,
            }))),
        ),
        ("mark of practice", code(session.study.set_practice_rule(&rule))),
        ("hand out", code(session.study.hand_out_as_job(&study.plan, &out.join("packets")))),
        ("merge", code(session.study.merge_as_job(&[packet], &MergeConsent::all()))),
        ("import", code(session.exchange.import(&file, &named, &silent()))),
        ("import as a job", code(session.exchange.import_as_job(&file, &named))),
        ("panel", code(session.panels.save("other", &study.panel))),
        ("panel no more", code(session.panels.forget("three"))),
        (
            "run",
            code(session.runs.start(&session.runs.choices(question, ModelKind::Majority, "frozen").unwrap())),
        ),
        ("run removed", code(session.runs.delete(run))),
        ("run no more in use", code(session.runs.use_run(None))),
        ("encode", code(session.background.start_encoding())),
        ("other encoder", code(session.background.start_encoding_with(tiny()))),
        ("try encoders", code(session.analysis.try_encoders_as_job(question, &[String::new()]))),
        ("repeats removed", code(session.analysis.remove_repeats(question, None))),
    ]
}

/// Views everything that the window shows.
fn look(session: &Session, study: &Study, out: &Path) {
    let question = study.question;
    let ada = session.project.annotators().unwrap()[0].id;
    session.overview(Some(ada)).unwrap();
    session.analysis.overview_agreement(question).unwrap();
    session.analysis.overview_contested(question, Some(ada), 10).unwrap();
    let texts = session.texts.find(&TextQuery::default(), 0, 50, None).unwrap();
    assert!(texts.total > 100);
    session.texts.measure_long_as_job().unwrap();
    session.labelling.task(ada, question, TextId(9)).unwrap();
    session.labelling.progress(ada, question).unwrap();
    session.labelling.care(ada).unwrap();
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
    assert!(session.analysis.ranking(&query).unwrap().texts.len() > 100);
    // A text that they have answered, so that others' answers are shown: in a writable project that is
    // recorded.
    let answered = session.project.annotators().unwrap();
    for person in answered.iter().filter(|person| person.labels > 0).take(2) {
        session.analysis.text_detail(&query, TextId(9), None, Some(person.id), true).unwrap();
    }
    session.study.talk(question, TextId(9)).unwrap();
    session.analysis.measure_annotators_as_job(question).unwrap();
    session.analysis.annotator_report(question).unwrap();
    session.analysis.slips_as_job(question, SlipChoices::default()).unwrap();
    session.panels.list().unwrap();
    session.panels.ask_as_job(&study.panel, None, PanelOrder::Unsure, 10).unwrap();
    assert_eq!(session.runs.list().unwrap().len(), 1);
    session.runs.detail(study.run).unwrap();
    session.study.report().unwrap();
    session.study.practice().unwrap();
    session.study.checks().unwrap();
    session.study.write_again(&["ada".to_owned()], &out.join("again"), &Silent).unwrap();
    session.project.history(&wish()).unwrap();
    session.project.remarks(&RemarkQuery::default()).unwrap();
    session.project.traces(ada).unwrap();
    session.project.jobs().unwrap();
    session.guideline.versions().unwrap();
    session.guideline.agreement(OnScreen::Guideline).unwrap();
    session.exchange.export(&out.join("all.csv"), None, false, &Silent).unwrap();
    session.runs.export(&[study.run], &out.join("report.html"), false).unwrap();
    session.project.save_copy_as_job(&out.join("copy.dissensus")).unwrap();
    session.project.save_choices(&ProjectChoices::default()).unwrap();
}

#[test]
fn whatever_writes_is_refused_and_whatever_is_shown_leaves_every_byte_as_it_is() {
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
fn a_packet_is_looked_at_and_not_handed_in() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let packet = study.path.with_file_name("packets").join("ada.dissensus");
    let before = files(folder.path());
    let session = Session::open_to_read(&packet, &home(folder.path())).unwrap();
    session.background.start();
    let info = session.project.info().unwrap();
    let annotator = info.packet.unwrap().annotator;
    assert!(info.read_only && info.texts > 0);
    assert!(session.study.open_packet().unwrap().is_some());
    assert!(session.texts.find(&TextQuery::default(), 0, 50, None).unwrap().total > 0);
    let file = folder.path().join("ada.handin");
    assert_eq!(code(session.study.hand_in(&file, false)), REFUSED);
    assert_eq!(code(session.labelling.skip(annotator, [study.question], TextId(1))), REFUSED);
    session.close();
    assert!(files(folder.path()) == before);
}

#[test]
fn practice_is_looked_at_and_not_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let session = Session::open(&path, &home(folder.path())).unwrap();
    let question = session.project.question(Some("offensiveness")).unwrap().id;
    session.study.set_practice(&[practice(question, 1), practice(question, 2)]).unwrap();
    let annotator = session.project.add_annotator("New", &Default::default()).unwrap().id;
    session.close();
    let before = files(folder.path());
    let session = Session::open_to_read(&path, &home(folder.path())).unwrap();
    assert!(session.labelling.practice(annotator).unwrap().is_some());
    assert_eq!(code(session.study.set_practice(&[practice(question, 4)])), REFUSED);
    let text = session.labelling.next_practice(annotator).unwrap().unwrap().text;
    let given = NewPracticeAnswer { annotator, question, text, answer: Answer::Level(0) };
    assert_eq!(code(session.labelling.record_practice(&given)), REFUSED);
    session.close();
    assert!(files(folder.path()) == before);
}

#[test]
fn a_project_of_an_earlier_format_is_refused_with_what_to_do_and_left_alone() {
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
    assert!(files(folder.path()) == before, "no copy beside it, and not a byte of it");
}

#[test]
fn what_another_program_writes_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let writer = Session::open(&path, &home(folder.path())).unwrap();
    let workbench = Application::new(home(folder.path()));
    let locked = workbench.open_project(&path.to_string_lossy()).unwrap_err();
    assert_eq!(locked.code(), "project-locked");
    let before = workbench.open_project_to_read(&path.to_string_lossy()).unwrap();
    let session = workbench.session().unwrap();
    let (send, heard) = mpsc::channel();
    session.subscribe(move |event| {
        if matches!(event, Event::Project) {
            let _ = send.send(());
        }
    });
    session.follow_others();
    let newcomer = writer.project.add_annotator("Newcomer", &Default::default()).unwrap();
    let new = NewLabel {
        question: before.questions[0].id,
        annotator: newcomer.id,
        text: TextId(1),
        answer: Answer::Level(0),
        duration_ms: None,
    };
    writer.labelling.record_label(&new).unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(60);
    loop {
        heard.recv_timeout(Duration::from_secs(60)).unwrap();
        let now = workbench.project().unwrap().unwrap();
        if (now.annotators, now.labels) == (before.annotators + 1, before.labels + 1) {
            break;
        }
        assert!(std::time::Instant::now() < until, "the figures never came up to date");
    }
    let entries = session.project.history(&wish()).unwrap().entries;
    assert!(entries[0].what.starts_with("answered "), "{:?}", entries[0]);
    drop(session);
    workbench.close_project();
    writer.close();
    assert_eq!(Store::open(&path).unwrap().annotators().unwrap().len() as u32, before.annotators + 1);
}

#[test]
fn a_journal_that_a_killed_program_left_is_read_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let copy = tempfile::tempdir().unwrap();
    let left = copy.path().join("left.dissensus");
    let writer = Session::open(&path, &home(folder.path())).unwrap();
    writer.project.add_annotator("Newcomer", &Default::default()).unwrap();
    // File and journal in the state after a kill at this moment.
    std::fs::copy(&path, &left).unwrap();
    let wal = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    std::fs::copy(wal(&path), wal(&left)).unwrap();
    writer.close();
    let before = (std::fs::read(&left).unwrap(), std::fs::read(wal(&left)).unwrap());
    assert!(!before.1.is_empty(), "the test needs a journal");
    let session = Session::open_to_read(&left, &home(copy.path())).unwrap();
    assert!(session.project.annotator("Newcomer").is_ok());
    session.close();
    assert!((std::fs::read(&left).unwrap(), std::fs::read(wal(&left)).unwrap()) == before);
}
