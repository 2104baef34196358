//! How scores become probabilities of levels: cumulative logits (binary, ordinal) or softmax (choice).
//!
//! A text has `q` scores `u` (one for cumulative links, one per level for softmax). An annotator has `m` link
//! parameters `phi`:
//! - cumulative: `phi_0` shifts all levels (severity), `phi_1..` are logarithms of the gaps between
//!   thresholds. They give K - 1 intercepts `o_1 = phi_0`, `o_j = o_{j-1} - exp(phi_{j-1})`, and
//!   `P(y >= j) = sigma(u + o_j)` (McCullagh 1980, Regression models for ordinal data). Binary is the case K
//!   = 2.
//! - softmax: one intercept per level, `P(y = c)` proportional to `exp(u_c + phi_c)`.

use dissensus_stats::data::Target;
use dissensus_stats::math::sigmoid;
use serde::{Deserialize, Serialize};

/// Lower bound of probabilities in a likelihood.
const FLOOR: f64 = 1e-12;
/// Largest number of ordinal levels with free thresholds; above, each annotator has a shift and one common
/// stretch of all gaps.
const MAX_FREE_THRESHOLDS: usize = 8;

/// Bound of the logarithms of discriminations.
const MAX_LOG_DISCRIMINATION: f64 = 3.0;

/// Precision of the weak prior of link parameters around the observed shares, so that one-class data give
/// finite estimates.
pub(crate) const INTERCEPT_PRECISION: f64 = 0.05;

/// The link of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub(crate) levels: usize,
    pub softmax: bool,
    /// Whether annotators have a discrimination of their own (the slope of the graded response model;
    /// Samejima 1969): their scores are multiplied by `exp` of the last random effect. Never with softmax.
    pub(crate) discrimination: bool,
}

/// Derivatives of one label's log-likelihood.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gradient {
    /// With respect to the q scores.
    pub(crate) score: Vec<f64>,
    /// With respect to the intercepts.
    pub(crate) intercept: Vec<f64>,
}

impl Link {
    pub fn new(target: Target) -> Self {
        Self { levels: target.levels, softmax: !target.kind.is_ordered(), discrimination: false }
    }

    /// Number of scores of a text.
    pub fn scores(self) -> usize {
        if self.softmax { self.levels } else { 1 }
    }

    /// Number of intercepts, and of full link parameters.
    pub fn intercepts(self) -> usize {
        if self.softmax { self.levels } else { self.levels - 1 }
    }

    /// Number of random effects that an annotator may have.
    pub fn random_effects(self) -> usize {
        self.threshold_effects() + usize::from(self.discrimination)
    }

    /// Number of random effects that move intercepts away from the average link parameters.
    pub(crate) fn threshold_effects(self) -> usize {
        if self.softmax || self.intercepts() <= MAX_FREE_THRESHOLDS { self.intercepts() } else { 2 }
    }

    /// The random effect that is added to link parameter `parameter`.
    #[inline]
    pub fn random_effect_of(self, parameter: usize) -> usize {
        parameter.min(self.threshold_effects() - 1)
    }

    /// Factor of the scores for an annotator with these random effects.
    pub(crate) fn discrimination_of(self, theta: &[f64]) -> f64 {
        if !self.discrimination {
            return 1.0;
        }
        theta
            .get(self.threshold_effects())
            .map_or(1.0, |log| log.clamp(-MAX_LOG_DISCRIMINATION, MAX_LOG_DISCRIMINATION).exp())
    }

    /// The intercepts that a level's probability depends on most: the bounds of the level, for softmax all.
    pub(crate) fn intercepts_of_level(self, level: u16) -> std::ops::Range<usize> {
        let y = usize::from(level);
        if self.softmax { 0..self.intercepts() } else { y.saturating_sub(1)..(y + 1).min(self.intercepts()) }
    }

    /// Derivative of every intercept with respect to every link parameter, intercepts x intercepts,
    /// row-major.
    pub(crate) fn parameter_jacobian(self, fixed_effects: &[f64], theta: &[f64], out: &mut [f64]) {
        let n = self.intercepts();
        out.fill(0.0);
        for j in 0..n {
            if self.softmax {
                out[j * n + j] = 1.0;
                continue;
            }
            out[j * n] = 1.0;
            for i in 1..=j {
                let own = theta.get(self.random_effect_of(i)).copied().unwrap_or(0.0);
                out[j * n + i] = -(fixed_effects[i] + own).min(20.0).exp();
            }
        }
    }

    /// Intercepts of an annotator who deviates by `theta` from `fixed effects`.
    pub fn intercepts_of(self, fixed_effects: &[f64], theta: &[f64], out: &mut [f64]) {
        let phi = |i: usize| fixed_effects[i] + theta.get(self.random_effect_of(i)).copied().unwrap_or(0.0);
        if self.softmax {
            for (i, o) in out.iter_mut().enumerate() {
                *o = phi(i);
            }
            return;
        }
        let mut at = phi(0);
        for (i, o) in out.iter_mut().enumerate() {
            if i > 0 {
                at -= phi(i).min(20.0).exp();
            }
            *o = at;
        }
    }

    /// Derivative of every intercept with respect to every random effect: intercepts x random effects,
    /// row-major.
    pub(crate) fn jacobian(self, fixed_effects: &[f64], theta: &[f64], out: &mut [f64]) {
        let width = self.random_effects();
        out.fill(0.0);
        for j in 0..self.intercepts() {
            if self.softmax {
                out[j * width + j] = 1.0;
                continue;
            }
            if j > 0 {
                let (before, row) = out.split_at_mut(j * width);
                row[..width].copy_from_slice(&before[(j - 1) * width..]);
                let d = self.random_effect_of(j);
                row[d] -= (fixed_effects[j] + theta.get(d).copied().unwrap_or(0.0)).min(20.0).exp();
            } else {
                out[0] = 1.0;
            }
        }
    }

    /// Probabilities of all levels where scores are attenuated by `k`. `out` has K entries and sums to 1.
    pub fn probabilities(self, u: &[f64], intercepts: &[f64], k: f64, out: &mut [f64]) {
        if self.softmax {
            let top = u.iter().zip(intercepts).map(|(u, o)| k * (u + o)).fold(f64::MIN, f64::max);
            let mut sum = 0.0;
            for ((p, u), o) in out.iter_mut().zip(u).zip(intercepts) {
                *p = (k * (u + o) - top).exp();
                sum += *p;
            }
            out.iter_mut().for_each(|p| *p /= sum);
            return;
        }
        let mut above = 1.0;
        for (j, o) in intercepts.iter().enumerate() {
            let next = sigmoid(k * (u[0] + o)).min(above);
            out[j] = above - next;
            above = next;
        }
        out[intercepts.len()] = above;
    }

    /// Log-likelihood of `level` and its derivatives with respect to the scores and the intercepts.
    pub(crate) fn log_likelihood(
        self,
        u: &[f64],
        intercepts: &[f64],
        k: f64,
        level: u16,
        d: &mut Gradient,
    ) -> f64 {
        let y = usize::from(level);
        d.score.resize(self.scores(), 0.0);
        d.intercept.resize(self.intercepts(), 0.0);
        if self.softmax {
            self.probabilities(u, intercepts, k, &mut d.intercept);
            let p = d.intercept[y].max(FLOOR);
            for (c, g) in d.intercept.iter_mut().enumerate() {
                *g = k * (f64::from(u8::from(c == y)) - *g);
            }
            d.score.copy_from_slice(&d.intercept);
            return p.ln();
        }
        let [upper, lower] = Logistic::bounds(u[0], intercepts, k, y);
        d.of_cumulative(k, y, upper, lower)
    }

    /// [`Link::log_likelihood`] and [`Link::information`] together, evaluating every logistic function once.
    pub(crate) fn log_likelihood_and_information(
        self,
        u: &[f64],
        intercepts: &[f64],
        k: f64,
        level: u16,
        d: &mut Gradient,
        out: &mut [f64],
    ) -> f64 {
        if self.softmax {
            self.information(u, intercepts, k, out);
            return self.log_likelihood(u, intercepts, k, level, d);
        }
        let y = usize::from(level);
        d.score.resize(self.scores(), 0.0);
        d.intercept.resize(self.intercepts(), 0.0);
        let (mut upper, mut lower) = (None, None);
        cumulative_information(u[0], intercepts, k, out, |j, at| {
            if j + 1 == y {
                upper = Some(at);
            } else if j == y {
                lower = Some(at);
            }
        });
        d.of_cumulative(k, y, upper, lower)
    }

    /// Probability of `level` only; cheaper than [`Link::probabilities`] for cumulative links.
    pub(crate) fn likelihood(self, u: f64, intercepts: &[f64], k: f64, level: u16) -> f64 {
        let [upper, lower] = Logistic::bounds(u, intercepts, k, usize::from(level));
        between(upper, lower).max(FLOOR)
    }

    /// Adds the expected (Fisher) information about the intercepts in one label, intercepts x intercepts, to
    /// `out`. The information about a common score is the sum of all its entries (cumulative) or the matrix
    /// itself (softmax).
    pub(crate) fn information(self, u: &[f64], intercepts: &[f64], k: f64, out: &mut [f64]) {
        if !self.softmax {
            cumulative_information(u[0], intercepts, k, out, |_, _| ());
            return;
        }
        let n = self.intercepts();
        let mut p = vec![0.0; self.levels];
        self.probabilities(u, intercepts, k, &mut p);
        for i in 0..n {
            for j in 0..n {
                out[i * n + j] += k * k * (p[i] * f64::from(u8::from(i == j)) - p[i] * p[j]);
            }
        }
    }

    /// Derivative of one label's log-likelihood with respect to the score, and the expected information about
    /// the score in one label, for cumulative links: the sum of all entries of [`Link::information`].
    pub(crate) fn score_derivatives(self, u: f64, intercepts: &[f64], k: f64, level: u16) -> (f64, f64) {
        let y = usize::from(level);
        let (mut above, mut density_above, mut information) = (1.0, 0.0, 0.0);
        let (mut upper, mut lower) = (None, None);
        for (j, o) in intercepts.iter().enumerate() {
            let at = Logistic::at(k * (u + o));
            let density = k * at.density();
            information += (density_above - density).powi(2) / (above - at.value).max(FLOOR);
            (above, density_above) = (at.value, density);
            if j + 1 == y {
                upper = Some(at);
            } else if j == y {
                lower = Some(at);
            }
        }
        information += density_above * density_above / above.max(FLOOR);
        let density = |at: Option<Logistic>| at.map_or(0.0, Logistic::density);
        (k * (density(upper) - density(lower)) / between(upper, lower).max(FLOOR), information)
    }

    /// Link parameters that reproduce the smoothed shares of the levels in `counts` (one pseudo-label spread
    /// evenly).
    pub fn fixed_effects_from(self, counts: &[f64]) -> Vec<f64> {
        let total: f64 = counts.iter().sum::<f64>() + 1.0;
        let share: Vec<f64> = counts.iter().map(|c| (c + 1.0 / self.levels as f64) / total).collect();
        if self.softmax {
            let mean = share.iter().map(|s| s.ln()).sum::<f64>() / self.levels as f64;
            return share.iter().map(|s| s.ln() - mean).collect();
        }
        let mut above = 1.0;
        let mut logits = Vec::with_capacity(self.levels - 1);
        for s in &share[..self.levels - 1] {
            above -= s;
            let a = above.clamp(1e-9, 1.0 - 1e-9);
            logits.push((a / (1.0 - a)).ln());
        }
        let mut fixed_effects = vec![logits[0]];
        fixed_effects.extend(logits.windows(2).map(|w| (w[0] - w[1]).max(1e-6).ln()));
        fixed_effects
    }
}

impl Gradient {
    /// Derivatives for a level `y` of a cumulative link, between these two of its curves; returns the
    /// log-likelihood.
    fn of_cumulative(&mut self, k: f64, y: usize, upper: Option<Logistic>, lower: Option<Logistic>) -> f64 {
        let p = between(upper, lower).max(FLOOR);
        self.intercept.fill(0.0);
        let (mut above, mut below) = (0.0, 0.0);
        if let Some(at) = upper {
            above = at.density();
            self.intercept[y - 1] = k * above / p;
        }
        if let Some(at) = lower {
            below = at.density();
            self.intercept[y] = -k * below / p;
        }
        self.score[0] = k * (above - below) / p;
        p.ln()
    }
}

/// The logistic function at one point.
#[derive(Clone, Copy)]
struct Logistic {
    x: f64,
    value: f64,
    /// `1 - value`, which does not cancel.
    rest: f64,
}

impl Logistic {
    #[inline]
    fn at(x: f64) -> Self {
        let e = (-x.abs()).exp();
        let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
        if x >= 0.0 { Self { x, value: large, rest: small } } else { Self { x, value: small, rest: large } }
    }

    fn density(self) -> f64 {
        self.value * (1.0 - self.value)
    }

    /// The curves that bound level `y`: the one below it and the one above it.
    #[inline]
    fn bounds(u: f64, intercepts: &[f64], k: f64, y: usize) -> [Option<Self>; 2] {
        let at = |j: usize| Self::at(k * (u + intercepts[j]));
        [(y > 0).then(|| at(y - 1)), (y < intercepts.len()).then(|| at(y))]
    }
}

/// Probability of a level between two cumulative curves. The difference is computed in the tail where it does
/// not cancel.
#[inline]
fn between(upper: Option<Logistic>, lower: Option<Logistic>) -> f64 {
    match (upper, lower) {
        (Some(a), Some(b)) => {
            if b.x > 0.0 {
                b.rest - a.rest
            } else {
                a.value - b.value
            }
        }
        (Some(a), None) => a.value,
        (None, Some(b)) => b.rest,
        (None, None) => 1.0,
    }
}

/// [`Link::information`] of a cumulative link, added to `out`; `curve` is called with each of the curves.
fn cumulative_information(
    u: f64,
    intercepts: &[f64],
    k: f64,
    out: &mut [f64],
    mut curve: impl FnMut(usize, Logistic),
) {
    let n = intercepts.len();
    // Level c is bounded by intercepts c - 1 (above) and c (below); each density enters two levels.
    let (mut above, mut density_above) = (1.0, 0.0);
    for (c, o) in intercepts.iter().enumerate() {
        let at = Logistic::at(k * (u + o));
        let (below, density) = (at.value.min(above), k * at.density());
        let w = 1.0 / (above - below).max(FLOOR);
        out[c * n + c] += w * density * density;
        if c > 0 {
            out[(c - 1) * n + c - 1] += w * density_above * density_above;
            let cross = w * density_above * density;
            out[(c - 1) * n + c] -= cross;
            out[c * n + c - 1] -= cross;
        }
        (above, density_above) = (below, density);
        curve(c, at);
    }
    if let Some(last) = out.last_mut() {
        *last += density_above * density_above / above.max(FLOOR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::TargetKind;

    fn ordinal() -> Link {
        Link::new(Target { kind: TargetKind::Ordinal, levels: 4 })
    }

    fn choice() -> Link {
        Link::new(Target { kind: TargetKind::Nominal, levels: 3 })
    }

    #[test]
    fn intercepts_reproduce_the_level_shares() {
        for link in [ordinal(), choice(), Link { levels: 2, softmax: false, discrimination: false }] {
            let counts: Vec<f64> = (1..=link.levels).map(|c| 100_000.0 * c as f64).collect();
            let fixed_effects = link.fixed_effects_from(&counts);
            let mut intercepts = vec![0.0; link.intercepts()];
            link.intercepts_of(&fixed_effects, &[], &mut intercepts);
            let mut p = vec![0.0; link.levels];
            link.probabilities(&vec![0.0; link.scores()], &intercepts, 1.0, &mut p);
            let total: f64 = counts.iter().sum();
            for (p, c) in p.iter().zip(&counts) {
                assert!((p - c / total).abs() < 1e-4, "{p} {}", c / total);
            }
        }
    }

    #[test]
    fn derivatives_match_finite_differences() {
        for link in [ordinal(), choice()] {
            let u: Vec<f64> = (0..link.scores()).map(|i| 0.3 - 0.4 * i as f64).collect();
            let fixed_effects = link.fixed_effects_from(&vec![5.0; link.levels]);
            let mut intercepts = vec![0.0; link.intercepts()];
            link.intercepts_of(&fixed_effects, &[0.2; 8][..link.random_effects()], &mut intercepts);
            let mut d = Gradient::default();
            let mut scratch = Gradient::default();
            for level in 0..link.levels as u16 {
                link.log_likelihood(&u, &intercepts, 0.8, level, &mut d);
                let h = 1e-6;
                for i in 0..u.len() {
                    let (mut a, mut b) = (u.clone(), u.clone());
                    a[i] += h;
                    b[i] -= h;
                    let slope = (link.log_likelihood(&a, &intercepts, 0.8, level, &mut scratch)
                        - link.log_likelihood(&b, &intercepts, 0.8, level, &mut scratch))
                        / (2.0 * h);
                    assert!((slope - d.score[i]).abs() < 1e-6, "{link:?} {level} {i}");
                }
                for i in 0..intercepts.len() {
                    let (mut a, mut b) = (intercepts.clone(), intercepts.clone());
                    a[i] += h;
                    b[i] -= h;
                    let slope = (link.log_likelihood(&u, &a, 0.8, level, &mut scratch)
                        - link.log_likelihood(&u, &b, 0.8, level, &mut scratch))
                        / (2.0 * h);
                    assert!((slope - d.intercept[i]).abs() < 1e-6, "{link:?} {level} {i}");
                }
            }
        }
    }

    #[test]
    fn jacobian_matches_finite_differences() {
        for link in [ordinal(), choice(), Link { levels: 15, softmax: false, discrimination: false }] {
            let (n, w) = (link.intercepts(), link.random_effects());
            let fixed_effects = link.fixed_effects_from(&vec![5.0; link.levels]);
            let theta = vec![0.1; w];
            let mut jacobian = vec![0.0; n * w];
            link.jacobian(&fixed_effects, &theta, &mut jacobian);
            for d in 0..w {
                let (mut a, mut b) = (theta.clone(), theta.clone());
                a[d] += 1e-6;
                b[d] -= 1e-6;
                let (mut oa, mut ob) = (vec![0.0; n], vec![0.0; n]);
                link.intercepts_of(&fixed_effects, &a, &mut oa);
                link.intercepts_of(&fixed_effects, &b, &mut ob);
                for j in 0..n {
                    assert!(((oa[j] - ob[j]) / 2e-6 - jacobian[j * w + d]).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn information_is_the_expected_square_of_the_slope() {
        for link in [ordinal(), choice()] {
            let n = link.intercepts();
            let u = vec![0.4; link.scores()];
            let mut intercepts = vec![0.0; n];
            link.intercepts_of(&link.fixed_effects_from(&vec![1.0; link.levels]), &[], &mut intercepts);
            let mut p = vec![0.0; link.levels];
            link.probabilities(&u, &intercepts, 0.9, &mut p);
            let mut expected = vec![0.0; n * n];
            let mut d = Gradient::default();
            for (level, p) in p.iter().enumerate() {
                link.log_likelihood(&u, &intercepts, 0.9, level as u16, &mut d);
                for i in 0..n {
                    for j in 0..n {
                        expected[i * n + j] += p * d.intercept[i] * d.intercept[j];
                    }
                }
            }
            let mut information = vec![0.0; n * n];
            link.information(&u, &intercepts, 0.9, &mut information);
            for (a, b) in information.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-10, "{link:?}");
            }
            for level in 0..link.levels as u16 {
                let alone = link.log_likelihood(&u, &intercepts, 0.9, level, &mut d);
                let (mut both, mut of_both) = (Gradient::default(), vec![0.0; n * n]);
                let together =
                    link.log_likelihood_and_information(&u, &intercepts, 0.9, level, &mut both, &mut of_both);
                assert_eq!((alone, &d.score, &d.intercept), (together, &both.score, &both.intercept));
                assert_eq!(of_both, information);
            }
            if !link.softmax {
                for level in 0..link.levels as u16 {
                    let (slope, of_score) = link.score_derivatives(u[0], &intercepts, 0.9, level);
                    assert!((of_score - information.iter().sum::<f64>()).abs() < 1e-10);
                    link.log_likelihood(&u, &intercepts, 0.9, level, &mut d);
                    assert!((slope - d.score[0]).abs() < 1e-12);
                }
            }
        }
    }
}
