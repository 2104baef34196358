//! Which group answers higher on a text, by labels: results where groups are unrelated to the answers, and
//! where they divide people.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::TargetKind;
use dissensus_models::live::LiveModel;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{Embeddings, FitOptions, Observation, Target, TrainingData};
use dissensus_stats::disagreement::{GroupGaps, GroupPair};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

const LEVELS: usize = 5;
/// Significance level used in addition to the comparison of strict and lenient annotators.
const RATE: f64 = GroupGaps::NEXT_TO_SEVERITY;

#[derive(Clone, Copy, Debug)]
struct Design {
    texts: usize,
    people: usize,
    /// Labels per text.
    labels: usize,
    severity_sd: f64,
    /// On every third text the people are this many logits apart: by a camp of their own, or by the first of
    /// the attributes.
    apart: f64,
    by_attribute: bool,
}

const ALIKE: Design =
    Design { texts: 90, people: 30, labels: 10, severity_sd: 1.0, apart: 0.0, by_attribute: false };

/// Texts of camps that are reported with the right side, texts of camps, and other texts that are reported,
/// in one project. The attributes have two and three values.
fn named(design: &Design, seed: u64) -> (usize, usize, usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(7000 + seed);
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let severities: Vec<f64> = (0..design.people).map(|_| design.severity_sd * normal(&mut rng)).collect();
    let mut halves = || -> Vec<bool> {
        let mut half: Vec<bool> = (0..design.people).map(|at| at % 2 == 0).collect();
        half.shuffle(&mut rng);
        half
    };
    let (second, hidden) = (halves(), halves());
    let camp = if design.by_attribute { &second } else { &hidden };
    let mut who: Vec<usize> = (0..design.people).collect();
    let mut observations = Vec::new();
    for text in 0..design.texts {
        let score = normal(&mut rng);
        who.shuffle(&mut rng);
        for &annotator in &who[..design.labels] {
            let side = if camp[annotator] { 0.5 } else { -0.5 };
            let apart = if text % 3 == 0 { side * design.apart } else { 0.0 };
            let u: f64 = rng.random_range(1e-9..1.0 - 1e-9);
            let latent = score + apart + severities[annotator] + (u / (1.0 - u)).ln();
            let level = (1..LEVELS).filter(|j| latent > *j as f64 - 2.5).count() as u16;
            observations.push(Observation { text: text as u32, annotator: annotator as u32, level });
        }
    }
    let embeddings = Embeddings::none(design.texts);
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &observations,
        annotators: design.people,
        target: Target { kind: TargetKind::Ordinal, levels: LEVELS },
        attributes: &[],
    };
    let model = LiveModel::fit(&data, &FitOptions { seed, ..FitOptions::default() }, &Silent).unwrap();
    let of = |chosen: &dyn Fn(usize) -> bool| -> Vec<u32> {
        (0..design.people).filter(|at| chosen(*at)).map(|at| at as u32).collect()
    };
    let third = |value: usize| of(&|at| at % 3 == value);
    let groups = vec![of(&|at| !second[at]), of(&|at| second[at]), third(0), third(1), third(2)];
    let pair = |first: &[u32], second: u32| GroupPair { first: first.to_vec(), second: vec![second] };
    let pairs = vec![pair(&[0], 1), pair(&[3, 4], 2), pair(&[2, 4], 3), pair(&[2, 3], 4)];
    let gaps = GroupGaps::by_labels(&model, groups, pairs, RATE);
    let (mut right, mut camps, mut others) = (0, 0, 0);
    for text in 0..design.texts {
        let found = gaps.on_text(&model, text, &model.level_steps(text as u32));
        let true_camp = design.by_attribute && design.apart > 0.0 && text % 3 == 0;
        camps += usize::from(true_camp);
        right += usize::from(true_camp && found[0].significant && found[0].gap > 0.0);
        let others_named =
            found.iter().enumerate().any(|(pair, gap)| gap.significant && !(true_camp && pair == 0));
        others += usize::from(others_named);
        for gap in found.iter().filter(|gap| gap.significant) {
            let (low, high) = gap.interval.unwrap();
            assert!(low > 0.0 || high < 0.0, "{gap:?}");
        }
    }
    (right, camps, others)
}

fn projects(design: &Design, many: u64) -> Vec<(usize, usize, usize)> {
    (0..many).into_par_iter().map(|seed| named(design, seed)).collect()
}

/// Where attributes are unrelated to the answers, at most 2.5 % of the projects should report a group on any
/// text, and far fewer of all texts: people who are alike, who differ in severity, who all label every text,
/// and who form camps that no attribute describes.
#[test]
fn unrelated_groups_are_not_named() {
    let designs = [
        Design { severity_sd: 0.0, ..ALIKE },
        ALIKE,
        Design { severity_sd: 2.0, labels: 30, ..ALIKE },
        Design { apart: 4.0, ..ALIKE },
        Design { apart: 4.0, labels: 30, ..ALIKE },
    ];
    const PROJECTS: u64 = 40;
    let mut all = 0;
    for design in designs {
        let found = projects(&design, PROJECTS);
        let projects = found.iter().filter(|(_, _, others)| *others > 0).count();
        let texts: usize = found.iter().map(|(_, _, others)| others).sum();
        let share = texts as f64 / (design.texts as f64 * PROJECTS as f64);
        eprintln!("{projects} of {PROJECTS} projects, {share:.4} of the texts: {design:?}");
        assert!(share <= RATE, "{share}: {design:?}");
        // 2.5 % of 40 are 1; more than 4 of 40 have a chance of .003.
        assert!(projects <= 4, "{projects} of {PROJECTS}: {design:?}");
        all += projects;
    }
    assert!(
        all <= 16,
        "{all} of {}: 10 are expected at most, more than 16 with a chance of .03",
        5 * PROJECTS
    );
}

#[test]
fn dividing_group_is_named() {
    let design = Design { apart: 6.0, by_attribute: true, ..ALIKE };
    let found = projects(&design, 12);
    let sum = |of: fn(&(usize, usize, usize)) -> usize| found.iter().map(of).sum::<usize>();
    let (right, camps, others) = (sum(|f| f.0), sum(|f| f.1), sum(|f| f.2));
    eprintln!("{right} of {camps} texts, {others} others");
    assert!(right * 4 > camps, "{right} of {camps}");
    // Of the reported texts a share of 2.5 % may be false.
    assert!(others as f64 <= 2.0 * RATE * (right + others) as f64, "{others} other than {right}");
}
