//! The plan of a study: from the sample's labels, from too few, and as labels come.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use dissensus_domain::{Answer, QuestionId};
use dissensus_workbench::view::{NewLabel, PlanReport};
use dissensus_workbench::{Home, PlanChoices, Progress, Session, Silent, sample};
use tempfile::TempDir;

fn opened(folder: &TempDir) -> (Session, QuestionId) {
    let path = folder.path().join("sample.dissensus");
    sample::create(&path).unwrap();
    let session = Session::open(&path, &Home::inside(folder.path(), Vec::new())).unwrap();
    let question = session.project.question(Some("offensiveness")).unwrap().id;
    (session, question)
}

fn plan(session: &Session, question: QuestionId, choices: PlanChoices) -> PlanReport {
    session.analysis.plan(question, choices, &Silent).unwrap()
}

#[test]
fn a_plan_counts_what_is_there_and_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    let choices =
        PlanChoices { reliability: 0.7, interval_width: Some(2.0), cost_per_label: Some(0.5), top: 1000 };
    let report = plan(&session, question, choices);
    assert_eq!((report.texts, report.labels, report.annotators), (168, 728, 8));
    let needed = report.annotators_per_text.unwrap();
    let width = report.for_width.unwrap().value.unwrap();
    assert_eq!(needed, report.for_reliability.value.unwrap().max(width));
    for number in [report.for_reliability, report.for_width.unwrap(), report.labels_per_person] {
        let (value, low) = (number.value.unwrap(), number.low.unwrap());
        assert!(low <= value && number.high.is_none_or(|high| value <= high), "{number:?}");
    }
    let shares = report.shares.unwrap();
    assert!((shares.text + shares.annotator + shares.residual - 1.0).abs() < 1e-9);
    let missing = report.labels_missing.unwrap();
    assert_eq!(report.open_texts.iter().map(|t| t.missing).sum::<u32>(), missing);
    assert_eq!(report.open_texts.len() as u32 + report.texts_done, report.texts);
    assert!(report.open_texts.iter().all(|t| t.labels + t.missing == needed));
    assert_eq!(report.labels_in_all, Some(728 + missing));
    assert_eq!(report.cost_missing, Some(0.5 * f64::from(missing)));
    // The same again, from a copy of the file too.
    assert_eq!(plan(&session, question, choices), report);
    drop(session);
    let copy = folder.path().join("copy.dissensus");
    std::fs::copy(folder.path().join("sample.dissensus"), &copy).unwrap();
    let session = Session::open(&copy, &Home::inside(folder.path(), Vec::new())).unwrap();
    assert_eq!(plan(&session, question, choices), report);
    // A wish that is easily met: everything can stop.
    let easy = plan(&session, question, PlanChoices { reliability: 0.01, ..PlanChoices::default() });
    let unlabelled = easy.open_texts.iter().filter(|t| t.labels == 0).count();
    assert_eq!((easy.done, easy.open_texts.len()), (unlabelled == 0, unlabelled));
}

#[test]
fn a_label_more_is_a_label_less_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    let choices = PlanChoices { reliability: 0.9, top: 1000, ..PlanChoices::default() };
    let before = plan(&session, question, choices);
    let person = session.project.annotators().unwrap()[0].id;
    let (text, answer) = (before.open_texts.last().unwrap().text, Answer::Level(2));
    let new = NewLabel { question, annotator: person, text, answer, duration_ms: None };
    let had = before.open_texts.iter().find(|t| t.text == text).unwrap().labels;
    session.labelling.record_label(&new).unwrap();
    let after = plan(&session, question, choices);
    let has = after.open_texts.iter().find(|t| t.text == text).unwrap().labels;
    assert_eq!(u64::from(has - had), u64::from(after.labels - before.labels));
}

struct Stop;

impl Progress for Stop {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn too_little_is_said_and_a_plan_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    let stopped = session.analysis.plan(question, PlanChoices::default(), &Stop).unwrap_err();
    assert_eq!(stopped.code(), "cancelled");
    let path = folder.path().join("few.dissensus");
    drop(session);
    let session = Session::create(&path, &Home::inside(folder.path(), Vec::new())).unwrap();
    let file = folder.path().join("few.csv");
    std::fs::write(&file, "text_id,text,annotator_id,label\n1,a,ana,1\n1,a,ben,2\n2,b,ana,2\n").unwrap();
    let silent: std::sync::Arc<dyn Progress> = std::sync::Arc::new(Silent);
    session.exchange.import(&file, &Default::default(), &silent).unwrap();
    let report = plan(&session, session.project.question(None).unwrap().id, PlanChoices::default());
    assert!(report.needs.unwrap().contains("(there are 1)"));
    assert_eq!((report.annotators_per_text, report.shares), (None, None));
    // Everybody gives the same level.
    let mut same = String::from("text_id,text,annotator_id,label\n0,text 0,p9,2\n");
    for text in 0..30 {
        for who in 0..6 {
            same.push_str(&format!("{text},text {text},p{who},1\n"));
        }
    }
    drop(session);
    let path = folder.path().join("same.dissensus");
    let session = Session::create(&path, &Home::inside(folder.path(), Vec::new())).unwrap();
    std::fs::write(&file, same).unwrap();
    session.exchange.import(&file, &Default::default(), &silent).unwrap();
    let report = plan(&session, session.project.question(None).unwrap().id, PlanChoices::default());
    assert!(report.needs.unwrap().contains("fewer than 10"));
    assert_eq!((report.annotators_per_text, report.shares), (None, None));
}
