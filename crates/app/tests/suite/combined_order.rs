//! The default order of Disagreement: its basis, the texts it cannot rank, and what is shown before there
//! is a model.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{create, import_csv};
use dissensus_analysis::ranking;
use dissensus_analysis::text_detail;
use dissensus_api::{
    ColumnChoices, DisagreementMeasure, DisagreementQuery, DisagreementRow, ImportChoices, NewLabel, Ranking,
};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, LabelSource, QuestionId, ScaleKind};
use dissensus_editing::questions;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_project::jobs::Silent;
use std::fmt::Write as _;
use tempfile::TempDir;

const PEOPLE: usize = 30;
const TEXTS: usize = 90;

/// Reproducible pseudo-random numbers from 0 to 99.
fn noise(a: usize, b: usize) -> usize {
    let mut z = (a * 7919 + b * 104_729 + 12_345) as u64;
    z = (z ^ (z >> 15)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z >> 33) % 100) as usize
}

/// `of_text` labels of each text. Every third text (with `camps`) divides women and men, who are equally
/// many: women answer 1 or 2, men 4 or 5. All others get 3, sometimes 2 or 4.
fn labels(of_text: usize, camps: bool) -> String {
    let mut csv = "text_id,text,annotator_id,label,gender\n".to_owned();
    for text in 0..TEXTS {
        for place in 0..of_text {
            let person = (text * 7 + place * 11) % PEOPLE;
            let woman = person.is_multiple_of(2);
            let by_chance = noise(text, person);
            let level = match (camps && text % 3 == 0, woman) {
                (true, true) => 1 + by_chance % 2,
                (true, false) => 4 + by_chance % 2,
                (false, _) => 2 + [1, 1, 1, 0, 2][by_chance % 5],
            };
            let gender = if woman { "Woman" } else { "Man" };
            writeln!(csv, "t{text},words of text {text},p{person},{level},{gender}").unwrap();
        }
    }
    csv
}

fn imported(folder: &TempDir, csv: &str) -> (Session, QuestionId) {
    let session = create(&folder.path().join("project.dissensus"));
    let choices = ImportChoices {
        scale: Some(ScaleKind::Ordinal),
        columns: Some(ColumnChoices {
            text_id: Some("text_id".to_owned()),
            text: Some("text".to_owned()),
            annotator: Some("annotator_id".to_owned()),
            label: Some("label".to_owned()),
            attributes: vec!["gender".to_owned()],
            ..ColumnChoices::default()
        }),
        ..ImportChoices::default()
    };
    import_csv(&session, csv, &choices);
    let question = questions::find(&session.project, None).unwrap().id;
    (session, question)
}

fn query(question: QuestionId) -> DisagreementQuery {
    DisagreementQuery {
        question,
        by: DisagreementMeasure::default(),
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    }
}

fn ranked(session: &Session, query: &DisagreementQuery) -> (Ranking, Vec<DisagreementRow>) {
    let ranking = ranking::rank(&session.analysis, query).unwrap();
    let rows = ranking::read_rows(&session.analysis, query, &ranking.texts).unwrap();
    assert_eq!(rows.len(), ranking.texts.len());
    (ranking, rows)
}

fn divides(row: &DisagreementRow) -> bool {
    row.external_id[1..].parse::<usize>().unwrap().is_multiple_of(3)
}

#[test]
fn labels_rank_texts_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = imported(&folder, &labels(10, true));
    let (ranking, rows) = ranked(&session, &query(question));
    assert!(ranking.by_labels && ranking.basis.unwrap().contains("labels alone"));
    assert_eq!((ranking.texts.len(), ranking.annotators, ranking.remark), (TEXTS, 30, None));
    assert!(ranking.values.windows(2).all(|pair| pair[0] >= pair[1]));
    assert_eq!(ranking.observed_splits, ranking.values);
    assert!(rows[..TEXTS / 3].iter().all(divides), "those on which two camps stand come first");
    for row in &rows {
        assert!(row.scores.is_none() && row.distribution.is_empty() && row.interval.is_none(), "{row:?}");
        assert_eq!(row.observed_split, Some(row.value));
        assert_eq!(row.two_camps, divides(row), "{row:?}");
    }
    let border = rows[0].border.unwrap();
    assert!(border.above == 0.5 && (2..=3).contains(&border.level) && border.interval.is_none());
    // What needs a model is not guessed.
    let split = DisagreementQuery { by: DisagreementMeasure::Split, ..query(question) };
    let nothing = ranking::rank(&session.analysis, &split).unwrap();
    assert!(nothing.texts.is_empty() && nothing.remark.unwrap().contains("being fitted"));
    // Filters apply here too.
    let some = DisagreementQuery { search: Some("text 12".to_owned()), ..query(question) };
    assert_eq!(ranked(&session, &some).1.iter().map(|row| &row.external_id).collect::<Vec<_>>(), ["t12"]);
}

#[test]
fn texts_with_two_camps_rank_first_with_sides() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = imported(&folder, &labels(10, true));
    session.live.fit(question, &Silent).unwrap();
    let (ranking, rows) = ranked(&session, &query(question));
    assert!(!ranking.by_labels);
    let weight = ranking.label_weight.unwrap();
    assert!(weight.half_at.is_some() && weight.labels == 10 && weight.weight > 0.3, "{weight:?}");
    assert!(ranking.basis.unwrap().contains("10 labels of a text count"), "{weight:?}");
    let first = rows[..TEXTS / 3].iter().filter(|row| divides(row)).count();
    assert!(first >= TEXTS / 3 - 1, "{first} of {}", TEXTS / 3);
    let split = DisagreementQuery { by: DisagreementMeasure::Split, ..query(question) };
    let before = ranked(&session, &split).1[..TEXTS / 3].iter().filter(|row| divides(row)).count();
    assert!(before <= first, "{before} {first}");
    for (place, row) in (1..).zip(&rows) {
        assert_eq!(row.rank, place);
        let (low, high) = row.interval.unwrap();
        assert!(low <= row.value && row.value <= high, "{row:?}");
        let border = row.border.unwrap();
        let (low, high) = border.interval.unwrap();
        assert!(low <= border.above && border.above <= high, "{border:?}");
        if let Some((own, others)) = row.who_above {
            let group = row.who.as_ref().unwrap();
            assert_eq!((own.labels, others.labels), group.labels);
            let higher = if group.gap > 0.0 { (own, others) } else { (others, own) };
            assert_eq!((higher.0.above, higher.1.above), (higher.0.labels, 0), "men are above: {row:?}");
        }
    }
    let named = |row: &&DisagreementRow| row.who_above.is_some();
    let of_camps = rows.iter().filter(|row| divides(row)).filter(named).count();
    let of_others = rows.iter().filter(|row| !divides(row)).filter(named).count();
    assert!(of_camps >= TEXTS / 4 && of_others <= 1, "{of_camps} and {of_others}");
    // Among women only there are no camps.
    let women = DisagreementQuery {
        attributes: [("gender".to_owned(), "Woman".to_owned())].into(),
        ..query(question)
    };
    assert!(ranked(&session, &women).1.iter().all(|row| !(divides(row) && row.two_camps)));
}

/// Every text of a project with a border between levels also lists the people above and below it: those
/// with a label on that side, strictest and mildest first, then those predicted there.
#[test]
fn people_on_both_sides_of_the_border_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = imported(&folder, &labels(10, true));
    session.live.fit(question, &Silent).unwrap();
    let (_, rows) = ranked(&session, &query(question));
    for row in &rows {
        let border = row.border.unwrap();
        let (above, below) = row.sides.as_ref().unwrap();
        let labels = |levels: &[u32]| levels.iter().sum::<u32>();
        let (lower, upper) = row.observed.split_at(usize::from(border.level));
        assert_eq!((above.labelled, below.labelled), (labels(upper), labels(lower)), "{row:?}");
        let people =
            text_detail::read(&session.analysis, &query(question), row.text, None, None, false).unwrap();
        for (side, is_above) in [(above, true), (below, false)] {
            assert_eq!(side.people.len() as u32, (side.labelled + side.predicted).min(3));
            assert!(side.people.windows(2).all(|pair| pair[0].labelled >= pair[1].labelled));
            for named in &side.people {
                let found = people.annotators.iter().find(|one| one.annotator == named.annotator).unwrap();
                assert_eq!(found.observed.is_some(), named.labelled);
                let chance: f32 = match &found.observed {
                    Some(answer) => f32::from(u8::from(answer.level().unwrap().0 >= border.level)),
                    None => found.distribution.as_ref().unwrap()[usize::from(border.level)..].iter().sum(),
                };
                assert_eq!(is_above, chance > 0.5, "{named:?}");
                assert!(chance.max(1.0 - chance) >= 0.95 - 1e-4, "{named:?} {chance}");
            }
        }
    }
    assert!(rows.iter().any(|row| {
        let (above, below) = row.sides.as_ref().unwrap();
        above.people.len() == 3 && below.people.len() == 3
    }));
}

/// Groups of texts that cannot be ranked follow each other from the first text on, also in a search; within
/// each group texts with labels in two camps come first.
#[test]
fn tied_texts_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = imported(&folder, &labels(6, false));
    session.live.fit(question, &Silent).unwrap();
    let (ranking, rows) = ranked(&session, &query(question));
    assert!(
        ranking.ties.iter().any(|size| *size > 10),
        "hardly anything is known of these: {:?}",
        ranking.ties
    );
    let mut from = 0;
    for size in &ranking.ties {
        let group = &rows[from..from + *size as usize];
        assert!(group.windows(2).all(|pair| pair[0].two_camps >= pair[1].two_camps));
        let most = group.iter().max_by(|a, b| a.value.total_cmp(&b.value)).unwrap();
        assert!(group.iter().all(|row| row.value >= most.interval.unwrap().0));
        from += *size as usize;
    }
    let some = DisagreementQuery { search: Some("text 1".to_owned()), ..query(question) };
    let found = ranking::rank(&session.analysis, &some).unwrap();
    assert!(found.texts.len() < TEXTS && !found.ties.is_empty());
    assert!(found.ties.iter().sum::<u32>() as usize <= found.texts.len());
}

#[test]
fn prediction_ranks_texts_with_two_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = imported(&folder, &labels(2, true));
    session.live.fit(question, &Silent).unwrap();
    let (ranking, rows) = ranked(&session, &query(question));
    let weight = ranking.label_weight.unwrap();
    assert_eq!((weight.half_at, weight.weight, weight.texts), (None, 0.0, 0));
    assert!(ranking.basis.unwrap().contains("too few to learn"));
    for row in &rows {
        assert_eq!(row.value, row.scores.as_ref().unwrap().split);
        assert!(!row.two_camps, "two people are no camps");
    }
}

#[test]
fn no_labels_give_no_ranking() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = imported(&folder, &labels(1, true));
    let before = ranking::rank(&session.analysis, &query(question)).unwrap();
    assert!(before.texts.is_empty() && !before.by_labels, "no text has two labels");
    session.live.fit(question, &Silent).unwrap();
    let (ranking, _) = ranked(&session, &query(question));
    assert!(ranking.needs.is_some(), "{ranking:?}");
}

/// Later labels count at once.
#[test]
fn ranking_includes_new_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = imported(&folder, &labels(10, true));
    session.live.fit(question, &Silent).unwrap();
    let (_, rows) = ranked(&session, &query(question));
    let last = rows.iter().rev().find(|row| !divides(row)).unwrap();
    let (text, value) = (last.text, last.value);
    let people =
        text_detail::read(&session.analysis, &query(question), text, None, None, false).unwrap().annotators;
    for (at, person) in people.iter().filter(|person| person.observed.is_none()).enumerate() {
        let answer = Answer::from_level(if at % 2 == 0 { 0 } else { 4 });
        let new = NewLabel { question, annotator: person.annotator, text, answer, duration_ms: None };
        record::record_label(&session.labelling, RecordLabel::new(&new, LabelSource::Command)).unwrap();
    }
    let now = ranking::read_rows(&session.analysis, &query(question), &[text]).unwrap().swap_remove(0);
    assert!(now.value > value + 0.1 && now.two_camps, "{value} {now:?}");
}
