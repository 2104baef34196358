//! One unknown score given labels: posterior moments with and without each label, and the evidence, by
//! quadrature.
//!
//! Serves both directions: a text's score given its annotators, and an annotator's shift given that
//! annotator's texts.

use crate::link::Link;
use dissensus_stats::math::attenuation;
use dissensus_stats::math::quadrature::{Hermite, NODES};

/// Number of likelihoods, of 1e-12 or more, whose product a double can represent.
const LABELS_AT_ONCE: usize = 20;

/// One label given everything but the score: the level has probability
/// `P(level | discrimination * score + intercepts)`, attenuated by the uncertainty of the intercepts.
#[derive(Clone, Debug)]
pub(crate) struct ScoredLabel {
    pub(super) intercepts: Vec<f64>,
    /// Factor of the score.
    pub(super) discrimination: f64,
    pub(super) attenuation: f64,
    pub(super) level: u16,
}

impl ScoredLabel {
    /// The label with this squared scale of the text.
    pub(super) fn at_scale(&self, square: f64) -> Self {
        let attenuation = (self.attenuation.powi(-2) - 1.0 + square).sqrt().recip();
        Self { attenuation, ..self.clone() }
    }

    /// A text's scores, of variance `text`, multiplied by the discrimination of this label's annotator, and
    /// the attenuation of their logits; `own` is the variance that the annotator adds.
    pub(super) fn combine(&self, scores: &[f64], text: f64, own: f64) -> (Vec<f64>, f64) {
        let met = scores.iter().map(|u| self.discrimination * u).collect();
        (met, attenuation(self.variance(text, own)))
    }

    /// The variance of the logits at these values.
    pub(super) fn variance(&self, text: f64, own: f64) -> f64 {
        self.discrimination * self.discrimination * text + own
    }
}

/// Posterior of one score.
#[derive(Clone, Debug)]
pub(crate) struct ScalarPosterior {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    /// Labels x (mean, variance), each without that label.
    pub(crate) cavity: Vec<f64>,
    /// Log probability of the labels, with the score integrated out.
    pub(crate) log_evidence: f64,
    /// The same for the labels without each in turn.
    pub(crate) log_evidence_without: Vec<f64>,
}

/// One score: exact moments by adaptive Gauss-Hermite quadrature (Liu and Pierce 1994, A note on
/// Gauss-Hermite quadrature), centred on the mode. `N(mean, var)` is the prior.
pub(crate) fn integrate(
    link: Link,
    mean: f64,
    var: f64,
    labels: &[ScoredLabel],
    rule: &Hermite,
) -> ScalarPosterior {
    if labels.is_empty() {
        return ScalarPosterior {
            mean,
            variance: var,
            cavity: Vec::new(),
            log_evidence: 0.0,
            log_evidence_without: Vec::new(),
        };
    }
    let (mode, sd) = mode(link, mean, var, labels);
    let nodes: [f64; NODES] = std::array::from_fn(|g| mode + sd * rule.nodes[g]);
    // Prior over proposal, times the rule's weight; likelihoods are combined in logarithms, for texts with
    // very many labels.
    let mut total: [f64; NODES] = std::array::from_fn(|g| {
        rule.weights[g].ln() + 0.5 * rule.nodes[g].powi(2) - 0.5 * (nodes[g] - mean).powi(2) / var
    });
    let likelihoods: Vec<[f64; NODES]> = labels
        .iter()
        .map(|l| {
            std::array::from_fn(|g| {
                link.likelihood(l.discrimination * nodes[g], &l.intercepts, l.attenuation, l.level)
            })
        })
        .collect();
    for together in likelihoods.chunks(LABELS_AT_ONCE) {
        let mut product = [1.0; NODES];
        together.iter().for_each(|of| product.iter_mut().zip(of).for_each(|(p, l)| *p *= l));
        total.iter_mut().zip(&product).for_each(|(t, p)| *t += p.ln());
    }
    let top = total.iter().copied().fold(f64::MIN, f64::max);
    let weights: [f64; NODES] = std::array::from_fn(|g| (total[g] - top).exp());
    let width = top + (sd / var.sqrt()).ln();
    let (posterior_mean, variance, sum) = moments(&nodes, &weights);
    let mut cavity = Vec::with_capacity(labels.len() * 2);
    let mut log_evidence_without = Vec::with_capacity(labels.len());
    for likelihood in &likelihoods {
        let (m, v, evidence) = if labels.len() == 1 {
            (mean, var, 0.0)
        } else {
            let without: [f64; NODES] = std::array::from_fn(|g| weights[g] / likelihood[g]);
            let (m, v, sum) = moments(&nodes, &without);
            (m, v, sum.ln() + width)
        };
        cavity.extend([m, v.max(0.5 * variance)]);
        log_evidence_without.push(evidence);
    }
    ScalarPosterior {
        mean: posterior_mean,
        variance,
        cavity,
        log_evidence: sum.ln() + width,
        log_evidence_without,
    }
}

/// Mean and variance under weights, and the sum of these.
fn moments(nodes: &[f64; NODES], weights: &[f64; NODES]) -> (f64, f64, f64) {
    let (mut w, mut m, mut s) = (0.0, 0.0, 0.0);
    for (x, p) in nodes.iter().zip(weights) {
        w += p;
        m += p * x;
        s += p * x * x;
    }
    m /= w;
    (m, (s / w - m * m).max(1e-9), w)
}

/// Mode and its standard deviation (Laplace) of one score.
fn mode(link: Link, mean: f64, var: f64, labels: &[ScoredLabel]) -> (f64, f64) {
    let mut u = mean;
    let mut sd = var.sqrt();
    for _ in 0..8 {
        let mut gradient = -(u - mean) / var;
        let mut precision = 1.0 / var;
        for l in labels {
            let a = l.discrimination;
            let (slope, information) = link.score_derivatives(a * u, &l.intercepts, l.attenuation, l.level);
            gradient += a * slope;
            precision += a * a * information;
        }
        sd = precision.sqrt().recip();
        let step = (gradient / precision).clamp(-3.0 * sd - 1.0, 3.0 * sd + 1.0);
        u += step;
        if step.abs() < 1e-2 * sd {
            break; // quadrature corrects what is left
        }
    }
    (u, sd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predictor(intercept: f64, level: u16) -> ScoredLabel {
        ScoredLabel { intercepts: vec![intercept], discrimination: 1.0, attenuation: 1.0, level }
    }

    /// A plain sum over a fine grid.
    fn brute(mean: f64, var: f64, labels: &[ScoredLabel]) -> (f64, f64) {
        let link = Link { levels: 2, softmax: false, discrimination: false };
        let (mut w, mut m, mut s) = (0.0, 0.0, 0.0);
        for i in -4000..=4000 {
            let u = mean + f64::from(i) * 0.005;
            let mut p = (-0.5 * (u - mean).powi(2) / var).exp();
            for l in labels {
                p *= link.likelihood(u, &l.intercepts, l.attenuation, l.level);
            }
            w += p;
            m += p * u;
            s += p * u * u;
        }
        (m / w, s / w - (m / w).powi(2))
    }

    #[test]
    fn moments_agree_with_a_fine_grid() {
        let link = Link { levels: 2, softmax: false, discrimination: false };
        let rule = Hermite::new();
        for n in [1, 2, 5, 60] {
            let labels: Vec<ScoredLabel> =
                (0..n).map(|i| predictor(0.3 * f64::from(i % 3) - 0.5, u16::from(i % 4 != 0))).collect();
            let posterior = integrate(link, -0.4, 1.3, &labels, &rule);
            let (m, v) = brute(-0.4, 1.3, &labels);
            assert!((posterior.mean - m).abs() < 1e-4, "{n}: {} {m}", posterior.mean);
            assert!((posterior.variance - v).abs() < 1e-4, "{n}: {} {v}", posterior.variance);
            let (m, v) = brute(-0.4, 1.3, &labels[1..]);
            assert!((posterior.cavity[0] - m).abs() < 1e-3, "{n}: {} {m}", posterior.cavity[0]);
            assert!((posterior.cavity[1] - v).abs() < 2e-3, "{n}: {} {v}", posterior.cavity[1]);
        }
    }
}
