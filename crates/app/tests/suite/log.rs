//! The log contains what happened, but no texts, labels or names. Only one test: a process has one log.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::home;
use dissensus_analysis::annotators;
use dissensus_api::ImportChoices;
use dissensus_app::Application;
use dissensus_editing::questions;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_project::jobs::Follow;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::log::start_log;
use dissensus_training::encoding::EncoderChoice;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use std::path::Path;
use std::sync::Arc;

/// Words that do not occur in the program.
const SECRETS: [&str; 6] =
    ["zanzibarically", "quokkaful", "Wilhelmina Featherstonehaugh", "t-4711", "mulberryish", "vexatiously"];

#[test]
fn whole_session_is_logged_without_texts_labels_or_names() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    assert_eq!(start_log(&home, Some("not a = filter =")).unwrap_err().code(), "setting");
    start_log(&home, None).unwrap();

    let workbench = Application::new(home.clone());
    let path = folder.path().join("p.dissensus");
    workbench.new_project(&path.to_string_lossy()).unwrap();
    let session = workbench.open_session().unwrap();
    let [word, other, name, id, label, question] = SECRETS;
    let file = folder.path().join("in.csv");
    let mut rows = "text_id,text,annotator_id,label\n".to_owned();
    for n in 0..30 {
        rows.push_str(&format!("{id}-{n},so {word} {n} and {other},{name},{}\n", ["no", label][n % 2]));
    }
    std::fs::write(&file, &rows).unwrap();
    let choices = ImportChoices { question: Some(question.into()), ..ImportChoices::default() };
    exchange::import(&session.exchange, &file, &choices, None).unwrap();
    // Error messages quote their subject; the log must not.
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    std::fs::write(&file, format!("{rows}{id}-1,another {word},{name},{label}\n")).unwrap();
    assert!(exchange::import(&session.exchange, &file, &choices, Some(&silent)).is_err());
    assert!(exchange::import(&session.exchange, &file, &choices, None).is_err());
    assert!(by_name::record(&session.labelling, &LabelByName::new(name, id, other, Some(question))).is_err());
    by_name::record(&session.labelling, &LabelByName::new(name, &format!("{id}-3"), label, Some(question)))
        .unwrap();
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
    let choice = EncoderChoice { encoder: Some(tiny.to_string_lossy().into()), ..EncoderChoice::default() };
    session.encoding.encode(&choice, &Silent).unwrap();
    session.background.start();
    let asked = questions::find(&session.project, Some(question)).unwrap();
    session.live.fit(asked.id, &Silent).unwrap();
    annotators::measure(&session.analysis, asked.id).unwrap();
    exchange::export(
        &session.exchange,
        &folder.path().join("out.csv"),
        &ExportChoices { replace: true, ..ExportChoices::default() },
        Follow::Job,
    )
    .unwrap();
    // A panic that quotes a text, like slicing inside a character.
    let text = word.to_string();
    let died = std::thread::spawn(move || panic!("byte index 1 is not in `{text}`")).join();
    assert!(died.is_err());

    let diagnostics = workbench.diagnostics();
    workbench.close_project();
    let logs: Vec<_> = std::fs::read_dir(home.logs()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let log: String = logs.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for expected in
        ["started", "project opened", "job ended", "kind=\"import\"", "panic", "log.rs", "project closed"]
    {
        assert!(log.contains(expected), "{expected}: {log}");
    }
    assert!(
        diagnostics.contains("30 texts, 1 annotators") && diagnostics.contains("lines of the log"),
        "{diagnostics}"
    );
    for secret in SECRETS {
        assert!(!log.contains(secret), "the log holds {secret:?}: {log}");
        assert!(!diagnostics.contains(secret), "the diagnostics hold {secret:?}: {diagnostics}");
    }
}
