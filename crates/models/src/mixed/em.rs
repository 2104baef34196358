//! Estimates variances and average intercepts by expectation maximisation, accelerated by SQUAREM (Varadhan
//! and Roland 2008, Simple and globally convergent methods for accelerating the convergence of any EM
//! algorithm, scheme S3).

use super::convergence::{Convergence, StoppingRule};
use super::crossed::CrossedEffects;
use super::initial::{INITIAL_TEXT_VARIANCE, PSEUDO_COUNT, initial_variance};
use super::text::TextPosterior;
use dissensus_stats::math::cholesky::Factor;
use rayon::prelude::*;

/// Longest extrapolation, in steps of the plain algorithm.
const MAX_STEP: f64 = 25.0;
/// Largest change of the logarithm of a standard deviation by one extrapolation.
const MAX_LOG_CHANGE: f64 = 0.7;
/// Largest standard deviation, in logits, of texts and of annotators' effects: beyond it nearly all answers
/// are certain, and labels carry little information about how certain.
const MAX_SD: f64 = 5.0;
/// Drop of the log-likelihood between rounds that is tolerated, in nats and as a share of the log-likelihood:
/// the likelihood is an approximation.
const SLACK: (f64, f64) = (1.0, 0.005);
/// Number of times an estimation returns to the most likely parameters, and continues without extrapolation,
/// before it stops there.
const MAX_FALLS: u32 = 2;
/// Rounds in which texts and annotators are fitted to each other after returning to earlier parameters.
const ROUNDS_AFTER_A_FALL: usize = 5;
/// Standard deviations below this are treated as this when judging changes: they hardly affect predictions.
const SMALL_SD: f64 = 0.2;

/// State with the largest likelihood so far.
struct Likeliest {
    log_likelihood: f64,
    parameters: Vec<f64>,
    fixed_effects: Vec<f64>,
}

impl Likeliest {
    /// Likelihood below which a round counts as worse.
    fn least(&self) -> f64 {
        self.log_likelihood - SLACK.0 - SLACK.1 * self.log_likelihood.abs()
    }
}

impl CrossedEffects {
    /// Estimates variances and average link parameters, with all posteriors, until the stopping rule `stop`
    /// is met.
    pub(crate) fn expectation_maximisation(&mut self, stop: StoppingRule) {
        let mut end = Convergence::default();
        let (mut best, mut falls): (Option<Likeliest>, u32) = (None, 0);
        loop {
            let first = self.parameters();
            self.round();
            let (second, fixed_effects) = (self.parameters(), self.fixed_effects.clone());
            end.log_likelihood = self.round();
            let third = self.parameters();
            end.rounds += 2;
            end.change = self.expected_change(&first, &second, &third);
            end.converged = end.change <= stop.tolerance;
            let now =
                Likeliest { log_likelihood: end.log_likelihood, parameters: second.clone(), fixed_effects };
            let fell = best.as_ref().filter(|best| now.log_likelihood < best.least());
            if let Some(likelier) = fell {
                // Where answers are rare and nearly all agree, rounds can move away from a maximum that they
                // were close to.
                (falls, end.converged, end.log_likelihood) = (falls + 1, false, likelier.log_likelihood);
                self.set_parameters(&likelier.parameters);
                self.fixed_effects.clone_from(&likelier.fixed_effects);
                for _ in 0..ROUNDS_AFTER_A_FALL {
                    self.update_all_texts();
                    self.update_all_annotators();
                }
                if falls > MAX_FALLS || end.rounds >= stop.max_rounds {
                    break;
                }
                continue;
            }
            if best.as_ref().is_none_or(|best| now.log_likelihood > best.log_likelihood) {
                best = Some(now);
            }
            if end.converged || end.rounds >= stop.max_rounds {
                break;
            }
            if falls == 0 {
                self.set_parameters(&extrapolated(&first, &second, &third));
                self.round();
                end.rounds += 1;
            }
        }
        self.convergence = end;
        self.reset_unlabelled_annotators();
        self.update_all_texts();
    }

    /// Updates texts given annotators, annotators given texts, and averages and variances given both. Returns
    /// the log marginal likelihood of the labels before the round in the sum-product (Bethe) approximation
    /// (Yedidia, Freeman and Weiss 2005): evidence of texts plus evidence of annotators minus evidence of
    /// labels, which are part of both.
    fn round(&mut self) -> f64 {
        let fitted = self.fitted_texts();
        self.update_scale_sd(&fitted);
        let texts = self.set_texts(fitted);
        self.update_text_variance();
        let annotators = self.update_all_annotators();
        self.centre_annotators();
        let labels = self.update_fixed_effects();
        self.update_prior();
        texts + annotators - labels
    }

    /// Resets annotators without labels to the current prior, so that they are predicted like new ones.
    fn reset_unlabelled_annotators(&mut self) {
        let prior = self.prior_covariance();
        for annotator in 0..self.annotators.len() {
            if self.annotators[annotator].labels.is_empty() {
                self.annotators[annotator].theta = self.prior_mean(annotator);
                self.annotators[annotator].covariance.clone_from(&prior);
            }
        }
    }

    /// Updates all texts and returns the sum of their log evidence.
    pub(crate) fn update_all_texts(&mut self) -> f64 {
        let fitted = self.fitted_texts();
        self.set_texts(fitted)
    }

    pub(super) fn fitted_texts(&self) -> Vec<TextPosterior> {
        (0..self.texts()).into_par_iter().map(|t| self.fitted_text(t)).collect()
    }

    fn set_texts(&mut self, fitted: Vec<TextPosterior>) -> f64 {
        let mut log_evidence = 0.0;
        for (text, posterior) in fitted.into_iter().enumerate() {
            log_evidence += posterior.log_evidence;
            self.set_text(text, posterior);
        }
        log_evidence
    }

    /// Updates all annotators and returns the sum of their log evidence.
    pub(crate) fn update_all_annotators(&mut self) -> f64 {
        let precision = self.prior_precision();
        let fitted: Vec<_> = (0..self.annotators.len())
            .into_par_iter()
            .map(|a| self.fitted_annotator(a, &precision))
            .collect();
        let mut log_evidence = 0.0;
        for (annotator, posterior) in fitted.into_iter().enumerate() {
            log_evidence += posterior.log_evidence;
            self.set_annotator(annotator, posterior);
        }
        log_evidence
    }

    fn update_text_variance(&mut self) {
        let q = self.link.scores();
        // Sums for texts that did not tune the encoder, and for those that did.
        let mut sums = [(PSEUDO_COUNT * INITIAL_TEXT_VARIANCE, PSEUDO_COUNT); 2];
        for (text, labels) in self.labels.iter().enumerate() {
            if labels.is_empty() {
                continue;
            }
            let square: f64 =
                (text * q..(text + 1) * q).map(|i| (self.u[i] - self.scores[i]).powi(2)).sum::<f64>()
                    / q as f64;
            let (sum, n) = &mut sums[usize::from(self.is_tuned_on(text))];
            *sum += square + self.v[text];
            *n += 1.0;
        }
        [self.text_var, self.tuned_on_text_var] = sums.map(|(sum, n)| (sum / n).clamp(1e-4, MAX_SD * MAX_SD));
    }

    fn update_prior(&mut self) {
        let d = self.link.random_effects();
        let (mut sum, n) = self.annotator_spread();
        sum.iter_mut().for_each(|s| *s /= n);
        hold_to_largest(&mut sum, d);
        for i in 0..d {
            sum[i * d + i] += 1e-4; // keeps the inverse sound when all annotators are alike
        }
        self.prior = sum;
    }

    /// Sum over annotators with labels, and the pseudo-count of the prior, of the expected squares and
    /// products of their random effects around their prior means (row-major), and the number of annotators in
    /// that sum.
    pub(super) fn annotator_spread(&self) -> (Vec<f64>, f64) {
        let (d, w) = (self.link.random_effects(), self.width());
        let mut sum = vec![0.0; d * d];
        let mut n = PSEUDO_COUNT;
        for i in 0..d {
            sum[i * d + i] = PSEUDO_COUNT * initial_variance(self.link, i);
        }
        let common = self.common_log_discrimination();
        for (a, effect) in self.annotators.iter().enumerate().filter(|(_, p)| !p.labels.is_empty()) {
            n += 1.0;
            let mut away: Vec<f64> =
                effect.theta.iter().zip(self.prior_mean(a)).map(|(t, m)| t - m).collect();
            if self.link.discrimination {
                away[self.link.threshold_effects()] -= common;
            }
            for i in 0..d {
                for j in 0..d {
                    sum[i * d + j] += away[i] * away[j] + effect.covariance[i * w + j];
                }
            }
        }
        (sum, n)
    }

    /// The variances as unbounded parameters: logarithm of the texts' standard deviation (of texts that did
    /// not tune the encoder; that of the others starts where a separate estimation ended, and is left to the
    /// plain rounds), and the Cholesky factor of the annotators' covariance by rows, with the diagonal in
    /// logarithms.
    fn parameters(&self) -> Vec<f64> {
        let d = self.link.random_effects();
        let factor = Factor::new(&self.prior, d);
        let mut parameters = vec![0.5 * self.text_var.ln()];
        for i in 0..d {
            parameters.extend_from_slice(&factor.lower()[i * d..i * d + i]);
            parameters.push(factor.lower()[i * d + i].ln());
        }
        parameters
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        let d = self.link.random_effects();
        self.text_var = (2.0 * parameters[0]).exp().clamp(1e-4, MAX_SD * MAX_SD);
        let mut lower = vec![0.0; d * d];
        let mut at = 1;
        for i in 0..d {
            lower[i * d..=i * d + i].copy_from_slice(&parameters[at..=at + i]);
            lower[i * d + i] = lower[i * d + i].exp();
            at += i + 1;
        }
        for i in 0..d {
            for j in 0..d {
                self.prior[i * d + j] =
                    dissensus_stats::math::dot(&lower[i * d..(i + 1) * d], &lower[j * d..(j + 1) * d]);
            }
        }
        hold_to_largest(&mut self.prior, d);
    }

    /// Remaining change if plain rounds continued to shrink as the last two did: the largest relative change
    /// of a standard deviation.
    fn expected_change(&self, first: &[f64], second: &[f64], third: &[f64]) -> f64 {
        let largest = |a: &[f64], b: &[f64]| {
            let (mut largest, mut at, mut next) = (0.0f64, 0, 0);
            while at < a.len() {
                let (before, after) = (a[at].exp(), b[at].exp());
                largest = largest.max((after - before).abs() / after.max(SMALL_SD));
                next += 1;
                at += next; // the diagonal of the factor
            }
            largest
        };
        let (before, now) = (largest(first, second), largest(second, third));
        let rate = if before > 0.0 { (now / before).min(0.98) } else { 0.0 };
        now / (1.0 - rate)
    }
}

/// Scales rows and columns of a covariance (`d` x `d`) so that no standard deviation exceeds [`MAX_SD`];
/// correlations do not change.
fn hold_to_largest(covariance: &mut [f64], d: usize) {
    let shares: Vec<f64> = (0..d).map(|i| (MAX_SD / covariance[i * d + i].sqrt()).min(1.0)).collect();
    for (at, value) in covariance.iter_mut().enumerate() {
        *value *= shares[at / d] * shares[at % d];
    }
}

/// `first - 2 a r + a^2 v`, where `r` is the first step, `v` the change from the first to the second step,
/// and `a = -|r| / |v|`.
fn extrapolated(first: &[f64], second: &[f64], third: &[f64]) -> Vec<f64> {
    let r: Vec<f64> = second.iter().zip(first).map(|(b, a)| b - a).collect();
    let v: Vec<f64> = third.iter().zip(second).zip(&r).map(|((c, b), r)| c - b - r).collect();
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let length = (norm(&r) / norm(&v).max(1e-12)).clamp(1.0, MAX_STEP);
    let jump: Vec<f64> =
        (0..r.len()).map(|i| first[i] + 2.0 * length * r[i] + length * length * v[i] - third[i]).collect();
    let largest = jump.iter().fold(0.0f64, |m, j| m.max(j.abs()));
    let share = if largest > MAX_LOG_CHANGE { MAX_LOG_CHANGE / largest } else { 1.0 };
    third.iter().zip(&jump).map(|(x, j)| x + share * j).collect()
}

#[cfg(test)]
mod tests {
    use super::super::convergence::FINAL;
    use super::*;
    use crate::link::Link;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::{Observation, Target};
    use dissensus_stats::math::random::generator;
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};

    /// Labels of the binary model, each text labelled by `per_text` annotators in turn.
    fn labels(texts: usize, per_text: usize, annotators: usize, variances: [f64; 2]) -> Vec<Observation> {
        let mut rng = generator(5, 1);
        let mut normal = |variance: f64| {
            let z: f64 = StandardNormal.sample(&mut rng);
            z * variance.sqrt()
        };
        let text: Vec<f64> = (0..texts).map(|_| normal(variances[0])).collect();
        let annotator: Vec<f64> = (0..annotators).map(|_| normal(variances[1])).collect();
        let mut all = Vec::new();
        for (t, score) in text.iter().enumerate() {
            for i in 0..per_text {
                // A step that increases from round to round, so that every pair of annotators occurs.
                let a = (t * per_text + i * (1 + t / annotators)) % annotators;
                let yes = rng.random::<f64>() < dissensus_stats::math::sigmoid(score + annotator[a]);
                if all.iter().all(|o: &Observation| o.text as usize != t || o.annotator as usize != a) {
                    all.push(Observation { text: t as u32, annotator: a as u32, level: u16::from(yes) });
                }
            }
        }
        all.sort_by_key(|o| (o.text, o.annotator));
        all
    }

    fn effects(texts: usize, annotators: usize, observations: &[Observation]) -> CrossedEffects {
        let link = Link::new(Target { kind: TargetKind::Binary, levels: 2 });
        CrossedEffects::new(link, vec![0.0; texts], annotators, observations)
    }

    /// Two labels per text, where plain expectation maximisation needs very many rounds.
    #[test]
    fn accelerated_em_reaches_the_plain_solution() {
        let observations = labels(400, 2, 40, [3.0, 2.0]);
        let mut fast = effects(400, 40, &observations);
        fast.expectation_maximisation(FINAL);
        assert!(fast.convergence.converged, "{:?}", fast.convergence);
        let mut plain = effects(400, 40, &observations);
        (0..600).for_each(|_| _ = plain.round());
        let ratio = |a: f64, b: f64| (a / b).sqrt();
        let (texts, annotators) =
            (ratio(fast.text_var, plain.text_var), ratio(fast.prior[0], plain.prior[0]));
        assert!((texts - 1.0).abs() < 0.01, "{texts}, {:?}", fast.convergence);
        assert!((annotators - 1.0).abs() < 0.01, "{annotators}");
        assert!((fast.fixed_effects[0] - plain.fixed_effects[0]).abs() < 0.02);
    }

    /// The objective increases to its end, apart from the weak prior of the variances.
    #[test]
    fn em_increases_the_likelihood() {
        let observations = labels(300, 5, 30, [2.0, 1.0]);
        let mut crossed = effects(300, 30, &observations);
        (0..3).for_each(|_| _ = crossed.round());
        let early = crossed.round();
        crossed.expectation_maximisation(FINAL);
        assert!(crossed.convergence.log_likelihood > early, "{early} {:?}", crossed.convergence);
    }

    /// Every annotator has one label, so that texts are independent and the likelihood is a product of double
    /// integrals.
    #[test]
    fn likelihood_matches_a_fine_grid() {
        let observations = labels(60, 3, 180, [1.5, 0.8]);
        let mut crossed = effects(60, 180, &observations);
        crossed.expectation_maximisation(FINAL);
        let (b, vt, va) = (crossed.fixed_effects[0], crossed.text_var, crossed.prior[0]);
        let grid: Vec<(f64, f64)> = (-60..=60)
            .map(|i| {
                let z = f64::from(i) * 0.1;
                (z, 0.1 * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt())
            })
            .collect();
        let mut exact = 0.0;
        for text in observations.chunk_by(|a, b| a.text == b.text) {
            let given = |u: f64| -> f64 {
                let label = |o: &Observation| {
                    let yes: f64 = grid
                        .iter()
                        .map(|(z, w)| w * dissensus_stats::math::sigmoid(u + b + va.sqrt() * z))
                        .sum();
                    if o.level == 1 { yes } else { 1.0 - yes }
                };
                text.iter().map(label).product()
            };
            exact += grid.iter().map(|(z, w)| w * given(vt.sqrt() * z)).sum::<f64>().ln();
        }
        let ours = crossed.convergence.log_likelihood;
        // The remaining difference is the attenuated logistic function in place of its integral over a
        // normal.
        assert!((ours - exact).abs() < 0.002 * exact.abs(), "{ours} {exact}");
    }

    /// Four people on 150 texts, one in seven of which is positive: rare, and people nearly agree.
    fn rare(seed: u64, share: f64) -> Vec<Observation> {
        let mut rng = generator(seed, 3);
        let mut all = Vec::new();
        for text in 0..150u32 {
            let meant = rng.random::<f64>() < share;
            for annotator in 0..if text < 60 { 4 } else { 3 } {
                let yes = rng.random::<f64>() < if meant { 0.87 } else { 0.05 };
                all.push(Observation { text, annotator, level: u16::from(yes) });
            }
        }
        all
    }

    #[test]
    fn rare_answers_have_plausible_variances() {
        for seed in 0..12 {
            for share in [0.03, 0.06, 0.13] {
                let observations = rare(seed, share);
                let mut crossed = effects(150, 4, &observations);
                crossed.expectation_maximisation(FINAL);
                let (texts, people) = (crossed.text_var.sqrt(), crossed.prior[0].sqrt());
                println!(
                    "{seed} {share} {texts:.2} {people:.2} {:?} {:?}",
                    crossed.fixed_effects, crossed.convergence
                );
                assert!(texts < 5.1 && people < 1.5, "{seed} {share}: {texts} {people}");
                let entropy = {
                    let yes = observations.iter().filter(|o| o.level == 1).count() as f64;
                    let (n, p) = (observations.len() as f64, yes / observations.len() as f64);
                    yes * p.ln() + (n - yes) * (1.0 - p).ln()
                };
                assert!(crossed.convergence.log_likelihood > entropy - 5.0, "{seed} {share}: {entropy}");
                let intercept = crossed.fixed_effects[0];
                for (text, labels) in crossed.labels.iter().enumerate() {
                    let logit = crossed.u[text] + intercept + crossed.annotators[0].theta[0];
                    let yes = labels.iter().filter(|label| label.level == 1).count();
                    if yes == labels.len() {
                        assert!(logit > 0.0, "{seed} {share}: {logit} of {yes}");
                    } else if yes == 0 {
                        assert!(logit < -1.5, "{seed} {share}: {logit} of none");
                    }
                }
            }
        }
    }
}
