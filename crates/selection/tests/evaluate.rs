//! Evaluation, held-out accuracy and the map, on simulations with known truth.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::{Split, TargetKind};
use dissensus_selection::evaluation::{Evaluation, SplitColumns, SplitSpec, evaluate, held_out};
use dissensus_selection::fit::fit;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::synthetic::{Simulation, simulate};
use dissensus_stats::data::{
    Embeddings, FitOptions, ModelError, ModelKind, Observation, Target, TrainingData,
};
use dissensus_stats::disagreement::annotator_map;
use std::collections::BTreeSet;

fn data(sim: &Simulation) -> TrainingData<'_> {
    TrainingData {
        embeddings: &sim.embeddings,
        observations: &sim.observations,
        annotators: sim.annotators,
        target: sim.target,
        attributes: &[],
    }
}

fn run(
    sim: &Simulation,
    split: SplitSpec,
    parts: &[Option<Split>],
    at_least: Option<u16>,
) -> Result<Vec<Evaluation>, ModelError> {
    let columns = SplitColumns { parts, ..SplitColumns::default() };
    evaluate(&data(sim), split, columns, &ModelKind::ALL, at_least, &FitOptions::default(), &Silent)
}

#[test]
fn multilevel_is_better_if_severities_differ() {
    let sim = simulate(300, 25, 5, 6, 60, 1);
    for at_least in [None, Some(2)] {
        let results = run(&sim, SplitSpec::ByText(0.7), &[], at_least).unwrap();
        let loss = |name: &str| {
            let found = results.iter().find(|r| r.model == name).unwrap();
            found.scores.log_loss.unwrap()
        };
        for other in ["majority", "shared", "sep-heads"] {
            assert!(loss("multilevel") < loss(other) - 0.02, "{other} {at_least:?}");
        }
        assert!(results.iter().all(|r| r.scores.mae.is_some() == at_least.is_none()));
    }
}

#[test]
fn scored_labels_are_never_trained_on() {
    let sim = simulate(120, 6, 2, 4, 50, 2);
    let parts: Vec<Option<Split>> =
        (0..120).map(|t| Some(if t % 3 == 0 { Split::Test } else { Split::Train })).collect();
    let honest = run(&sim, SplitSpec::Column, &parts, None).unwrap();
    // Inverting every scored label must invert the accuracy: predictions cannot have moved.
    let mut turned = sim.clone();
    for o in turned.observations.iter_mut().filter(|o| o.text % 3 == 0) {
        *o = Observation { level: 1 - o.level, ..*o };
    }
    for (a, b) in honest.iter().zip(run(&turned, SplitSpec::Column, &parts, None).unwrap()) {
        let sum = a.scores.accuracy.unwrap() + b.scores.accuracy.unwrap();
        assert!((sum - 1.0).abs() < 1e-12, "{}", a.model);
    }
}

/// Levels are random for each of 150 bodies, each of which occurs twice: a body can only be predicted by
/// having seen it. A model that looks up the body's training labels knows the copies of texts on the other
/// side.
#[test]
fn copies_do_not_leak_into_the_test() {
    let bodies = 150u32;
    let level = |body: u32| (body.wrapping_mul(2_654_435_761) >> 13) as u16 % 2;
    let observations: Vec<Observation> = (0..2 * bodies)
        .flat_map(|text| (0..4).map(move |annotator| (text, annotator)))
        .map(|(text, annotator)| Observation { text, annotator, level: level(text % bodies) })
        .collect();
    let embeddings = Embeddings::none(2 * bodies as usize);
    let target = Target { kind: TargetKind::Binary, levels: 2 };
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &observations,
        annotators: 4,
        target,
        attributes: &[],
    };
    let own: Vec<u32> = (0..2 * bodies).collect();
    let first: Vec<u32> = (0..2 * bodies).map(|text| text % bodies).collect();
    // Share of test labels that the look-up knows.
    let known = |split: &str, copies: &[u32], seed: u64| {
        let columns = SplitColumns { copies, ..SplitColumns::default() };
        let division = split.parse::<SplitSpec>().unwrap().divide(&data, columns, seed, 0.2).unwrap();
        let taught: BTreeSet<u32> = division.train.iter().map(|o| o.text % bodies).collect();
        let on = |labels: &[Observation]| {
            labels.iter().filter(|o| taught.contains(&(o.text % bodies))).count() as f64 / labels.len() as f64
        };
        (on(division.test.observations()), on(&division.validation))
    };
    for seed in 0..3 {
        for split in ["by-text:0.7", "stratified:0.7", "k-fold:5/1"] {
            assert!(known(split, &own, seed).0 > 0.4, "the leak is there: {split}");
            assert_eq!(known(split, &first, seed), (0.0, 0.0), "{split}");
        }
    }
}

#[test]
fn evaluation_is_seeded_with_stable_json_keys() {
    let sim = simulate(100, 6, 5, 4, 40, 3);
    let first = run(&sim, SplitSpec::ByText(0.7), &[], None).unwrap();
    assert_eq!(first, run(&sim, SplitSpec::ByText(0.7), &[], None).unwrap());
    let json = serde_json::to_value(&first[5]).unwrap();
    assert_eq!(json["model"], "multilevel");
    for key in ["annotator_accuracy", "worst_tenth_accuracy", "ece", "quadratic_kappa", "n_labels"] {
        assert!(json[key].is_number(), "{key}");
    }
}

#[test]
fn impossible_evaluations_are_refused() {
    let sim = simulate(20, 3, 2, 2, 10, 4);
    assert!(matches!(run(&sim, SplitSpec::ByText(0.7), &[], Some(1)), Err(ModelError::AtLeast { .. })));
    let all_train = vec![Some(Split::Train); 20];
    assert!(matches!(
        run(&sim, SplitSpec::Column, &all_train, None),
        Err(ModelError::EmptySplit { side: "score", .. })
    ));
    assert!(matches!(run(&sim, SplitSpec::ByText(1.5), &[], None), Err(ModelError::Share(_))));
}

#[test]
fn held_out_accuracy_counts_labels_once() {
    let sim = simulate(300, 12, 2, 4, 80, 5);
    let results = held_out(&data(&sim), Default::default(), &FitOptions::default(), &Silent).unwrap();
    assert!(results.iter().all(|r| r.labels == 80));
    let mean = |f: &dyn Fn(usize) -> f64| (0..12).map(f).sum::<f64>() / 12.0;
    let ours = mean(&|a| results[a].accuracy().unwrap());
    let habit = mean(&|a| results[a].baseline().unwrap());
    assert!(ours > habit + 0.02, "{ours} {habit}");
}

#[test]
fn map_orders_people_by_severity() {
    let sim = simulate(300, 20, 5, 4, 80, 6);
    let model = fit(ModelKind::Multilevel, &data(&sim), &FitOptions::default(), &Silent).unwrap();
    let map = annotator_map(model.as_ref(), true);
    assert_eq!(map.points.len(), 20);
    assert!(map.explained[0] > 0.7 && map.explained[0] >= map.explained[1]);
    assert!(map.explained.iter().sum::<f64>() <= 1.0 + 1e-9);
    let most = |severe: bool| {
        let order = |a: &usize, b: &usize| sim.severity[*a].total_cmp(&sim.severity[*b]);
        if severe { (0..20).max_by(order).unwrap() } else { (0..20).min_by(order).unwrap() }
    };
    assert!(map.points[most(true)][0] > 0.0 && map.points[most(false)][0] < 0.0);
    assert_eq!(map, annotator_map(model.as_ref(), true));
}

#[test]
fn annotator_maps_of_degenerate_cases() {
    let sim = simulate(40, 2, 2, 3, 20, 7);
    let model = fit(ModelKind::Multilevel, &data(&sim), &FitOptions::default(), &Silent).unwrap();
    let map = annotator_map(model.as_ref(), true);
    assert!((map.points[0][0] + map.points[1][0]).abs() < 1e-5, "two people lie opposite each other");
    assert!(map.points.iter().all(|p| p[1].abs() < 1e-6));
    let alike = fit(ModelKind::Shared, &data(&sim), &FitOptions::default(), &Silent).unwrap();
    let map = annotator_map(alike.as_ref(), true);
    assert_eq!(map.explained, [0.0, 0.0]);
    assert!(map.points.iter().flatten().all(|v| v.abs() < 1e-9));
}
