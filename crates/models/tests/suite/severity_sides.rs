//! Whether answers follow severity on a text, on labels simulated from the multilevel model and from
//! processes outside it.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::TargetKind;
use dissensus_models::live::{LiveModel, SeveritySides};
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{Embeddings, FitOptions, Observation, Target, TrainingData};
use dissensus_stats::disagreement::GroupGap;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

const LEVELS: usize = 5;

#[derive(Clone, Copy, Debug)]
struct Design {
    texts: usize,
    annotators: usize,
    /// Labels per text.
    labels: usize,
    /// Standard deviation of severities, in logits.
    severity_sd: f64,
    /// Whether every text divides the people into camps of its own, 3 logits apart, that are unrelated to
    /// severity.
    camps: bool,
}

const ALIKE: Design = Design { texts: 100, annotators: 40, labels: 12, severity_sd: 0.0, camps: false };

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// A level of the cumulative logit model with thresholds from -1.5 to 1.5.
fn level(eta: f64, rng: &mut ChaCha8Rng) -> u16 {
    let logistic = {
        let u: f64 = rng.random_range(1e-9..1.0 - 1e-9);
        (u / (1.0 - u)).ln()
    };
    (1..LEVELS).filter(|j| eta + logistic > *j as f64 - 2.5).count() as u16
}

fn fitted(design: Design, seed: u64) -> LiveModel {
    let Design { texts, annotators, labels, severity_sd, camps } = design;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let severities: Vec<f64> = (0..annotators).map(|_| severity_sd * normal(&mut rng)).collect();
    let rows: Vec<f32> = (0..texts * 4).map(|_| normal(&mut rng) as f32).collect();
    let mut who: Vec<usize> = (0..annotators).collect();
    let mut observations = Vec::new();
    for text in 0..texts {
        let score = f64::from(rows[4 * text]) + 0.7 * normal(&mut rng);
        who.shuffle(&mut rng);
        for (place, &annotator) in who[..labels].iter().enumerate() {
            let camp = if camps { 1.5 - 3.0 * (place % 2) as f64 } else { 0.0 };
            observations.push(Observation {
                text: text as u32,
                annotator: annotator as u32,
                level: level(score + camp + severities[annotator], &mut rng),
            });
        }
    }
    let embeddings = Embeddings::new(4, rows).unwrap();
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &observations,
        annotators,
        target: Target { kind: TargetKind::Ordinal, levels: LEVELS },
        attributes: &[],
    };
    LiveModel::fit(&data, &FitOptions { seed, ..FitOptions::default() }, &Silent).unwrap()
}

fn gaps(design: Design, seed: u64) -> Vec<GroupGap> {
    let model = fitted(design, seed);
    let sides = SeveritySides::estimate(&model, None).unwrap();
    let found: Vec<GroupGap> =
        (0..design.texts as u32).filter_map(|text| sides.on_text(&model, text)).collect();
    assert_eq!(found.len(), sides.texts());
    for gap in &found {
        let (low, high) = gap.interval.unwrap();
        assert!(low < gap.gap && gap.gap < high, "{gap:?}");
        assert!(gap.labels.iter().all(|n| *n > 1), "{gap:?}");
    }
    found
}

fn projects(design: Design, many: u64) -> Vec<Vec<GroupGap>> {
    (0..many).into_par_iter().map(|seed| gaps(design, 900 + seed)).collect()
}

/// Where people are equally severe, or divided by something else, at most 5 % of the projects should have a
/// text that follows severity (2 of 24 are allowed): with many labels per person, with the fewest that form a
/// side, and where labels are spread more widely than predicted.
#[test]
fn equal_severity_gives_no_severity_texts() {
    let few = Design { texts: 160, annotators: 100, labels: 5, ..ALIKE };
    for design in [ALIKE, few, Design { camps: true, ..ALIKE }] {
        let significant =
            projects(design, 24).iter().filter(|texts| texts.iter().any(|gap| gap.significant)).count();
        assert!(significant <= 2, "{significant} of 24 projects: {design:?}");
    }
}

#[test]
fn severity_sides_are_found() {
    let found = projects(Design { severity_sd: 2.0, ..ALIKE }, 3);
    let significant: Vec<&GroupGap> = found.iter().flatten().filter(|gap| gap.significant).collect();
    let texts = found.iter().map(Vec::len).sum::<usize>();
    eprintln!("{} of {texts} texts", significant.len());
    assert!(significant.len() * 20 > texts, "{} of {texts}", significant.len());
    assert!(significant.iter().all(|gap| gap.gap > 0.0 && gap.p.unwrap() <= 0.025));
    // More labels give more significant texts.
    let more = projects(Design { severity_sd: 2.0, labels: 30, ..ALIKE }, 3);
    let share = |of: &[Vec<GroupGap>]| {
        of.iter().flatten().filter(|gap| gap.significant).count() as f64 / of.iter().flatten().count() as f64
    };
    eprintln!("{:.2} of the texts with 12 labels, {:.2} with 30", share(&found), share(&more));
    assert!(share(&more) > share(&found));
}

/// Too few people, people with too few labels, or only one side: no result is reported.
#[test]
fn too_few_people_or_labels_give_no_sides() {
    let model = fitted(Design { severity_sd: 1.0, ..ALIKE }, 1);
    let mut mask = vec![false; 40];
    mask[..9].iter_mut().for_each(|chosen| *chosen = true);
    assert!(SeveritySides::estimate(&model, Some(&mask)).is_none());
    let sparse = fitted(Design { texts: 40, annotators: 120, labels: 4, ..ALIKE }, 2);
    let sides = SeveritySides::estimate(&sparse, None);
    assert!(sides.is_none_or(|sides| {
        (0..40).all(|text| sides.on_text(&sparse, text).is_none_or(|gap| gap.labels.iter().all(|n| *n > 1)))
    }));
}
