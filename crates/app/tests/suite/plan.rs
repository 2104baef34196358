//! The plan of a study: from the sample's labels, from too few, and as labels are added.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{Stopped, create, home, import_into, sample_with_question};
use dissensus_analysis::PlanChoices;
use dissensus_analysis::plan;
use dissensus_analysis::who_differs;
use dissensus_api::{
    DifferenceShares, Figure, ImportChoices, NewLabel, NewPracticeText, PlanReport, PlanRequest,
    ProjectChoices,
};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, Attributes, Condition, QuestionId};
use dissensus_editing::QuestionChange;
use dissensus_editing::annotators;
use dissensus_editing::choices;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::texts;
use dissensus_labelling::record;
use dissensus_project::jobs::Follow;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_transfer::exchange;
use dissensus_transfer::study;
use std::collections::BTreeSet;

fn plan(session: &Session, question: QuestionId, choices: PlanChoices) -> PlanReport {
    plan::make(&session.analysis, question, choices, &Silent).unwrap()
}

#[test]
fn plan_counts_given_and_missing_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = sample_with_question(&folder);
    let choices = PlanChoices {
        reliability: 0.7,
        interval_width: Some(2.0),
        cost_per_label: Some(0.5),
        top: 1000,
        ..PlanChoices::default()
    };
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
    let for_reliability = report.for_reliability.value.unwrap();
    // A text stops depending on the spread of its own labels, and never before the reliability is reached.
    for text in &report.open_texts {
        let wide = text.width.is_none_or(|width| width > 2.0);
        assert!(text.labels + text.missing >= for_reliability, "{text:?}");
        assert!(wide || text.labels < for_reliability, "{text:?}");
        assert_eq!(text.width.is_none(), text.labels == 0, "{text:?}");
        assert!(!text.body.is_empty(), "{text:?}");
    }
    assert_eq!(report.labels_in_all, Some(728 + missing));
    assert_eq!(report.cost_missing, Some(0.5 * f64::from(missing)));
    // The same again, from a copy of the file too.
    assert_eq!(plan(&session, question, choices), report);
    drop(session);
    let copy = folder.path().join("copy.dissensus");
    std::fs::copy(folder.path().join("sample.dissensus"), &copy).unwrap();
    let session = Session::open(&copy, &home(folder.path())).unwrap();
    assert_eq!(plan(&session, question, choices), report);
    // An easily met request: everything can stop.
    let easy = plan(&session, question, PlanChoices { reliability: 0.01, ..PlanChoices::default() });
    let unlabelled = easy.open_texts.iter().filter(|t| t.labels == 0).count();
    assert_eq!((easy.done, easy.open_texts.len()), (unlabelled == 0, unlabelled));
}

#[test]
fn agreed_texts_are_completed_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spread.dissensus");
    let home = home(folder.path());
    let session = Session::create(&path, &home).unwrap();
    // Texts of ten labels: on the first half all but one agree, on the others people are divided.
    let mut csv = "text_id,text,annotator_id,label\n".to_owned();
    for text in 0..40 {
        for person in 0..10 {
            let (base, divided) = (1 + text % 3, text >= 20);
            let level = match divided {
                true => 1 + 4 * ((person + text) % 2),
                false => base + usize::from((person + text) % 10 == 0),
            };
            csv.push_str(&format!("t{text:02},words of text {text},p{person},{level}\n"));
        }
    }
    let file = folder.path().join("labels.csv");
    std::fs::write(&file, csv).unwrap();
    let silent: std::sync::Arc<dyn Progress> = std::sync::Arc::new(Silent);
    let scale = Some(dissensus_domain::ScaleKind::Ordinal);
    exchange::import(
        &session.exchange,
        &file,
        &ImportChoices { scale, ..ImportChoices::default() },
        Some(&silent),
    )
    .unwrap();
    let question = questions::find(&session.project, None).unwrap().id;
    let request = PlanRequest {
        reliability: 0.1,
        interval_width: Some(1.5),
        cost_per_label: None,
        seconds_per_label: Some(4.0),
    };
    let report =
        plan::make(&session.analysis, question, PlanChoices::from_request(&request).unwrap(), Follow::Job)
            .unwrap();
    assert_eq!((report.texts_done, report.done), (20, false), "{report:?}");
    assert!(report.open_texts.iter().all(|t| t.text_id.as_str() >= "t20" && t.width.unwrap() > 1.5));
    let missing = f64::from(report.labels_missing.unwrap());
    assert_eq!(report.seconds_missing, Some(4.0 * missing));
    assert_eq!(report.seconds_in_all, Some(4.0 * (400.0 + missing)));
    // The request is stored with the project; an invalid one is refused.
    let choices = ProjectChoices { plan: Some(request.clone()), ..ProjectChoices::default() };
    choices::save(&session.project, &choices).unwrap();
    assert_eq!(info::read(&session.project).unwrap().choices.plan, Some(request.clone()));
    for wrong in [
        PlanRequest { reliability: 1.0, ..request.clone() },
        PlanRequest { reliability: f64::NAN, ..request.clone() },
        PlanRequest { interval_width: Some(0.0), ..request.clone() },
        PlanRequest { seconds_per_label: Some(f64::INFINITY), ..request.clone() },
        PlanRequest { cost_per_label: Some(-1.0), ..request },
    ] {
        let error = PlanChoices::from_request(&wrong).unwrap_err();
        assert_eq!(error.code(), "setting", "{error}");
    }
}

/// The same labels in another order of rows, and people and texts without labels, give the same intervals.
#[test]
fn intervals_depend_on_the_labels_alone() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..40)
        .flat_map(|text| (0..8).map(move |person| (text, person)))
        .filter(|(text, person)| (text * 3 + person * 5) % 4 != 0)
        .map(|(text, person)| {
            let level = 1 + (text % 3) + usize::from(person > 4) + (text * 7 + person * 11) % 2;
            format!("t{text:02},words of text {text},p{person},{level}\n")
        })
        .collect();
    let project = |name: &str, rows: &[&String]| {
        let session = create(&folder.path().join(name));
        let file = folder.path().join(format!("{name}.csv"));
        let rows: String = rows.iter().map(|row| row.as_str()).collect();
        std::fs::write(&file, format!("text_id,text,annotator_id,label\n{rows}")).unwrap();
        let silent: std::sync::Arc<dyn Progress> = std::sync::Arc::new(Silent);
        let choices = ImportChoices {
            scale: Some(dissensus_domain::ScaleKind::Ordinal),
            levels: Some(["1", "2", "3", "4", "5"].map(str::to_owned).to_vec()),
            ..ImportChoices::default()
        };
        exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
        let question = questions::find(&session.project, None).unwrap().id;
        (session, question)
    };
    let figures = |session: &Session, question| {
        let report = plan(session, question, PlanChoices::default());
        let shares = who_differs::find(&session.analysis, question, &Silent).unwrap().shares.unwrap();
        (report.for_reliability, report.labels_per_person, shares)
    };
    let (session, question) = project("one", &rows.iter().collect::<Vec<_>>());
    let expected = figures(&session, question);
    for n in 0..3 {
        annotators::add(&session.project, &format!("a{n}"), &Attributes::new()).unwrap();
    }
    assert_eq!(figures(&session, question), expected);
    let (session, question) = project("two", &rows.iter().rev().collect::<Vec<_>>());
    let turned = figures(&session, question);
    assert_eq!((turned.0, turned.1), (expected.0, expected.1));
    let figures = |shares: DifferenceShares| [shares.text, shares.person, shares.neither];
    for (one, other) in figures(turned.2).into_iter().zip(figures(expected.2)) {
        let ends = |of: Figure| [of.value, of.interval.unwrap().0, of.interval.unwrap().1];
        for (one, other) in ends(one).into_iter().zip(ends(other)) {
            assert!((one - other).abs() < 1e-9, "{turned:?} {expected:?}");
        }
    }
}

#[test]
fn only_texts_that_are_asked_are_planned() {
    let folder = tempfile::tempdir().unwrap();
    let session = create(&folder.path().join("p.dissensus"));
    let rows = |texts: std::ops::Range<usize>, levels: usize| -> String {
        let row = |(text, person): (usize, usize)| {
            let other = (text * 7 + person * 3) % 10 == 0;
            let level = 1 + (text + usize::from(other)) % levels;
            format!("t{text:02},words of text {text},p{person},{level}\n")
        };
        let rows = texts.flat_map(|text| (0..10).map(move |person| (text, person))).map(row);
        "text_id,text,annotator_id,label\n".to_owned() + &rows.collect::<String>()
    };
    import_into(&session, "tone", &rows(0..30, 5));
    // Three texts of another question only.
    import_into(&session, "rude", &rows(29..33, 2));
    let of = |name| questions::find(&session.project, Some(name)).unwrap().id;
    let (tone, rude) = (of("tone"), of("rude"));
    let choices = PlanChoices { reliability: 0.99, top: 1000, ..PlanChoices::default() };
    let names = |report: &PlanReport| -> BTreeSet<String> {
        assert_eq!(report.open_texts.iter().map(|t| t.missing).sum::<u32>(), report.labels_missing.unwrap());
        report.open_texts.iter().map(|text| text.text_id.clone()).collect()
    };
    let all = plan(&session, tone, choices);
    assert_eq!((all.texts, names(&all).len()), (33, 33));
    let practice = ["t00", "t31"].map(|name| NewPracticeText {
        question: tone,
        text: texts::find(&session.project, name).unwrap().0,
        answer: Some(Answer::from_level(1)),
        reason: String::new(),
    });
    study::set_practice(&session.study, &practice).unwrap();
    let without_practice = plan(&session, tone, choices);
    assert_eq!((without_practice.texts, names(&without_practice).len()), (31, 31));
    assert!(!names(&without_practice).contains("t00") && !names(&without_practice).contains("t31"));
    let only_if = Some(Some(Condition::new(rude, [0])));
    let change = QuestionChange { only_if, ..QuestionChange::default() };
    questions::edit(&session.project, tone, &change).unwrap();
    let conditional = plan(&session, tone, choices);
    assert_eq!(conditional.texts, 29);
    assert!(names(&conditional).iter().all(|name| name.as_str() < "t30"), "{:?}", names(&conditional));
    assert!(conditional.remark.unwrap().contains("has a condition"));
}

/// From twenty labels with a time on.
#[test]
fn plan_uses_the_measured_time_for_each_label() {
    const FEW: usize = 19;
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = sample_with_question(&folder);
    let before = plan(&session, question, PlanChoices::default());
    assert_eq!((before.seconds_per_label, before.timed_labels, before.seconds_in_all), (None, 0, None));
    let person = annotators::list(&session.project).unwrap()[0].id;
    for (text, ms) in (1..).zip([2000, 9000, 3000].into_iter().cycle().take(FEW)) {
        let (text, answer) = (dissensus_domain::TextId(text), Answer::from_level(1));
        let new = NewLabel { question, annotator: person, text, answer, duration_ms: Some(ms) };
        record::record_label(&session.labelling, &new).unwrap();
    }
    let few = plan(&session, question, PlanChoices::default());
    assert_eq!((few.seconds_per_label, few.timed_labels, few.seconds_in_all), (None, FEW as u32, None));
    assert!(few.remark.unwrap().contains("Too little to tell how long a label takes: 19 labels with"));
    let new = NewLabel {
        question,
        annotator: person,
        text: dissensus_domain::TextId(20),
        answer: Answer::from_level(1),
        duration_ms: Some(9000),
    };
    record::record_label(&session.labelling, &new).unwrap();
    let after = plan(&session, question, PlanChoices::default());
    assert_eq!((after.seconds_per_label, after.timed_labels), (Some(3.0), 20));
    let given = PlanChoices { seconds_per_label: Some(10.0), ..PlanChoices::default() };
    let given = plan(&session, question, given);
    assert_eq!((given.seconds_per_label, given.timed_labels), (Some(10.0), 0));
}

#[test]
fn each_label_reduces_the_missing_count() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = sample_with_question(&folder);
    let choices = PlanChoices { reliability: 0.9, top: 1000, ..PlanChoices::default() };
    let before = plan(&session, question, choices);
    let person = annotators::list(&session.project).unwrap()[0].id;
    let (text, answer) = (before.open_texts.last().unwrap().text, Answer::from_level(2));
    let new = NewLabel { question, annotator: person, text, answer, duration_ms: None };
    let had = before.open_texts.iter().find(|t| t.text == text).unwrap().labels;
    record::record_label(&session.labelling, &new).unwrap();
    let after = plan(&session, question, choices);
    let has = after.open_texts.iter().find(|t| t.text == text).unwrap().labels;
    assert_eq!(u64::from(has - had), u64::from(after.labels - before.labels));
}

#[test]
fn plan_reports_too_little_data_and_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = sample_with_question(&folder);
    let stopped = plan::make(&session.analysis, question, PlanChoices::default(), &Stopped).unwrap_err();
    assert_eq!(stopped.code(), "cancelled");
    let path = folder.path().join("few.dissensus");
    drop(session);
    let session = Session::create(&path, &home(folder.path())).unwrap();
    let file = folder.path().join("few.csv");
    std::fs::write(&file, "text_id,text,annotator_id,label\n1,a,ana,1\n1,a,ben,2\n2,b,ana,2\n").unwrap();
    let silent: std::sync::Arc<dyn Progress> = std::sync::Arc::new(Silent);
    exchange::import(&session.exchange, &file, &Default::default(), Some(&silent)).unwrap();
    let report = plan(&session, questions::find(&session.project, None).unwrap().id, PlanChoices::default());
    assert!(report.needs.unwrap().contains("(so far 1)"));
    assert_eq!((report.annotators_per_text, report.shares), (None, None));
    // Everyone gives the same level.
    let mut same = String::from("text_id,text,annotator_id,label\n0,text 0,p9,2\n");
    for text in 0..30 {
        for who in 0..6 {
            same.push_str(&format!("{text},text {text},p{who},1\n"));
        }
    }
    drop(session);
    let path = folder.path().join("same.dissensus");
    let session = Session::create(&path, &home(folder.path())).unwrap();
    std::fs::write(&file, same).unwrap();
    exchange::import(&session.exchange, &file, &Default::default(), Some(&silent)).unwrap();
    let report = plan(&session, questions::find(&session.project, None).unwrap().id, PlanChoices::default());
    assert!(report.needs.unwrap().contains("fewer than 10"));
    assert_eq!((report.annotators_per_text, report.shares), (None, None));
}
