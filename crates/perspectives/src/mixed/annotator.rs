//! One annotator: the posterior of the random effects given that annotator's labels, with and without each of them.
//!
//! A single shift with few labels (a binary question) by quadrature, because a mode and its curvature are biased there (Breslow
//! and Lin 1995, Bias correction in generalised linear mixed models); all else by Fisher scoring (Laplace).

use crate::math::cholesky::{Factor, quadratic};
use crate::math::quadrature::Hermite;
use crate::math::{PI_8, attenuation, axpy, dot};
use crate::mixed::link::{Gradient, Link};
use crate::mixed::scalar_posterior::{ScoredLabel, integrate};
use serde::{Deserialize, Serialize};

/// Scoring steps at most; a warm start needs two or three.
const STEPS: usize = 25;
/// With more labels than this the posterior of a shift is as good as normal, and quadrature costs more than it gains.
const MAX_QUADRATURE_LABELS: usize = 60;

/// An annotator's labels and the posterior of the annotator's random effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnnotatorEffect {
    /// Posterior mean of random effects, then slopes.
    pub(crate) theta: Vec<f64>,
    /// Posterior covariance, row-major.
    pub(crate) covariance: Vec<f64>,
    /// (text, level), ordered by text.
    pub(crate) labels: Vec<(u32, u16)>,
    /// For every label the posterior without it: mean of `theta`, and the variance of what it adds to the score.
    pub(crate) cavity: Vec<f64>,
}

/// Posterior of one annotator's random effects and slopes.
#[derive(Clone, Debug)]
pub(crate) struct AnnotatorPosterior {
    pub(crate) theta: Vec<f64>,
    pub(crate) covariance: Vec<f64>,
    /// As [`AnnotatorEffect::cavity`].
    pub(crate) cavity: Vec<f64>,
    /// Logarithm of the labels' probability, the random effects integrated out.
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
    /// What the text's scale adds to the noise of the label.
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
    u: Vec<f64>,
    label_gradient: Gradient,
}

impl Scratch {
    fn new(link: Link) -> Self {
        Self {
            intercepts: vec![0.0; link.intercepts()],
            jacobian: vec![0.0; link.intercepts() * link.random_effects()],
            information: vec![0.0; link.intercepts() * link.intercepts()],
            u: vec![0.0; link.scores()],
            label_gradient: Gradient::default(),
        }
    }
}

/// Where the posterior is highest.
struct Mode {
    theta: Vec<f64>,
    /// Expected information there, the prior's precision included.
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

/// Mode of the posterior under the prior `N(mean, precision^-1)` and the inverse of the information there (Laplace),
/// starting from `start`.
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
    for _ in 0..STEPS {
        derivatives(link, fixed_effects, prior, labels, &theta, &mut gradient, &mut hessian, &mut scratch);
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
    derivatives(link, fixed_effects, prior, labels, &theta, &mut gradient, &mut hessian, &mut scratch);
    Mode { theta, information: hessian, log_posterior: value }
}

/// Every label taken out by one scoring step from the mode: `theta - C g` with `C` the inverse of the information of the others and
/// `g` the label's gradient, and the variance under `C` of what the annotator adds to this label's score.
fn cavities(link: Link, fixed_effects: &[f64], labels: &[LabelGivenText<'_>], mode: &Mode) -> Vec<f64> {
    let (n, d, width) = (link.intercepts(), link.random_effects(), mode.theta.len());
    let mut s = Scratch::new(link);
    link.intercepts_of(fixed_effects, &mode.theta[..d], &mut s.intercepts);
    link.jacobian(fixed_effects, &mode.theta[..d], &mut s.jacobian);
    let mut full = vec![0.0; n * width];
    let mut own = vec![0.0; width * width];
    let mut cavity = Vec::with_capacity(labels.len() * (width + 1));
    for label in labels {
        let k = place(link, label, &mode.theta, &mut s.u);
        link.log_likelihood(&s.u, &s.intercepts, k, label.level, &mut s.label_gradient);
        s.information.fill(0.0);
        link.information(&s.u, &s.intercepts, k, &mut s.information);
        own.fill(0.0);
        let mut step = vec![0.0; width];
        fill_rows(link, label, &mode.theta, (&s.u, &s.intercepts, k), &s.jacobian, &mut full);
        for j in 0..n {
            axpy(s.label_gradient.intercept[j], &full[j * width..(j + 1) * width], &mut step);
        }
        add_sandwich(&full, &s.information, n, width, &mut own);
        let rest: Vec<f64> = mode.information.iter().zip(&own).map(|(all, own)| all - own).collect();
        let factor = Factor::new(&rest, width);
        factor.solve(&mut step);
        cavity.extend(mode.theta.iter().zip(&step).map(|(t, s)| t - s));
        if link.discrimination {
            // What the annotator adds to the score, before any attenuation.
            let by = link.discrimination_of(&mode.theta) * label.u[0];
            full.iter_mut().skip(link.threshold_effects()).step_by(width).for_each(|f| *f = by);
        }
        let bounds = link.intercepts_of_level(label.level);
        let share = 1.0 / bounds.len() as f64;
        let variance =
            bounds.map(|j| share * factor.inverse_quadratic(&full[j * width..(j + 1) * width])).sum();
        cavity.push(variance);
    }
    cavity
}

/// The score as an annotator with `theta` meets it, and its attenuation by what is not known of the text.
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

/// Derivatives of each logit, before its attenuation `k`, by all random effects and slopes: intercepts x width, row-major. That by the
/// logarithm of the discrimination counts what it does to the attenuation too.
fn fill_rows(
    link: Link,
    label: &LabelGivenText<'_>,
    theta: &[f64],
    (u, intercepts, k): (&[f64], &[f64], f64),
    jacobian: &[f64],
    full: &mut [f64],
) {
    let (d, width) = (link.random_effects(), theta.len());
    for (j, row) in full.chunks_exact_mut(width).enumerate() {
        row[..d].copy_from_slice(&jacobian[j * d..(j + 1) * d]);
        row[d..].copy_from_slice(label.z);
        if link.discrimination {
            let a = link.discrimination_of(theta);
            let shrinks = PI_8 * a * a * label.variance * k * k;
            row[link.threshold_effects()] = a * label.u[0] - (u[0] + intercepts[j]) * shrinks;
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
    let (n, d, width) = (link.intercepts(), link.random_effects(), theta.len());
    link.intercepts_of(fixed_effects, &theta[..d], &mut s.intercepts);
    link.jacobian(fixed_effects, &theta[..d], &mut s.jacobian);
    hessian.copy_from_slice(precision);
    let away = away(theta, mean);
    for i in 0..width {
        gradient[i] = -dot(&precision[i * width..(i + 1) * width], &away);
    }
    let mut full = vec![0.0; n * width];
    for label in labels {
        let k = place(link, label, theta, &mut s.u);
        link.log_likelihood(&s.u, &s.intercepts, k, label.level, &mut s.label_gradient);
        s.information.fill(0.0);
        link.information(&s.u, &s.intercepts, k, &mut s.information);
        fill_rows(link, label, theta, (&s.u, &s.intercepts, k), &s.jacobian, &mut full);
        for j in 0..n {
            axpy(s.label_gradient.intercept[j], &full[j * width..(j + 1) * width], gradient);
        }
        add_sandwich(&full, &s.information, n, width, hessian);
    }
}

/// `out += J' I J`.
pub(super) fn add_sandwich(jacobian: &[f64], information: &[f64], n: usize, width: usize, out: &mut [f64]) {
    for j in 0..n {
        for k in 0..n {
            let w = information[j * n + k];
            if w == 0.0 {
                continue;
            }
            for a in 0..width {
                axpy(
                    w * jacobian[j * width + a],
                    &jacobian[k * width..(k + 1) * width],
                    &mut out[a * width..(a + 1) * width],
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_labels_a_person_is_the_prior() {
        let link = Link { levels: 2, softmax: false, discrimination: false };
        let (theta, covariance) = fit(link, &[0.0], &[0.5], &[], &[0.0], &[0.7]);
        assert!(theta[0].abs() < 1e-6);
        assert!((covariance[0] - 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_mode_has_no_slope() {
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
