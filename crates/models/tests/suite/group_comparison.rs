//! Two groups of people compared over all texts, on simulated labels.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::TargetKind;
use dissensus_models::live::LiveModel;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{Embeddings, FitOptions, Observation, Target, TrainingData};
use dissensus_stats::disagreement::{GroupGaps, GroupPair, SidesCompared, severity_gap};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// People of the first side come first; `labelled` is the number of labelled texts.
#[derive(Clone, Copy, Debug)]
struct Design {
    levels: usize,
    texts: usize,
    labelled: usize,
    people: [usize; 2],
    /// Labels per labelled text.
    labels: usize,
    /// Ratio between the number of labels of the first person of a side and of the last one.
    skew: f64,
    /// In logits: standard deviation of severities, and mean and variation between texts of side 1 over side
    /// 0.
    annotator_sd: f64,
    shift: f64,
    gap_sd: f64,
}

const PLAIN: Design = Design {
    levels: 5,
    texts: 100,
    labelled: 100,
    people: [12, 12],
    labels: 6,
    skew: 1.0,
    annotator_sd: 1.0,
    shift: 0.0,
    gap_sd: 0.0,
};

struct Project {
    observations: Vec<Observation>,
    sides: [Vec<u32>; 2],
    /// Mean over all texts of how much higher people like those of side 1 answer, in levels.
    gap: f64,
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Probabilities of level `j` or higher, `j` from 1: thresholds evenly spaced from -1.5 to 1.5.
fn at_least(eta: f64, levels: usize) -> impl Iterator<Item = f64> {
    let step = if levels > 2 { 3.0 / (levels - 2) as f64 } else { 0.0 };
    let first = if levels > 2 { -1.5 } else { 0.0 };
    (1..levels).map(move |j| 1.0 / (1.0 + (first + step * (j - 1) as f64 - eta).exp()))
}

/// Mean level over people of a normal population, represented by the quantiles `draws`.
fn mean_level(score: f64, draws: &[f64], design: &Design) -> f64 {
    let of = |z: &f64| at_least(score + design.annotator_sd * z, design.levels).sum::<f64>();
    draws.iter().map(of).sum::<f64>() / draws.len() as f64
}

fn project(design: &Design, seed: u64) -> Project {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let draws: Vec<f64> = (0..80).map(|i| normal_quantile((f64::from(i) + 0.5) / 80.0)).collect();
    let all = design.people[0] + design.people[1];
    let severity: Vec<f64> = (0..all).map(|_| design.annotator_sd * normal(&mut rng)).collect();
    let request: Vec<f64> = {
        let of = |at: usize, n: usize| design.skew.powf(-(at as f64) / (n.max(2) - 1) as f64);
        (0..design.people[0])
            .map(|a| of(a, design.people[0]))
            .chain((0..design.people[1]).map(|a| of(a, design.people[1])))
            .collect()
    };
    let (mut observations, mut gap) = (Vec::new(), 0.0);
    let mut order: Vec<usize> = (0..design.texts).collect();
    order.shuffle(&mut rng);
    for (text, place) in order.into_iter().enumerate() {
        let score = 1.2 * normal(&mut rng);
        let own = design.shift + design.gap_sd * normal(&mut rng);
        gap += mean_level(score + own, &draws, design) - mean_level(score, &draws, design);
        if place >= design.labelled {
            continue;
        }
        // Without replacement, by exponential clocks.
        let mut clocks: Vec<(f64, usize)> =
            request.iter().enumerate().map(|(a, w)| (-(1.0 - rng.random::<f64>()).ln() / w, a)).collect();
        clocks.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, annotator) in &clocks[..design.labels] {
            let eta = score + severity[*annotator] + if *annotator >= design.people[0] { own } else { 0.0 };
            let u: f64 = rng.random();
            let level = at_least(eta, design.levels).take_while(|p| u < *p).count() as u16;
            observations.push(Observation { text: text as u32, annotator: *annotator as u32, level });
        }
    }
    let sides = [(0..design.people[0] as u32).collect(), (design.people[0] as u32..all as u32).collect()];
    Project { observations, sides, gap: gap / design.texts as f64 }
}

/// Normal quantile by bisection on a series of the distribution function.
fn normal_quantile(p: f64) -> f64 {
    let cdf = |x: f64| {
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while term.abs() > 1e-12 {
            n += 2.0;
            term *= x * x / n;
            sum += term;
        }
        0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
    };
    let (mut low, mut high) = (-6.0, 6.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    low
}

fn target(levels: usize) -> Target {
    Target { kind: if levels == 2 { TargetKind::Binary } else { TargetKind::Ordinal }, levels }
}

fn compared(design: &Design, project: &Project) -> SidesCompared {
    let [a, b] = &project.sides;
    SidesCompared::new(&project.observations, design.texts, [a, b], target(design.levels), &Silent).unwrap()
}

/// Share of projects whose interval of the mean gap contains the truth, and its mean width.
fn coverage(design: &Design, many: u64) -> (f64, f64) {
    let found: Vec<(bool, f64)> = (0..many)
        .into_par_iter()
        .map(|seed| {
            let project = project(design, 4000 + seed);
            let gap = compared(design, &project).gap.unwrap();
            let (low, high) = gap.interval.unwrap();
            assert!(low <= gap.gap && gap.gap <= high);
            (low <= project.gap && project.gap <= high, high - low)
        })
        .collect();
    let n = many as f64;
    (found.iter().filter(|f| f.0).count() as f64 / n, found.iter().map(|f| f.1).sum::<f64>() / n)
}

fn designs() -> Vec<Design> {
    vec![
        PLAIN,
        Design { shift: 0.7, ..PLAIN },
        Design { people: [5, 5], ..PLAIN },
        Design { people: [5, 30], labels: 9, ..PLAIN },
        Design { people: [40, 40], labels: 3, texts: 200, labelled: 200, ..PLAIN },
        Design { skew: 30.0, ..PLAIN },
        Design { gap_sd: 1.0, labelled: 30, people: [30, 30], labels: 10, annotator_sd: 0.5, ..PLAIN },
        Design { gap_sd: 1.0, people: [30, 30], labels: 10, annotator_sd: 0.5, ..PLAIN },
        Design { levels: 2, ..PLAIN },
        Design { annotator_sd: 0.0, ..PLAIN },
    ]
}

#[test]
#[ignore = "takes half a minute: run by `cargo xtask test --only stress`"]
fn stress_interval_of_the_mean_gap_covers() {
    for design in designs() {
        let (share, width) = coverage(&design, 500);
        println!("{share:.3}, {width:.3} levels wide: {design:?}");
        assert!((0.92..=0.98).contains(&share), "{share}: {design:?}");
    }
}

/// In every project a difference has a p value of 5 % or less exactly where its 95 % interval excludes 0. The
/// designs include some without a difference and some with a clear one, so that both verdicts are frequent.
#[test]
fn verdicts_agree_with_intervals() {
    let mut verdicts = [0, 0];
    for seed in 0..240 {
        let design = Design {
            levels: [2, 3, 5, 7][seed as usize % 4],
            people: [5 + seed as usize % 7, 5 + seed as usize % 11],
            texts: 30 + seed as usize % 20,
            labelled: 30 + seed as usize % 20,
            labels: 3 + seed as usize % 4,
            shift: 0.25 * (seed % 6) as f64,
            annotator_sd: 0.2 + 0.2 * (seed % 5) as f64,
            ..PLAIN
        };
        let project = project(&design, 70_000 + seed);
        let found = compared(&design, &project);
        let gap = found.gap.map(|gap| (gap.interval, gap.p));
        let beyond = found.agreement.and_then(|all| all.beyond).map(|beyond| (beyond.interval, beyond.p));
        for (interval, p) in [gap, beyond].into_iter().flatten() {
            let (Some((low, high)), Some(p)) = (interval, p) else {
                assert_eq!((interval, p), (None, None));
                continue;
            };
            assert_eq!(low > 0.0 || high < 0.0, p < 0.05, "{low} to {high}, p {p}: {design:?}");
            verdicts[usize::from(p < 0.05)] += 1;
        }
    }
    assert!(verdicts[0] > 60 && verdicts[1] > 60, "{verdicts:?}");
}

fn fitted(design: &Design, project: &Project) -> LiveModel {
    let embeddings = Embeddings::none(design.texts);
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &project.observations,
        annotators: design.people[0] + design.people[1],
        target: target(design.levels),
        attributes: &[],
    };
    LiveModel::fit(&data, &FitOptions::default(), &Silent).unwrap()
}

/// Intervals of severities covered in 92 to 99 % of a hundred projects of each design; the difference is not
/// shrunk to 0.
#[test]
fn interval_of_the_severity_gap_covers() {
    for design in [designs()[1], designs()[4]] {
        let found: Vec<(bool, f64)> = (0..60)
            .into_par_iter()
            .map(|seed| {
                let project = project(&design, 4000 + seed);
                let model = fitted(&design, &project);
                let severity = |a: &u32| model.severity(*a).unwrap();
                let people =
                    project.sides.each_ref().map(|side| side.iter().map(severity).collect::<Vec<_>>());
                let prior = model.severity(u32::MAX).unwrap().sd;
                let gap = severity_gap([&people[0], &people[1]], prior).unwrap();
                let (low, high) = gap.interval;
                (low <= design.shift && design.shift <= high, gap.difference - design.shift)
            })
            .collect();
        let held = found.iter().filter(|f| f.0).count();
        let bias = found.iter().map(|f| f.1).sum::<f64>() / 60.0;
        assert!(held >= 53, "{held} of 60: {design:?}");
        assert!(bias.abs() < 0.15, "{bias}: {design:?}");
    }
}

/// One side is stricter by chance or throughout, and no text is different: at most 5 % of the projects may
/// show one.
#[test]
fn equal_sides_show_no_text() {
    for design in [PLAIN, Design { shift: 0.7, ..PLAIN }, Design { levels: 2, ..PLAIN }] {
        let shows = |seed: &u64| {
            let project = project(&design, 900 + seed);
            let model = fitted(&design, &project);
            let pair = GroupPair { first: vec![0], second: vec![1] };
            let gaps = GroupGaps::estimate(&model, project.sides.to_vec(), vec![pair]);
            let all = gaps.of_pair(&model, 0, 0..design.texts);
            gaps.possible_texts(0).any(|text| {
                let gap = gaps.on_text(&model, text as usize, &model.level_steps(text))[0];
                assert!((f64::from(all[text as usize]) - gap.gap).abs() < 1e-5);
                gap.significant
            })
        };
        let showing = (0..60u64).into_par_iter().filter(shows).count();
        assert!(showing <= 3, "{showing} of 60 projects: {design:?}");
    }
}

/// Which texts are significant follows from the p values that are shown: Benjamini and Yekutieli's rule,
/// written here by its definition, and an interval without 0.
#[test]
fn significant_texts_follow_from_their_p_values() {
    let design = Design { gap_sd: 1.5, people: [20, 20], labels: 20, texts: 60, labelled: 60, ..PLAIN };
    let mut most = 0;
    for seed in 0..2 {
        let project = project(&design, 7000 + seed);
        let model = fitted(&design, &project);
        let pair = GroupPair { first: vec![0], second: vec![1] };
        let gaps = GroupGaps::estimate(&model, project.sides.to_vec(), vec![pair]);
        let found: Vec<_> = (0..design.texts)
            .map(|text| gaps.on_text(&model, text, &model.level_steps(text as u32))[0])
            .collect();
        let mut p: Vec<f64> = found.iter().filter_map(|gap| gap.p).collect();
        p.sort_by(f64::total_cmp);
        let many = (1..=p.len()).map(|i| p.len() as f64 / i as f64).sum::<f64>();
        let within = |(at, p): &(usize, &f64)| **p <= 0.05 * (*at + 1) as f64 / many;
        let limit = p.iter().enumerate().rfind(within).map_or(0.0, |(_, p)| *p);
        for gap in &found {
            let (low, high) = gap.interval.unwrap();
            let expected = gap.p.is_some_and(|p| p <= limit) && (low > 0.0 || high < 0.0);
            assert_eq!(gap.significant, expected, "{gap:?}, limit {limit}");
        }
        most = most.max(found.iter().filter(|gap| gap.significant).count());
    }
    assert!(most > 1, "{most}");
}

#[test]
fn too_few_people_or_texts_have_no_figure() {
    let few = Design { people: [4, 12], ..PLAIN };
    let found = compared(&few, &project(&few, 1));
    assert!(found.gap.is_none() && found.agreement.is_none() && !found.is_enough(), "{found:?}");
    assert_eq!(found.people, [4, 12]);
    let short = Design { labelled: 9, ..PLAIN };
    assert_eq!(compared(&short, &project(&short, 1)).gap, None);
}
