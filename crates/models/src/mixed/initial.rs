//! Initial values for the estimation of variances.

use crate::link::Link;

/// Initial variance of text effects.
pub(super) const INITIAL_TEXT_VARIANCE: f64 = 0.7;
/// Initial variances of annotators' shifts and of their thresholds; with few annotators, estimates also stay
/// near them.
const INITIAL_SHIFT_VARIANCE: f64 = 1.0;
const INITIAL_GAP_VARIANCE: f64 = 0.1;
/// Initial variance of logarithms of discriminations.
const INITIAL_LOG_DISCRIMINATION_VARIANCE: f64 = 0.09;
/// Pseudo-count of the prior on the variances, in annotators or texts.
pub(super) const PSEUDO_COUNT: f64 = 2.0;

/// Initial covariance of random effects.
pub(super) fn initial_prior(link: Link) -> Vec<f64> {
    let d = link.random_effects();
    let mut prior = vec![0.0; d * d];
    for i in 0..d {
        prior[i * d + i] = initial_variance(link, i);
    }
    prior
}

pub(super) fn initial_variance(link: Link, i: usize) -> f64 {
    if i == link.threshold_effects() {
        INITIAL_LOG_DISCRIMINATION_VARIANCE
    } else if i == 0 || link.softmax {
        INITIAL_SHIFT_VARIANCE
    } else {
        INITIAL_GAP_VARIANCE
    }
}

/// The value of `CrossedEffects::mean_score_variance` before the first fit.
pub(crate) fn initial_score_variance(link: Link) -> f64 {
    INITIAL_TEXT_VARIANCE + initial_prior(link)[0]
}
