//! Questions that are edited while labels depend on them, in sessions, windows, runs and copies.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, open};
use dissensus_api::{QuestionPart, TrainChoices};
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, LevelEdit, QuestionHelp, QuestionId};
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::{QuestionChange, define_levels};
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_project::jobs::Silent;
use dissensus_project::sample;
use dissensus_stats::data::ModelKind;
use dissensus_store::Store;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_training::runs::TextToPredict;
use std::path::Path;

/// Sets the levels of the sample's question, by their names.
fn set(session: &Session, levels: &[&str]) -> Result<bool, String> {
    let question = questions::find(&session.project, Some("offensiveness")).unwrap();
    let names: Vec<String> = levels.iter().map(|name| (*name).to_owned()).collect();
    let levels = questions::levels_named(&question, &names);
    let change = QuestionChange { levels: Some(levels), ..QuestionChange::default() };
    let edited = questions::edit(&session.project, question.id, &change);
    edited.map(|edited| edited.rearranged).map_err(|error| error.code().to_owned())
}

fn levels(session: &Session) -> Vec<String> {
    questions::find(&session.project, Some("offensiveness")).unwrap().scale.levels().to_vec()
}

#[test]
fn levels_and_wording_are_edited_in_an_open_window() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let workbench = Application::new(home(folder.path()));
    workbench.open_project(&path.to_string_lossy()).unwrap();
    let session = workbench.open_session().unwrap();
    session.background.start();
    let before = levels(&session);
    let with_six: Vec<&str> = before.iter().map(String::as_str).chain(["6"]).collect();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap();
    let mut named = questions::levels_named(&question, &before);
    define_levels("offensiveness", &mut named, &[format!("{}=Nobody minds.", before[0])]).unwrap();
    let change = QuestionChange {
        prompt: Some(" How bad is it? ".into()),
        help: Some(QuestionHelp { low: "fine".into(), ..QuestionHelp::default() }),
        levels: Some(named),
        ..QuestionChange::default()
    };
    assert!(!questions::edit(&session.project, question.id, &change).unwrap().rearranged);
    let info = info::read(&session.project).unwrap().questions.remove(0);
    assert_eq!((info.prompt.as_str(), info.help.low.as_str()), ("How bad is it?", "fine"));
    assert_eq!(info.definitions[0], "Nobody minds.");
    assert_eq!(info.edits.edits.len(), 1, "what is saved at once is one edit");
    let parts = &info.edits.edits[0].parts;
    assert_eq!(parts.len(), 3);
    assert!(parts.contains(&QuestionPart::LevelNames) && !parts.contains(&QuestionPart::Levels));
    assert_eq!(info.edits.labels_before, info.labels);
    assert_eq!(set(&session, &with_six), Ok(true));
    assert_eq!(levels(&session).len(), 6);
    let error = define_levels("q", &mut [], &["x".to_owned()]).unwrap_err();
    assert!(error.to_string().contains("write LEVEL=TEXT"), "{error}");
    let uses = questions::level_uses(&session.project, question.id).unwrap();
    assert!(uses[0].answered && uses[5].words.is_none());
    let long = LevelEdit { from: None, name: "x".repeat(300), definition: String::new() };
    let change = QuestionChange { levels: Some(vec![long]), ..QuestionChange::default() };
    assert!(questions::edit(&session.project, question.id, &change).is_err());
}

#[test]
fn run_predicts_only_the_levels_that_it_learned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let session = open(&path);
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
    let encoder = Some(tiny.to_string_lossy().into_owned());
    session.encoding.encode(&EncoderChoice { encoder, ..EncoderChoice::default() }, &Silent).unwrap();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    let train = |session: &Session, question: QuestionId| {
        let choices = runs::choices_for(&session.runs, question, ModelKind::ShareRecFfn, "frozen").unwrap();
        runs::train(&session.runs, &TrainChoices { epochs: 1, ..choices }, DeviceChoice::Cpu, &Silent)
            .unwrap()
    };
    let predict = |session: &Session, run: u32| {
        let predicted =
            runs::predict(&session.runs, &[run], AnnotatorId(2), TextToPredict::New("You fool."), &Silent);
        predicted.map(|found| found[0].probabilities.len()).map_err(|error| error.code().to_owned())
    };
    let first = train(&session, question).info.id;
    let levels_then = levels(&session);
    assert_eq!(predict(&session, first), Ok(levels_then.len()));
    session.close();
    let session = open(&path);
    let more: Vec<&str> = ["none at all"].into_iter().chain(levels_then.iter().map(String::as_str)).collect();
    assert_eq!(set(&session, &more), Ok(true));
    session.close();
    // With as many outputs as the question had levels, it would name each one too high.
    let session = open(&path);
    assert_eq!(predict(&session, first), Err("other-levels".to_owned()));
    assert_eq!(runs::compare_runs(&session.runs, first, first).unwrap_err().code(), "other-levels");
    let second = train(&session, question);
    assert_eq!(predict(&session, second.info.id), Ok(more.len()));
    assert!(!second.notes.iter().any(|note| note.contains("last edited")), "all labels are from before");
    by_name::record(
        &session.labelling,
        &LabelByName::new(&first_person(&session), "1", "none at all", Some("offensiveness")),
    )
    .ok();
}

fn first_person(session: &Session) -> String {
    annotators::list(&session.project).unwrap()[0].external_id.clone()
}

#[test]
fn killed_edit_is_atomic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let store = Store::open(&path).unwrap();
    let question = store.question_by_name("offensiveness").unwrap().unwrap();
    let names = question.scale.levels().to_vec();
    let level = |name: &str| LevelEdit {
        from: question.scale.id_named(name),
        name: name.into(),
        definition: String::new(),
    };
    let edited: Vec<LevelEdit> = names.iter().map(|name| level(name)).chain([level("new")]).collect();
    let edit = dissensus_store::QuestionEdit { levels: Some(edited), ..Default::default() };
    // A later failure rolls it back, including the row of the new level.
    let failed = store.write(move |tx| {
        tx.edit_question(question.id, &edit, 5)?;
        Err::<(), _>(dissensus_store::StoreError::Closed("here".into()))
    });
    assert!(failed.is_err());
    assert_eq!(store.level_keys(question.id).unwrap(), names);
    assert!(store.question_versions(question.id).unwrap().is_empty());
}
