//! Scales of texts: how far labels of a text are apart, beyond what its score explains.
//!
//! The location-scale model for ordered levels (McCullagh 1980, section 6) with random scales (Hedeker,
//! Mermelstein and Demirtas 2008): `P(y >= j) = sigma((a score + o_j) / s_t)` with `log s_t ~ N(0, sd^2)`. A
//! text's scale and its score are integrated over together, on a grid of scales. Predictions use the
//! posterior median of the scale, `exp E log s_t`, so that a text without labels has a scale of 1.

use super::scalar_posterior::{ScalarPosterior, ScoredLabel};
use dissensus_stats::math::PI_8;
use serde::{Deserialize, Serialize};

/// Number of grid points of the logarithm of the scale on either side of 0.
const SIDE: usize = 11;
/// Distance of the grid points.
const STEP: f64 = 0.2;
/// A scale is skipped if its log-likelihood is lower than the largest by more than this.
const NEGLIGIBLE: f64 = 16.0;
/// Standard deviation of scales that are predicted from embeddings and not updated by labels.
const PREDICTED_SD: f64 = 1e-3;

/// Prior of a text's scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalePrior {
    /// Mean of the logarithm of the scale.
    pub(crate) mean: f64,
    /// Standard deviation of the logarithm of the scale.
    pub(crate) sd: f64,
}

/// Posterior of a text's scale given its labels.
#[derive(Clone, Debug)]
pub(crate) struct ScalePosterior {
    /// Mean of the logarithm of the scale.
    pub(crate) log: f64,
    /// Variance of the logarithm of the scale.
    pub(crate) variance: f64,
    /// Log probability of the labels at each scale of the grid around the prior's mean, with the score
    /// integrated out; empty without labels.
    pub(crate) log_evidence: Vec<f64>,
}

impl ScalePosterior {
    pub(crate) fn without_labels(prior: ScalePrior) -> Self {
        Self { log: prior.mean, variance: prior.sd * prior.sd, log_evidence: Vec::new() }
    }

    pub(crate) fn noise(&self) -> f64 {
        noise(self.log)
    }

    /// The noise with the logarithm of the scale `x` posterior standard deviations from its mean.
    pub(crate) fn noise_at(&self, x: f64) -> f64 {
        noise(self.log + x * self.variance.sqrt())
    }
}

/// Score and scale of one text.
pub(crate) struct ScaledPosterior {
    /// Mean of the score.
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    /// Labels x (mean, variance, noise of the scale), each without that label.
    pub(crate) cavity: Vec<f64>,
    /// Log probability of the labels, with score and scale integrated out.
    pub(crate) log_evidence: f64,
    pub(crate) scale: ScalePosterior,
}

/// Scales of all texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TextScales {
    /// Standard deviation of the logarithms of scales around the prediction from embeddings; close to 0 where
    /// labels do not update them.
    pub(crate) sd: f64,
    /// Whether labels update the scales in addition to embeddings.
    pub(crate) own: bool,
    /// Its 95 % likelihood interval, with the other variances fixed.
    pub(crate) interval: (f64, f64),
    /// Prior means of the logarithms.
    mean: Vec<f64>,
    /// Posterior means of the logarithms.
    log: Vec<f64>,
    /// Their posterior variances.
    variance: Vec<f64>,
}

impl TextScales {
    /// Scales with a prior median of 1, whose logarithms have this standard deviation.
    pub(crate) fn new(texts: usize, sd: f64) -> Self {
        Self::around(vec![0.0; texts], sd)
    }

    /// Scales whose logarithms have these prior means, and this standard deviation.
    pub(super) fn around(mean: Vec<f64>, sd: f64) -> Self {
        let (log, variance) = (mean.clone(), vec![sd * sd; mean.len()]);
        Self { sd, own: true, interval: (sd, sd), mean, log, variance }
    }

    /// Scales with these logarithms, regardless of labels.
    pub(super) fn from_logs(mean: Vec<f64>) -> Self {
        Self { own: false, ..Self::around(mean, PREDICTED_SD) }
    }

    /// Scales without any text.
    pub(crate) fn for_new_texts(&self) -> Self {
        Self { mean: Vec::new(), log: Vec::new(), variance: Vec::new(), ..*self }
    }

    pub(crate) fn prior_of(&self, text: usize) -> ScalePrior {
        ScalePrior { mean: self.mean[text], sd: self.sd }
    }

    /// Prior means of the logarithms.
    pub(super) fn means(&self) -> &[f64] {
        &self.mean
    }

    pub(crate) fn set(&mut self, text: usize, scale: &ScalePosterior) {
        (self.log[text], self.variance[text]) = (scale.log, scale.variance);
    }

    /// Adds a text without labels whose scale has this logarithm.
    pub(crate) fn push(&mut self, log: f64) {
        self.mean.push(log);
        self.log.push(log);
        self.variance.push(self.sd * self.sd);
    }

    /// Posterior mean and variance of the logarithm of a text's scale.
    pub(crate) fn of(&self, text: usize) -> (f64, f64) {
        (self.log[text], self.variance[text])
    }

    /// Noise that the text's scale adds to its labels.
    pub(crate) fn noise(&self, text: usize) -> f64 {
        noise(self.log[text])
    }

    /// The noise with the logarithm of the scale `x` posterior standard deviations from its mean.
    pub(crate) fn noise_at(&self, text: usize, x: f64) -> f64 {
        noise(self.log[text] + x * self.variance[text].sqrt())
    }

    /// Whether the sizes of a deserialised state are consistent.
    pub(crate) fn fits(&self, texts: usize) -> bool {
        self.mean.len() == texts
            && self.log.len() == texts
            && self.variance.len() == texts
            && self.sd.is_finite()
    }
}

/// Expresses a squared scale as a variance in addition to the standard logistic's, so that
/// `attenuation(variance + noise)` divides by the scale.
pub(crate) fn noise(log: f64) -> f64 {
    ((2.0 * log).exp() - 1.0) / PI_8
}

/// Logarithms of the scales of the grid.
fn grid() -> impl Iterator<Item = f64> {
    (0..=2 * SIDE).map(|g| STEP * (g as f64 - SIDE as f64))
}

/// Integrates over the scale of a text with at least one label; `score` integrates out the score at each
/// scale.
pub(crate) fn at_scales(
    prior: ScalePrior,
    labels: &[ScoredLabel],
    score: impl Fn(&[ScoredLabel]) -> ScalarPosterior,
) -> ScaledPosterior {
    let of = |log: f64| -> ScalarPosterior { score(&scaled(labels, log)) };
    if prior.sd <= PREDICTED_SD {
        return at_scale(prior, of(prior.mean));
    }
    let scores = likely_scores(|log| of(prior.mean + log));
    let log_evidence: Vec<f64> = evidence(&scores, |s| s.log_evidence);
    let all =
        mixture(prior.sd, &log_evidence, |g| scores[g].as_ref().map_or((0.0, 0.0), |s| (s.mean, s.variance)));
    let mut cavity = Vec::with_capacity(3 * labels.len());
    for at in 0..labels.len() {
        let without = evidence(&scores, |s| s.log_evidence_without[at]);
        let moments =
            |g: usize| scores[g].as_ref().map_or((0.0, 0.0), |s| (s.cavity[2 * at], s.cavity[2 * at + 1]));
        let Mixture { mean, variance, log, .. } = mixture(prior.sd, &without, moments);
        cavity.extend([mean, variance, noise(prior.mean + log)]);
    }
    ScaledPosterior {
        mean: all.mean,
        variance: all.variance,
        cavity,
        log_evidence: all.log_evidence,
        scale: ScalePosterior { log: prior.mean + all.log, variance: all.log_variance, log_evidence },
    }
}

/// A scale of the grid, and the posterior of the score there.
pub(super) struct ScaleNode {
    /// Its posterior weight; those of all nodes sum to 1.
    pub(super) weight: f64,
    /// Noise that the scale adds to a label.
    pub(super) noise: f64,
    /// Mean of the score.
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// Score and scale together, for each label the nodes without it: their moments are too coarse where tails
/// matter.
pub(super) fn nodes_without(
    prior: ScalePrior,
    labels: &[ScoredLabel],
    score: impl Fn(&[ScoredLabel]) -> ScalarPosterior,
) -> Vec<Vec<ScaleNode>> {
    let scores = likely_scores(|log| score(&scaled(labels, prior.mean + log)));
    let of = |at: usize| -> Vec<ScaleNode> {
        let (weights, _) = weighted(prior.sd, &evidence(&scores, |s| s.log_evidence_without[at]));
        let nodes = weights.iter().zip(&scores).zip(grid());
        nodes
            .filter_map(|((weight, score), log)| {
                let score = score.as_ref().filter(|_| *weight > 0.0)?;
                let (mean, variance) = (score.cavity[2 * at], score.cavity[2 * at + 1]);
                Some(ScaleNode { weight: *weight, noise: noise(prior.mean + log), mean, variance })
            })
            .collect()
    };
    (0..labels.len()).map(of).collect()
}

/// The labels of a text, for this logarithm of its scale.
fn scaled(labels: &[ScoredLabel], log: f64) -> Vec<ScoredLabel> {
    labels.iter().map(|l| l.at_scale((2.0 * log).exp())).collect()
}

/// The score at the scales of the grid whose likelihood is not negligible compared with the largest, by all
/// labels or without one of them: nearly all scales for a text with few labels, some for one with hundreds.
/// The likelihood has one peak, and the search climbs it from the middle.
fn likely_scores(of: impl Fn(f64) -> ScalarPosterior) -> Vec<Option<ScalarPosterior>> {
    let places: Vec<f64> = grid().collect();
    let mut scores: Vec<Option<ScalarPosterior>> = vec![None; places.len()];
    // By all labels, then without each.
    let evidence = |score: &ScalarPosterior| -> Vec<f64> {
        [&[score.log_evidence], &score.log_evidence_without[..]].concat()
    };
    let mut tops: Vec<f64> = Vec::new();
    // From the middle to either end.
    for side in [(SIDE..places.len()).collect::<Vec<_>>(), (0..SIDE).rev().collect()] {
        let mut before: Vec<f64> = Vec::new();
        for g in side {
            let score = of(places[g]);
            let found = evidence(&score);
            scores[g] = Some(score);
            tops.resize(found.len(), f64::MIN);
            tops.iter_mut().zip(&found).for_each(|(top, found)| *top = top.max(*found));
            let mut falling = before.iter().zip(&found).zip(&tops);
            if !before.is_empty() && falling.all(|((b, f), top)| f < b && *f < top - NEGLIGIBLE) {
                break;
            }
            before = found;
        }
    }
    scores
}

fn evidence(scores: &[Option<ScalarPosterior>], of: impl Fn(&ScalarPosterior) -> f64) -> Vec<f64> {
    scores.iter().map(|score| score.as_ref().map_or(f64::NEG_INFINITY, &of)).collect()
}

/// The posterior where the scale is fixed by its prior.
fn at_scale(prior: ScalePrior, score: ScalarPosterior) -> ScaledPosterior {
    let noise = noise(prior.mean);
    ScaledPosterior {
        mean: score.mean,
        variance: score.variance,
        cavity: score.cavity.chunks_exact(2).flat_map(|c| [c[0], c[1], noise]).collect(),
        log_evidence: score.log_evidence,
        scale: ScalePosterior::without_labels(prior),
    }
}

/// Moments over the scales of the grid, and the log probability of the labels.
struct Mixture {
    mean: f64,
    variance: f64,
    log: f64,
    log_variance: f64,
    log_evidence: f64,
}

fn mixture(sd: f64, log_evidence: &[f64], moments: impl Fn(usize) -> (f64, f64)) -> Mixture {
    let (weights, log_evidence) = weighted(sd, log_evidence);
    let (mut mean, mut square, mut log, mut log_square) = (0.0, 0.0, 0.0, 0.0);
    for ((g, w), x) in weights.iter().enumerate().zip(grid()) {
        let (m, v) = moments(g);
        mean += w * m;
        square += w * (m * m + v);
        log += w * x;
        log_square += w * x * x;
    }
    Mixture {
        mean,
        variance: (square - mean * mean).max(1e-9),
        log,
        log_variance: (log_square - log * log).max(0.0),
        log_evidence,
    }
}

/// Posterior weights of the scales of the grid, and the log probability of the labels.
fn weighted(sd: f64, log_evidence: &[f64]) -> (Vec<f64>, f64) {
    let prior: Vec<f64> = grid().map(|x| -0.5 * (x / sd).powi(2)).collect();
    let norm: f64 = prior.iter().map(|p| p.exp()).sum();
    let logs: Vec<f64> = prior.iter().zip(log_evidence).map(|(p, e)| p + e).collect();
    let top = logs.iter().copied().fold(f64::MIN, f64::max);
    let mut weights: Vec<f64> = logs.iter().map(|l| (l - top).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    (weights, top + sum.ln() - norm.ln())
}

/// Log probability of a text's labels if logarithms of scales have standard deviation `sd`.
pub(super) fn log_evidence_of(sd: f64, at_scales: &[f64]) -> f64 {
    weighted(sd, at_scales).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;
    use crate::mixed::scalar_posterior::integrate;
    use dissensus_stats::math::attenuation;
    use dissensus_stats::math::quadrature::Hermite;

    fn labels(levels: &[u16]) -> Vec<ScoredLabel> {
        let of = |(i, level): (usize, &u16)| ScoredLabel {
            intercepts: [3.0, 1.0, -1.0, -3.0].map(|o| o + 0.2 * i as f64).to_vec(),
            discrimination: 1.0 + 0.1 * i as f64,
            attenuation: attenuation(0.1 * i as f64),
            level: *level,
        };
        levels.iter().enumerate().map(of).collect()
    }

    fn fitted(sd: f64, levels: &[u16]) -> ScaledPosterior {
        let link = Link { levels: 5, softmax: false, discrimination: true };
        let rule = Hermite::new();
        at_scales(ScalePrior { mean: 0.0, sd }, &labels(levels), |labels| {
            integrate(link, 0.1, 1.5, labels, &rule)
        })
    }

    #[test]
    fn scale_follows_the_spread_of_labels() {
        let apart = fitted(0.5, &[0, 4, 0, 4, 0, 4, 4, 0]).scale;
        let agreed = fitted(0.5, &[2, 2, 2, 2, 2, 2, 2, 2]).scale;
        assert!(apart.log > 0.2 && agreed.log < -0.2, "{} {}", apart.log, agreed.log);
        assert!(apart.variance < 0.25 && agreed.variance < 0.25);
        // One label at its expected level carries little information.
        let one = fitted(0.5, &[2]).scale;
        assert!(one.log.abs() < 0.2 && one.variance > 0.2, "{one:?}");
    }

    /// Leaving a label out gives the same posterior as never having had it.
    #[test]
    fn leaving_out_a_label_matches_a_fit_without_it() {
        let link = Link { levels: 5, softmax: false, discrimination: true };
        let rule = Hermite::new();
        let dissenting = |n: usize| [vec![0; n], vec![4]].concat();
        let few = || [(vec![0, 4, 1, 3, 4], 0.4)].into_iter();
        // One label against all others makes scales unlikely that are the most likely without it.
        let one_against_all =
            [8, 20].into_iter().flat_map(|n| [0.3, 0.5, 0.8, 1.1].map(|sd| (dissenting(n), sd)));
        for (levels, sd) in few().chain(one_against_all) {
            let all = labels(&levels);
            let of = |labels: &[ScoredLabel]| {
                at_scales(ScalePrior { mean: 0.0, sd }, labels, |labels| {
                    integrate(link, 0.1, 1.5, labels, &rule)
                })
            };
            let whole = of(&all);
            for at in 0..all.len() {
                let mut others = all.clone();
                others.remove(at);
                let left = of(&others);
                let expected = [left.mean, left.variance, left.scale.noise()];
                for (found, expected) in whole.cavity[3 * at..3 * at + 3].iter().zip(expected) {
                    assert!((found - expected).abs() < 2e-2, "{levels:?} {sd} {at}: {found} {expected}");
                }
            }
        }
    }

    /// Hundreds of labels leave few scales, and only these are evaluated; a few labels leave most.
    #[test]
    fn implausible_scales_are_not_evaluated() {
        let link = Link { levels: 5, softmax: false, discrimination: true };
        let rule = Hermite::new();
        for (levels, fewest, most) in [
            ([1, 2, 3, 2, 1, 4].repeat(50), 5, 14),
            ([2, 2, 3, 1].repeat(75), 5, 14),
            (vec![0, 4, 1, 3], 15, 23),
        ] {
            let labels = labels(&levels).into_iter().map(|l| ScoredLabel { attenuation: 1.0, ..l });
            let labels: Vec<ScoredLabel> =
                labels.map(|l| ScoredLabel { intercepts: vec![3.0, 1.0, -1.0, -3.0], ..l }).collect();
            let of = |log: f64| {
                let scaled: Vec<ScoredLabel> = labels.iter().map(|l| l.at_scale((2.0 * log).exp())).collect();
                integrate(link, 0.1, 1.5, &scaled, &rule)
            };
            let some = likely_scores(of);
            let looked_at = some.iter().flatten().count();
            assert!((fewest..=most).contains(&looked_at), "{looked_at}");
            let all: Vec<f64> = grid().map(|log| of(log).log_evidence).collect();
            let found = weighted(0.4, &evidence(&some, |s| s.log_evidence));
            let (weights, log_evidence) = weighted(0.4, &all);
            assert!((found.1 - log_evidence).abs() < 1e-6);
            assert!(weights.iter().zip(&found.0).all(|(a, b)| (a - b).abs() < 1e-6));
        }
    }

    /// A vanishing spread is the model without scales.
    #[test]
    fn zero_spread_equals_no_scales() {
        let link = Link { levels: 5, softmax: false, discrimination: true };
        let all = labels(&[0, 4, 1]);
        let plain = integrate(link, 0.1, 1.5, &all, &Hermite::new());
        let scaled = fitted(1e-3, &[0, 4, 1]);
        assert!((scaled.mean - plain.mean).abs() < 1e-9 && (scaled.variance - plain.variance).abs() < 1e-9);
        assert!((scaled.log_evidence - plain.log_evidence).abs() < 1e-9 && scaled.scale.log.abs() < 1e-9);
    }
}
