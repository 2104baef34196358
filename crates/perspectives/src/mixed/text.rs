//! One text: the posterior of its scores given its labels, with and without each of them.

use crate::math::axpy;
use crate::math::cholesky::Factor;
use crate::mixed::link::{Gradient, Link};
use crate::mixed::quadrature::{Hermite, NODES};

/// Posterior of one text's scores.
#[derive(Clone, Debug)]
pub(crate) struct TextPosterior {
    /// q means.
    pub(crate) mean: Vec<f64>,
    /// Variance (mean over scores).
    pub(crate) variance: f64,
    /// Labels x (q means, one variance), each without that label.
    pub(crate) cavity: Vec<f64>,
}

/// One label given its annotator's random effects.
#[derive(Clone, Debug)]
pub(crate) struct LabelGivenAnnotator {
    pub(super) intercepts: Vec<f64>,
    pub(super) attenuation: f64,
    pub(super) level: u16,
}

/// The posterior for prior `N(prior_mean, prior_var)`.
pub(crate) fn fit(
    link: Link,
    prior_mean: &[f64],
    prior_var: f64,
    labels: &[LabelGivenAnnotator],
    rule: &Hermite,
) -> TextPosterior {
    if labels.is_empty() {
        return TextPosterior { mean: prior_mean.to_vec(), variance: prior_var, cavity: Vec::new() };
    }
    if link.softmax {
        laplace(link, prior_mean, prior_var, labels)
    } else {
        integrate(link, prior_mean[0], prior_var, labels, rule)
    }
}

/// One score: exact moments by adaptive Gauss-Hermite quadrature (Liu and Pierce 1994, A note on Gauss-Hermite
/// quadrature), centred on the mode.
fn integrate(
    link: Link,
    mean: f64,
    var: f64,
    labels: &[LabelGivenAnnotator],
    rule: &Hermite,
) -> TextPosterior {
    let (mode, sd) = mode(link, mean, var, labels);
    let nodes: [f64; NODES] = std::array::from_fn(|g| mode + sd * rule.nodes[g]);
    // Prior over proposal, times the rule's weight; likelihoods join in logarithms, for texts with very many labels.
    let mut total: [f64; NODES] = std::array::from_fn(|g| {
        rule.weights[g].ln() + 0.5 * rule.nodes[g].powi(2) - 0.5 * (nodes[g] - mean).powi(2) / var
    });
    let logs: Vec<[f64; NODES]> = labels
        .iter()
        .map(|l| {
            std::array::from_fn(|g| link.likelihood(nodes[g], &l.intercepts, l.attenuation, l.level).ln())
        })
        .collect();
    for log in &logs {
        axpy(1.0, log, &mut total);
    }
    let (posterior_mean, variance) = moments(&nodes, &total);
    let mut cavity = Vec::with_capacity(labels.len() * 2);
    for log in &logs {
        let without: [f64; NODES] = std::array::from_fn(|g| total[g] - log[g]);
        let (m, v) = if labels.len() == 1 { (mean, var) } else { moments(&nodes, &without) };
        cavity.extend([m, v.max(0.5 * variance)]);
    }
    TextPosterior { mean: vec![posterior_mean], variance, cavity }
}

fn moments(nodes: &[f64; NODES], logs: &[f64; NODES]) -> (f64, f64) {
    let top = logs.iter().copied().fold(f64::MIN, f64::max);
    let (mut w, mut m, mut s) = (0.0, 0.0, 0.0);
    for (x, log) in nodes.iter().zip(logs) {
        let p = (log - top).exp();
        w += p;
        m += p * x;
        s += p * x * x;
    }
    m /= w;
    (m, (s / w - m * m).max(1e-9))
}

/// Mode and its standard deviation (Laplace) of one score.
fn mode(link: Link, mean: f64, var: f64, labels: &[LabelGivenAnnotator]) -> (f64, f64) {
    let mut d = Gradient::default();
    let mut information = vec![0.0; link.intercepts() * link.intercepts()];
    let mut u = mean;
    let mut sd = var.sqrt();
    for _ in 0..8 {
        let mut gradient = -(u - mean) / var;
        information.fill(0.0);
        for l in labels {
            link.log_likelihood(&[u], &l.intercepts, l.attenuation, l.level, &mut d);
            gradient += d.score[0];
            link.information(&[u], &l.intercepts, l.attenuation, &mut information);
        }
        let precision = 1.0 / var + information.iter().sum::<f64>();
        sd = precision.sqrt().recip();
        let step = (gradient / precision).clamp(-3.0 * sd - 1.0, 3.0 * sd + 1.0);
        u += step;
        if step.abs() < 1e-2 * sd {
            break; // quadrature corrects what is left
        }
    }
    (u, sd)
}

/// Several scores: mode and curvature (Laplace); a label is taken out to first order.
fn laplace(link: Link, mean: &[f64], var: f64, labels: &[LabelGivenAnnotator]) -> TextPosterior {
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
    let covariance = Factor::new(&hessian, q).inverse();
    let variance = (0..q).map(|c| covariance[c * q + c]).sum::<f64>() / q as f64;
    let mut cavity = Vec::with_capacity(labels.len() * (q + 1));
    for l in labels {
        let mut own = vec![0.0; q * q];
        link.information(&u, &l.intercepts, l.attenuation, &mut own);
        let rest: Vec<f64> = hessian.iter().zip(&own).map(|(h, o)| h - o).collect();
        let factor = Factor::new(&rest, q);
        link.log_likelihood(&u, &l.intercepts, l.attenuation, l.level, &mut d);
        let mut step = d.score.clone();
        factor.solve(&mut step);
        cavity.extend(u.iter().zip(&step).map(|(u, s)| u - s));
        let inverse = factor.inverse();
        cavity.push((0..q).map(|c| inverse[c * q + c]).sum::<f64>() / q as f64);
    }
    TextPosterior { mean: u, variance, cavity }
}

fn fill_hessian(link: Link, var: f64, labels: &[LabelGivenAnnotator], u: &[f64], hessian: &mut [f64]) {
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

    fn predictor(intercept: f64, level: u16) -> LabelGivenAnnotator {
        LabelGivenAnnotator { intercepts: vec![intercept], attenuation: 1.0, level }
    }

    /// A plain sum over a fine grid.
    fn brute(mean: f64, var: f64, labels: &[LabelGivenAnnotator]) -> (f64, f64) {
        let link = Link { levels: 2, softmax: false };
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
        let link = Link { levels: 2, softmax: false };
        let rule = Hermite::new();
        for n in [1, 2, 5, 60] {
            let labels: Vec<LabelGivenAnnotator> =
                (0..n).map(|i| predictor(0.3 * f64::from(i % 3) - 0.5, u16::from(i % 4 != 0))).collect();
            let posterior = fit(link, &[-0.4], 1.3, &labels, &rule);
            let (m, v) = brute(-0.4, 1.3, &labels);
            assert!((posterior.mean[0] - m).abs() < 1e-4, "{n}: {} {m}", posterior.mean[0]);
            assert!((posterior.variance - v).abs() < 1e-4, "{n}: {} {v}", posterior.variance);
            let (m, v) = brute(-0.4, 1.3, &labels[1..]);
            assert!((posterior.cavity[0] - m).abs() < 1e-3, "{n}: {} {m}", posterior.cavity[0]);
            assert!((posterior.cavity[1] - v).abs() < 2e-3, "{n}: {} {v}", posterior.cavity[1]);
        }
    }

    #[test]
    fn a_choice_label_lifts_its_own_score() {
        let link = Link { levels: 3, softmax: true };
        let labels = [LabelGivenAnnotator { intercepts: vec![0.0; 3], attenuation: 1.0, level: 2 }];
        let posterior = fit(link, &[0.0; 3], 1.0, &labels, &Hermite::new());
        assert!(posterior.mean[2] > 0.2 && posterior.mean[0] < 0.0);
        assert!(posterior.variance < 1.0);
        // Without its only label the text is back near its prior.
        assert!(posterior.cavity[..3].iter().all(|m| m.abs() < 0.15), "{:?}", posterior.cavity);
        assert!((posterior.cavity[3] - 1.0).abs() < 1e-9);
    }
}
