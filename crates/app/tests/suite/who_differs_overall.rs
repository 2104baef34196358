//! Who differs, and why, over all labels of a question.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{Stopped, create, home, import_csv, tiny};
use dissensus_analysis::annotators;
use dissensus_analysis::group_comparison;
use dissensus_analysis::who_differs;
use dissensus_api::{ColumnChoices, ImportChoices, NewLabel};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, QuestionId, ScaleKind, TextId};
use dissensus_editing::jobs;
use dissensus_editing::questions;
use dissensus_labelling::record;
use dissensus_project::jobs::Follow;
use dissensus_project::jobs::Silent;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write as _;
use tempfile::TempDir;

const PEOPLE: usize = 40;
const TEXTS: usize = 60;

/// Everyone labels half of the texts on a scale of five. People differ: the old by `gap` levels, and the
/// others by nothing known: `town` is drawn at random, and everyone has a different `job`.
fn labels(gap: f64, seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let own: Vec<f64> = (0..PEOPLE).map(|_| 1.2 * (rng.random::<f64>() - 0.5)).collect();
    let towns: Vec<usize> = (0..PEOPLE).map(|_| rng.random_range(0..3)).collect();
    let mut csv = "text_id,text,annotator_id,label,age,town,job\n".to_owned();
    for text in 0..TEXTS {
        let score = 1.0 + 3.0 * rng.random::<f64>();
        for person in 0..PEOPLE {
            if rng.random::<f64>() < 0.5 {
                continue;
            }
            let old = person % 2 == 0;
            let level = score + own[person] + if old { gap } else { 0.0 } + 1.5 * (rng.random::<f64>() - 0.5);
            let (age, town) = (if old { "old" } else { "young" }, ["north", "south", "west"][towns[person]]);
            let level = level.round().clamp(1.0, 5.0);
            writeln!(csv, "t{text},text {text},p{person:02},{level},{age},{town},job {person}").unwrap();
        }
    }
    csv
}

fn project(folder: &TempDir, csv: &str, kind: ScaleKind) -> (Session, QuestionId) {
    let session = create(&folder.path().join("p.dissensus"));
    let choices = ImportChoices {
        columns: Some(ColumnChoices {
            text_id: Some("text_id".to_owned()),
            text: Some("text".to_owned()),
            annotator: Some("annotator_id".to_owned()),
            label: Some("label".to_owned()),
            attributes: ["age", "town", "job"].map(str::to_owned).to_vec(),
            ..ColumnChoices::default()
        }),
        scale: Some(kind),
        levels: Some(["1", "2", "3", "4", "5"].map(str::to_owned).to_vec()),
        ..ImportChoices::default()
    };
    import_csv(&session, csv, &choices);
    let question = questions::find(&session.project, None).unwrap().id;
    (session, question)
}

#[test]
fn explaining_attribute_comes_first_with_its_groups() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = project(&folder, &labels(0.9, 1), ScaleKind::Ordinal);
    let found = who_differs::find(&session.analysis, question, &Silent).unwrap();
    let shares = found.shares.unwrap();
    let sum = shares.text.value + shares.person.value + shares.neither.value;
    assert!((sum - 1.0).abs() < 1e-9, "{shares:?}");
    for share in [shares.text, shares.person, shares.neither] {
        let (low, high) = share.interval.unwrap();
        assert!(0.0 <= low && low <= share.value && share.value <= high && high <= 1.0, "{share:?}");
    }
    assert!(found.shares_words.starts_with("Why labels differ: "), "{}", found.shares_words);
    let names: Vec<&str> = found.attributes.iter().map(|one| one.attribute.as_str()).collect();
    assert_eq!(names, ["age", "town", "job"], "by evidence, and last what cannot be compared");
    let [age, town, job] = found.attributes.as_slice() else { panic!("{names:?}") };
    assert!(age.shown && age.p.unwrap() < 0.01 && !town.shown, "{age:?} {town:?}");
    assert!(age.share.unwrap() > 0.3 && age.share.unwrap() <= age.most.unwrap(), "{age:?}");
    let groups = age.groups.as_ref().unwrap();
    assert_eq!(groups.a.attributes, [("age".to_owned(), "old".to_owned())]);
    assert_eq!(groups.b.attributes, [("age".to_owned(), "young".to_owned())]);
    // As in Compare groups, with an interval that is wider because it was selected from four pairs.
    let compared =
        group_comparison::compare(&session.analysis, question, groups, 0, &Silent).unwrap().gap.unwrap();
    let gap = age.gap.unwrap();
    assert!((gap.value - compared.value).abs() < 1e-9 && gap.value > 0.5, "{gap:?} {compared:?}");
    assert!(gap.interval.unwrap().0 < compared.interval.unwrap().0, "{gap:?} {compared:?}");
    assert!(found.attributes_words.starts_with("age is shown to explain"), "{}", found.attributes_words);
    assert!(!town.words.contains("95 %"), "no interval with a difference that is not shown: {}", town.words);
    assert_eq!((job.values, job.p, job.groups.as_ref()), (0, None, None));
    assert!(job.words.starts_with("Too little to tell"), "{}", job.words);

    assert_eq!(found.severities.len(), PEOPLE);
    assert!(found.severities.windows(2).all(|two| two[0].severity <= two[1].severity));
    assert!(found.severities.first().unwrap().shown && found.severities.last().unwrap().shown);
    assert!(found.severities.iter().filter(|one| one.shown).count() < PEOPLE);
    let words = &found.severities_words;
    assert!(found.encoder.is_none() && words.contains("without text embeddings"), "{words}");
    // The same labels with embeddings give other severities, and the figures state which.
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let encoded = who_differs::find(&session.analysis, question, &Silent).unwrap();
    let version = encoded.encoder.as_ref().unwrap();
    assert!(encoded.severities_words.contains(&format!("with text embeddings by {version}")));
}

#[test]
fn no_explaining_attribute_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = project(&folder, &labels(0.0, 2), ScaleKind::Ordinal);
    let found = who_differs::find(&session.analysis, question, &Silent).unwrap();
    assert!(found.attributes.iter().all(|one| !one.shown), "{:?}", found.attributes);
    let sentence = &found.attributes_words;
    assert!(
        sentence.starts_with("No attribute is shown to explain")
            && sentence.contains("No attribute explains more than"),
        "{sentence}"
    );
}

#[test]
fn result_is_recomputed_when_labels_change() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = project(&folder, &labels(0.9, 3), ScaleKind::Ordinal);
    let first = who_differs::find(&session.analysis, question, Follow::Job).unwrap();
    let jobs = jobs::list(&session.project).unwrap().len();
    assert_eq!(who_differs::find(&session.analysis, question, Follow::Job).unwrap(), first);
    assert_eq!(jobs::list(&session.project).unwrap().len(), jobs, "nothing was computed again");
    let annotator = dissensus_editing::annotators::find(&session.project, "p00").unwrap().id;
    let new = |level| NewLabel {
        question,
        text: TextId(1),
        annotator,
        answer: Answer::from_level(level),
        duration_ms: None,
    };
    for level in [0, 4] {
        record::record_label(&session.labelling, &new(level)).unwrap();
    }
    let after = who_differs::find(&session.analysis, question, Follow::Job).unwrap();
    assert_ne!(after, first, "labels have changed");
    assert_eq!(jobs::list(&session.project).unwrap().len(), jobs + 1);
    let young = [("age".to_owned(), "young".to_owned())];
    dissensus_editing::annotators::change(&session.project, annotator, Some("Ana"), &young, &[]).unwrap();
    let people_changed = who_differs::find(&session.analysis, question, Follow::Job).unwrap();
    assert_ne!(people_changed.attributes, after.attributes);
    assert!(people_changed.severities.iter().any(|one| one.name == "Ana"), "{people_changed:?}");
    assert_eq!(jobs::list(&session.project).unwrap().len(), jobs + 2);
}

#[test]
fn nominal_levels_have_only_shares() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = project(&folder, &labels(0.9, 4), ScaleKind::Choice);
    let found = who_differs::find(&session.analysis, question, &Silent).unwrap();
    assert!(found.shares.is_some() && found.attributes.is_empty() && found.severities.is_empty());
    assert!(found.attributes_words.contains("no order"), "{}", found.attributes_words);

    let folder = tempfile::tempdir().unwrap();
    let few: String = labels(0.9, 5).lines().take(6).map(|line| format!("{line}\n")).collect();
    let (session, question) = project(&folder, &few, ScaleKind::Ordinal);
    let found = who_differs::find(&session.analysis, question, &Silent).unwrap();
    assert!(
        found.shares.is_none() && found.shares_words.starts_with("Too little to tell"),
        "{}",
        found.shares_words
    );
    assert!(found.attributes.iter().all(|one| !one.shown && one.p.is_none()), "{:?}", found.attributes);
}

#[test]
fn analysis_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = project(&folder, &labels(0.9, 6), ScaleKind::Ordinal);
    let stopped = who_differs::find(&session.analysis, question, &Stopped).unwrap_err();
    assert_eq!(stopped.code(), "cancelled");
}

/// Accuracy of each annotator is measured once for the same labels, also across sessions; for other labels
/// again.
#[test]
fn accuracy_of_annotators_is_stored_in_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = project(&folder, &labels(0.9, 7), ScaleKind::Ordinal);
    assert!(!annotators::report_known(&session.analysis, question).unwrap().held_out_measured);
    let measured = annotators::measure(&session.analysis, question).unwrap();
    let accuracy = |report: &dissensus_api::AnnotatorReport| {
        report.annotators.iter().map(|one| (one.held_out_accuracy, one.held_out_labels)).collect::<Vec<_>>()
    };
    drop(session);
    let home = home(folder.path());
    let session = Session::open(&folder.path().join("p.dissensus"), &home).unwrap();
    let again = annotators::report_known(&session.analysis, question).unwrap();
    assert!(again.held_out_measured, "nothing is measured again");
    assert_eq!(accuracy(&again), accuracy(&measured));
    let annotator = dissensus_editing::annotators::find(&session.project, "p00").unwrap().id;
    for level in [0, 4] {
        let answer = Answer::from_level(level);
        let new = NewLabel { question, text: TextId(1), annotator, answer, duration_ms: None };
        record::record_label(&session.labelling, &new).unwrap();
    }
    drop(session);
    let session = Session::open(&folder.path().join("p.dissensus"), &home).unwrap();
    assert!(
        !annotators::report_known(&session.analysis, question).unwrap().held_out_measured,
        "labels have changed"
    );
}
