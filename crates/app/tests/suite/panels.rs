//! Panels of people: decisions on the project's texts and on those of files, and saved panels.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, import_csv, tiny};
use dissensus_analysis::panels::PanelFileChoices;
use dissensus_api::{
    ColumnChoices, ImportChoices, NewLabel, PanelOrder, PanelRequest, PanelVerdicts, StudyRequest,
};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, PanelShare, QuestionId, ScaleKind, TextId};
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_editing::texts;
use dissensus_labelling::record;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_training::encoding::TextFileChoices;
use dissensus_transfer::study;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

const TEXTS: usize = 40;
const PEOPLE: usize = 20;

/// Women, with even numbers, answer one or two levels higher than men; everyone answers two texts of three.
fn labels() -> String {
    let mut csv = "text_id,text,annotator_id,label,gender,age\n".to_owned();
    for text in 0..TEXTS {
        for person in (0..PEOPLE).filter(|person| (text + person) % 3 != 0) {
            let mixed = ((text * 64 + person) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            let level = 1
                + text % 3
                + (mixed % 2) as usize * usize::from(text % 3 > 0)
                + usize::from(person % 2 == 0);
            let gender = if person % 2 == 0 { "Woman" } else { "Man" };
            let age = ["young", "old"][person / 2 % 2];
            writeln!(csv, "t{text},words of text {text},p{person:02},{level},{gender},{age}").unwrap();
        }
    }
    csv
}

fn project(place: &TestFolder) -> (Session, QuestionId) {
    let session = place.project("p");
    let column = |name: &str| Some(name.to_owned());
    let columns = ColumnChoices {
        text_id: column("text_id"),
        text: column("text"),
        annotator: column("annotator_id"),
        label: column("label"),
        attributes: vec!["gender".to_owned(), "age".to_owned()],
        ..ColumnChoices::default()
    };
    let choices = ImportChoices {
        columns: Some(columns),
        scale: Some(ScaleKind::Ordinal),
        levels: Some(["1", "2", "3", "4", "5"].map(str::to_owned).to_vec()),
        ..ImportChoices::default()
    };
    import_csv(&session, &labels(), &choices);
    let question = questions::find(&session.project, None).unwrap().id;
    (session, question)
}

fn fitted(place: &TestFolder) -> (Session, QuestionId) {
    let (session, question) = project(place);
    session.live.fit(question, &Silent).unwrap();
    (session, question)
}

fn share(attribute: &str, value: &str, share: f64) -> PanelShare {
    PanelShare { attribute: attribute.to_owned(), value: value.to_owned(), share }
}

fn drawn(question: QuestionId, size: u32, shares: &[PanelShare], rule: &str) -> PanelRequest {
    PanelRequest {
        question,
        members: Vec::new(),
        size,
        shares: shares.to_vec(),
        seed: 1,
        rule: rule.to_owned(),
        draws: 30,
    }
}

fn named(question: QuestionId, members: &[&str], rule: &str) -> PanelRequest {
    let members = members.iter().map(|name| (*name).to_owned()).collect();
    PanelRequest { members, size: 0, ..drawn(question, 0, &[], rule) }
}

fn ask(session: &Session, request: &PanelRequest) -> PanelVerdicts {
    session.panels.ask(request, None, PanelOrder::Unsure, 1000, &Silent).unwrap()
}

fn code(result: Result<impl Sized, ProjectError>) -> &'static str {
    result.map(drop).unwrap_err().code()
}

#[test]
fn panel_uses_given_answers_and_forecasts_others() {
    let place = TestFolder::new();
    let (session, question) = fitted(&place);
    // Text 0 was answered by everyone but p00, p03, ...: women 2, men 1.
    let all = named(question, &["p01", "p05", "p07", "p02"], "majority");
    let text = texts::find(&session.project, "t0").unwrap().0;
    let found = session.panels.ask_about(&all, None, text).unwrap();
    let one = &found.texts[0];
    assert_eq!((one.answered, found.panel.outcomes[one.verdict.likeliest as usize].as_str()), (4, "1"));
    assert_eq!((one.verdict.sure, one.verdict.too_little, &one.others), (1.0, false, &None));
    assert_eq!(found.panel.outcomes, ["1", "2", "3", "4", "5", "no majority"]);
    let some = named(question, &["p00", "p03", "p06"], "mean");
    let found = session.panels.ask_about(&some, None, text).unwrap();
    let one = &found.texts[0];
    assert!(one.answered == 0 && one.verdict.sure < 1.0, "{one:?}");
    assert!((one.verdict.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let (mean, low, high) = one.verdict.mean.unwrap();
    assert!(low <= mean && mean <= high && (1.0..=2.5).contains(&mean), "{:?}", one.verdict.mean);
    assert!(one.verdict.range.0 <= one.verdict.sure && one.verdict.sure <= one.verdict.range.1);

    // A new label is used in the next result.
    let answer = NewLabel {
        question,
        text,
        annotator: annotators::find(&session.project, "p00").unwrap().id,
        answer: Answer::from_level(4),
        duration_ms: None,
    };
    record::record_label(&session.labelling, &answer).unwrap();
    let after = session.panels.ask_about(&some, None, text).unwrap();
    assert_eq!(after.texts[0].answered, 1);
    assert!(after.texts[0].verdict.mean.unwrap().0 > mean);
}

#[test]
fn drawn_panels_meet_shares_and_rank_by_certainty() {
    let place = TestFolder::new();
    let (session, question) = fitted(&place);
    let request =
        drawn(question, 8, &[share("gender", "Woman", 0.25), share("age", "old", 0.5)], "quorum:0.5@3");
    let found = ask(&session, &request);
    let people = annotators::list(&session.project).unwrap();
    let has = |name: &str, value: &str| {
        let is = |id: &&String| {
            people
                .iter()
                .any(|p| p.external_id == **id && p.attributes.get(name).map(String::as_str) == Some(value))
        };
        found.panel.members.iter().filter(is).count()
    };
    assert_eq!((found.panel.members.len(), has("gender", "Woman"), has("age", "old")), (8, 2, 4));
    assert_eq!((found.panel.pool, found.panel.draws, found.texts_in_all), (Some(20), 30, TEXTS as u32));
    assert!(found.texts.windows(2).all(|pair| pair[0].verdict.sure <= pair[1].verdict.sure));
    for text in &found.texts {
        let others = text.others.as_ref().unwrap();
        assert!((others.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && others.otherwise <= 0.5);
        assert!((others.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    assert_eq!(ask(&session, &request), found, "the same seed draws the same panel");
    assert_ne!(
        ask(&session, &PanelRequest { seed: 2, ..request.clone() }).panel.members,
        found.panel.members
    );
    let by_members = session.panels.ask(&request, None, PanelOrder::Members, 3, &Silent).unwrap();
    let otherwise: Vec<f64> = by_members.texts.iter().map(|t| t.others.as_ref().unwrap().otherwise).collect();
    assert!(
        otherwise.len() == 3 && otherwise.windows(2).all(|pair| pair[0] >= pair[1]) && otherwise[0] > 0.0
    );
}

#[test]
fn other_composition_changes_the_verdict() {
    let place = TestFolder::new();
    let (session, question) = fitted(&place);
    let of = |gender: &str| drawn(question, 6, &[share("gender", gender, 1.0)], "mean");
    let found = session.panels.ask(&of("Woman"), Some(&of("Man")), PanelOrder::Apart, 5, &Silent).unwrap();
    assert!(found.compared.is_some());
    assert!(
        found
            .texts
            .windows(2)
            .all(|p| p[0].comparison.as_ref().unwrap().apart >= p[1].comparison.as_ref().unwrap().apart)
    );
    let first = &found.texts[0];
    let comparison = first.comparison.as_ref().unwrap();
    assert!(comparison.apart > 0.5, "{first:?}");
    assert!(first.verdict.mean.unwrap().0 > comparison.verdict.mean.unwrap().0, "women answer higher");
    let same = session.panels.ask(&of("Man"), Some(&of("Man")), PanelOrder::Apart, 5, &Silent).unwrap();
    assert!(same.texts.iter().all(|text| text.comparison.as_ref().unwrap().apart < 1e-12));
}

#[test]
fn invalid_panel_requests_are_refused() {
    let place = TestFolder::new();
    let (session, question) = fitted(&place);
    let refused = |request: &PanelRequest| {
        session.panels.ask(request, None, PanelOrder::Unsure, 1, &Silent).map(drop).unwrap_err()
    };
    let says = |request: &PanelRequest, code: &str, part: &str| {
        let error = refused(request);
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let majority = |members: &[&str]| named(question, members, "majority");
    says(&majority(&["p01", "p01"]), "panel-members", "p01");
    says(&majority(&["p01", "zoe"]), "no-such-annotator", "zoe");
    says(&drawn(question, 0, &[], "majority"), "panel-members", "name the members");
    says(&drawn(question, 5000, &[], "majority"), "panel-range", "5000");
    says(&drawn(question, 21, &[], "majority"), "panel-shares", "at most 20");
    says(&drawn(question, 3, &[], "loudest"), "panel-rule", "loudest");
    says(&drawn(question, 3, &[], "veto:9"), "panel-rule", "1, 2, 3, 4, 5");
    says(&drawn(question, 3, &[], "quorum:4@2"), "panel-rule", "1 to 3");
    says(
        &drawn(question, 3, &[share("gender", "Robot", 0.5)], "mean"),
        "panel-shares",
        "there is Man, Woman",
    );
    says(&drawn(question, 3, &[share("town", "north", 0.5)], "mean"), "panel-shares", "\"town\"");
    says(&drawn(question, 12, &[share("gender", "Woman", 1.0)], "mean"), "panel-shares", "needs 12");
    let text = TextId(9_999);
    assert_eq!(code(session.panels.ask_about(&majority(&["p01"]), None, text)), "no-such-text");
    let (other, unfitted) = project(&TestFolder::new());
    assert!(
        other.panels.ask(&named(unfitted, &["p01"], "mean"), None, PanelOrder::Unsure, 1, &Silent).is_err()
    );
}

#[test]
fn panels_are_stored_in_the_project_file() {
    let place = TestFolder::new();
    let (session, question) = fitted(&place);
    let recipe = drawn(question, 8, &[share("gender", "Woman", 0.25)], "quorum:0.5@3");
    session.panels.save("board", &recipe).unwrap();
    session.panels.save("few", &named(question, &["p01", "p02"], "mean")).unwrap();
    session.panels.save("few", &named(question, &["p03", "p02"], "median")).unwrap();
    assert_eq!(code(session.panels.save(" ", &recipe)), "invalid");
    assert_eq!(code(session.panels.save("bad", &named(question, &["zoe"], "mean"))), "no-such-annotator");
    let before = ask(&session, &session.panels.request("board", 30).unwrap());
    session.close();
    drop(session);
    let moved = place.path("moved.dissensus");
    std::fs::copy(place.path("p.dissensus"), &moved).unwrap();
    let session = Session::open(&moved, &place.home()).unwrap();
    let kept: Vec<_> =
        session.panels.list().unwrap().into_iter().map(|p| (p.name, p.members, p.rule)).collect();
    assert_eq!(kept[0], ("board".to_owned(), Vec::new(), "quorum:0.5@3".to_owned()));
    assert_eq!(kept[1], ("few".to_owned(), vec!["p03".to_owned(), "p02".to_owned()], "median".to_owned()));
    session.live.fit(question, &Silent).unwrap();
    assert_eq!(ask(&session, &session.panels.request("board", 30).unwrap()).panel, before.panel);
    assert_eq!(session.panels.forget("few").unwrap().len(), 1);
    let gone = session.panels.request("few", 0).unwrap_err();
    assert!(gone.code() == "no-such-panel" && gone.to_string().contains("saved are board"), "{gone}");

    // A packet has no panels and refuses them.
    let request = StudyRequest {
        questions: Vec::new(),
        people: vec!["newcomer".to_owned()],
        per_text: 1,
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 0,
        new_people: false,
        balance: None,
        seed: 1,
    };
    let file = study::hand_out(&session.study, &request, &place.path("packets"), &Silent).unwrap().people[0]
        .file
        .clone()
        .unwrap();
    let packet = Session::open(Path::new(&file), &place.home()).unwrap();
    assert!(packet.panels.list().unwrap().is_empty());
    assert_eq!(code(packet.panels.check(&named(question, &["p01"], "mean"))), "is-packet");
}

/// Stops at the first text.
struct Stopped;

impl Progress for Stopped {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}

    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn panel_table_is_written_completely_or_not_at_all() {
    let place = TestFolder::new();
    let (session, question) = project(&place);
    session.encoding.encode(&tiny(), &Silent).unwrap();
    session.live.fit(question, &Silent).unwrap();
    let new = place.path("new.csv");
    std::fs::write(&new, "id,text\na,words of text 4\nb,something else\nc,a lovely day\n").unwrap();
    let choices = PanelFileChoices {
        texts: TextFileChoices { path: new.clone(), ..TextFileChoices::default() },
        out: place.path("out.csv"),
        replace: false,
    };
    let women = drawn(question, 6, &[share("gender", "Woman", 1.0)], "majority");
    let men = drawn(question, 6, &[share("gender", "Man", 1.0)], "majority");
    let asked = session.panels.check_file(&women, &choices, &Silent).unwrap();
    assert!(session.panels.ask_file(&women, Some(&men), &asked, &tiny(), &Stopped).is_err());
    assert!(!choices.out.exists());
    let written = session.panels.ask_file(&women, Some(&men), &asked, &tiny(), &Silent).unwrap();
    assert_eq!((written.texts, written.observed, written.bad_rows), (3, 1, 0));
    let rows: Vec<HashMap<String, String>> =
        csv::Reader::from_path(&choices.out).unwrap().deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.iter().map(|row| row["text_id"].as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    for row in &rows {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        let sum: f64 = written.panel.outcomes.iter().map(|outcome| number(&format!("p_{outcome}"))).sum();
        assert!(
            (sum - 1.0).abs() < 1e-5 && number("sure_low") <= number("sure") && number("apart") > 0.0,
            "{row:?}"
        );
        assert!((number("sure") - number(&format!("p_{}", row["verdict"]))).abs() < 1e-6);
        assert!(row["mean"].is_empty() && number("panels_otherwise") < 1.0);
    }
    assert_eq!((rows[0]["observed"].as_str(), rows[1]["observed"].as_str()), ("true", "false"));
    // A second time, and over the input.
    assert_eq!(code(session.panels.check_file(&women, &choices, &Silent)), "export-exists");
    let over = PanelFileChoices { out: new, replace: true, ..choices.clone() };
    assert_eq!(code(session.panels.check_file(&women, &over, &Silent)), "same-file");
    let binary = PanelFileChoices { out: place.path("out.docx"), ..choices };
    assert!(session.panels.check_file(&women, &binary, &Silent).is_err());
}

#[test]
fn panels_are_computed_during_labelling() {
    let place = TestFolder::new();
    let (session, question) = fitted(&place);
    let request = drawn(question, 6, &[share("gender", "Woman", 0.5)], "majority");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..3 {
                    assert_eq!(ask(&session, &request).texts.len(), TEXTS);
                }
            });
        }
        scope.spawn(|| {
            for text in 1..=10u32 {
                let label = NewLabel {
                    question,
                    text: TextId(text),
                    annotator: AnnotatorId(1),
                    answer: Answer::from_level(2),
                    duration_ms: None,
                };
                record::record_label(&session.labelling, &label).unwrap();
            }
        });
    });
}
