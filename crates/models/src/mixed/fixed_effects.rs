//! Average link parameters: two updates, because neither converges fast in all cases.
//!
//! Moving what annotators have in common into the average is exact where every annotator is well known, and
//! hardly moves where none is; a scoring step on the labels, with annotators' deviations fixed, behaves the
//! opposite way (Yu and Meng 2011, To center or not to center).

use super::annotator::add_information;
use super::crossed::{CrossedEffects, TextCavity};
use crate::link::{Gradient, INTERCEPT_PRECISION};
use dissensus_stats::math::axpy;
use dissensus_stats::math::cholesky::Factor;
use rayon::prelude::*;

/// Largest step of a link parameter in one round, in logits.
const MAX_STEP: f64 = 0.5;
/// Number of texts summed up at a time, in a fixed order independent of the number of threads.
const CHUNK: usize = 128;

/// Sums over labels: log-likelihood, its gradient with respect to the link parameters, and the expected
/// information.
struct Sums {
    log_likelihood: f64,
    gradient: Vec<f64>,
    information: Vec<f64>,
}

impl CrossedEffects {
    /// Link parameters from the shares of the levels, the centre of a weak prior that keeps all estimates
    /// finite where a level is unused, as in the shared head.
    fn prior_fixed_effects(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.link.levels];
        self.labels.iter().flatten().for_each(|label| counts[usize::from(label.level)] += 1.0);
        self.link.fixed_effects_from(&counts)
    }

    /// Moves the part that all annotators have in common into the average (the mean step of the
    /// maximisation).
    pub(super) fn centre_annotators(&mut self) {
        // Excludes the discrimination: no average absorbs the part that annotators have in common.
        let (d, w) = (self.link.threshold_effects(), self.width());
        let prior_width = self.link.random_effects();
        let known = self.annotators.iter().filter(|p| !p.labels.is_empty()).count();
        if known < 2 {
            return;
        }
        let mut mean = vec![0.0; d];
        for (a, effect) in self.annotators.iter().enumerate().filter(|(_, p)| !p.labels.is_empty()) {
            for ((m, t), start) in mean.iter_mut().zip(&effect.theta).zip(self.prior_mean(a)) {
                *m += (t - start) / known as f64;
            }
        }
        let usual = self.prior_fixed_effects();
        let mut away = vec![0.0; d];
        for (i, (now, usual)) in self.fixed_effects.iter().zip(usual).enumerate() {
            away[self.link.random_effect_of(i)] += now - usual;
        }
        for (i, m) in mean.iter_mut().enumerate() {
            let precision = known as f64 / self.prior[i * prior_width + i];
            *m = (precision * *m - INTERCEPT_PRECISION * away[i]) / (precision + INTERCEPT_PRECISION);
        }
        for (i, b) in self.fixed_effects.iter_mut().enumerate() {
            *b += mean[self.link.random_effect_of(i)];
        }
        for effect in self.annotators.iter_mut().filter(|p| !p.labels.is_empty()) {
            axpy(-1.0, &mean, &mut effect.theta[..d]);
            effect.cavity.chunks_exact_mut(w + 1).for_each(|cavity| axpy(-1.0, &mean, &mut cavity[..d]));
        }
    }

    /// Takes one scoring step of the average link parameters on the labels, each given its text and its
    /// annotator without that label. Returns the labels' log-likelihood before the step.
    pub(super) fn update_fixed_effects(&mut self) -> f64 {
        let n = self.link.intercepts();
        let mut all = self.sums_of_labels();
        Factor::new(&all.information, n).solve(&mut all.gradient);
        let largest = all.gradient.iter().fold(0.0f64, |m, s| m.max(s.abs()));
        axpy((MAX_STEP / largest.max(1e-12)).min(1.0), &all.gradient, &mut self.fixed_effects);
        all.log_likelihood
    }

    /// Derivatives of the log-likelihood of all labels, and of the weak prior, with respect to the average
    /// link parameters.
    pub(super) fn link_gradient(&self) -> Vec<f64> {
        self.sums_of_labels().gradient
    }

    /// Sums over all labels and the weak prior.
    fn sums_of_labels(&self) -> Sums {
        let n = self.link.intercepts();
        let texts: Vec<usize> = (0..self.texts()).filter(|t| !self.labels[*t].is_empty()).collect();
        let parts: Vec<Sums> = texts.par_chunks(CHUNK).map(|texts| self.label_sums(texts)).collect();
        let mut all = Sums { log_likelihood: 0.0, gradient: vec![0.0; n], information: vec![0.0; n * n] };
        for part in parts {
            all.log_likelihood += part.log_likelihood;
            axpy(1.0, &part.gradient, &mut all.gradient);
            axpy(1.0, &part.information, &mut all.information);
        }
        for (i, (now, usual)) in self.fixed_effects.iter().zip(self.prior_fixed_effects()).enumerate() {
            all.gradient[i] -= INTERCEPT_PRECISION * (now - usual);
            all.information[i * n + i] += INTERCEPT_PRECISION;
        }
        all
    }

    fn label_sums(&self, texts: &[usize]) -> Sums {
        let (link, n) = (self.link, self.link.intercepts());
        let (d, w) = (link.random_effects(), self.width());
        let mut sums = Sums { log_likelihood: 0.0, gradient: vec![0.0; n], information: vec![0.0; n * n] };
        let (mut jacobian, mut information) = (vec![0.0; n * n], vec![0.0; n * n]);
        let mut row = vec![0.0; n];
        let mut gradient = Gradient::default();
        for &text in texts {
            for (at, label) in self.labels[text].iter().enumerate() {
                let (annotator, variance) = self.label_given_annotator(text, *label);
                let TextCavity { means, variance: of_text, noise } = self.text_cavity(text, at);
                let (u, k) = annotator.combine(means, of_text, variance + noise);
                let intercepts = &annotator.intercepts;
                information.fill(0.0);
                sums.log_likelihood += link.log_likelihood_and_information(
                    &u,
                    intercepts,
                    k,
                    label.level,
                    &mut gradient,
                    &mut information,
                );
                let effect = &self.annotators[label.annotator as usize];
                let own = effect.labels.partition_point(|l| (l.0 as usize) < text);
                link.parameter_jacobian(
                    &self.fixed_effects,
                    &effect.cavity[own * (w + 1)..][..d],
                    &mut jacobian,
                );
                for j in 0..n {
                    axpy(gradient.intercept[j], &jacobian[j * n..(j + 1) * n], &mut sums.gradient);
                }
                add_information(&jacobian, &[], &information, &mut row, &mut sums.information);
            }
        }
        sums
    }
}
