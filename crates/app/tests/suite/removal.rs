//! Additions by mistake are removed, by the command and in a window that has the project open.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, import, into_question, open, tiny};
use dissensus_api::{HistoryRequest, ImportChoices, NewLabel, Removal, RemovalCounts, TrainChoices};
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_domain::{Answer, Attributes, TextId};
use dissensus_editing::annotators;
use dissensus_editing::history;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::remove;
use dissensus_editing::texts;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::record;
use dissensus_project::jobs::Silent;
use dissensus_project::sample;
use dissensus_stats::data::ModelKind;
use dissensus_training::runs;
use std::path::{Path, PathBuf};

/// The sample project, with a file next to it that adds two texts, a person, a question and labels.
fn with_file(folder: &Path) -> (PathBuf, PathBuf) {
    let (path, file) = (folder.join("p.dissensus"), folder.join("more labels.csv"));
    sample::create(&path).unwrap();
    let rows = "text_id,text,annotator,label\nn1,One more text.,Zoe,yes\nn2,And another one.,Zoe,no\n";
    std::fs::write(&file, rows).unwrap();
    (path, file)
}

fn spam() -> ImportChoices {
    into_question("spam")
}

fn everything() -> HistoryRequest {
    HistoryRequest { limit: 100, ..HistoryRequest::default() }
}

fn counts(session: &Session) -> (u32, usize, usize) {
    let info = info::read(&session.project).unwrap();
    (info.texts, info.questions.len(), annotators::list(&session.project).unwrap().len())
}

#[test]
fn removed_import_can_be_imported_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = with_file(folder.path());
    let session = open(&path);
    let before = counts(&session);
    assert_eq!(remove::preview(&session.project, &Removal::LastImport).unwrap_err().code(), "no-import");
    import(&session, &file, &spam());
    assert_eq!(counts(&session), (before.0 + 2, before.1 + 1, before.2 + 1));
    let preview = remove::preview(&session.project, &Removal::LastImport).unwrap();
    let all = RemovalCounts { questions: 1, texts: 2, annotators: 1, answers: 2, attributes: 0 };
    assert_eq!((preview.name.as_str(), preview.counts, preview.stays), ("more labels.csv", all, None));
    let removed = remove::remove(&session.project, &Removal::LastImport).unwrap();
    assert_eq!((removed.gone, removed.kept), (all, RemovalCounts::default()));
    assert_eq!(counts(&session), before);
    let log = history::read(&session.project, &everything()).unwrap();
    assert!(format!("{log:?}").contains("import of more labels.csv"), "the log does not say it: {log:?}");
    import(&session, &file, &spam());
    assert_eq!(counts(&session), (before.0 + 2, before.1 + 1, before.2 + 1));
    session.close();
    // Also after reopening the file.
    let session = open(&path);
    remove::remove(&session.project, &Removal::LastImport).unwrap();
    assert_eq!(counts(&session), before);
    session.close();
}

#[test]
fn texts_used_since_the_import_are_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = with_file(folder.path());
    let session = open(&path);
    import(&session, &file, &spam());
    let person = annotators::add(&session.project, "Zelda", &Attributes::new()).unwrap().id;
    let question = questions::find(&session.project, Some("spam")).unwrap().id;
    let text = texts::find(&session.project, "n2").unwrap().0;
    let new =
        NewLabel { question, annotator: person, text, answer: Answer::from_level(1), duration_ms: None };
    record::record_label(&session.labelling, &new).unwrap();
    let removed = remove::remove(&session.project, &Removal::LastImport).unwrap();
    assert_eq!(
        removed.gone,
        RemovalCounts { questions: 0, texts: 1, annotators: 1, answers: 2, attributes: 0 }
    );
    assert_eq!(
        removed.kept,
        RemovalCounts { questions: 1, texts: 1, annotators: 0, answers: 0, attributes: 0 }
    );
    assert_eq!(
        annotators::list(&session.project).unwrap().iter().find(|a| a.id == person).unwrap().labels,
        1
    );
    let stays = remove::remove(&session.project, &Removal::Text(text)).unwrap_err();
    assert_eq!(stays.code(), "stays");
    assert!(stays.to_string().contains("1 entry in its history"), "{stays}");
    session.close();
}

#[test]
fn texts_of_a_run_stay_until_it_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = with_file(folder.path());
    let session = open(&path);
    let idle = annotators::add(&session.project, "Idle", &Attributes::new()).unwrap().id;
    import(&session, &file, &spam());
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    let choices = runs::choices_for(&session.runs, question, ModelKind::Majority, "frozen").unwrap();
    let run = runs::train(&session.runs, &TrainChoices { epochs: 1, ..choices }, DeviceChoice::Cpu, &Silent)
        .unwrap()
        .info
        .id;
    for what in [Removal::LastImport, Removal::Annotator(idle), Removal::Question(question)] {
        let refused = remove::remove(&session.project, &what).unwrap_err();
        assert_eq!(refused.code(), "stays", "{what:?}: {refused}");
    }
    let preview = remove::preview(&session.project, &Removal::LastImport).unwrap();
    assert!(preview.stays.unwrap().contains(&format!("training run {run} was started with it")));
    runs::delete(&session.runs, run).unwrap();
    remove::remove(&session.project, &Removal::LastImport).unwrap();
    remove::remove(&session.project, &Removal::Annotator(idle)).unwrap();
    session.close();
}

#[test]
fn run_predicts_the_same_after_a_text_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = with_file(folder.path());
    let session = open(&path);
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    let choices = runs::choices_for(&session.runs, question, ModelKind::Majority, "frozen").unwrap();
    let run = runs::train(&session.runs, &TrainChoices { epochs: 1, ..choices }, DeviceChoice::Cpu, &Silent)
        .unwrap()
        .info
        .id;
    import(&session, &file, &spam());
    remove::remove(&session.project, &Removal::LastImport).unwrap();
    import(&session, &file, &spam());
    let detail = runs::detail(&session.runs, run).unwrap();
    assert!(detail.info.problem.is_none());
    assert!(
        texts::find(&session.project, "n1").unwrap().0.0 > info::read(&session.project).unwrap().texts - 2
    );
    session.close();
}

/// The window closes and reopens the project for this: nothing in memory refers to what was removed.
#[test]
fn open_window_removes_an_import_and_continues() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = with_file(folder.path());
    let workbench = Application::new(home(folder.path()));
    workbench.open_project(&path.to_string_lossy()).unwrap();
    let session = workbench.session().unwrap();
    import(&session, &file, &spam());
    let text = texts::find(&session.project, "n1").unwrap().0;
    drop(session);
    workbench.alone(|session| remove::remove(&session.project, &Removal::LastImport)).unwrap();
    let session = workbench.session().unwrap();
    assert!(texts::find(&session.project, "n1").is_err());
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    let person = annotators::add(&session.project, "Zelda", &Attributes::new()).unwrap().id;
    let new = NewLabel {
        question,
        annotator: person,
        text: TextId(1),
        answer: Answer::from_level(1),
        duration_ms: None,
    };
    record::record_label(&session.labelling, &new).unwrap();
    let gone = NewLabel { text, ..new };
    assert!(record::record_label(&session.labelling, &gone).is_err());
    workbench.close_project();
}
