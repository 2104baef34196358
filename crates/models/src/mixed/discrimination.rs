//! Annotators' own discrimination: how strongly their labels follow the score of a text, in addition to their
//! thresholds.
//!
//! The slope of the graded response model (Samejima 1969), `P(y >= j) = sigma(a_i score + o_ij)` with
//! `log a_i ~ N(0, tau^2)`, correlated with the thresholds as the data suggest. An annotator whose labels are
//! noisier than others' has a low discrimination and thresholds that are closer together: an own scale is the
//! direction in which all of them shrink at once, so that no second parameter is needed for it.

use super::convergence::{FINAL, ROUGH};
use super::crossed::CrossedEffects;
use super::initial::initial_prior;
use dissensus_stats::math::cholesky::quadratic;
use dissensus_stats::math::clustered::{MIN_ANNOTATORS, more_than_chance};
use dissensus_stats::math::distributions::normal_quantile;
use dissensus_stats::metrics::CONFIDENCE_LEVEL;
use serde::{Deserialize, Serialize};

/// How closely an annotator's labels follow the texts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discrimination {
    /// Posterior mean of the logarithm: above 0, labels follow the scores of texts more closely than the
    /// average annotator's do.
    pub log: f64,
    /// Its posterior standard deviation.
    pub sd: f64,
}

impl Discrimination {
    /// Factor of the scores: 1 for the average annotator.
    pub fn factor(&self) -> f64 {
        self.log.exp()
    }

    /// Its 95 % interval.
    pub fn interval(&self) -> (f64, f64) {
        let half = normal_quantile(0.5 + 0.5 * CONFIDENCE_LEVEL) * self.sd;
        ((self.log - half).exp(), (self.log + half).exp())
    }
}

impl CrossedEffects {
    /// Gives annotators a discrimination of their own if that improves the prediction of labels on texts of
    /// held-out folds by more than chance; otherwise leaves everything unchanged. Returns whether it did. The
    /// variances are then estimated anew.
    pub(crate) fn select_discrimination(&mut self, fold: &[u8], folds: usize) -> bool {
        let with_labels = self.annotators.iter().filter(|p| !p.labels.is_empty()).count();
        if self.link.softmax || self.link.discrimination || with_labels < MIN_ANNOTATORS {
            return false;
        }
        let mut trial = self.clone();
        trial.add_discrimination();
        trial.expectation_maximisation(ROUGH);
        let found = trial.held_out_labels(fold, folds);
        let used = gains_by_more_than_chance(&found, &self.held_out_labels(fold, folds), fold)
            && gains_by_more_than_chance(
                &found,
                &self.rescaled(trial.common_log_discrimination().exp()).held_out_labels(fold, folds),
                fold,
            );
        if used {
            trial.expectation_maximisation(FINAL);
            *self = trial;
        }
        used
    }

    /// The same model with all scores multiplied by the mean discrimination of a trial, or divided by its
    /// mean scale: a gain due to a common factor must not be mistaken for differences between annotators or
    /// texts.
    pub(super) fn rescaled(&self, factor: f64) -> Self {
        let mut all = self.clone();
        all.scores.iter_mut().for_each(|score| *score *= factor);
        all.expectation_maximisation(ROUGH);
        all
    }

    /// Mean logarithm of the discriminations of annotators with labels: a common scale that text effects and
    /// scores should have absorbed. It is not a difference between annotators and thus not part of their
    /// variance; the prior shrinks it towards 0.
    pub(super) fn common_log_discrimination(&self) -> f64 {
        if !self.link.discrimination {
            return 0.0;
        }
        let at = self.link.threshold_effects();
        let known = self.annotators.iter().enumerate().filter(|(_, effect)| !effect.labels.is_empty());
        let (sum, n) = known.fold((0.0, 0.0), |(sum, n), (a, effect)| {
            (sum + effect.theta[at] - self.prior_mean(a)[at], n + 1.0)
        });
        if n > 0.0 { sum / n } else { 0.0 }
    }

    /// Adds the random effect, 0 for all annotators, after those on the thresholds.
    pub(crate) fn add_discrimination(&mut self) {
        let (before, d, w) = (self.link, self.link.random_effects(), self.width());
        self.link.discrimination = true;
        let mut prior = initial_prior(self.link);
        let own = prior[d * (d + 1) + d];
        for i in 0..d {
            prior[i * (d + 1)..i * (d + 1) + d].copy_from_slice(&self.prior[i * d..(i + 1) * d]);
        }
        self.prior = prior;
        let spread = |from: &[f64]| -> Vec<f64> {
            from[..d].iter().chain(&[0.0]).chain(&from[d..]).copied().collect()
        };
        for effect in &mut self.annotators {
            effect.theta = spread(&effect.theta);
            let mut covariance: Vec<f64> = effect.covariance.chunks_exact(w).flat_map(spread).collect();
            covariance.splice(d * (w + 1)..d * (w + 1), (0..=w).map(|i| if i == d { own } else { 0.0 }));
            effect.covariance = covariance;
            effect.cavity = effect.cavity.chunks_exact(w + 1).flat_map(spread).collect();
        }
        if !self.prior_means.is_empty() {
            self.prior_means =
                self.prior_means.chunks_exact(before.random_effects()).flat_map(spread).collect();
        }
    }

    /// An annotator's discrimination; `None` where the model has none.
    pub(crate) fn discrimination(&self, annotator: usize) -> Option<Discrimination> {
        if !self.link.discrimination {
            return None;
        }
        let (at, w) = (self.link.threshold_effects(), self.width());
        let mut direction = vec![0.0; w];
        direction[at] = 1.0;
        Some(match self.annotators.get(annotator) {
            Some(effect) => Discrimination {
                log: effect.theta[at],
                sd: quadratic(&self.covariance_of(annotator), &direction).max(0.0).sqrt(),
            },
            None => Discrimination { log: 0.0, sd: quadratic(&self.prior_covariance(), &direction).sqrt() },
        })
    }
}

/// Whether the held-out labels are more likely than before by more than chance, over the annotators who have
/// labels in several folds: for the others, nothing was learned that could improve a held-out label.
fn gains_by_more_than_chance(trial: &[Vec<(u32, f64)>], before: &[Vec<(u32, f64)>], fold: &[u8]) -> bool {
    let several = |labels: &&Vec<(u32, f64)>| {
        labels.iter().any(|label| fold[label.0 as usize] != fold[labels[0].0 as usize])
    };
    let pairs = trial.iter().zip(before).filter(|(labels, _)| several(labels));
    let gains: Vec<Vec<(u32, f64)>> = pairs
        .map(|(trial, before)| trial.iter().zip(before).map(|(a, b)| (a.0, a.1 - b.1)).collect())
        .collect();
    more_than_chance(&gains, fold.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::{Observation, Target};
    use dissensus_stats::math::random::generator;
    use dissensus_stats::math::sigmoid;
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};

    struct Simulated {
        observations: Vec<Observation>,
        score: Vec<f64>,
        /// Logarithms of the discriminations.
        log: Vec<f64>,
        pub texts: usize,
        levels: usize,
    }

    /// Simulates annotators who each label `per_annotator` texts picked at random; `log a ~ N(0, tau^2)`,
    /// texts of standard deviation 1.5, severities of 1.
    fn simulate(
        levels: usize,
        texts: usize,
        annotators: usize,
        per_annotator: usize,
        tau: f64,
        seed: u64,
    ) -> Simulated {
        let mut rng = generator(seed, 77);
        let normal = |sd: f64, rng: &mut _| -> f64 {
            let z: f64 = StandardNormal.sample(rng);
            sd * z
        };
        let score: Vec<f64> = (0..texts).map(|_| normal(1.5, &mut rng)).collect();
        let log: Vec<f64> = (0..annotators).map(|_| normal(tau, &mut rng)).collect();
        let mut observations = Vec::new();
        for (annotator, log) in log.iter().enumerate() {
            let severity = normal(1.0, &mut rng);
            let mut order: Vec<usize> = (0..texts).collect();
            for i in 0..per_annotator {
                let other = rng.random_range(i..texts);
                order.swap(i, other);
                let (text, x) = (order[i], rng.random::<f64>());
                let above = |j: usize| {
                    let threshold = 1.2 * (j as f64 - levels as f64 / 2.0);
                    sigmoid(log.exp() * score[text] + severity - threshold)
                };
                let level = (1..levels).filter(|j| x < above(*j)).count() as u16;
                observations.push(Observation { text: text as u32, annotator: annotator as u32, level });
            }
        }
        observations.sort_by_key(|o| (o.text, o.annotator));
        Simulated { observations, score, log, texts, levels }
    }

    /// The effects without and with the trial, and whether it was accepted.
    fn fitted(sim: &Simulated) -> (CrossedEffects, bool) {
        let kind = if sim.levels == 2 { TargetKind::Binary } else { TargetKind::Ordinal };
        let link = Link::new(Target { kind, levels: sim.levels });
        let mut crossed = CrossedEffects::new(link, vec![0.0; sim.texts], sim.log.len(), &sim.observations);
        crossed.expectation_maximisation(FINAL);
        let fold: Vec<u8> = (0..sim.texts).map(|t| (t % 5) as u8).collect();
        let used = crossed.select_discrimination(&fold, 5);
        (crossed, used)
    }

    fn correlation(a: &[f64], b: &[f64]) -> f64 {
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let (ma, mb) = (mean(a), mean(b));
        let product = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
            x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
        };
        product(a, ma, b, mb) / (product(a, ma, a, ma) * product(b, mb, b, mb)).sqrt()
    }

    #[test]
    fn discrimination_is_recovered() {
        for (levels, tau) in [(5, 0.5), (2, 0.7)] {
            let sim = simulate(levels, 200, 60, 80, tau, 4);
            let (crossed, used) = fitted(&sim);
            assert!(used, "{levels} levels");
            let found = crossed.prior[crossed.prior.len() - 1].sqrt();
            assert!((found / tau - 1.0).abs() < 0.3, "{levels} levels: {found} for {tau}");
            let estimated: Vec<Discrimination> =
                (0..60).map(|a| crossed.discrimination(a).unwrap()).collect();
            let log: Vec<f64> = estimated.iter().map(|d| d.log).collect();
            let r = correlation(&log, &sim.log);
            assert!(r > 0.75, "{levels} levels: r {r}");
            // A 95 % interval covers most. The mean of the true values is a scale that texts absorb.
            let mean = sim.log.iter().sum::<f64>() / 60.0 - log.iter().sum::<f64>() / 60.0;
            let within = |(d, truth): &(&Discrimination, &f64)| {
                let (low, high) = d.interval();
                (low..high).contains(&(**truth - mean).exp())
            };
            let covered = estimated.iter().zip(&sim.log).filter(within).count();
            assert!((51..=60).contains(&covered), "{levels} levels: {covered} of 60");
        }
    }

    /// The rule allows a chance of one in forty; a superfluous parameter costs more than that on held-out
    /// labels.
    #[test]
    fn equal_discrimination_is_not_fitted() {
        const SEEDS: u64 = 40;
        for (annotators, per_annotator) in [(5, 60), (30, 40)] {
            let taken = (0..SEEDS)
                .filter(|seed| fitted(&simulate(5, 100, annotators, per_annotator, 0.0, *seed)).1)
                .count();
            assert!(taken <= 1, "{annotators} annotators: {taken} of {SEEDS}");
        }
    }

    /// Scores that are correct up to a common factor: rescaling improves all labels, but is not a difference
    /// between annotators.
    #[test]
    fn score_scale_is_not_discrimination() {
        const SEEDS: u64 = 12;
        let used = |seed: u64| {
            let sim = simulate(5, 100, 30, 40, 0.0, seed);
            let link = Link::new(Target { kind: TargetKind::Ordinal, levels: 5 });
            let scores = sim.score.iter().map(|score| score / 1.8).collect();
            let mut crossed = CrossedEffects::new(link, scores, 30, &sim.observations);
            crossed.expectation_maximisation(FINAL);
            let fold: Vec<u8> = (0..100).map(|t| (t % 5) as u8).collect();
            crossed.select_discrimination(&fold, 5)
        };
        let taken = (0..SEEDS).filter(|seed| used(*seed)).count();
        assert!(taken <= 1, "{taken} of {SEEDS}");
    }

    #[test]
    fn few_annotators_and_nominal_scales_have_no_discrimination() {
        let (crossed, used) = fitted(&simulate(3, 60, 2, 50, 1.0, 1));
        assert!(!used && crossed.discrimination(0).is_none());
        let link = Link::new(Target { kind: TargetKind::Nominal, levels: 3 });
        let observations = simulate(3, 60, 8, 40, 1.0, 1).observations;
        let mut choice = CrossedEffects::new(link, vec![0.0; 180], 8, &observations);
        choice.expectation_maximisation(ROUGH);
        assert!(!choice.select_discrimination(&[0; 60], 1));
    }

    /// The derivative with respect to the logarithm includes its effect on the attenuation.
    #[test]
    fn gradient_is_zero_in_every_direction_at_the_mode() {
        use crate::mixed::annotator::{LabelGivenText, fit};
        let link = Link { levels: 4, softmax: false, discrimination: true };
        let u: Vec<[f64; 1]> = (0..30).map(|i| [f64::from(i % 10) * 0.5 - 2.0]).collect();
        let labels: Vec<LabelGivenText<'_>> = u
            .iter()
            .enumerate()
            .map(|(i, u)| LabelGivenText {
                u,
                variance: 0.8,
                noise: 0.0,
                z: &[],
                level: [0, 0, 1, 1, 0, 2, 1, 3, 2, 3][i % 10],
            })
            .collect();
        let mut precision = vec![0.0; 16];
        (0..4).for_each(|i| precision[i * 5] = [1.0, 4.0, 4.0, 3.0][i]);
        let of = |theta: &[f64]| {
            let mut intercepts = vec![0.0; 3];
            link.intercepts_of(&[0.5, 0.1, -0.2], &theta[..3], &mut intercepts);
            let a = theta[3].exp();
            let k = dissensus_stats::math::attenuation(a * a * 0.8);
            let prior: f64 = (0..4).map(|i| -0.5 * precision[i * 5] * theta[i] * theta[i]).sum();
            let likelihood: f64 =
                labels.iter().map(|l| link.likelihood(a * l.u[0], &intercepts, k, l.level).ln()).sum();
            prior + likelihood
        };
        let (mode, _) = fit(link, &[0.5, 0.1, -0.2], &precision, &labels, &[0.0; 4], &[0.0; 4]);
        for i in 0..4 {
            for h in [-1e-3, 1e-3] {
                let mut near = mode.clone();
                near[i] += h;
                assert!(of(&near) < of(&mode), "{i} {h}");
            }
        }
        assert!(mode[3].abs() > 0.05, "the labels say something of it: {mode:?}");
    }
}
