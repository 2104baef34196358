//! Simulated labels of two groups of people who react differently to the topic of texts, for tests and
//! benchmarks.

use super::convergence::FINAL;
use super::crossed::CrossedEffects;
use crate::link::Link;
use dissensus_domain::TargetKind;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{Attribute, GroupSlopes, Observation, Target};
use dissensus_stats::math::random::generator;
use dissensus_stats::math::{dot, sigmoid};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::ops::Range;

/// The shared score and three more.
pub(crate) const FEATURES: usize = 4;
/// Standard deviation of severities.
const SEVERITY: f64 = 0.7;

/// Parameters of the simulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Design {
    pub(crate) texts: usize,
    /// Labels per text.
    pub(crate) labels: usize,
    /// Women have even numbers; the last annotator has no labels, and the one before has no known gender.
    pub(crate) annotators: usize,
    pub(crate) levels: usize,
    /// Difference between the slopes of women and men on the second feature.
    pub(crate) difference: f64,
    /// Standard deviation of individual slopes.
    pub(crate) own: f64,
    /// Whether women and men label a text in turn; otherwise annotators are picked regardless of gender.
    pub(crate) one_of_each: bool,
}

pub(crate) const USUAL: Design = Design {
    texts: 400,
    labels: 5,
    annotators: 62,
    levels: 5,
    difference: 0.5,
    own: 0.0,
    one_of_each: false,
};

pub(crate) struct Simulated {
    pub(crate) crossed: CrossedEffects,
    pub(crate) z: Vec<f64>,
    /// Handedness, which is uninformative, and gender.
    pub(crate) attributes: Vec<Attribute>,
    /// Scores of texts.
    pub(crate) scores: Vec<f64>,
    pub(crate) fold: Vec<u8>,
}

impl Design {
    /// Slope on the second feature of the annotator with this number.
    fn slope(&self, annotator: usize) -> f64 {
        if annotator.is_multiple_of(2) { self.difference / 2.0 } else { -self.difference / 2.0 }
    }

    /// Probability of level `j` or above on a text of this score.
    fn above(&self, score: f64, j: usize) -> f64 {
        sigmoid(score - 1.2 * (j as f64 - self.levels as f64 / 2.0))
    }

    fn draw(&self, score: f64, rng: &mut impl rand::Rng) -> u16 {
        let x = rng.random::<f64>();
        (1..self.levels).filter(|j| x < self.above(score, *j)).count() as u16
    }

    /// How much higher women answer on a text than men, in levels, averaged over severities.
    pub(crate) fn gap(&self, score: f64, z: &[f64]) -> f64 {
        let level = |woman: usize| -> f64 {
            let severities = (0..40).map(|i| {
                let p = (f64::from(i) + 0.5) / 40.0;
                SEVERITY * dissensus_stats::math::distributions::normal_quantile(p)
            });
            let of = |severity| {
                (1..self.levels)
                    .map(|j| self.above(score + severity + self.slope(woman) * z[1], j))
                    .sum::<f64>()
            };
            severities.map(of).sum::<f64>() / 40.0
        };
        level(0) - level(1)
    }

    pub(crate) fn simulate(&self, seed: u64) -> Simulated {
        let mut rng = generator(seed, 31);
        let normal = |sd: f64, rng: &mut _| -> f64 {
            let z: f64 = StandardNormal.sample(rng);
            sd * z
        };
        let z: Vec<f64> = (0..self.texts * FEATURES).map(|_| normal(1.0, &mut rng)).collect();
        let scores: Vec<f64> =
            z.iter().step_by(FEATURES).map(|score| score + normal(0.7, &mut rng)).collect();
        let people: Vec<(f64, Vec<f64>)> = (0..self.annotators)
            .map(|a| {
                let mut slopes: Vec<f64> = (0..FEATURES).map(|_| normal(self.own, &mut rng)).collect();
                slopes[1] += self.slope(a);
                (normal(SEVERITY, &mut rng), slopes)
            })
            .collect();
        let mut observations = Vec::new();
        for text in 0..self.texts {
            let mut left: Vec<usize> = (0..self.annotators - 1).collect();
            for turn in 0..self.labels {
                let mut at = rng.random_range(0..left.len());
                while self.one_of_each && left[at] % 2 != turn % 2 {
                    at = rng.random_range(0..left.len());
                }
                let a = left.swap_remove(at);
                let (severity, slopes) = &people[a];
                let score = scores[text] + severity + dot(slopes, &z[text * FEATURES..(text + 1) * FEATURES]);
                let level = self.draw(score, &mut rng);
                observations.push(Observation { text: text as u32, annotator: a as u32, level });
            }
        }
        observations.sort_by_key(|o| (o.text, o.annotator));
        let kind = if self.levels == 2 { TargetKind::Binary } else { TargetKind::Ordinal };
        let link = Link::new(Target { kind, levels: self.levels });
        let heads = z.iter().step_by(FEATURES).copied().collect();
        let mut crossed = CrossedEffects::new(link, heads, self.annotators, &observations);
        crossed.expectation_maximisation(FINAL);
        let attribute = |name: &str, of: &dyn Fn(usize) -> Option<u16>| Attribute {
            name: name.into(),
            values: vec!["one".into(), "other".into()],
            of: (0..self.annotators).map(of).collect(),
        };
        let attributes = vec![
            attribute("hand", &|a| Some((a / 2 % 2) as u16)),
            attribute("gender", &|a| (a != self.annotators - 2).then_some((a % 2) as u16)),
        ];
        Simulated { crossed, z, attributes, scores, fold: (0..self.texts).map(|t| (t % 5) as u8).collect() }
    }

    /// Labels of new people on texts: (text, number that encodes the gender, level).
    pub(crate) fn new_people(&self, sim: &Simulated, seed: u64) -> Vec<(usize, usize, u16)> {
        let mut rng = generator(seed, 32);
        let mut labels = Vec::new();
        for person in 0..200 {
            let severity: f64 = StandardNormal.sample(&mut rng);
            for _ in 0..20 {
                let text = rng.random_range(0..self.texts);
                let z = &sim.z[text * FEATURES..(text + 1) * FEATURES];
                let mut score = sim.scores[text] + SEVERITY * severity + self.slope(person) * z[1];
                for z in z {
                    let own: f64 = StandardNormal.sample(&mut rng);
                    score += self.own * own * z;
                }
                labels.push((text, person % 2, self.draw(score, &mut rng)));
            }
        }
        labels
    }
}

/// Gives own slopes and then slopes of groups, each where labels support them: the steps of a fit.
pub(crate) fn select(sim: &mut Simulated) -> Option<GroupSlopes> {
    sim.crossed.select_slopes(&sim.z, FEATURES, &sim.fold, 5);
    sim.crossed.select_group_slopes(&sim.attributes, (&sim.z, FEATURES), (&sim.fold, 5), 1, &Silent)
}

/// Expected slopes of people with these values of the two attributes.
pub(crate) fn expected(sim: &Simulated, values: [Option<u16>; 2]) -> Vec<f64> {
    sim.crossed.prior_of(&values).0.split_off(sim.crossed.link.random_effects())
}

/// Number of these projects that get slopes of the right group only, and number that get any.
pub(crate) fn selected_groups(design: Design, seeds: Range<u64>) -> (usize, usize) {
    let found: Vec<GroupSlopes> =
        seeds.into_par_iter().filter_map(|seed| select(&mut design.simulate(seed))).collect();
    let right = found.iter().filter(|found| found.used == ["gender"]).count();
    (right, found.iter().filter(|found| !found.used.is_empty()).count())
}

/// Number of 90 % intervals of the difference between groups that contain it, feature by feature, and number
/// of intervals, over the projects whose slopes `fit` gives groups.
pub(crate) fn coverage(
    design: Design,
    seeds: Range<u64>,
    fit: impl Fn(&mut Simulated) -> bool + Sync,
) -> (usize, usize) {
    let held = |seed: u64| {
        let mut sim = design.simulate(seed);
        if !fit(&mut sim) {
            return None;
        }
        let (women, men) = (expected(&sim, [None, Some(0)]), expected(&sim, [None, Some(1)]));
        let groups = sim.crossed.groups.as_ref()?;
        let all = groups.means.len();
        let inside = |k: usize| {
            let row = |column: usize| &groups.root[(column * FEATURES + k) * all..][..all];
            let apart: f64 = row(0).iter().zip(row(1)).map(|(a, b)| (a - b).powi(2)).sum();
            let truth = if k == 1 { design.difference } else { 0.0 };
            (women[k] - men[k] - truth).abs() <= 1.645 * apart.sqrt()
        };
        Some((0..FEATURES).filter(|k| inside(*k)).count())
    };
    let held: Vec<usize> = seeds.into_par_iter().filter_map(held).collect();
    (held.iter().sum(), held.len() * FEATURES)
}
