//! One text: the posterior of its scores given its labels, with and without each of them.

use crate::link::{Gradient, Link};
use crate::mixed::scalar_posterior::{ScoredLabel, integrate};
use crate::mixed::text_scale::{ScalePosterior, ScalePrior, at_scales};
use dissensus_stats::math::axpy;
use dissensus_stats::math::cholesky::Factor;
use dissensus_stats::math::quadrature::Hermite;

/// Posterior of one text's scores.
#[derive(Clone, Debug)]
pub(crate) struct TextPosterior {
    /// q means.
    pub(crate) mean: Vec<f64>,
    /// Variance (mean over scores).
    pub(crate) variance: f64,
    /// Labels x (q means, one variance, noise that the text's scale adds to a label), each without that
    /// label.
    pub(crate) cavity: Vec<f64>,
    /// Log probability of the labels, with the text's scores integrated out.
    pub(crate) log_evidence: f64,
    /// Posterior of its scale; `None` where the model has no scales of texts.
    pub(crate) scale: Option<ScalePosterior>,
}

/// The posterior for prior `N(prior_mean, prior_var)`; `scale` (never with softmax) gives the text a scale of
/// its own.
pub(crate) fn fit(
    link: Link,
    prior_mean: &[f64],
    prior_var: f64,
    scale: Option<ScalePrior>,
    labels: &[ScoredLabel],
    rule: &Hermite,
) -> TextPosterior {
    if labels.is_empty() {
        return TextPosterior {
            mean: prior_mean.to_vec(),
            variance: prior_var,
            cavity: Vec::new(),
            log_evidence: 0.0,
            scale: scale.map(ScalePosterior::without_labels),
        };
    }
    if link.softmax {
        return laplace(link, prior_mean, prior_var, labels);
    }
    if let Some(scale) = scale {
        let of = at_scales(scale, labels, |labels| integrate(link, prior_mean[0], prior_var, labels, rule));
        return TextPosterior {
            mean: vec![of.mean],
            variance: of.variance,
            cavity: of.cavity,
            log_evidence: of.log_evidence,
            scale: Some(of.scale),
        };
    }
    let scalar = integrate(link, prior_mean[0], prior_var, labels, rule);
    TextPosterior {
        mean: vec![scalar.mean],
        variance: scalar.variance,
        cavity: scalar.cavity.chunks_exact(2).flat_map(|c| [c[0], c[1], 0.0]).collect(),
        log_evidence: scalar.log_evidence,
        scale: None,
    }
}

/// Several scores: mode and curvature (Laplace); labels are left out to first order.
fn laplace(link: Link, mean: &[f64], var: f64, labels: &[ScoredLabel]) -> TextPosterior {
    let q = mean.len();
    let mut d = Gradient::default();
    let mut u = mean.to_vec();
    let mut hessian = vec![0.0; q * q];
    for _ in 0..10 {
        let mut gradient: Vec<f64> = (0..q).map(|c| -(u[c] - mean[c]) / var).collect();
        fill_hessian(link, var, labels, &u, &mut hessian);
        for l in labels {
            link.log_likelihood(&u, &l.intercepts, l.attenuation, l.level, &mut d);
            axpy(1.0, &d.score, &mut gradient);
        }
        Factor::new(&hessian, q).solve(&mut gradient);
        let size = gradient.iter().fold(0.0f64, |m, s| m.max(s.abs()));
        axpy(1.0f64.min(2.0 / size.max(1e-12)), &gradient, &mut u);
        if size < 1e-6 {
            break;
        }
    }
    fill_hessian(link, var, labels, &u, &mut hessian);
    let factor = Factor::new(&hessian, q);
    let away: f64 = u.iter().zip(mean).map(|(u, m)| (u - m).powi(2)).sum();
    let mut log_evidence = -0.5 * away / var - 0.5 * (factor.log_determinant() + q as f64 * var.ln());
    let covariance = factor.inverse();
    let variance = (0..q).map(|c| covariance[c * q + c]).sum::<f64>() / q as f64;
    let mut cavity = Vec::with_capacity(labels.len() * (q + 2));
    for l in labels {
        let mut own = vec![0.0; q * q];
        link.information(&u, &l.intercepts, l.attenuation, &mut own);
        let rest: Vec<f64> = hessian.iter().zip(&own).map(|(h, o)| h - o).collect();
        let factor = Factor::new(&rest, q);
        log_evidence += link.log_likelihood(&u, &l.intercepts, l.attenuation, l.level, &mut d);
        let mut step = d.score.clone();
        factor.solve(&mut step);
        cavity.extend(u.iter().zip(&step).map(|(u, s)| u - s));
        let inverse = factor.inverse();
        cavity.push((0..q).map(|c| inverse[c * q + c]).sum::<f64>() / q as f64);
        cavity.push(0.0);
    }
    TextPosterior { mean: u, variance, cavity, log_evidence, scale: None }
}

fn fill_hessian(link: Link, var: f64, labels: &[ScoredLabel], u: &[f64], hessian: &mut [f64]) {
    let q = u.len();
    hessian.fill(0.0);
    for c in 0..q {
        hessian[c * q + c] = 1.0 / var;
    }
    for l in labels {
        link.information(u, &l.intercepts, l.attenuation, hessian);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choice_label_raises_its_score() {
        let link = Link { levels: 3, softmax: true, discrimination: false };
        let labels =
            [ScoredLabel { intercepts: vec![0.0; 3], discrimination: 1.0, attenuation: 1.0, level: 2 }];
        let posterior = fit(link, &[0.0; 3], 1.0, None, &labels, &Hermite::new());
        assert!(posterior.mean[2] > 0.2 && posterior.mean[0] < 0.0);
        assert!(posterior.variance < 1.0);
        // Without its only label the text returns close to its prior.
        assert!(posterior.cavity[..3].iter().all(|m| m.abs() < 0.15), "{:?}", posterior.cavity);
        assert!((posterior.cavity[3] - 1.0).abs() < 1e-9);
    }
}
