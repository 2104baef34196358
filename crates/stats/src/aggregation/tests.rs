//! Aggregators against crowd-kit, on degenerate labels, and on labels with a known truth.

use super::aggregate::aggregate;
use super::result::{Aggregation, AggregationOptions, Aggregator, Tie};
use super::votes::Votes;
use crate::data::progress::Silent;
use crate::data::{ModelError, Observation, Target};
use dissensus_domain::TargetKind;
use serde_json::Value;
use strum::VariantArray;

/// Made by tools/fixtures/aggregation.py.
pub(super) fn fixture() -> Value {
    serde_json::from_str(include_str!("../../tests/fixtures/aggregation.json")).unwrap()
}

fn observations(case: &Value) -> Vec<Observation> {
    let rows: Vec<(u32, u32, u16)> = serde_json::from_value(case["rows"].clone()).unwrap();
    rows.into_iter().map(|(text, annotator, level)| Observation { text, annotator, level }).collect()
}

fn size(case: &Value) -> (usize, usize, usize) {
    let of = |key: &str| case[key].as_u64().unwrap() as usize;
    (of("texts"), of("annotators"), of("levels"))
}

pub(super) fn votes(case: &Value) -> Votes {
    let (texts, annotators, levels) = size(case);
    let mut sorted = observations(case);
    sorted.sort_unstable();
    Votes::new(&sorted, texts, annotators, levels)
}

pub(super) fn numbers(of: &Value) -> Vec<f64> {
    serde_json::from_value(of.clone()).unwrap()
}

pub(super) fn near(name: &str, ours: &[f64], theirs: &Value, most: f64) {
    let theirs = numbers(theirs);
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (at, (a, b)) in ours.iter().zip(&theirs).enumerate() {
        assert!((a - b).abs() < most, "{name} at {at}: {a} against {b}");
    }
}

fn run(
    aggregator: Aggregator,
    of: &[Observation],
    texts: usize,
    annotators: usize,
    levels: usize,
) -> Aggregation {
    let target = Target { kind: TargetKind::Nominal, levels };
    let options = AggregationOptions::default();
    aggregate(aggregator, of, texts, annotators, target, &options, &Silent).unwrap()
}

fn o(text: u32, annotator: u32, level: u16) -> Observation {
    Observation { text, annotator, level }
}

fn sound(found: &Aggregation, texts: usize, annotators: usize) {
    assert_eq!((found.counts.len(), found.labels.len(), found.annotators.len()), (texts, texts, annotators));
    for t in 0..texts {
        let row = found.row(t);
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9 && row.iter().all(|p| *p >= 0.0));
        assert_eq!(found.labels[t].is_some(), found.counts[t] > 0);
        if found.counts[t] == 0 {
            assert!(row.iter().all(|p| *p == 1.0 / found.levels as f64));
        }
    }
    let shown = format!("{found:?}");
    assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
    for annotator in &found.annotators {
        assert_eq!(annotator.agreement.is_some(), annotator.labels > 0);
        if let Some(confusion) = &annotator.confusion {
            for row in confusion.chunks_exact(found.levels) {
                let sum: f64 = row.iter().sum();
                assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn converged_labels_match_crowd_kit() {
    let fixture = fixture();
    let mut compared = 0;
    for name in ["binary", "levels"] {
        let case = &fixture[name];
        let (texts, annotators, levels) = size(case);
        let of = observations(case);
        for (aggregator, key, most) in [
            (Aggregator::Majority, "majority", 1e-12),
            (Aggregator::DawidSkene, "dawid_skene_end", 1e-3),
            (Aggregator::Mace, "mace_vb_end", 1e-3),
            (Aggregator::Glad, "glad", 1e-2),
        ] {
            let found = run(aggregator, &of, texts, annotators, levels);
            sound(&found, texts, annotators);
            let theirs = numbers(&case[key]["posterior"]);
            let used = theirs.len() / texts;
            let ours: Vec<f64> = (0..texts).flat_map(|t| found.row(t)[..used].to_vec()).collect();
            near(key, &ours, &case[key]["posterior"], most);
            assert!(found.fit.is_none_or(|f| f.converged), "{key}: {:?}", found.fit);
            compared += 1;
        }
    }
    assert_eq!(compared, 8);
}

#[test]
fn ties_are_reported_and_go_to_the_lowest() {
    let of = [o(0, 0, 2), o(0, 1, 1), o(1, 0, 2), o(1, 1, 2), o(3, 0, 0)];
    let found = run(Aggregator::Majority, &of, 4, 2, 3);
    assert_eq!(found.labels, [Some(1), Some(2), None, Some(0)]);
    assert_eq!(found.ties, [Tie { text: 0, levels: vec![1, 2] }]);
    assert_eq!(found.row(0), [0.0, 0.5, 0.5]);
    assert_eq!(found.counts, [2, 2, 0, 1]);
}

#[test]
fn aggregation_of_edge_cases_is_finite() {
    let lone: Vec<Observation> = (0..6).map(|t| o(t, t, (t % 3) as u16)).collect();
    let one_class: Vec<Observation> = (0..12).map(|i| o(i / 3, i % 3, 1)).collect();
    let contrary: Vec<Observation> = (0..40).map(|i| o(i / 4, i % 4, u16::from(i % 4 < 2))).collect();
    let many: Vec<Observation> = (0..3000).map(|a| o(0, a, u16::from(a % 3 == 0))).collect();
    for aggregator in Aggregator::VARIANTS.iter().copied() {
        for (of, texts, annotators, levels) in [
            (&[][..], 0, 0, 2),
            (&[][..], 3, 2, 4),
            (&[o(1, 1, 1)][..], 3, 2, 2),
            (&lone[..], 7, 8, 3),
            (&one_class[..], 5, 3, 2),
            (&contrary[..], 10, 4, 2),
            (&many[..], 1, 3000, 2),
        ] {
            sound(&run(aggregator, of, texts, annotators, levels), texts, annotators);
        }
        assert!(run(aggregator, &one_class, 5, 3, 2).labels[..4].iter().all(|l| *l == Some(1)));
    }
}

#[test]
fn results_do_not_depend_on_order_and_are_seeded() {
    let fixture = fixture();
    let case = &fixture["levels"];
    let (texts, annotators, levels) = size(case);
    let mut of = observations(case);
    for aggregator in Aggregator::VARIANTS.iter().copied() {
        let first = run(aggregator, &of, texts, annotators, levels);
        of.reverse();
        assert_eq!(run(aggregator, &of, texts, annotators, levels), first);
    }
}

/// Two careful annotators and three who answer at random: the careful ones must be trusted.
#[test]
fn spammers_are_found() {
    let fixture = fixture();
    let case = &fixture["spammers"];
    let (texts, annotators, levels) = size(case);
    let truth: Vec<u16> = serde_json::from_value(case["truth"].clone()).unwrap();
    let right =
        |found: &Aggregation| found.labels.iter().zip(&truth).filter(|(l, t)| **l == Some(**t)).count();
    let of = observations(case);
    let majority = right(&run(Aggregator::Majority, &of, texts, annotators, levels));
    for aggregator in [Aggregator::DawidSkene, Aggregator::Mace, Aggregator::Glad] {
        let found = run(aggregator, &of, texts, annotators, levels);
        assert!(right(&found) > majority, "{aggregator:?}: {} of {majority}", right(&found));
        let trust = |a: usize| found.annotators[a].agreement.unwrap();
        assert!(trust(0).min(trust(1)) > trust(2).max(trust(3)).max(trust(4)) + 0.2);
        if let Some(spamming) = found.annotators[0].spamming {
            assert!(spamming < 0.3 && found.annotators[2].spamming.unwrap() > 0.6);
        }
    }
}

#[test]
fn invalid_labels_are_refused() {
    let target = Target { kind: TargetKind::Binary, levels: 2 };
    let options = AggregationOptions::default();
    let error = aggregate(Aggregator::Glad, &[o(0, 0, 2)], 1, 1, target, &options, &Silent);
    assert!(matches!(error, Err(ModelError::UnknownLevel { level: 2, .. })));
    assert_eq!("dawid-skene".parse(), Ok(Aggregator::DawidSkene));
    assert!("vote".parse::<Aggregator>().is_err());
}
