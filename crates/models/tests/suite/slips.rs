//! Slips planted among simulated labels are found, and labels on which people are divided are not mistaken
//! for slips.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use dissensus_models::live::{LiveModel, UnlikelyKind, UnlikelyLabels};
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{FitOptions, Observation, Target, TrainingData, synthetic};
use dissensus_stats::disagreement::Measure;
use std::collections::{BTreeMap, HashSet};

const BELOW: f64 = 0.05;

type Key = (u32, u32);

struct World {
    sim: synthetic::Simulation,
    planted: HashSet<Key>,
}

/// Labels drawn from the model, every fiftieth of which is replaced by the reverse of its level.
fn world(levels: usize, seed: u64) -> World {
    let mut sim = synthetic::simulate(300, 40, levels, 8, 75, seed);
    let top = levels as u16 - 1;
    let mut planted = HashSet::new();
    for (at, o) in sim.observations.iter_mut().enumerate() {
        if at % 50 == 7 && o.level != top - o.level {
            o.level = top - o.level;
            planted.insert((o.text, o.annotator));
        }
    }
    World { sim, planted }
}

fn fitted(sim: &synthetic::Simulation, observations: &[Observation]) -> LiveModel {
    let data = TrainingData {
        embeddings: &sim.embeddings,
        observations,
        annotators: sim.annotators,
        target: sim.target,
        attributes: &[],
    };
    LiveModel::fit(&data, &FitOptions::default(), &Silent).unwrap()
}

fn slips(found: &UnlikelyLabels) -> Vec<Key> {
    let slips = found.labels.iter().filter(|label| label.kind == UnlikelyKind::Slip);
    slips.map(|label| (label.text, label.annotator)).collect()
}

/// Share of planted slips among the first `n`.
fn precision(found: &[Key], planted: &HashSet<Key>, n: usize) -> f64 {
    found.iter().take(n).filter(|key| planted.contains(key)).count() as f64 / n as f64
}

#[test]
fn planted_slips_rank_first() {
    for (levels, least) in [(2, 0.4), (5, 0.5)] {
        let (mut first, mut listed, mut expected, mut planted_all, mut labels) = (0.0, 0, 0.0, 0, 0);
        for seed in 1..=6 {
            let World { sim, planted } = world(levels, seed);
            let found = fitted(&sim, &sim.observations).unlikely_labels(|_, _| true, BELOW, &Silent).unwrap();
            let ranked = slips(&found);
            first += precision(&ranked, &planted, 8) / 6.0;
            (planted_all, labels) = (planted_all + planted.len(), labels + sim.observations.len());
            listed += ranked.len();
            expected += found.expected[0];
        }
        let chance = planted_all as f64 / labels as f64;
        println!(
            "{levels} levels: {first:.2} of the first 8 were planted, {chance:.3} of all labels; {listed} listed where {expected:.0} were \
             expected without slips"
        );
        assert!(first > least && first > 10.0 * chance, "{levels}: {first} {chance}");
        assert!(f64::from(listed as u32) > expected + 2.0 * expected.sqrt(), "{levels}: {listed} {expected}");
    }
}

/// Without slips, as many labels are listed as the model expects, of every kind and at every length of the
/// list.
#[test]
fn listed_slips_match_the_expected_number() {
    for levels in [2, 5] {
        let (mut listed, mut expected) = ([0.0; 3], [0.0; 3]);
        let (mut strict, mut strict_expected) = (0.0, 0.0);
        for seed in 11..=16 {
            let sim = synthetic::simulate(300, 40, levels, 8, 75, seed);
            let found = fitted(&sim, &sim.observations).unlikely_labels(|_, _| true, BELOW, &Silent).unwrap();
            for label in &found.labels {
                listed[label.kind as usize] += 1.0;
            }
            expected.iter_mut().zip(found.expected).for_each(|(sum, n)| *sum += n);
            let first = found.labels.iter().filter(|l| l.kind == UnlikelyKind::Slip && l.score() <= 0.02);
            strict += first.clone().count() as f64;
            strict_expected += first.map(|l| l.expected).fold(0.0, f64::max);
            assert_eq!(found.judged + found.alone, sim.observations.len());
            assert!(found.alone < 5 && found.few_own == 0);
        }
        println!(
            "{levels} levels: listed {listed:?}, expected {expected:.0?}; at .02 {strict}, {strict_expected:.0}"
        );
        for (listed, expected) in listed.into_iter().zip(expected).chain([(strict, strict_expected)]) {
            assert!((listed - expected).abs() < 4.0 * expected.sqrt() + 2.0, "{levels}: {listed} {expected}");
        }
    }
}

/// On some texts half of the people answer the lowest level and half the highest. No such label is a slip:
/// the model learns that people are far apart on these texts (a scale of their own), so that their labels are
/// as expected there, and ranks these texts first.
#[test]
fn two_camps_are_not_slips() {
    let World { mut sim, planted } = world(5, 3);
    let contested: HashSet<u32> = (0..10).map(|i| i * 30).collect();
    let mut of_text: BTreeMap<u32, u16> = BTreeMap::new();
    for o in &mut sim.observations {
        if contested.contains(&o.text) {
            let n = of_text.entry(o.text).or_default();
            o.level = if n.is_multiple_of(2) { 0 } else { 4 };
            *n += 1;
        }
    }
    let model = fitted(&sim, &sim.observations);
    let found = model.unlikely_labels(|_, _| true, BELOW, &Silent).unwrap();
    let ranked = slips(&found);
    assert!(ranked.iter().all(|(text, _)| !contested.contains(text)));
    let still: HashSet<Key> = planted.into_iter().filter(|(text, _)| !contested.contains(text)).collect();
    let first = precision(&ranked, &still, 10);
    let widest = model.ranking(Measure::Split);
    let known = widest[..20].iter().filter(|text| contested.contains(text)).count();
    println!(
        "of the first 10 slips {first:.1} were planted; of the first 20 texts by split {known} are contested"
    );
    assert!(first > 0.4, "{first}");
    assert!(model.scale_spread().is_some() && known >= 8, "{known}");
}

#[test]
fn slips_of_one_person_match_the_full_list() {
    let World { sim, .. } = world(5, 2);
    let model = fitted(&sim, &sim.observations);
    let all = model.unlikely_labels(|_, _| true, BELOW, &Silent).unwrap();
    let one = model.unlikely_labels(|_, annotator| annotator == 3, BELOW, &Silent).unwrap();
    let of = |found: &UnlikelyLabels| -> Vec<(u32, f64)> {
        found.labels.iter().filter(|l| l.annotator == 3).map(|l| (l.text, l.own)).collect()
    };
    assert_eq!(of(&all), of(&one));
    assert_eq!(one.judged, 75);
    assert!(one.expected[0] < all.expected[0]);
}

/// Removing a label from the data and refitting the model gives the reported probability.
#[test]
fn chances_match_a_model_without_the_label() {
    let World { sim, .. } = world(5, 5);
    let whole = fitted(&sim, &sim.observations);
    let found = whole.unlikely_labels(|_, _| true, BELOW, &Silent).unwrap();
    for label in found.labels.iter().filter(|l| l.kind == UnlikelyKind::Slip).take(5) {
        let mut live = whole.clone();
        live.retract(label.text, label.annotator).unwrap();
        let mut p = [0.0; 5];
        dissensus_stats::data::AnnotatorModel::predict(&live, label.text, label.annotator, &mut p);
        let bar = p[usize::from(label.level)] * 1.000_001;
        let own: f32 = p.iter().filter(|p| **p <= bar).sum();
        assert!((f64::from(own) - label.own).abs() < 0.25 * label.own + 0.002, "{own} {}", label.own);
    }
}

#[test]
fn labels_that_cannot_be_judged_are_counted() {
    let o = |text, annotator, level| Observation { text, annotator, level };
    // One person with twelve labels, one with three, and texts that only one person has labelled.
    let mut observations: Vec<Observation> = (0..12).map(|t| o(t, 0, u16::from(t % 3 == 0))).collect();
    observations.extend((0..3).map(|t| o(t, 1, 1)));
    let sim = synthetic::Simulation {
        embeddings: dissensus_stats::data::Embeddings::none(12),
        annotators: 2,
        target: Target { kind: dissensus_domain::TargetKind::Binary, levels: 2 },
        observations,
        severity: Vec::new(),
        score: Vec::new(),
    };
    let found = fitted(&sim, &sim.observations).unlikely_labels(|_, _| true, BELOW, &Silent).unwrap();
    assert_eq!((found.judged, found.few_own, found.alone), (3, 3, 9));
}
