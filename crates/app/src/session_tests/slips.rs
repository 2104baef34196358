//! Answers that were decided to be slips are excluded from what models learn.

use crate::session::Session;
use dissensus_api::{ImportChoices, NewDecision};
use dissensus_domain::{Answer, Outcome, Progress, Silent};
use dissensus_editing::questions;
use dissensus_editing::texts;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_project::home::Home;
use dissensus_transfer::exchange;
use dissensus_transfer::study;
use std::sync::Arc;

#[test]
fn slips_omit_confirmed_answers() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::inside(&folder.path().join("home"), Vec::new());
    let session = Session::create(&folder.path().join("p.dissensus"), &home).unwrap();
    let rows: String = (1..=4)
        .flat_map(|text| ["ana", "ben"].map(|who| format!("t{text},Body {text},{who},{text}\n")))
        .collect();
    let file = folder.path().join("labels.csv");
    std::fs::write(&file, format!("text_id,text,annotator_id,label\n{rows}t1,Body 1,cleo,3\n")).unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    let question = questions::find(&session.project, None).unwrap();
    let decide = |id: &str, outcome, level: Option<u16>| {
        let text = texts::find(&session.project, id).unwrap().0;
        let (answer, comment, by) = (level.map(Answer::from_level), String::new(), String::new());
        let new = NewDecision { question: question.id, text, outcome, answer, comment, by };
        study::decide(&session.study, &new).unwrap();
    };
    let labels = |without_slips| {
        session.context.question_data_of(&question, without_slips).unwrap().observations.len()
    };
    decide("t1", Outcome::Slip, Some(2));
    decide("t2", Outcome::Slip, None);
    decide("t3", Outcome::RealDifference, Some(0));
    assert_eq!((labels(false), labels(true)), (9, 7), "on t1 what is not 3");
    let note = session.context.slips_note(question.id).unwrap();
    let expected = "Left out as slips: 2 labels of 1 text, all that are not the answer decided there. A slip without a decided answer leaves nothing out (1 text): give it one with `label decide --value`.";
    assert_eq!(note, expected);
    let all = session.context.learned_data_of(&question, true).unwrap();
    assert_eq!(all[0].observations.len(), 7);
    // A corrected label is no longer a slip, and an outdated decision excludes nothing.
    by_name::record(&session.labelling, &LabelByName::new("ben", "t1", "3", None)).unwrap();
    assert_eq!(labels(true), 8);
    decide("t1", Outcome::Reopened, None);
    assert_eq!(labels(true), 9);
}
