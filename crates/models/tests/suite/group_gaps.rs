//! Gaps between groups of annotators, on labels simulated from the multilevel model itself.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::TargetKind;
use dissensus_models::live::LiveModel;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{Embeddings, FitOptions, Observation, Target, TrainingData};
use dissensus_stats::disagreement::{GroupGap, GroupGaps, GroupPair};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::sync::LazyLock;

const LEVELS: usize = 5;

/// Annotators with an even index are on the first side.
#[derive(Clone, Copy, Debug)]
struct Design {
    texts: usize,
    annotators: usize,
    /// Fewest and most labels per text, drawn evenly.
    labels: (usize, usize),
    /// In logits: the common intercept, and standard deviations of severities and of the texts' gaps.
    intercept: f64,
    annotator_sd: f64,
    gap_sd: f64,
    /// Number of texts, the first ones, that everyone labels and on which the second side answers one level
    /// higher, within the scale.
    apart: usize,
}

const NO_GAPS: Design = Design {
    texts: 80,
    annotators: 20,
    labels: (2, 5),
    intercept: 0.0,
    annotator_sd: 1.0,
    gap_sd: 0.0,
    apart: 0,
};

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// P(level) of the cumulative logit model with thresholds from -1.5 to 1.5.
fn probabilities(eta: f64) -> Vec<f64> {
    let at_least = |j: usize| match j {
        0 => 1.0,
        LEVELS => 0.0,
        j => 1.0 / (1.0 + (j as f64 - 2.5 - eta).exp()),
    };
    (0..LEVELS).map(|c| at_least(c) - at_least(c + 1)).collect()
}

/// The estimated gaps on every text, and the true ones.
fn gaps(design: Design, seed: u64) -> Vec<(GroupGap, f64)> {
    let Design { texts, annotators, labels, intercept, annotator_sd, gap_sd, apart } = design;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let severities: Vec<f64> = (0..annotators).map(|_| annotator_sd * normal(&mut rng)).collect();
    let rows: Vec<f32> = (0..texts * 4).map(|_| normal(&mut rng) as f32).collect();
    let mut who: Vec<usize> = (0..annotators).collect();
    let (mut observations, mut truth) = (Vec::new(), Vec::new());
    for text in 0..texts {
        let own = 0.7 * normal(&mut rng);
        // Low on the scale, where nearly all people have a level above.
        let score = if text < apart { -1.0 } else { intercept + f64::from(rows[4 * text]) + own };
        let own_gap = gap_sd * normal(&mut rng);
        let chances = |annotator: usize| {
            let second = annotator % 2 == 1;
            let mut p = probabilities(score + severities[annotator] + if second { own_gap } else { 0.0 });
            if second && text < apart {
                p.rotate_right(1);
                p[LEVELS - 1] += std::mem::take(&mut p[0]);
            }
            p
        };
        let mean = |a: usize| -> f64 { chances(a).iter().enumerate().map(|(c, p)| c as f64 * p).sum() };
        let of_side = |side: usize| {
            let of: Vec<f64> = (side..annotators).step_by(2).map(mean).collect();
            of.iter().sum::<f64>() / of.len() as f64
        };
        truth.push(of_side(1) - of_side(0));
        who.shuffle(&mut rng);
        let some = if text < apart { annotators } else { rng.random_range(labels.0..=labels.1) };
        for &annotator in &who[..some] {
            let (mut left, mut level) = (rng.random::<f64>(), 0);
            for p in chances(annotator) {
                if left < p || level + 1 == LEVELS {
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
    let embeddings = Embeddings::new(4, rows).unwrap();
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &observations,
        annotators,
        target: Target { kind: TargetKind::Ordinal, levels: LEVELS },
        attributes: &[],
    };
    let model = LiveModel::fit(&data, &FitOptions { seed, ..FitOptions::default() }, &Silent).unwrap();
    let groups = [0u32, 1].map(|side| (side..annotators as u32).step_by(2).collect());
    let found =
        GroupGaps::estimate(&model, groups.to_vec(), vec![GroupPair { first: vec![0], second: vec![1] }]);
    let widest = found.widest(&model, 0..texts);
    let on_text = |(text, truth): (usize, f64)| {
        let gap = found.on_text(&model, text, &model.level_steps(text as u32))[0];
        assert!((f64::from(widest[text]) - gap.gap.abs()).abs() < 1e-5, "{gap:?} {}", widest[text]);
        assert!(gap.interval.is_none_or(|(low, high)| low < gap.gap && gap.gap < high), "{gap:?}");
        (gap, truth)
    };
    truth.into_iter().enumerate().map(on_text).collect()
}

/// The gaps of each text with the true ones, by project.
type Projects = Vec<Vec<(GroupGap, f64)>>;

fn projects(design: Design, many: u64) -> Projects {
    (0..many).into_par_iter().map(|seed| gaps(design, 500 + seed)).collect()
}

/// Sixty projects without any gap, in the middle of the scale and at its lower end; significance of gaps and
/// coverage of their intervals are tested on the same projects.
static WITHOUT_GAPS: LazyLock<[(Design, Projects); 2]> = LazyLock::new(|| {
    [NO_GAPS, Design { intercept: -3.0, ..NO_GAPS }].map(|design| (design, projects(design, 60)))
});

/// People's severities differ, by chance also between the groups, and nothing else does: at most 5 % of the
/// projects may have a significant gap.
#[test]
fn severity_differences_give_no_significant_gap() {
    let judge = |design: &Design, projects: &[Vec<(GroupGap, f64)>]| {
        let significant =
            projects.iter().filter(|texts| texts.iter().any(|(gap, _)| gap.significant)).count();
        assert!(significant <= 3, "{significant} of 60 projects: {design:?}");
    };
    WITHOUT_GAPS.iter().for_each(|(design, found)| judge(design, found));
    let wide = Design { annotator_sd: 2.0, ..NO_GAPS };
    judge(&wide, &projects(wide, 60));
}

#[test]
fn gap_of_one_level_is_significant() {
    let design = Design { texts: 60, annotators: 160, labels: (160, 160), apart: 10, ..NO_GAPS };
    let found = projects(design, 4);
    let right =
        |texts: &[(GroupGap, f64)]| texts.iter().filter(|(gap, _)| gap.significant && gap.gap > 0.0).count();
    let on_these: usize = found.iter().map(|texts| right(&texts[..10])).sum();
    let elsewhere: usize =
        found.iter().map(|texts| texts[10..].iter().filter(|(gap, _)| gap.significant).count()).sum();
    assert!(
        on_these >= 30,
        "{on_these} of 40: {:?}",
        found.iter().map(|texts| &texts[..10]).collect::<Vec<_>>()
    );
    assert!(elsewhere <= 4, "{elsewhere}");
}

#[test]
fn interval_of_a_gap_covers() {
    let judge = |design: &Design, projects: &[Vec<(GroupGap, f64)>]| {
        let all: Vec<_> = projects.iter().flatten().collect();
        let holds =
            |(gap, truth): &&&(GroupGap, f64)| gap.interval.is_some_and(|(l, h)| l <= *truth && *truth <= h);
        let share = all.iter().filter(holds).count() as f64 / all.len() as f64;
        assert!(share >= 0.87, "{share}: {design:?}");
    };
    WITHOUT_GAPS.iter().for_each(|(design, found)| judge(design, found));
    let apart = Design { gap_sd: 0.7, ..NO_GAPS };
    judge(&apart, &projects(apart, 60));
}

/// With fewer than ten texts labelled by both sides, gaps have no interval and none is significant.
#[test]
fn few_texts_leave_gaps_without_an_interval() {
    for (gap, _) in gaps(Design { texts: 9, labels: (5, 5), apart: 3, ..NO_GAPS }, 7) {
        assert!(gap.interval.is_none() && !gap.significant, "{gap:?}");
    }
}
