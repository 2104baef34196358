//! Attributes of annotators as predictors of a new annotator's random effects.
//!
//! Random effects get the prior `theta_a ~ N(B z_a, prior)`, where `z_a` are the annotator's attribute
//! values, one-hot encoded and centred. `B` is a ridge regression by generalised least squares: the
//! likelihood of an annotator's own labels (the posterior without its prior) is an observation of `B z_a`,
//! whose variance includes that of the estimate and that of annotators around `B z_a`. The variance of the
//! effects is the one with the largest gain for held-out annotators, and attributes are used only where that
//! gain exceeds two standard errors.

use super::annotator::LabelGivenText;
use super::attribute_effects::AttributeEffects;
use super::crossed::CrossedEffects;
use crate::link::Gradient;
use dissensus_stats::data::{Attribute, AttributeEvidence};
use dissensus_stats::math::axpy;
use dissensus_stats::math::cholesky::Factor;
use rayon::prelude::*;

/// Candidate variances of effects, as shares of the prior variance of the random effect.
const VARIANCE_SHARES: [f64; 4] = [0.01, 0.03, 0.1, 0.3];
/// Number of standard errors above zero that the gain must reach.
const MIN_STANDARD_ERRORS: f64 = 2.0;
/// Number of cross-validation folds of annotators.
const FOLDS: usize = 5;
/// Minimum number of annotators with labels and a known value for cross-validation.
const MIN_ANNOTATORS: usize = 20;

/// One-hot values of annotators with labels.
struct Design {
    starts: Vec<usize>,
    centre: Vec<f64>,
    /// Annotators who have labels and a known value.
    annotators: Vec<usize>,
    /// annotators x values, centred.
    rows: Vec<Vec<f64>>,
}

impl Design {
    fn new(attributes: &[Attribute], crossed: &CrossedEffects) -> Self {
        let mut starts = vec![0];
        for attribute in attributes {
            starts.push(starts[starts.len() - 1] + attribute.values.len());
        }
        let known = |a: &usize| attributes.iter().any(|attribute| attribute.of[*a].is_some());
        let annotators: Vec<usize> = (0..crossed.annotators.len())
            .filter(|&a| !crossed.annotators[a].labels.is_empty())
            .filter(known)
            .collect();
        let values = starts[starts.len() - 1];
        let (mut centre, mut rows) = (vec![0.0; values], vec![vec![0.0; values]; annotators.len()]);
        for (attribute, start) in attributes.iter().zip(&starts) {
            let have = annotators.iter().filter(|&&a| attribute.of[a].is_some()).count().max(1) as f64;
            for &a in &annotators {
                if let Some(value) = attribute.of[a] {
                    centre[start + usize::from(value)] += 1.0 / have;
                }
            }
            for (row, &a) in rows.iter_mut().zip(&annotators) {
                if let Some(value) = attribute.of[a] {
                    for (at, z) in row[*start..start + attribute.values.len()].iter_mut().enumerate() {
                        *z = f64::from(u8::from(at == usize::from(value))) - centre[start + at];
                    }
                }
            }
        }
        Self { starts, centre, annotators, rows }
    }

    fn effects(&self, effects: Vec<f64>) -> AttributeEffects {
        AttributeEffects { starts: self.starts.clone(), centre: self.centre.clone(), effects }
    }
}

/// Estimate of one random effect from one annotator's labels, without the prior: value and weight.
#[derive(Clone, Copy)]
struct LabelEstimate {
    value: f64,
    weight: f64,
}

impl CrossedEffects {
    /// Gives annotators prior means by their attributes if held-out annotators gain by more than chance;
    /// otherwise leaves everything unchanged. Returns `None` where there is too little data to try. If
    /// attributes are used, the caller re-estimates the other parameters.
    pub(crate) fn select_attributes(
        &mut self,
        attributes: &[Attribute],
        seed: u64,
    ) -> Option<AttributeEvidence> {
        let design = Design::new(attributes, self);
        if design.annotators.len() < MIN_ANNOTATORS || design.centre.is_empty() {
            return None;
        }
        let d = self.link.random_effects();
        let estimates: Vec<Vec<LabelEstimate>> =
            (0..d).map(|i| design.annotators.iter().map(|&a| self.label_estimate(a, i)).collect()).collect();
        let fold = dissensus_stats::data::folds::assign(design.annotators.len(), FOLDS, seed ^ 0xa77);
        let without: Vec<f64> =
            design.annotators.par_iter().map(|&a| self.marginal_log_likelihood(a, &vec![0.0; d])).collect();
        let labels: usize = design.annotators.iter().map(|&a| self.annotators[a].labels.len()).sum();
        let mut best: Option<(f64, f64, f64)> = None;
        for variance_share in VARIANCE_SHARES {
            let effects: Vec<Vec<f64>> = (0..FOLDS)
                .into_par_iter()
                .map(|f| self.ridge(&design, &estimates, variance_share, |i| usize::from(fold[i]) != f))
                .collect();
            let gains: Vec<f64> = (0..design.annotators.len())
                .into_par_iter()
                .map(|i| {
                    let mean = product(&design.rows[i], &effects[usize::from(fold[i])], d);
                    self.marginal_log_likelihood(design.annotators[i], &mean) - without[i]
                })
                .collect();
            let (total, error) = dissensus_stats::math::clustered::total_and_error(&gains);
            if best.is_none_or(|b| total > b.0) {
                best = Some((total, error, variance_share));
            }
        }
        let (total, error, variance_share) = best?;
        let used = total > MIN_STANDARD_ERRORS * error;
        if used {
            let effects = design.effects(self.ridge(&design, &estimates, variance_share, |_| true));
            let values = |a: usize| -> Vec<Option<u16>> { attributes.iter().map(|at| at.of[a]).collect() };
            self.prior_means = (0..self.annotators.len()).flat_map(|a| effects.mean(&values(a), d)).collect();
            self.attribute_effects = Some(effects);
        }
        let n = labels.max(1) as f64;
        let evidence = AttributeEvidence {
            gain: total / n,
            standard_error: error / n,
            used,
            annotators: design.annotators.len(),
            labels,
        };
        self.attribute_evidence = Some(evidence);
        Some(evidence)
    }

    /// The likelihood's estimate of random effect `i` of an annotator, without the prior (diagonally),
    /// weighted by the inverse of its variance around a prediction from attributes.
    fn label_estimate(&self, annotator: usize, i: usize) -> LabelEstimate {
        let (d, w) = (self.link.random_effects(), self.width());
        let effect = &self.annotators[annotator];
        let prior = self.prior[i * d + i];
        let precision = (1.0 / effect.covariance[i * w + i] - 1.0 / prior).max(1e-6);
        let value = effect.theta[i] / effect.covariance[i * w + i] / precision;
        LabelEstimate { value, weight: 1.0 / (1.0 / precision + prior) }
    }

    /// Effects (values x random effects) from the annotators that `include` allows.
    fn ridge(
        &self,
        design: &Design,
        estimates: &[Vec<LabelEstimate>],
        variance_share: f64,
        include: impl Fn(usize) -> bool,
    ) -> Vec<f64> {
        let (n, d) = (design.centre.len(), self.link.random_effects());
        let mut effects = vec![0.0; n * d];
        for (i, estimates) in estimates.iter().enumerate() {
            let (mut a, mut b) = (vec![0.0; n * n], vec![0.0; n]);
            for at in 0..n {
                a[at * n + at] = 1.0 / (variance_share * self.prior[i * d + i]);
            }
            for (row, estimate) in
                design.rows.iter().zip(estimates).enumerate().filter(|(p, _)| include(*p)).map(|(_, r)| r)
            {
                for (at, z) in row.iter().enumerate().filter(|(_, z)| **z != 0.0) {
                    axpy(estimate.weight * z, row, &mut a[at * n..(at + 1) * n]);
                }
                axpy(estimate.weight * estimate.value, row, &mut b);
            }
            Factor::new(&a, n).solve(&mut b);
            for (at, b) in b.iter().enumerate() {
                effects[at * d + i] = *b;
            }
        }
        effects
    }

    /// Marginal log-likelihood of each of an annotator's labels under this prior mean of the random effects.
    fn marginal_log_likelihood(&self, annotator: usize, mean: &[f64]) -> f64 {
        let (link, d) = (self.link, self.link.random_effects());
        let mut intercepts = vec![0.0; link.intercepts()];
        link.intercepts_of(&self.fixed_effects, mean, &mut intercepts);
        let a = link.discrimination_of(mean);
        // Variance that an annotator's own effects add to the score.
        let own = |u: f64| {
            if link.softmax {
                return (0..d).map(|i| self.prior[i * d + i]).sum::<f64>() / d as f64;
            }
            let mut direction = vec![0.0; d];
            direction[0] = 1.0;
            if link.discrimination {
                direction[link.threshold_effects()] = a * u;
            }
            dissensus_stats::math::cholesky::quadratic(&self.prior, &direction)
        };
        let mut unused = Gradient::default();
        let labels = self.annotators[annotator].labels.iter();
        labels
            .filter_map(|&(text, level)| self.label_given_text(annotator, text, level))
            .map(|l: LabelGivenText<'_>| {
                let u: Vec<f64> = l.u.iter().map(|u| a * u).collect();
                let attenuation =
                    dissensus_stats::math::attenuation(own(l.u[0]) + a * a * l.variance + l.noise);
                link.log_likelihood(&u, &intercepts, attenuation, l.level, &mut unused)
            })
            .sum()
    }
}

/// A row of values times the effects.
fn product(row: &[f64], effects: &[f64], d: usize) -> Vec<f64> {
    let mut mean = vec![0.0; d];
    row.iter().zip(effects.chunks_exact(d)).for_each(|(z, e)| axpy(*z, e, &mut mean));
    mean
}
