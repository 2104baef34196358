//! Annotator effects on marking a word: readiness, and how strongly marks follow the word's score and its
//! neighbours' scores.
//!
//! Random effects of a logistic model (random intercept and slopes), whose covariates are known once words
//! have scores.

use dissensus_stats::math::sigmoid;
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// Rounds of the estimation of means and variances between annotators.
const ROUNDS: usize = 12;
/// Largest number of Newton steps, and the smallest fraction of a step that is tried.
const NEWTON_STEPS: usize = 100;
const SHORTEST_STEP: f64 = 1e-6;
/// Pseudo-count of people for the initial variances.
const PRIOR_PEOPLE: f64 = 0.5;
/// Initial variances, and the range of the search: of readiness, and of the two slopes.
const FIRST_VARIANCES: [f64; 3] = [1.0, 0.02, 0.02];
const MIN_VARIANCES: [f64; 3] = [1e-3, 1e-5, 1e-5];
const MAX_VARIANCES: [f64; 3] = [25.0, 1.0, 1.0];
/// Variance of an effect that a population does not have.
const NONE: f64 = 1e-9;
/// Bound of the difference between neighbours' scores and a word's own, in logits.
const FURTHEST: f64 = 6.0;

/// Effects of one annotator in the marks of one type: their mode, and their covariance (Laplace). In order:
/// readiness (logits); slope on the word's score, relative to the population's centre; slope on how much
/// higher the scores of the adjacent words are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredEffects")]
pub struct OwnEffects {
    /// Mode of the effects.
    pub mean: [f64; 3],
    /// Covariance of the effects.
    pub covariance: [[f64; 3]; 3],
}

/// Serialised forms: before slopes were introduced, only mean and variance of readiness were stored.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredEffects {
    Effects { mean: [f64; 3], covariance: [[f64; 3]; 3] },
    Readiness(f64, f64),
}

impl From<StoredEffects> for OwnEffects {
    fn from(written: StoredEffects) -> Self {
        match written {
            StoredEffects::Effects { mean, covariance } => Self { mean, covariance },
            StoredEffects::Readiness(mean, variance) => Self::of_readiness(mean, variance),
        }
    }
}

impl OwnEffects {
    /// Effects with this mean and variance of readiness, and no slopes.
    pub fn of_readiness(mean: f64, variance: f64) -> Self {
        Self { mean: [mean, 0.0, 0.0], covariance: [[variance, 0.0, 0.0], [0.0; 3], [0.0; 3]] }
    }

    /// Mean and variance of readiness, for a word whose own and neighbouring scores equal the population's
    /// centre.
    pub fn readiness(&self) -> (f64, f64) {
        (self.mean[0], self.covariance[0][0])
    }

    /// Whether all numbers are finite and no variance is negative.
    pub fn is_sound(&self) -> bool {
        let all = self.mean.iter().chain(self.covariance.iter().flatten());
        all.into_iter().all(|number| number.is_finite()) && (0..3).all(|at| self.covariance[at][at] >= 0.0)
    }

    /// Mean and variance of their contribution to the score of a word.
    pub(super) fn at(&self, covariates: &[f64; 3]) -> (f64, f64) {
        let dot = |row: &[f64; 3]| row.iter().zip(covariates).map(|(a, b)| a * b).sum::<f64>();
        let variance: f64 = self.covariance.iter().zip(covariates).map(|(row, z)| z * dot(row)).sum();
        (dot(&self.mean), variance.max(0.0))
    }
}

/// Distribution of annotators' effects in the marks of one type.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Population {
    /// Means of their effects, in the order of [`OwnEffects`].
    pub mean: [f64; 3],
    /// Variances of their effects.
    pub variances: [f64; 3],
    /// The score at which slopes are 0, in logits.
    pub centre: f64,
}

impl Population {
    /// Population of annotators who differ only in readiness, or with a variance of 0 not at all.
    pub fn of_readiness(variance: f64) -> Self {
        Self { mean: [0.0; 3], variances: [variance, 0.0, 0.0], centre: 0.0 }
    }

    /// Whether annotators differ at all.
    pub(super) fn differs(&self) -> bool {
        self.variances[0] > 0.0
    }

    pub(super) fn is_sound(&self) -> bool {
        let all = self.mean.iter().chain(&self.variances).chain([&self.centre]);
        all.into_iter().all(|number| number.is_finite()) && self.variances.iter().all(|v| *v >= 0.0)
    }

    /// Effects of an unknown annotator.
    pub(super) fn unknown(&self) -> OwnEffects {
        let mut covariance = [[0.0; 3]; 3];
        (0..3).for_each(|at| covariance[at][at] = self.variances[at]);
        OwnEffects { mean: self.mean, covariance }
    }

    /// Covariates of the effects, for each word of a text whose words have these scores, in order.
    pub(super) fn covariates(&self, scores: &[f64]) -> Vec<[f64; 3]> {
        let of = |(at, score): (usize, &f64)| [1.0, score - self.centre, neighbour_difference(scores, at)];
        scores.iter().enumerate().map(of).collect()
    }
}

/// Mean difference between the scores of the adjacent words and this word's.
fn neighbour_difference(scores: &[f64], at: usize) -> f64 {
    let before = at.checked_sub(1).map(|before| scores[before]);
    let (sum, count) = before
        .into_iter()
        .chain(scores.get(at + 1).copied())
        .fold((0.0, 0.0), |(sum, count), score| (sum + score, count + 1.0));
    if count > 0.0 { (sum / count - scores[at]).clamp(-FURTHEST, FURTHEST) } else { 0.0 }
}

/// One decision about a word, compact because there are millions.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordDecision {
    score: f32,
    neighbours: f32,
    weight: f32,
    marked: bool,
}

/// The decisions of one answer: scores and weights of the text's words, and the marks.
pub(super) fn decided<'a>(
    scores: &'a [f64],
    weights: impl Iterator<Item = f32> + 'a,
    marked: impl Iterator<Item = bool> + 'a,
) -> impl Iterator<Item = WordDecision> + 'a {
    let word = |(at, (weight, marked)): (usize, (f32, bool))| WordDecision {
        score: scores[at] as f32,
        neighbours: neighbour_difference(scores, at) as f32,
        weight,
        marked,
    };
    weights.zip(marked).enumerate().map(word)
}

/// Objective minimised at the mode of one annotator's effects: the negative logarithm of their posterior
/// density up to a constant.
struct Posterior<'a> {
    decisions: &'a [WordDecision],
    centre: f64,
    mean: Vector3<f64>,
    precision: Matrix3<f64>,
}

impl Posterior<'_> {
    fn score(&self, d: &WordDecision, x: &Vector3<f64>) -> f64 {
        let score = f64::from(d.score);
        score + x[0] + x[1] * (score - self.centre) + x[2] * f64::from(d.neighbours)
    }

    fn value(&self, x: &Vector3<f64>) -> f64 {
        let off = x - self.mean;
        let loss = |d: &WordDecision| {
            let score = self.score(d, x);
            // ln(1 + e^s) is max(s, 0) + ln(1 + e^-|s|).
            let all = score.max(0.0) + (-score.abs()).exp().ln_1p();
            f64::from(d.weight) * (all - if d.marked { score } else { 0.0 })
        };
        self.decisions.iter().map(loss).sum::<f64>() + 0.5 * off.dot(&(self.precision * off))
    }

    /// The negative gradient, and the matrix of second derivatives.
    fn slope(&self, x: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        let mut gradient = self.precision * (self.mean - x);
        let mut sums = [0.0; 6];
        for d in self.decisions {
            let (own, neighbours) = (f64::from(d.score) - self.centre, f64::from(d.neighbours));
            let (p, weight) = (sigmoid(self.score(d, x)), f64::from(d.weight));
            let residual = weight * (f64::from(u8::from(d.marked)) - p);
            gradient[0] += residual;
            gradient[1] += residual * own;
            gradient[2] += residual * neighbours;
            let h = weight * p * (1.0 - p);
            let (of_own, of_neighbours) = (h * own, h * neighbours);
            for (sum, add) in sums.iter_mut().zip([
                h,
                of_own,
                of_neighbours,
                of_own * own,
                of_own * neighbours,
                of_neighbours * neighbours,
            ]) {
                *sum += add;
            }
        }
        let [a, b, c, d, e, f] = sums;
        (gradient, self.precision + Matrix3::new(a, b, c, b, d, e, c, e, f))
    }
}

/// Finds the mode of one annotator's effects given that annotator's decisions, starting from `start`, and
/// their covariance. Newton's method with step halving until the objective decreases: the posterior has one
/// mode, but a full step across a wide range of scores overshoots it.
pub(super) fn mode(decisions: &[WordDecision], of: &Population, start: &OwnEffects) -> OwnEffects {
    let posterior = Posterior {
        decisions,
        centre: of.centre,
        mean: Vector3::from(of.mean),
        precision: Matrix3::from_diagonal(&Vector3::from(of.variances.map(|v| 1.0 / v.max(NONE)))),
    };
    let mut x = Vector3::from(start.mean);
    let mut value = posterior.value(&x);
    let (mut gradient, mut curvature) = posterior.slope(&x);
    for _ in 0..NEWTON_STEPS {
        let Some(step) = curvature.cholesky().map(|factor| factor.solve(&gradient)) else { break };
        if step.norm() < 1e-8 {
            break;
        }
        let mut length = 1.0;
        let next = loop {
            let next = x + step * length;
            let there = posterior.value(&next);
            if there < value {
                break Some((next, there));
            }
            length *= 0.5;
            if length < SHORTEST_STEP {
                break None;
            }
        };
        // No step decreases the objective further, up to rounding.
        let Some((next, there)) = next else { break };
        (x, value) = (next, there);
        (gradient, curvature) = posterior.slope(&x);
    }
    let covariance = curvature.cholesky().map_or_else(Matrix3::zeros, |factor| factor.inverse());
    OwnEffects { mean: x.into(), covariance: covariance.transpose().into() }
}

/// Effects of all annotators, and their means and variances by expectation maximisation with modes and
/// curvatures. Annotators without decisions do not contribute to these. Variances are estimated as if
/// [`PRIOR_PEOPLE`] additional people with the initial variances had been observed, because few people carry
/// little information about differences between people; a single person carries none about that, nor about
/// what people have in common in addition to the scores.
pub(super) fn fit(by_annotator: &[Vec<WordDecision>], centre: f64) -> (Population, Vec<OwnEffects>) {
    let mut population = Population { mean: [0.0; 3], variances: FIRST_VARIANCES, centre };
    let mut all = vec![population.unknown(); by_annotator.len()];
    let answered: Vec<usize> = (0..by_annotator.len()).filter(|who| !by_annotator[*who].is_empty()).collect();
    let count = answered.len() as f64;
    let rounds = if answered.len() > 1 { ROUNDS } else { 0 };
    for _ in 0..rounds {
        for who in &answered {
            all[*who] = mode(&by_annotator[*who], &population, &all[*who]);
        }
        for at in 0..3 {
            let mean = answered.iter().map(|who| all[*who].mean[at]).sum::<f64>() / count;
            let square = |who: &usize| (all[*who].mean[at] - mean).powi(2) + all[*who].covariance[at][at];
            let squares = answered.iter().map(square).sum::<f64>() + PRIOR_PEOPLE * FIRST_VARIANCES[at];
            population.mean[at] = mean;
            population.variances[at] =
                (squares / (count + PRIOR_PEOPLE)).clamp(MIN_VARIANCES[at], MAX_VARIANCES[at]);
        }
    }
    // Posteriors under the reported means and variances.
    for (own, decisions) in all.iter_mut().zip(by_annotator) {
        *own = match decisions.is_empty() {
            true => population.unknown(),
            false => mode(decisions, &population, own),
        };
    }
    (population, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_stats::math::random::generator;
    use rand::RngExt as _;
    use rand_distr::{Distribution as _, StandardNormal};

    /// 60 people with 40 texts of 30 words each, with known effects.
    #[test]
    fn simulated_effects_are_recovered() {
        let mut rng = generator(3, 9);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let (centre, means, deviations) = (-2.0, [0.5, 0.1, 0.2], [1.0, 0.25, 0.2]);
        let known = Population { mean: means, variances: deviations.map(|d| d * d), centre };
        let mut truths = Vec::new();
        let mut texts = Vec::new();
        for _ in 0..60 {
            truths.push([0, 1, 2].map(|at| means[at] + deviations[at] * normal()));
            let own: Vec<Vec<f64>> =
                (0..40).map(|_| (0..30).map(|_| -2.0 + 1.5 * normal()).collect()).collect();
            texts.push(own);
        }
        let mut rng = generator(3, 10);
        let by: Vec<Vec<WordDecision>> = truths
            .iter()
            .zip(&texts)
            .map(|(truth, texts)| {
                let of_text = |scores: &Vec<f64>| -> Vec<WordDecision> {
                    let add = OwnEffects { mean: *truth, covariance: [[0.0; 3]; 3] };
                    let marked: Vec<bool> = known
                        .covariates(scores)
                        .iter()
                        .zip(scores)
                        .map(|(z, score)| rng.random_bool(sigmoid(score + add.at(z).0)))
                        .collect();
                    decided(scores, std::iter::repeat(1.0), marked.into_iter()).collect()
                };
                texts.iter().flat_map(of_text).collect()
            })
            .collect();
        let (found, own) = fit(&by, centre);
        for at in 0..3 {
            assert!((found.mean[at] - means[at]).abs() < 0.6 * deviations[at], "{at}: {found:?}");
            let ratio = found.variances[at].sqrt() / deviations[at];
            assert!((0.7..1.4).contains(&ratio), "{at}: {found:?}");
            let (theirs, ours): (Vec<f64>, Vec<f64>) =
                truths.iter().zip(&own).map(|(truth, own)| (truth[at], own.mean[at])).unzip();
            assert!(dissensus_stats::metrics::pearson(&theirs, &ours).unwrap() > 0.75, "effect {at}");
            // Two posterior standard deviations contain most of the true effects.
            let held = truths.iter().zip(&own).filter(|(truth, own)| {
                (truth[at] - own.mean[at]).abs() < 2.0 * own.covariance[at][at].sqrt()
            });
            assert!((52..=60).contains(&held.count()), "effect {at}");
        }
    }

    #[test]
    fn mode_has_a_zero_gradient() {
        let scores = [-2.0, 0.5, 1.0, -3.0, -1.0];
        let marked = [false, true, true, false, true];
        let decisions: Vec<WordDecision> =
            decided(&scores, std::iter::repeat(0.5), marked.into_iter()).collect();
        let alone = mode(&decisions, &Population::of_readiness(2.0), &OwnEffects::of_readiness(0.0, 2.0));
        let plain = super::super::selection::effect_mode(
            scores.iter().zip(marked).map(|(score, marked)| (*score, marked, 0.5)),
            2.0,
        );
        assert!((alone.mean[0] - plain.0).abs() < 1e-6 && (alone.covariance[0][0] - plain.1).abs() < 1e-6);
        assert!(alone.mean[1].abs() < 1e-6 && alone.mean[2].abs() < 1e-6);
    }

    /// A person whose marks hardly follow the scores, which have a wide range: a full step of Newton's method
    /// overshoots the mode and returns.
    #[test]
    fn mode_is_found_for_noisy_marks() {
        for (words, variances) in [(60, [1.0, 0.2, 0.1]), (300, FIRST_VARIANCES), (1200, FIRST_VARIANCES)] {
            let scores: Vec<f64> = (0..words).map(|i| -8.0 + 10.0 * f64::from((7 * i) % 60) / 60.0).collect();
            let marked = (0..words).map(|i| i % 3 == 0);
            let decisions: Vec<WordDecision> = decided(&scores, std::iter::repeat(1.0), marked).collect();
            let of = Population { mean: [0.0; 3], variances, centre: -0.44 };
            let posterior = Posterior {
                decisions: &decisions,
                centre: of.centre,
                mean: Vector3::zeros(),
                precision: Matrix3::from_diagonal(&Vector3::from(variances.map(|v| 1.0 / v))),
            };
            let from = |mean| mode(&decisions, &of, &OwnEffects { mean, covariance: [[0.0; 3]; 3] });
            let (near, far) = (from([0.0; 3]), from([3.0, -2.0, 2.0]));
            for found in [&near, &far] {
                let (gradient, curvature) = posterior.slope(&Vector3::from(found.mean));
                assert!(gradient.norm() < 1e-5 * f64::from(words), "{words}: {gradient}");
                let covariance = Matrix3::from(found.covariance);
                assert!((curvature * covariance - Matrix3::identity()).norm() < 1e-9, "{covariance}");
            }
            for at in 0..3 {
                assert!((near.mean[at] - far.mean[at]).abs() < 1e-5, "{near:?} {far:?}");
            }
            assert!(near.mean[1] < -0.3, "marks follow scores less: {near:?}");
        }
    }

    /// Only Ada has labelled; Ben, who was unknown, marks far more.
    #[test]
    fn few_people_give_weak_variance_estimates() {
        let mut rng = generator(5, 11);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let texts: Vec<f64> = (0..1200).map(|_| -2.0 + 1.5 * normal()).collect();
        let mut rng = generator(5, 12);
        let mut person = |readiness: f64| -> Vec<WordDecision> {
            let marked: Vec<bool> =
                texts.iter().map(|score| rng.random_bool(sigmoid(score + readiness))).collect();
            decided(&texts, std::iter::repeat(1.0), marked.into_iter()).collect()
        };
        let ben = person(2.0);
        let (population, own) = fit(&[person(0.0), Vec::new()], -1.0);
        assert_eq!((population.mean, population.variances), ([0.0; 3], FIRST_VARIANCES));
        let found = mode(&ben, &population, &own[1]);
        assert!((1.5..2.3).contains(&found.mean[0]), "{found:?}");
        let (population, _) = fit(&[person(-1.0), person(1.0)], -1.0);
        assert!((0.5..1.5).contains(&population.variances[0]), "{population:?}");
    }

    #[test]
    fn edge_words_have_partial_neighbours() {
        let of = Population { centre: -1.0, ..Population::of_readiness(1.0) };
        assert_eq!(of.covariates(&[0.5]), [[1.0, 1.5, 0.0]]);
        assert_eq!(of.covariates(&[0.0, 1.0, -9.0]), [[1.0, 1.0, 1.0], [1.0, 2.0, -5.5], [1.0, -8.0, 6.0]]);
        assert!(of.covariates(&[]).is_empty());
    }

    #[test]
    fn old_readiness_format_is_read() {
        let old: Vec<OwnEffects> = serde_json::from_str("[[0.5, 0.25]]").unwrap();
        assert_eq!(old[0].readiness(), (0.5, 0.25));
        let new = OwnEffects {
            mean: [0.1, 0.2, 0.3],
            covariance: [[1.0, 0.1, 0.0], [0.1, 2.0, 0.0], [0.0, 0.0, 3.0]],
        };
        let back: OwnEffects = serde_json::from_str(&serde_json::to_string(&new).unwrap()).unwrap();
        assert_eq!(back, new);
        assert!(new.is_sound() && !OwnEffects::of_readiness(f64::NAN, 1.0).is_sound());
        assert!(!OwnEffects::of_readiness(0.0, -1.0).is_sound());
        assert_eq!(new.at(&[1.0, 1.0, 0.0]), (0.1 + 0.2, 3.2));
    }
}
