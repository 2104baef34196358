//! Two groups of people compared, in imported projects.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, import_csv, open};
use dissensus_analysis::group_comparison;
use dissensus_api::{
    ColumnChoices, GroupsChoice, ImportChoices, JobInfo, NewLabel, PeopleChoice, ProjectChoices, WorkState,
};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, QuestionId, Scale, ScaleKind};
use dissensus_editing::annotators;
use dissensus_editing::choices;
use dissensus_editing::info;
use dissensus_editing::jobs;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_labelling::record;
use dissensus_project::jobs::Silent;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Everyone labels every text; women, the first people, mostly answer one level higher, and on the first
/// text the opposite end.
fn labels(women: usize, men: usize, texts: usize) -> String {
    let mut csv = "text_id,text,annotator_id,label,gender,town\n".to_owned();
    for text in 0..texts {
        for person in 0..women + men {
            let woman = person < women;
            // Mixed well enough to depend on neither (splitmix64).
            let mut mixed = (text * 64 + person) as u64 ^ 0x9e37_79b9_7f4a_7c15;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let mixed = mixed ^ (mixed >> 31);
            let noise = (mixed % 4) as usize + usize::from(mixed.is_multiple_of(7));
            let level = match (text, woman) {
                (0, true) => 1,
                (0, false) => 5,
                (_, true) => 1 + noise + usize::from(noise < 4 && !mixed.is_multiple_of(5)),
                (_, false) => 1 + noise,
            };
            let gender = if woman { "Woman" } else { "Man" };
            let town = ["north", "south", "west"][person % 3];
            writeln!(csv, "t{text},text number {text},p{person:02},{level},{gender},{town}").unwrap();
        }
    }
    csv
}

fn project(place: &TestFolder, csv: &str) -> (Session, QuestionId) {
    let session = place.project("p");
    let attributes = vec!["gender".to_owned(), "town".to_owned()];
    let choices = ImportChoices {
        columns: Some(ColumnChoices {
            text_id: Some("text_id".to_owned()),
            text: Some("text".to_owned()),
            annotator: Some("annotator_id".to_owned()),
            label: Some("label".to_owned()),
            attributes,
            ..ColumnChoices::default()
        }),
        scale: Some(ScaleKind::Ordinal),
        levels: Some(["1", "2", "3", "4", "5"].map(str::to_owned).to_vec()),
        ..ImportChoices::default()
    };
    import_csv(&session, csv, &choices);
    let question = questions::find(&session.project, None).unwrap().id;
    (session, question)
}

fn having(values: &[(&str, &str)]) -> PeopleChoice {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    PeopleChoice { attributes: values.iter().map(own).collect(), annotators: Vec::new() }
}

fn women_and_men() -> GroupsChoice {
    GroupsChoice { a: having(&[("gender", "Woman")]), b: having(&[("gender", "Man")]) }
}

#[test]
fn comparison_finds_the_higher_group_and_its_texts() {
    let place = TestFolder::new();
    let (session, question) = project(&place, &labels(8, 9, 40));
    let found = group_comparison::compare(&session.analysis, question, &women_and_men(), 3, &Silent).unwrap();
    // About +0.8 on 39 texts, -4 on one.
    let gap = found.gap.unwrap();
    let (low, high) = gap.interval.unwrap();
    assert!(gap.value > 0.4 && low > 0.1 && high < 1.2 && low < gap.value && gap.value < high, "{gap:?}");
    assert!(gap.p.unwrap() < 0.01);
    let severity = found.severity.unwrap();
    assert!(severity.value > 0.0, "{severity:?}");
    assert_eq!((found.a.people, found.b.people, found.shared_texts, found.texts), (8, 9, 40, 40));
    assert_eq!(found.a.words, "gender Woman");
    assert!(found.overall_words.starts_with("A answers 0."), "{}", found.overall_words);
    assert_eq!(found.b_higher[0].external_id, "t0");
    assert!(found.b_higher[0].significant && found.b_higher[0].gap < 0.0, "{:?}", found.b_higher[0]);
    assert_eq!(found.differing.1, 1);
    assert!(found.a_higher.iter().all(|row| row.gap > 0.0) && found.a_higher.len() == 3);
    assert!(found.correction.contains("all values of gender"), "{}", found.correction);
    let beyond = found.equal_beyond.unwrap();
    assert!(beyond.interval.unwrap().1 < 0.0, "{beyond:?}");
    assert!(found.agreement_words.unwrap().contains("agree less with one another"));

    // Reversed, everything has the opposite sign.
    let GroupsChoice { a, b } = women_and_men();
    let turned =
        group_comparison::compare(&session.analysis, question, &GroupsChoice { a: b, b: a }, 3, &Silent)
            .unwrap();
    assert!((turned.gap.unwrap().value + gap.value).abs() < 1e-9);
    assert_eq!((turned.differing.1, turned.differing.0), found.differing);
    assert_eq!(turned.a_higher[0].external_id, "t0");
    assert_eq!(turned.equal.unwrap().within_b, found.equal.unwrap().within_a);
}

/// Severities alone place women higher on every text. Where the labels of a text say the opposite, the row
/// tells so and comes last.
#[test]
fn text_whose_labels_contradict_comes_last() {
    let place = TestFolder::new();
    let csv = labels(8, 9, 40);
    let (session, question) = project(&place, &csv);
    let found =
        group_comparison::compare(&session.analysis, question, &women_and_men(), 50, &Silent).unwrap();
    let mean = |text: &str, gender: &str| {
        let rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let of: Vec<f64> = rows
            .filter(|row| row[0] == text && row[4] == gender)
            .map(|row| row[3].parse().unwrap())
            .collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    for row in found.a_higher.iter().chain(&found.b_higher) {
        let observed = mean(&row.external_id, "Woman") - mean(&row.external_id, "Man");
        assert!((observed - f64::from(row.observed)).abs() < 1e-5, "{row:?} {observed}");
    }
    let contradict: Vec<bool> = found.a_higher.iter().map(|row| row.observed < 0.0).collect();
    assert!(contradict.is_sorted() && contradict.contains(&true), "{:?}", found.a_higher);
}

#[test]
fn picked_groups_are_noted_and_may_list_people() {
    let place = TestFolder::new();
    let (session, question) = project(&place, &labels(8, 8, 20));
    let towns = GroupsChoice { a: having(&[("town", "north")]), b: having(&[("town", "south")]) };
    let found = group_comparison::compare(&session.analysis, question, &towns, 5, &Silent).unwrap();
    assert!(found.correction.contains("this comparison alone"), "{}", found.correction);
    assert_eq!(found.differing, (0, 0), "{:?}", found.a_higher);
    assert!(found.texts_words.starts_with("No single text separates"), "{}", found.texts_words);
    let id = |name: &str| annotators::find(&session.project, name).unwrap().id;
    let named = |names: &[&str]| PeopleChoice {
        attributes: Vec::new(),
        annotators: names.iter().map(|name| id(name)).collect(),
    };
    let people =
        GroupsChoice { a: named(&["p00", "p01", "p02", "p03", "p04"]), b: having(&[("gender", "Man")]) };
    let found = group_comparison::compare(&session.analysis, question, &people, 5, &Silent).unwrap();
    assert_eq!((found.a.people, found.a.words.as_str()), (5, "p00, p01, p02 and 2 more"));
    assert!(found.gap.unwrap().value > 0.0);
    let overlap = GroupsChoice { a: having(&[("gender", "Man")]), b: having(&[("town", "north")]) };
    let error = group_comparison::compare(&session.analysis, question, &overlap, 5, &Silent).unwrap_err();
    assert_eq!(error.code(), "groups-overlap");
}

#[test]
fn too_little_data_is_described() {
    let place = TestFolder::new();
    let (session, question) = project(&place, &labels(4, 9, 8));
    let found = group_comparison::compare(&session.analysis, question, &women_and_men(), 5, &Silent).unwrap();
    let needs = found.needs.unwrap();
    assert!(needs.contains("4 people") && needs.contains("8 texts have labels of both groups"), "{needs}");
    assert!(found.gap.is_none() && found.severity.is_none() && found.equal.is_none());
    assert!(found.a_higher.is_empty() && found.b_higher.is_empty());
    assert_eq!(found.overall_words, needs);
}

#[test]
fn constant_answers_have_no_interval() {
    let place = TestFolder::new();
    let csv = labels(6, 6, 12);
    let row = |line: &str| match line.split(',').collect::<Vec<_>>()[..] {
        [id, text, who, label, ..] if label == "label" => format!("{id},{text},{who},{label},gender,town\n"),
        [id, text, who, _, gender, town] => format!("{id},{text},{who},3,{gender},{town}\n"),
        _ => unreachable!(),
    };
    let (session, question) = project(&place, &csv.lines().map(row).collect::<String>());
    let found = group_comparison::compare(&session.analysis, question, &women_and_men(), 5, &Silent).unwrap();
    let gap = found.gap.unwrap();
    assert_eq!((gap.value, gap.interval, gap.p), (0.0, None, None));
    assert!(found.overall_words.contains("do not vary"), "{}", found.overall_words);
    assert_eq!(found.differing, (0, 0));
}

fn ended(session: &Session, job: u32) {
    let until = Instant::now() + Duration::from_secs(60);
    let running = |one: &JobInfo| one.id == job && one.state == WorkState::Running;
    while jobs::list(&session.project).unwrap().iter().any(running) {
        assert!(Instant::now() < until, "the comparison does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn comparison_job_is_stored_and_marked_stale() {
    let place = TestFolder::new();
    let (session, question) = project(&place, &labels(8, 9, 30));
    let choice = women_and_men();
    assert_eq!(group_comparison::last_result(&session.analysis, question, &choice), None);
    let first = group_comparison::start(&session.analysis, question, choice.clone()).unwrap();
    let GroupsChoice { a, b } = choice.clone();
    let other = GroupsChoice { a: b, b: a };
    // Another choice replaces the first one, in any state.
    let second = group_comparison::start(&session.analysis, question, other.clone()).unwrap();
    assert_ne!(first, second);
    ended(&session, first);
    ended(&session, second);
    let found = group_comparison::last_result(&session.analysis, question, &other).unwrap();
    assert!(found.gap.unwrap().value < 0.0);
    assert!(!found.stale);
    // After changes of labels: those of another question leave it current, and those of its own make it
    // stale.
    let stale = || group_comparison::last_result(&session.analysis, question, &other).unwrap().stale;
    let ana = annotators::find(&session.project, "p00").unwrap().id;
    let text = found.b_higher[0].text;
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let rude = questions::add(&session.project, AddQuestion::new("rude", "Is it rude?", scale)).unwrap().id;
    let label = |question| {
        let answer = Answer::from_level(0);
        record::record_label(
            &session.labelling,
            &NewLabel { question, annotator: ana, text, answer, duration_ms: None },
        )
    };
    label(rude).unwrap();
    assert!(!stale());
    label(question).unwrap();
    assert!(stale());
    ended(&session, group_comparison::start(&session.analysis, question, other.clone()).unwrap());
    let anew = group_comparison::last_result(&session.analysis, question, &other).unwrap();
    assert_ne!(anew.gap, found.gap);
    assert!(!anew.stale);
    // Groups are made of attributes.
    let gender = [("gender".to_owned(), "other".to_owned())];
    annotators::change(&session.project, ana, None, &gender, &[]).unwrap();
    assert!(stale());
}

#[test]
fn last_choice_is_stored_in_the_project() {
    let place = TestFolder::new();
    let (session, _) = project(&place, &labels(5, 5, 10));
    let choices = ProjectChoices { compared: Some(women_and_men()), ..ProjectChoices::default() };
    choices::save(&session.project, &choices).unwrap();
    let path = info::read(&session.project).unwrap().path;
    drop(session);
    let again = open(std::path::Path::new(&path));
    assert_eq!(info::read(&again.project).unwrap().choices, choices);
}
