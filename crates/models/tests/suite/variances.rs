//! Estimated standard deviations of texts and annotators on labels simulated with known ones.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::TargetKind;
use dissensus_models::live::LiveModel;
use dissensus_models::mixed::Estimation;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{Embeddings, FitOptions, Observation, Target, TrainingData};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// One cell of the simulation.
#[derive(Clone, Copy, Debug)]
struct Cell {
    texts: usize,
    labels_per_text: usize,
    annotators: usize,
    levels: usize,
    text_variance: f64,
    annotator_variance: f64,
}

/// Texts x labels per text x annotators, each with variances 1/1 and 3/2 and with two and five levels.
fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for levels in [2, 5] {
        for (texts, labels_per_text, annotators) in [(300, 9, 60), (300, 5, 150), (600, 2, 60)] {
            for (text_variance, annotator_variance) in [(1.0, 1.0), (3.0, 2.0)] {
                cells.push(Cell {
                    texts,
                    labels_per_text,
                    annotators,
                    levels,
                    text_variance,
                    annotator_variance,
                });
            }
        }
    }
    cells
}

/// Labels of the cumulative logit model, thresholds evenly spaced from -1.5 to 1.5. Annotators take texts in
/// turn, in random order.
fn labels(cell: Cell, seed: u64) -> Vec<Observation> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = |variance: f64| -> f64 {
        let z: f64 = StandardNormal.sample(&mut rng);
        z * variance.sqrt()
    };
    let texts: Vec<f64> = (0..cell.texts).map(|_| normal(cell.text_variance)).collect();
    let annotators: Vec<f64> = (0..cell.annotators).map(|_| normal(cell.annotator_variance)).collect();
    let threshold = |j: usize| match cell.levels {
        2 => 0.0,
        levels => 3.0 * j as f64 / (levels - 2) as f64 - 1.5,
    };
    let mut who: Vec<usize> = (0..cell.annotators).collect();
    let mut observations = Vec::new();
    for (text, score) in texts.iter().enumerate() {
        who.shuffle(&mut rng);
        for &annotator in &who[..cell.labels_per_text] {
            let u: f64 = rng.random::<f64>().clamp(1e-12, 1.0 - 1e-12);
            let latent = score + annotators[annotator] + (u / (1.0 - u)).ln();
            let level = (0..cell.levels - 1).filter(|j| latent > threshold(*j)).count();
            observations.push(Observation {
                text: text as u32,
                annotator: annotator as u32,
                level: level as u16,
            });
        }
    }
    observations
}

fn estimate(cell: Cell, seed: u64) -> Estimation {
    let observations = labels(cell, seed);
    let embeddings = Embeddings::none(cell.texts);
    let kind = if cell.levels == 2 { TargetKind::Binary } else { TargetKind::Ordinal };
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &observations,
        annotators: cell.annotators,
        target: Target { kind, levels: cell.levels },
        attributes: &[],
    };
    LiveModel::fit(&data, &FitOptions { seed, ..FitOptions::default() }, &Silent).unwrap().estimation()
}

/// Mean and standard deviation over data sets.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}

/// Estimates over `sets` data sets, printed; returns mean estimate over truth of texts and annotators.
#[allow(clippy::print_stdout)]
fn run(cell: Cell, sets: u64) -> [f64; 2] {
    let found: Vec<Estimation> = (0..sets).into_par_iter().map(|seed| estimate(cell, 1000 + seed)).collect();
    let texts: Vec<f64> = found.iter().map(|e| e.text_sd).collect();
    let annotators: Vec<f64> = found.iter().map(|e| e.annotator_sd.unwrap()).collect();
    let (t, a) = (moments(&texts), moments(&annotators));
    let truth = [cell.text_variance.sqrt(), cell.annotator_variance.sqrt()];
    let rounds = found.iter().map(|e| f64::from(e.rounds)).sum::<f64>() / sets as f64;
    let converged = found.iter().filter(|e| e.converged).count();
    println!(
        "{} x {} x {}, {} levels: texts {:.3} (spread {:.3}) for {:.3}, annotators {:.3} ({:.3}) for {:.3}; {rounds:.0} rounds, {converged}/{sets} converged",
        cell.texts,
        cell.labels_per_text,
        cell.annotators,
        cell.levels,
        t.0,
        t.1,
        truth[0],
        a.0,
        a.1,
        truth[1]
    );
    assert_eq!(converged, sets as usize, "{cell:?}");
    [t.0 / truth[0], a.0 / truth[1]]
}

/// A mean of thirty has a standard error of up to 2.7 %.
#[test]
#[ignore = "takes minutes: run by `cargo xtask test --only stress`"]
fn stress_standard_deviations_are_recovered() {
    for cell in cells() {
        let ratios = run(cell, 30);
        assert!(ratios.iter().all(|r| (0.9..=1.1).contains(r)), "{cell:?}: {ratios:?}");
    }
}
