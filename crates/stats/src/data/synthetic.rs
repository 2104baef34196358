//! Simulated labels with known true effects, for benchmarks and tests. No person gave these labels.

use crate::data::{Embeddings, Observation, Target};
use crate::math::random::generator;
use dissensus_domain::TargetKind;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal};

/// Simulated labels with their true effects.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// texts x dim, independent normal numbers scaled to a mean squared length of 1.
    pub embeddings: Embeddings,
    /// Labels, ordered by annotator, then text.
    pub observations: Vec<Observation>,
    pub annotators: usize,
    /// Binary for two levels, else ordinal.
    pub target: Target,
    /// Every annotator's true shift on the logit scale, standard deviation 1.2.
    pub severity: Vec<f64>,
    /// Every text's true score, `1.5 w.x` plus an effect of standard deviation 0.8.
    pub score: Vec<f64>,
}

/// A simulation of cumulative logits: `P(y >= j) = sigma(score + severity - t_j)`, thresholds evenly spaced
/// from -1.5 to 1.5. Every annotator labels `labels_per_annotator` texts chosen at random (at most all of
/// them).
pub fn simulate(
    texts: usize,
    annotators: usize,
    levels: usize,
    dim: usize,
    labels_per_annotator: usize,
    seed: u64,
) -> Simulation {
    simulate_consistency(texts, annotators, levels, dim, labels_per_annotator, 0.0, seed)
}

/// [`simulate`] with annotators who differ in how strongly they follow the text:
/// `P(y >= j) = sigma(a score + severity - t_j)` with `log a ~ N(0, discrimination_sd^2)`.
pub fn simulate_consistency(
    texts: usize,
    annotators: usize,
    levels: usize,
    dim: usize,
    labels_per_annotator: usize,
    discrimination_sd: f64,
    seed: u64,
) -> Simulation {
    let mut rng = generator(seed, 2);
    let mut normal = move || -> f64 { StandardNormal.sample(&mut rng) };
    let scale = 1.0 / (dim.max(1) as f64).sqrt();
    let direction: Vec<f64> = (0..dim).map(|_| normal()).collect();
    let rows: Vec<f32> = (0..texts * dim).map(|_| (normal() * scale) as f32).collect();
    let mut embeddings = Embeddings::none(texts);
    embeddings.dim = dim;
    embeddings.rows = rows;
    let score: Vec<f64> = (0..texts)
        .map(|t| {
            let along: f64 = embeddings.row(t).iter().zip(&direction).map(|(&x, w)| f64::from(x) * w).sum();
            1.5 * along + 0.8 * normal()
        })
        .collect();
    let severity: Vec<f64> = (0..annotators).map(|_| 1.2 * normal()).collect();
    let kind = if levels == 2 { TargetKind::Binary } else { TargetKind::Ordinal };
    let people: Vec<(f64, f64)> =
        severity.iter().map(|severity| (*severity, (discrimination_sd * normal()).exp())).collect();
    let observations = label(&score, &people, levels, labels_per_annotator, seed);
    Simulation { embeddings, observations, annotators, target: Target { kind, levels }, severity, score }
}

/// `people` are severities and discriminations.
fn label(score: &[f64], people: &[(f64, f64)], levels: usize, each: usize, seed: u64) -> Vec<Observation> {
    let mut rng = generator(seed, 3);
    let mut order: Vec<u32> = (0..score.len() as u32).collect();
    let mut observations = Vec::with_capacity(people.len() * each.min(score.len()));
    for (a, (b, discrimination)) in people.iter().enumerate() {
        let (chosen, _) = order.partial_shuffle(&mut rng, each);
        let mut chosen = chosen.to_vec();
        chosen.sort_unstable();
        for text in chosen {
            let u: f64 = rng.random();
            let above = |j: usize| {
                crate::math::sigmoid(discrimination * score[text as usize] + b - threshold(j, levels))
            };
            let level = (1..levels).take_while(|&j| u < above(j)).count() as u16;
            observations.push(Observation { text, annotator: a as u32, level });
        }
    }
    observations
}

fn threshold(j: usize, levels: usize) -> f64 {
    if levels == 2 { 0.0 } else { -1.5 + 3.0 * (j - 1) as f64 / (levels - 2) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulations_are_seeded_and_sized() {
        let w = simulate(50, 4, 5, 8, 20, 1);
        assert_eq!(w.observations.len(), 80);
        assert_eq!(w.observations, simulate(50, 4, 5, 8, 20, 1).observations);
        assert_ne!(w.observations, simulate(50, 4, 5, 8, 20, 2).observations);
        assert!(w.observations.iter().all(|o| o.level < 5 && o.text < 50));
        assert_eq!(simulate(5, 2, 2, 0, 20, 1).observations.len(), 10);
        let differing = simulate_consistency(50, 4, 5, 8, 20, 0.5, 1);
        assert_eq!((&differing.score, &differing.severity), (&w.score, &w.severity));
        assert_ne!(differing.observations, w.observations);
    }
}
