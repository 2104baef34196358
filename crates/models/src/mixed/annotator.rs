//! One annotator: the posterior of the random effects given all of the annotator's labels, and given all but
//! one of them.
//!
//! A single shift with few labels (a binary question) is integrated by quadrature, because a mode and its
//! curvature are biased there (Breslow and Lin 1995, Bias correction in generalised linear mixed models);
//! everything else uses Fisher scoring (Laplace).

use crate::link::{Gradient, Link};
use crate::mixed::scalar_posterior::{ScoredLabel, integrate};
use dissensus_stats::math::cholesky::{Factor, quadratic};
use dissensus_stats::math::quadrature::Hermite;
use dissensus_stats::math::{PI_8, attenuation, axpy, dot};
use serde::{Deserialize, Serialize};

/// Largest number of scoring steps; a warm start needs two or three.
const STEPS: usize = 25;
/// Largest number of labels for quadrature: with more, the posterior of a shift is close to normal, and
/// quadrature costs more than it gains.
const MAX_QUADRATURE_LABELS: usize = 60;

/// An annotator's labels and the posterior of the annotator's random effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnnotatorEffect {
    /// Posterior mean of random effects, then slopes.
    pub theta: Vec<f64>,
    /// Posterior covariance, row-major.
    pub(crate) covariance: Vec<f64>,
    /// (text, level), ordered by text.
    pub(crate) labels: Vec<(u32, u16)>,
    /// For every label, the posterior without it: mean of `theta`, and the variance of its contribution to
    /// the score.
    pub(crate) cavity: Vec<f64>,
}

/// Posterior of one annotator's random effects and slopes.
#[derive(Clone, Debug)]
pub(crate) struct AnnotatorPosterior {
    pub(crate) theta: Vec<f64>,
    pub(crate) covariance: Vec<f64>,
    /// Leave-one-out posteriors, laid out like [`AnnotatorEffect::cavity`].
    pub(crate) cavity: Vec<f64>,
    /// Log probability of the labels, with the random effects integrated out.
    pub(crate) log_evidence: f64,
}

impl AnnotatorEffect {
    pub(crate) fn average(link: Link, slopes: usize) -> Self {
        let width = link.random_effects() + slopes;
        Self {
            theta: vec![0.0; width],
            covariance: vec![0.0; width * width],
            labels: Vec::new(),
            cavity: Vec::new(),
        }
    }
}

/// One label given its text's posterior from the other annotators' labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelGivenText<'a> {
    /// Posterior mean of the text's scores without this label.
    pub(crate) u: &'a [f64],
    /// Posterior variance of these scores.
    pub(crate) variance: f64,
    /// Noise that the text's scale adds to the label.
    pub(crate) noise: f64,
    /// Slope features.
    pub(crate) z: &'a [f64],
    pub(crate) level: u16,
}

/// Working memory of one fit.
struct Scratch {
    intercepts: Vec<f64>,
    jacobian: Vec<f64>,
    information: Vec<f64>,
    sums: Vec<f64>,
    /// Derivatives of the last label's logits, filled by [`fill_rows`].
    rows: Vec<f64>,
    u: Vec<f64>,
    label_gradient: Gradient,
}

impl Scratch {
    fn new(link: Link) -> Self {
        Self {
            intercepts: vec![0.0; link.intercepts()],
            jacobian: vec![0.0; link.intercepts() * link.random_effects()],
            information: vec![0.0; link.intercepts() * link.intercepts()],
            sums: vec![0.0; link.random_effects()],
            rows: vec![0.0; link.intercepts() * link.random_effects()],
            u: vec![0.0; link.scores()],
            label_gradient: Gradient::default(),
        }
    }

    /// Adds the contribution of one label at `theta`, with its intercepts and Jacobian already filled: the
    /// gradient of its log-likelihood with respect to random effects and slopes, and its expected information
    /// about them.
    fn add_label(
        &mut self,
        link: Link,
        label: &LabelGivenText<'_>,
        theta: &[f64],
        gradient: &mut [f64],
        information: &mut [f64],
    ) {
        let k = place(link, label, theta, &mut self.u);
        self.information.fill(0.0);
        link.log_likelihood_and_information(
            &self.u,
            &self.intercepts,
            k,
            label.level,
            &mut self.label_gradient,
            &mut self.information,
        );
        fill_rows(link, label, theta, (&self.u, &self.intercepts, k), &self.jacobian, &mut self.rows);
        add_gradient(&self.rows, label.z, &self.label_gradient.intercept, gradient);
        add_information(&self.rows, label.z, &self.information, &mut self.sums, information);
    }
}

/// The mode of the posterior.
struct Mode {
    theta: Vec<f64>,
    /// Expected information at the mode, including the prior's precision.
    information: Vec<f64>,
    log_posterior: f64,
}

/// The posterior under the prior `N(mean, precision^-1)`; scoring starts from `start`.
pub(crate) fn posterior(
    link: Link,
    fixed_effects: &[f64],
    (mean, precision): (&[f64], &[f64]),
    labels: &[LabelGivenText<'_>],
    start: &[f64],
    rule: &Hermite,
) -> AnnotatorPosterior {
    let width = start.len();
    if width == 1 && !link.softmax && labels.len() <= MAX_QUADRATURE_LABELS {
        let given: Vec<ScoredLabel> = labels
            .iter()
            .map(|l| ScoredLabel {
                intercepts: vec![fixed_effects[0] + l.u[0]],
                discrimination: 1.0,
                attenuation: attenuation(l.variance + l.noise),
                level: l.level,
            })
            .collect();
        let shift = integrate(link, mean[0], 1.0 / precision[0], &given, rule);
        return AnnotatorPosterior {
            theta: vec![shift.mean],
            covariance: vec![shift.variance],
            cavity: shift.cavity,
            log_evidence: shift.log_evidence,
        };
    }
    let mode = mode(link, fixed_effects, (mean, precision), labels, start);
    let factor = Factor::new(&mode.information, width);
    AnnotatorPosterior {
        cavity: cavities(link, fixed_effects, labels, &mode),
        log_evidence: mode.log_posterior
            + 0.5 * (Factor::new(precision, width).log_determinant() - factor.log_determinant()),
        covariance: factor.inverse(),
        theta: mode.theta,
    }
}

/// Finds the mode of the posterior under the prior `N(mean, precision^-1)`, starting from `start`, and the
/// inverse of the information at the mode (Laplace).
pub(crate) fn fit(
    link: Link,
    fixed_effects: &[f64],
    precision: &[f64],
    labels: &[LabelGivenText<'_>],
    mean: &[f64],
    start: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let mode = mode(link, fixed_effects, (mean, precision), labels, start);
    let covariance = Factor::new(&mode.information, start.len()).inverse();
    (mode.theta, covariance)
}

fn mode(
    link: Link,
    fixed_effects: &[f64],
    prior: (&[f64], &[f64]),
    labels: &[LabelGivenText<'_>],
    start: &[f64],
) -> Mode {
    let width = start.len();
    let mut scratch = Scratch::new(link);
    let mut theta = start.to_vec();
    let mut value = log_posterior(link, fixed_effects, prior, labels, &theta, &mut scratch);
    let mut gradient = vec![0.0; width];
    let mut hessian = vec![0.0; width * width];
    for steps in 0.. {
        derivatives(link, fixed_effects, prior, labels, &theta, &mut gradient, &mut hessian, &mut scratch);
        if steps == STEPS {
            break;
        }
        let mut step = gradient.clone();
        Factor::new(&hessian, width).solve(&mut step);
        let promise = dot(&step, &gradient);
        if promise < 1e-9 {
            break;
        }
        let mut length = 1.0;
        let mut moved = false;
        for _ in 0..12 {
            let mut next = theta.clone();
            axpy(length, &step, &mut next);
            let reached = log_posterior(link, fixed_effects, prior, labels, &next, &mut scratch);
            if reached > value {
                moved = true;
                theta = next;
                value = reached;
                break;
            }
            length *= 0.5;
        }
        if !moved {
            break;
        }
    }
    Mode { theta, information: hessian, log_posterior: value }
}

/// Leave-one-out posteriors by one scoring step from the mode: `theta - C g`, where `C` is the inverse of the
/// information of the other labels and `g` the gradient of the label left out, and the variance under `C` of
/// the annotator's contribution to this label's score.
fn cavities(link: Link, fixed_effects: &[f64], labels: &[LabelGivenText<'_>], mode: &Mode) -> Vec<f64> {
    let (d, width) = (link.random_effects(), mode.theta.len());
    let mut s = Scratch::new(link);
    link.intercepts_of(fixed_effects, &mode.theta[..d], &mut s.intercepts);
    link.jacobian(fixed_effects, &mode.theta[..d], &mut s.jacobian);
    let mut own = vec![0.0; width * width];
    let mut direction = vec![0.0; width];
    let mut cavity = Vec::with_capacity(labels.len() * (width + 1));
    for label in labels {
        own.fill(0.0);
        let mut step = vec![0.0; width];
        s.add_label(link, label, &mode.theta, &mut step, &mut own);
        let rest: Vec<f64> = mode.information.iter().zip(&own).map(|(all, own)| all - own).collect();
        let factor = Factor::new(&rest, width);
        factor.solve(&mut step);
        cavity.extend(mode.theta.iter().zip(&step).map(|(t, s)| t - s));
        if link.discrimination {
            // Contribution of the annotator to the score, before any attenuation.
            let by = link.discrimination_of(&mode.theta) * label.u[0];
            s.rows.iter_mut().skip(link.threshold_effects()).step_by(d).for_each(|f| *f = by);
        }
        direction[d..].copy_from_slice(label.z);
        let bounds = link.intercepts_of_level(label.level);
        let share = 1.0 / bounds.len() as f64;
        let mut variance = 0.0;
        for j in bounds {
            direction[..d].copy_from_slice(&s.rows[j * d..(j + 1) * d]);
            variance += share * factor.inverse_quadratic(&direction);
        }
        cavity.push(variance);
    }
    cavity
}

/// The score scaled for an annotator with `theta`, and its attenuation by the uncertainty of the text.
fn place(link: Link, label: &LabelGivenText<'_>, theta: &[f64], u: &mut [f64]) -> f64 {
    u.copy_from_slice(label.u);
    if link.softmax {
        return attenuation(label.variance + label.noise);
    }
    let discrimination = link.discrimination_of(theta);
    u[0] *= discrimination;
    if !label.z.is_empty() {
        u[0] += dot(label.z, &theta[link.random_effects()..]);
    }
    attenuation(discrimination * discrimination * label.variance + label.noise)
}

/// Fills `rows` with the derivatives of each logit, before its attenuation `k`, with respect to all random
/// effects: intercepts x random effects, row-major. Derivatives with respect to slopes are the label's
/// features, identical for each logit. The derivative with respect to the logarithm of the discrimination
/// includes its effect on the attenuation.
fn fill_rows(
    link: Link,
    label: &LabelGivenText<'_>,
    theta: &[f64],
    (u, intercepts, k): (&[f64], &[f64], f64),
    jacobian: &[f64],
    rows: &mut [f64],
) {
    rows.copy_from_slice(jacobian);
    if link.discrimination {
        let a = link.discrimination_of(theta);
        let shrinks = PI_8 * a * a * label.variance * k * k;
        for (row, o) in rows.chunks_exact_mut(link.random_effects()).zip(intercepts) {
            row[link.threshold_effects()] = a * label.u[0] - (u[0] + o) * shrinks;
        }
    }
}

fn log_posterior(
    link: Link,
    fixed_effects: &[f64],
    (mean, precision): (&[f64], &[f64]),
    labels: &[LabelGivenText<'_>],
    theta: &[f64],
    s: &mut Scratch,
) -> f64 {
    link.intercepts_of(fixed_effects, &theta[..link.random_effects()], &mut s.intercepts);
    let mut value = -0.5 * quadratic(precision, &away(theta, mean));
    for label in labels {
        let k = place(link, label, theta, &mut s.u);
        value += link.log_likelihood(&s.u, &s.intercepts, k, label.level, &mut s.label_gradient);
    }
    value
}

/// Difference from the prior mean.
fn away(theta: &[f64], mean: &[f64]) -> Vec<f64> {
    theta.iter().zip(mean).map(|(t, m)| t - m).collect()
}

/// Gradient of the log posterior and its expected information.
#[allow(clippy::too_many_arguments)] // the parts of one posterior, split so that buffers are reused
fn derivatives(
    link: Link,
    fixed_effects: &[f64],
    (mean, precision): (&[f64], &[f64]),
    labels: &[LabelGivenText<'_>],
    theta: &[f64],
    gradient: &mut [f64],
    hessian: &mut [f64],
    s: &mut Scratch,
) {
    let (d, width) = (link.random_effects(), theta.len());
    link.intercepts_of(fixed_effects, &theta[..d], &mut s.intercepts);
    link.jacobian(fixed_effects, &theta[..d], &mut s.jacobian);
    hessian.copy_from_slice(precision);
    let away = away(theta, mean);
    for i in 0..width {
        gradient[i] = -dot(&precision[i * width..(i + 1) * width], &away);
    }
    for label in labels {
        s.add_label(link, label, theta, gradient, hessian);
    }
}

/// `out += J' g` where each row of `J` is a row of `rows` and then `z`.
fn add_gradient(rows: &[f64], z: &[f64], by_intercept: &[f64], out: &mut [f64]) {
    let (own, slopes) = out.split_at_mut(out.len() - z.len());
    for (g, row) in by_intercept.iter().zip(rows.chunks_exact(own.len())) {
        axpy(*g, row, own);
    }
    axpy(by_intercept.iter().sum(), z, slopes);
}

/// `out += J' I J`, with `J` as in `fill_rows` and `I` symmetric. Derivatives with respect to slopes are
/// identical in all rows, so that slopes only need the sums over the rows of `I`. `sums` has room for a row
/// of `rows`.
pub(super) fn add_information(
    rows: &[f64],
    z: &[f64],
    information: &[f64],
    sums: &mut [f64],
    out: &mut [f64],
) {
    let (n, d) = (rows.len() / sums.len(), sums.len());
    let width = d + z.len();
    sums.fill(0.0);
    let mut all = 0.0;
    for (row, of_row) in rows.chunks_exact(d).zip(information.chunks_exact(n)) {
        let sum: f64 = of_row.iter().sum();
        all += sum;
        axpy(sum, row, sums);
        for (other, w) in rows.chunks_exact(d).zip(of_row).filter(|(_, w)| **w != 0.0) {
            for (a, x) in row.iter().enumerate() {
                axpy(w * x, other, &mut out[a * width..a * width + d]);
            }
        }
    }
    if z.is_empty() {
        return;
    }
    let (own, slopes) = out.split_at_mut(d * width);
    for (sum, row) in sums.iter().zip(own.chunks_exact_mut(width)) {
        axpy(*sum, z, &mut row[d..]);
    }
    for (x, row) in z.iter().zip(slopes.chunks_exact_mut(width)) {
        axpy(*x, sums, &mut row[..d]);
        axpy(all * x, z, &mut row[d..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_includes_slope_columns() {
        let (n, d) = (3, 2);
        let rows = [0.3, -1.0, 0.7, 0.2, -0.4, 0.9];
        let information = [2.0, -0.5, 0.0, -0.5, 1.5, -0.3, 0.0, -0.3, 1.1];
        for z in [&[][..], &[0.6, -0.8, 1.7]] {
            let width = d + z.len();
            let column = |j: usize, a: usize| if a < d { rows[j * d + a] } else { z[a - d] };
            let mut out = vec![1.0; width * width];
            add_information(&rows, z, &information, &mut [0.0; 2], &mut out);
            let mut gradient = vec![1.0; width];
            add_gradient(&rows, z, &[0.5, -2.0, 0.1], &mut gradient);
            for a in 0..width {
                let slope: f64 = (0..n).map(|j| [0.5, -2.0, 0.1][j] * column(j, a)).sum();
                assert!((gradient[a] - 1.0 - slope).abs() < 1e-12);
                for b in 0..width {
                    let pairs = (0..n * n).map(|at| (at / n, at % n));
                    let sum: f64 =
                        pairs.map(|(j, k)| information[j * n + k] * column(j, a) * column(k, b)).sum();
                    assert!((out[a * width + b] - 1.0 - sum).abs() < 1e-12, "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn annotator_without_labels_has_the_prior() {
        let link = Link { levels: 2, softmax: false, discrimination: false };
        let (theta, covariance) = fit(link, &[0.0], &[0.5], &[], &[0.0], &[0.7]);
        assert!(theta[0].abs() < 1e-6);
        assert!((covariance[0] - 2.0).abs() < 1e-9);
    }

    #[test]
    fn gradient_is_zero_at_the_mode() {
        let link = Link { levels: 4, softmax: false, discrimination: false };
        let fixed_effects = [0.5, 0.1, -0.2];
        let u: Vec<[f64; 1]> = (0..12).map(|i| [f64::from(i) * 0.3 - 1.5]).collect();
        let labels: Vec<LabelGivenText<'_>> = u
            .iter()
            .enumerate()
            .map(|(i, u)| LabelGivenText { u, variance: 0.6, noise: 0.0, z: &[], level: [0, 3, 1, 2][i % 4] })
            .collect();
        let precision = [1.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 4.0];
        let (theta, _) = fit(link, &fixed_effects, &precision, &labels, &[0.0; 3], &[0.0; 3]);
        let mut s = Scratch::new(link);
        let best = log_posterior(link, &fixed_effects, (&[0.0; 3], &precision), &labels, &theta, &mut s);
        for i in 0..3 {
            for h in [-1e-3, 1e-3] {
                let mut near = theta.clone();
                near[i] += h;
                assert!(
                    log_posterior(link, &fixed_effects, (&[0.0; 3], &precision), &labels, &near, &mut s)
                        < best
                );
            }
        }
    }
}
