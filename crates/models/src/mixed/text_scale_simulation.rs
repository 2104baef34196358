//! Simulated labels of texts whose scales differ, for tests.

use super::convergence::FINAL;
use super::crossed::CrossedEffects;
use crate::link::Link;
use dissensus_domain::TargetKind;
use dissensus_stats::data::{Embeddings, Observation, Target};
use dissensus_stats::math::random::generator;
use dissensus_stats::math::sigmoid;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Texts of a simulated project.
const TEXTS: usize = 300;

/// 300 texts, 9 of 60 people each, five levels, texts' scales with `log s ~ N(0, omega^2)`.
pub(crate) fn fitted(omega: f64, seed: u64) -> CrossedEffects {
    fitted_around(&[0.0; TEXTS], omega, seed)
}

/// The same simulation with embeddings of 8 numbers that determine the logarithms of scales: `slope` times
/// the first number.
pub(crate) fn fitted_scales(slope: f64, seed: u64) -> (CrossedEffects, Embeddings) {
    let mut rng = generator(seed, 7);
    let rows: Vec<f32> = (0..8 * TEXTS).map(|_| StandardNormal.sample(&mut rng)).collect();
    let means: Vec<f64> = rows.chunks_exact(8).map(|row| slope * f64::from(row[0])).collect();
    (fitted_around(&means, 0.0, seed), Embeddings::new(8, rows).unwrap())
}

fn fitted_around(means: &[f64], omega: f64, seed: u64) -> CrossedEffects {
    let (texts, annotators, levels) = (TEXTS, 60, 5);
    let mut rng = generator(seed, 5);
    let mut normal = |sd: f64| -> f64 {
        let z: f64 = StandardNormal.sample(&mut rng);
        sd * z
    };
    let severity: Vec<f64> = (0..annotators).map(|_| normal(1.0)).collect();
    let text: Vec<(f64, f64)> =
        means.iter().map(|mean| (normal(1.2), (mean + normal(omega)).exp())).collect();
    let mut rng = generator(seed, 6);
    let mut observations = Vec::new();
    for (t, (score, scale)) in text.iter().enumerate() {
        let first = rng.random_range(0..annotators);
        for i in 0..9 {
            let annotator = (first + i * 7) % annotators;
            let x = rng.random::<f64>();
            let above = |j: usize| sigmoid((score + severity[annotator] + 1.3 * (2.5 - j as f64)) / scale);
            let level = (1..levels).filter(|j| x < above(*j)).count() as u16;
            observations.push(Observation { text: t as u32, annotator: annotator as u32, level });
        }
    }
    observations.sort_by_key(|o| (o.text, o.annotator));
    let link = Link::new(Target { kind: TargetKind::Ordinal, levels });
    let mut crossed = CrossedEffects::new(link, vec![0.0; texts], annotators, &observations);
    crossed.expectation_maximisation(FINAL);
    crossed
}
