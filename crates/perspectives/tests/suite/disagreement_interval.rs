//! Whether the 90 % interval of a text's disagreement holds the true expected disagreement among the people of the project, of
//! whom those who labelled the text have answered, on labels simulated from the multilevel model itself.
//!
//! With many labels a text it does on two levels, and nearly on five. With five labels a text and ten an annotator it nearly does, with 100
//! texts of three labels it holds less: the variances of the effects and annotators' thresholds are taken as known, and what is unknown
//! about them is missing from the interval.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::ScaleKind;
use dissensus_perspectives::{
    AnnotatorModel, Embeddings, FitOptions, LiveModel, Measure, Observation, Silent, Target, TrainingData,
    maximum,
};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

const DIM: usize = 8;

/// One design of an annotation project.
#[derive(Clone, Copy, Debug)]
struct Design {
    /// Labelled texts; half as many again have no label.
    texts: usize,
    annotators: usize,
    labels_per_text: usize,
    levels: usize,
    /// Standard deviations of the text effects (beside what embeddings tell, 1.5) and of severities, in logits.
    text_sd: f64,
    annotator_sd: f64,
    /// Standard deviation of the logarithms of texts' scales.
    scale_sd: f64,
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// P(level) of the cumulative logit model with thresholds evenly spaced from -1.5 to 1.5, of a text of this scale.
fn probabilities(eta: f64, scale: f64, levels: usize) -> Vec<f64> {
    let threshold =
        |j: usize| if levels == 2 { 0.0 } else { 3.0 * (j - 1) as f64 / (levels - 2) as f64 - 1.5 };
    let at_least = |j: usize| match j {
        0 => 1.0,
        j if j == levels => 0.0,
        j => 1.0 / (1.0 + ((threshold(j) - eta) / scale).exp()),
    };
    (0..levels).map(|c| at_least(c) - at_least(c + 1)).collect()
}

/// The measure of a text of this score and scale, by all pairs of people: those in `known` with their labels, the others with the chances
/// that the simulation draws from.
fn truth(
    by: Measure,
    (score, scale): (f64, f64),
    severities: &[f64],
    known: &[(usize, usize)],
    levels: usize,
) -> f64 {
    let mut people: Vec<Vec<f64>> =
        severities.iter().map(|s| probabilities(score + s, scale, levels)).collect();
    for (annotator, level) in known {
        people[*annotator] = (0..levels).map(|c| f64::from(u8::from(c == *level))).collect();
    }
    let mut total = 0.0;
    for (a, p) in people.iter().enumerate() {
        for q in &people[..a] {
            for (c, d) in (0..levels).flat_map(|c| (0..levels).map(move |d| (c, d))) {
                let distance = match by {
                    Measure::Pairwise => f64::from(u8::from(c != d)),
                    _ => (c as f64 - d as f64).powi(2),
                };
                total += p[c] * q[d] * distance;
            }
        }
    }
    let n = people.len();
    let most = if by == Measure::Pairwise { 1.0 } else { maximum::squared_distance(n, levels) };
    total / (n * (n - 1) / 2) as f64 / most
}

/// Of one simulated project: texts whose interval holds the truth and texts in all, labelled ones first, then those
/// without a label.
fn covered(design: Design, by: Measure, seed: u64) -> [(usize, usize); 2] {
    let Design { texts, annotators, labels_per_text, levels, text_sd, annotator_sd, scale_sd } = design;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let all = texts + texts / 2;
    let direction: Vec<f64> = (0..DIM).map(|_| normal(&mut rng)).collect();
    let length = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
    let rows: Vec<f32> = (0..all * DIM).map(|_| normal(&mut rng) as f32).collect();
    let scores: Vec<(f64, f64)> = rows
        .chunks_exact(DIM)
        .map(|row| {
            let along: f64 = row.iter().zip(&direction).map(|(x, d)| f64::from(*x) * d).sum::<f64>() / length;
            let score = 1.5 * along + text_sd * normal(&mut rng);
            (score, if scale_sd > 0.0 { (scale_sd * normal(&mut rng)).exp() } else { 1.0 })
        })
        .collect();
    let severities: Vec<f64> = (0..annotators).map(|_| annotator_sd * normal(&mut rng)).collect();
    let mut who: Vec<usize> = (0..annotators).collect();
    let mut observations = Vec::new();
    for (text, (score, scale)) in scores.iter().enumerate().take(texts) {
        who.shuffle(&mut rng);
        for &annotator in &who[..labels_per_text] {
            let (mut left, mut level) = (rng.random::<f64>(), 0);
            for p in probabilities(score + severities[annotator], *scale, levels) {
                if left < p || level + 1 == levels {
                    break;
                }
                left -= p;
                level += 1;
            }
            observations.push(Observation {
                text: text as u32,
                annotator: annotator as u32,
                level: level as u16,
            });
        }
    }
    let embeddings = Embeddings::new(DIM, rows).unwrap();
    let kind = if levels == 2 { ScaleKind::Binary } else { ScaleKind::Ordinal };
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &observations,
        annotators,
        target: Target { kind, levels },
        attributes: &[],
    };
    let model = LiveModel::fit(&data, &FitOptions { seed, ..FitOptions::default() }, &Silent).unwrap();
    let estimates = model.measure(by, None);
    let holds = |text: usize| {
        let of_text = observations.iter().filter(|o| o.text as usize == text);
        let known: Vec<(usize, usize)> =
            of_text.map(|o| (o.annotator as usize, usize::from(o.level))).collect();
        let estimate = estimates[text];
        let (low, high) = model.interval(text as u32, by, None, estimate, None).unwrap();
        let truth = truth(by, scores[text], &severities, &known, levels) as f32;
        low <= truth && truth <= high
    };
    assert_eq!(model.texts(), all);
    [0..texts, texts..all].map(|range| (range.clone().filter(|t| holds(*t)).count(), range.len()))
}

/// Shares of labelled and of unlabelled texts whose interval holds the truth, over simulated projects.
fn coverage(design: Design, by: Measure, projects: u64) -> [f64; 2] {
    let found: Vec<[(usize, usize); 2]> =
        (0..projects).into_par_iter().map(|seed| covered(design, by, 100 + seed)).collect();
    [0, 1].map(|part| {
        let held: usize = found.iter().map(|f| f[part].0).sum();
        let texts: usize = found.iter().map(|f| f[part].1).sum();
        held as f64 / texts as f64
    })
}

const DENSE: Design = Design {
    texts: 300,
    annotators: 60,
    labels_per_text: 9,
    levels: 2,
    text_sd: 0.8,
    annotator_sd: 1.2,
    scale_sd: 0.0,
};

/// Where texts differ in how far people are apart on them, beyond where they stand.
#[test]
fn where_texts_have_scales_of_their_own_the_interval_covers() {
    for scale_sd in [0.35, 0.5] {
        let found = coverage(Design { levels: 5, scale_sd, ..DENSE }, Measure::Split, 6);
        assert!(found.iter().all(|share| (0.81..=0.95).contains(share)), "{scale_sd}: {found:?}");
    }
}

#[test]
fn with_many_labels_the_interval_covers() {
    for design in [DENSE, Design { text_sd: 0.5, annotator_sd: 0.5, ..DENSE }] {
        // On five levels more of the doubt is about annotators' thresholds, of which the interval knows their severity alone.
        for (by, levels, least) in [(Measure::Pairwise, 2, 0.87), (Measure::Split, 5, 0.81)] {
            let design = Design { levels, ..design };
            let found = coverage(design, by, 20);
            assert!(found.iter().all(|share| (least..=0.95).contains(share)), "{by:?} {design:?}: {found:?}");
        }
    }
}

#[test]
fn with_few_labels_the_interval_nearly_covers() {
    let found = coverage(Design { annotators: 150, labels_per_text: 5, ..DENSE }, Measure::Pairwise, 20);
    assert!(found.iter().all(|share| (0.85..=0.94).contains(share)), "{found:?}");
}

/// Prints coverage by design.
#[test]
#[ignore = "prints a table; takes minutes"]
#[allow(clippy::print_stdout)]
fn table_of_coverage() {
    println!("texts annotators labels/text levels text-sd annotator-sd: labelled, unlabelled");
    for levels in [2, 5] {
        for (texts, annotators, labels_per_text) in
            [(300, 60, 9), (300, 150, 5), (600, 60, 2), (100, 10, 3), (100, 5, 5), (300, 12, 3)]
        {
            for (text_sd, annotator_sd) in [(0.8, 1.2), (1.5, 1.2), (0.5, 0.5)] {
                let design = Design {
                    texts,
                    annotators,
                    labels_per_text,
                    levels,
                    text_sd,
                    annotator_sd,
                    scale_sd: 0.0,
                };
                let [labelled, unlabelled] = coverage(design, Measure::Split, 20);
                println!(
                    "{texts} {annotators} {labels_per_text} {levels} {text_sd} {annotator_sd}: {labelled:.3} {unlabelled:.3}"
                );
            }
        }
    }
}
