//! Test of whether the spread of labels differs between texts, beyond what a text's score explains.
//!
//! A location-scale model gives each text a scale of its own, `P(y >= j) = sigma((a score + o_j) / s_t)` with
//! `log s_t ~ N(0, omega^2)` (McCullagh 1980, section 6; Hedeker, Mermelstein and Demirtas 2008 for random
//! scales). Its score statistic at `omega = 0` does not require fitting that model (Commenges and
//! Jacqmin-Gadda 1997, Generalized score test of homogeneity based on correlated random effects models). The
//! null distribution of the statistic, with every variance estimated anew, comes from a parametric bootstrap:
//! labels of the same annotators on the same texts, drawn from the fitted model.

use super::convergence::StoppingRule;
use super::crossed::CrossedEffects;
use super::text;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::{Progress, step};
use dissensus_stats::math::cholesky::Factor;
use dissensus_stats::math::random::generator;
use dissensus_stats::math::{PI_8, dot};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Step of the logarithm of a scale over which derivatives are taken.
const STEP: f64 = 0.1;
/// Minimum number of texts with labels of two annotators; with fewer, the test has too little data.
const MIN_TEXTS: usize = 50;
/// Stopping rule for a replicate, which starts from the values that generated it.
const REPLICATE: StoppingRule = StoppingRule { max_rounds: 12, tolerance: 0.03 };

/// Whether the scales of texts differ. The size of the difference is not reported: far from 0 the score
/// statistic does not measure it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextDispersion {
    /// The score statistic, minus its mean over the replicates, in units of their standard deviation.
    pub statistic: f64,
    /// One-sided p value of no difference: share of the replicates, including this sample, whose statistic is
    /// as large.
    pub p: f64,
    pub replicates: usize,
    /// Texts with two labels or more.
    pub texts: usize,
}

impl CrossedEffects {
    /// Tests the model without scales of texts. `None` on scales without at least three ordered levels, where
    /// the scale of a text cannot be distinguished from a different score, with fewer than 50 texts that two
    /// annotators have labelled, and where all replicates are identical.
    pub(crate) fn text_dispersion(
        &self,
        replicates: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Option<TextDispersion>, ModelError> {
        let texts = self.labels.iter().filter(|labels| labels.len() > 1).count();
        if self.link.softmax || self.link.levels < 3 || texts < MIN_TEXTS || replicates < 2 {
            return Ok(None);
        }
        if self.scales.is_some() {
            return self.without_scales().text_dispersion(replicates, seed, progress);
        }
        let found = self.dispersion_score();
        let mut drawn = Vec::with_capacity(replicates);
        for replicate in 0..replicates {
            step(progress, "text dispersion", replicate as f32 / replicates as f32)?;
            let mut sample = self.replicate(&mut generator(seed, 0xd15b + replicate as u64));
            sample.expectation_maximisation(REPLICATE);
            drawn.push(sample.dispersion_score());
        }
        let n = replicates as f64;
        let mean = drawn.iter().sum::<f64>() / n;
        let sd = (drawn.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let statistic = (found - mean) / sd;
        if !statistic.is_finite() {
            return Ok(None);
        }
        let larger = drawn.iter().filter(|s| **s >= found).count();
        let p = (larger + 1) as f64 / (replicates + 1) as f64;
        Ok(Some(TextDispersion { statistic, p, replicates, texts }))
    }

    /// Derivative of the log evidence of all texts with respect to the variance of the logarithm of their
    /// scales, at 0: the sum of `Z''(0) / (2 Z(0))`, where `Z` is a text's evidence as a function of that
    /// logarithm.
    fn dispersion_score(&self) -> f64 {
        let of_text = |text: usize| {
            let evidence = |log_scale: f64| self.log_evidence_at_scale(text, log_scale);
            let at = evidence(0.0);
            ((evidence(STEP) - at).exp() + (evidence(-STEP) - at).exp() - 2.0) / (2.0 * STEP * STEP)
        };
        let several: Vec<usize> = (0..self.texts()).filter(|t| self.labels[*t].len() > 1).collect();
        let scores: Vec<f64> = several.into_par_iter().map(of_text).collect();
        scores.iter().sum()
    }

    fn log_evidence_at_scale(&self, text: usize, log_scale: f64) -> f64 {
        let square = (2.0 * log_scale).exp();
        let labels: Vec<_> = self.labels[text]
            .iter()
            .map(|label| {
                let (mut given, variance) = self.label_given_annotator(text, *label);
                given.attenuation = (square + PI_8 * variance).sqrt().recip();
                given
            })
            .collect();
        text::fit(self.link, &self.scores[text..=text], self.prior_text_var(text), None, &labels, self.rule())
            .log_evidence
    }

    /// Draws the same design with new texts, annotators and labels from the estimated model.
    fn replicate(&self, rng: &mut impl Rng) -> Self {
        let mut sample = self.clone();
        let (link, w) = (self.link, self.width());
        let factor = Factor::new(&self.prior_covariance(), w);
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let text_sd = |text: usize| self.prior_text_var(text).sqrt();
        let drawn = self.scores.iter().enumerate().map(|(text, score)| score + text_sd(text) * normal());
        let scores: Vec<f64> = drawn.collect();
        let effects: Vec<Vec<f64>> = (0..self.annotators.len())
            .map(|a| {
                let z: Vec<f64> = (0..w).map(|_| normal()).collect();
                let mean = self.prior_mean(a);
                (0..w).map(|i| mean[i] + dot(&factor.lower()[i * w..=i * w + i], &z[..=i])).collect()
            })
            .collect();
        let d = link.random_effects();
        let (mut intercepts, mut p) = (vec![0.0; link.intercepts()], vec![0.0; link.levels]);
        for (annotator, theta) in effects.iter().enumerate() {
            link.intercepts_of(&self.fixed_effects, &theta[..d], &mut intercepts);
            for at in 0..self.annotators[annotator].labels.len() {
                let text = self.annotators[annotator].labels[at].0 as usize;
                let score =
                    link.discrimination_of(theta) * scores[text] + dot(self.features(text), &theta[d..]);
                link.probabilities(&[score], &intercepts, 1.0, &mut p);
                let mut left = rng.random::<f64>();
                let level = p.iter().position(|p| {
                    left -= p;
                    left < 0.0
                });
                let level = level.unwrap_or(link.levels - 1) as u16;
                sample.annotators[annotator].labels[at].1 = level;
                let labels = &mut sample.labels[text];
                if let Ok(place) = labels.binary_search_by_key(&(annotator as u32), |l| l.annotator) {
                    labels[place].level = level;
                }
            }
        }
        sample.reset_annotators();
        sample.update_all_texts();
        sample.update_all_annotators();
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;
    use crate::mixed::text_scale_simulation::fitted;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::{Observation, Target};

    #[test]
    fn text_dispersion_is_detected() {
        for seed in 0..2 {
            let found = fitted(0.5, seed).text_dispersion(19, 1, &Silent).unwrap().unwrap();
            assert!(found.p <= 0.05 && found.statistic > 3.0, "{found:?}");
        }
    }

    #[test]
    fn false_alarms_of_dispersion_are_rare() {
        const SEEDS: u64 = 8;
        let of = |seed| fitted(0.0, seed).text_dispersion(19, 1, &Silent).unwrap().unwrap();
        let found: Vec<TextDispersion> = (10..10 + SEEDS).map(of).collect();
        // More than 2 of 8 have a chance of 0.6 % where each has one of 5 %.
        let alarms = found.iter().filter(|f| f.p <= 0.05).count();
        assert!(alarms <= 2, "{alarms} of {SEEDS}: {found:?}");
        let mean = found.iter().map(|f| f.statistic).sum::<f64>() / SEEDS as f64;
        assert!(mean.abs() < 1.2, "{mean}: {found:?}");
    }

    #[test]
    fn two_levels_or_few_texts_give_no_test() {
        let link = Link::new(Target { kind: TargetKind::Ordinal, levels: 5 });
        let few: Vec<Observation> =
            (0..60).map(|i| Observation { text: i / 3, annotator: i % 3, level: (i % 5) as u16 }).collect();
        let crossed = CrossedEffects::new(link, vec![0.0; 20], 3, &few);
        assert_eq!(crossed.text_dispersion(19, 0, &Silent).unwrap(), None);
        let binary = Link::new(Target { kind: TargetKind::Binary, levels: 2 });
        let many: Vec<Observation> =
            (0..300).map(|i| Observation { text: i / 3, annotator: i % 3, level: (i % 2) as u16 }).collect();
        assert_eq!(
            CrossedEffects::new(binary, vec![0.0; 100], 3, &many).text_dispersion(19, 0, &Silent).unwrap(),
            None
        );
    }
}
