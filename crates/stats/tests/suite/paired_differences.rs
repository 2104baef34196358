//! Coverage of intervals of the difference of two models.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_stats::data::Observation;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::metrics::Resampled;
use dissensus_stats::metrics::{Scored, Scores};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const LEVELS: usize = 4;
const KEYS: [&str; 9] = [
    "log_loss",
    "accuracy",
    "macro_f1",
    "annotator_accuracy",
    "soft_cross_entropy",
    "disagreement_spearman",
    "pearson",
    "mae",
    "wasserstein_probabilities",
];

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    // Twelve uniform numbers: close enough to a normal one here.
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

fn levels_of(eta: f64) -> [f64; LEVELS] {
    let below = |c: f64| 1.0 / (1.0 + (eta - c).exp());
    let (a, b, c) = (below(-1.0), below(0.3), below(1.5));
    [a, b - a, c - b, 1.0 - c]
}

/// One sample: `texts` texts with `each` labels of `annotators` people, judged by two models. The first knows
/// text and severity with independent errors for every text and person; the second only knows texts, with
/// other errors. Models differ more on some texts and for some people.
fn sample(texts: u32, annotators: u32, each: u32, spread: f64, seed: u64) -> (Scored, Scored) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let people: Vec<[f64; 2]> =
        (0..annotators).map(|_| [spread * normal(&mut rng), 0.5 * normal(&mut rng)]).collect();
    let mut models =
        [Scored { levels: LEVELS, ..Scored::default() }, Scored { levels: LEVELS, ..Scored::default() }];
    for text in 0..texts {
        let (score, wrong) = (normal(&mut rng), [0.5 * normal(&mut rng), 0.5 * normal(&mut rng)]);
        let mut chosen: Vec<u32> = (0..annotators).collect();
        for at in 0..each as usize {
            let other = rng.random_range(at..chosen.len());
            chosen.swap(at, other);
        }
        chosen.truncate(each as usize);
        chosen.sort_unstable();
        for annotator in chosen {
            let [severity, error] = people[annotator as usize];
            let mut left = rng.random::<f64>();
            let p = levels_of(score + severity);
            let level = p.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            let level = level.unwrap_or(LEVELS - 1) as u16;
            let says = [score + wrong[0] + severity + error, 0.9 * score + wrong[1]];
            for (model, eta) in models.iter_mut().zip(says) {
                model.observations.push(Observation { text, annotator, level });
                model.probabilities.extend(levels_of(eta).map(|p| p as f32));
            }
        }
    }
    let [first, second] = models;
    (first, second)
}

fn figures(scored: &Scored) -> Vec<f64> {
    let values = Scores::new(scored, true).values();
    KEYS.iter().map(|key| values.iter().find(|(k, _)| k == key).unwrap().1.unwrap()).collect()
}

/// Share of 90 % intervals that contain the difference in a population, for every metric.
fn coverage(texts: u32, annotators: u32, each: u32, spread: f64, times: u64) -> Vec<f64> {
    // As many labels of each text, and nearly as many of each person, as in a sample; unlimited texts and
    // people.
    let truth: Vec<Vec<f64>> = (0..12u64)
        .into_par_iter()
        .map(|part| {
            let many = annotators * 20;
            let (a, b) = sample(texts * 20, many, each, spread, 1_000_000 + part);
            figures(&a).iter().zip(figures(&b)).map(|(a, b)| a - b).collect()
        })
        .collect();
    let truth: Vec<f64> =
        (0..KEYS.len()).map(|k| truth.iter().map(|t| t[k]).sum::<f64>() / truth.len() as f64).collect();
    let held: Vec<Vec<Option<bool>>> = (0..times)
        .into_par_iter()
        .map(|seed| {
            let (a, b) = sample(texts, annotators, each, spread, seed);
            let of = |scored: &Scored| Resampled::new(scored, true, seed, |s| Scores::new(s, true), &Silent);
            let found = of(&a).unwrap().less(&of(&b).unwrap(), 0.9).unwrap();
            let held = |(key, truth): (&&str, &f64)| {
                let one = found.get(*key)?;
                Some(one.low? <= *truth && *truth <= one.high?)
            };
            KEYS.iter().zip(&truth).map(held).collect()
        })
        .collect();
    let share = |k: usize| {
        // A level that is too rare in a sample leaves macro-F1 without an interval.
        let reported: Vec<bool> = held.iter().filter_map(|held| held[k]).collect();
        assert!(reported.len() as f64 > 0.8 * times as f64, "{}: {} of {times}", KEYS[k], reported.len());
        reported.iter().filter(|held| **held).count() as f64 / reported.len() as f64
    };
    (0..KEYS.len()).map(share).collect()
}

/// 200 samples estimate a share of 0.90 to 0.021 (one standard error).
#[test]
fn intervals_of_differences_cover() {
    for (texts, annotators, each, spread) in [(120, 24, 5, 1.0), (80, 60, 8, 0.3)] {
        let found = coverage(texts, annotators, each, spread, 200);
        for (key, share) in KEYS.iter().zip(&found) {
            println!("{texts} texts x {each} labels by {annotators}, severities {spread}: {key} {share:.3}");
        }
        for (key, share) in KEYS.iter().zip(&found) {
            assert!((0.83..=0.97).contains(share), "{key}: {share} on {texts} texts");
        }
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        assert!((0.87..=0.94).contains(&mean), "{mean} on {texts} texts");
    }
}
