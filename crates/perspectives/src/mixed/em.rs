//! Variances and average intercepts by expectation maximisation.

use super::crossed::CrossedEffects;
use super::initial::{INITIAL_TEXT_VARIANCE, PSEUDO_COUNT, initial_variance};
use rayon::prelude::*;

impl CrossedEffects {
    /// `rounds` of: texts given annotators, annotators given texts, variances given both.
    pub(crate) fn expectation_maximisation(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.update_all_texts();
            self.update_text_variance();
            self.update_all_annotators();
            self.centre_annotators();
            self.update_prior();
        }
        self.reset_unlabelled_annotators();
        self.update_all_texts();
    }

    /// Gives annotators without labels the prior as it is now, so that they are predicted like new ones.
    fn reset_unlabelled_annotators(&mut self) {
        let prior = self.prior_covariance();
        for annotator in 0..self.annotators.len() {
            if self.annotators[annotator].labels.is_empty() {
                self.annotators[annotator].theta = self.prior_mean(annotator);
                self.annotators[annotator].covariance.clone_from(&prior);
            }
        }
    }

    pub(crate) fn update_all_texts(&mut self) {
        let fitted: Vec<_> = (0..self.texts()).into_par_iter().map(|t| self.fitted_text(t)).collect();
        for (text, posterior) in fitted.into_iter().enumerate() {
            self.set_text(text, posterior);
        }
    }

    pub(crate) fn update_all_annotators(&mut self) {
        let precision = self.prior_precision();
        let fitted: Vec<_> = (0..self.annotators.len())
            .into_par_iter()
            .map(|a| self.fitted_annotator(a, &precision))
            .collect();
        for (effect, (theta, covariance)) in self.annotators.iter_mut().zip(fitted) {
            effect.theta = theta;
            effect.covariance = covariance;
        }
    }

    fn update_text_variance(&mut self) {
        let q = self.link.scores();
        let (mut sum, mut n) = (PSEUDO_COUNT * INITIAL_TEXT_VARIANCE, PSEUDO_COUNT);
        for (text, labels) in self.labels.iter().enumerate() {
            if labels.is_empty() {
                continue;
            }
            let square: f64 =
                (text * q..(text + 1) * q).map(|i| (self.u[i] - self.scores[i]).powi(2)).sum::<f64>()
                    / q as f64;
            sum += square + self.v[text];
            n += 1.0;
        }
        self.text_var = (sum / n).max(1e-4);
    }

    /// Moves what all annotators have in common into the average (the mean step of the maximisation).
    fn centre_annotators(&mut self) {
        let d = self.link.random_effects();
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
        for (i, b) in self.fixed_effects.iter_mut().enumerate() {
            *b += mean[self.link.random_effect_of(i)];
        }
        for effect in self.annotators.iter_mut().filter(|p| !p.labels.is_empty()) {
            for (t, m) in effect.theta.iter_mut().zip(&mean) {
                *t -= m;
            }
        }
    }

    fn update_prior(&mut self) {
        let (d, w) = (self.link.random_effects(), self.width());
        let mut sum = vec![0.0; d * d];
        let mut n = PSEUDO_COUNT;
        for i in 0..d {
            sum[i * d + i] = PSEUDO_COUNT * initial_variance(self.link, i);
        }
        for (a, effect) in self.annotators.iter().enumerate().filter(|(_, p)| !p.labels.is_empty()) {
            n += 1.0;
            let away: Vec<f64> = effect.theta.iter().zip(self.prior_mean(a)).map(|(t, m)| t - m).collect();
            for i in 0..d {
                for j in 0..d {
                    sum[i * d + j] += away[i] * away[j] + effect.covariance[i * w + j];
                }
            }
        }
        sum.iter_mut().for_each(|s| *s /= n);
        for i in 0..d {
            sum[i * d + i] += 1e-4; // keeps the inverse sound when all annotators are alike
        }
        self.prior = sum;
    }
}
