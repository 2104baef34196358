//! Numbers against scikit-learn, scipy and krippendorff (fixture made by tools/fixtures/reference.py).

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::TargetKind;
use dissensus_stats::agreement::agreement;
use dissensus_stats::data::{Observation, Target};
use dissensus_stats::metrics::{Scored, Scores};
use serde_json::Value;

fn reference() -> Value {
    serde_json::from_str(include_str!("../fixtures/reference.json")).unwrap()
}

fn observations(reference: &Value) -> Vec<Observation> {
    let rows: Vec<(u32, u32, u16)> = serde_json::from_value(reference["rows"].clone()).unwrap();
    rows.into_iter().map(|(text, annotator, level)| Observation { text, annotator, level }).collect()
}

fn near(name: &str, ours: Option<f64>, theirs: &Value) {
    let (ours, theirs) = (ours.unwrap(), theirs.as_f64().unwrap());
    assert!((ours - theirs).abs() < 1e-6, "{name}: {ours} against {theirs}");
}

#[test]
fn metrics_match_scikit_learn() {
    let reference = reference();
    let rows: Vec<Vec<f32>> = serde_json::from_value(reference["probabilities"].clone()).unwrap();
    let scored = Scored {
        observations: observations(&reference),
        probabilities: rows.concat(),
        levels: 4,
        tuned: None,
    };
    let ours = serde_json::to_value(Scores::new(&scored, true)).unwrap();
    let theirs = reference["scores"].as_object().unwrap();
    assert_eq!(theirs.len(), 13);
    for (name, value) in theirs {
        near(name, ours[name].as_f64(), value);
    }
}

#[test]
fn alpha_matches_krippendorff() {
    let reference = reference();
    let target = Target { kind: TargetKind::Ordinal, levels: 4 };
    let ours = agreement(&observations(&reference), 30, 6, target).unwrap();
    let compare = |ours: &dissensus_stats::agreement::Alphas, theirs: &Value| {
        near("nominal", ours.nominal, &theirs["nominal"]);
        near("ordinal", ours.ordinal, &theirs["ordinal"]);
        near("interval", ours.interval, &theirs["interval"]);
    };
    compare(&ours.all, &reference["alpha"]);
    assert_eq!(ours.annotators.len(), 6);
    for (person, theirs) in ours.annotators.iter().zip(reference["alpha_without"].as_array().unwrap()) {
        compare(&person.without, theirs);
    }
}

/// Krippendorff 2011, Computing Krippendorff's alpha-reliability, section C: four observers, twelve units,
/// missing values; nominal 0.743, ordinal 0.815, interval 0.849.
#[test]
fn alpha_matches_the_worked_example() {
    let table: [&[u16]; 4] = [
        &[1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        &[1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        &[0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        &[1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ];
    let mut observations = Vec::new();
    for (a, row) in table.iter().enumerate() {
        for (t, &v) in row.iter().enumerate().filter(|(_, v)| **v > 0) {
            observations.push(Observation { text: t as u32, annotator: a as u32, level: v - 1 });
        }
    }
    let target = Target { kind: TargetKind::Ordinal, levels: 5 };
    let all = agreement(&observations, 12, 4, target).unwrap().all;
    assert!((all.nominal.unwrap() - 0.743).abs() < 5e-4);
    assert!((all.ordinal.unwrap() - 0.815).abs() < 5e-4);
    assert!((all.interval.unwrap() - 0.849).abs() < 5e-4);
}

#[test]
fn agreement_without_pairs_is_undefined() {
    let target = Target { kind: TargetKind::Binary, levels: 2 };
    let one = [Observation { text: 0, annotator: 0, level: 1 }];
    let ours = agreement(&one, 1, 2, target).unwrap();
    assert_eq!((ours.all.nominal, ours.pairwise, ours.texts), (None, None, 0));
    assert_eq!(ours.annotators[1].labels, 0);
}
