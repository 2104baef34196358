//! From posteriors to probabilities, many texts at a time, in single precision.

use super::crossed::CrossedEffects;
use crate::link::Link;
use dissensus_stats::math::cholesky::quadratic;
use dissensus_stats::math::{dot, fast};
use std::ops::Range;

/// Smallest probability of a level, so that no logarithm is infinite.
pub(crate) const MIN_PROBABILITY: f32 = 1e-6;
const PI_8: f32 = dissensus_stats::math::PI_8 as f32;

/// Posterior scores of texts, one array per score and slope feature.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextColumns {
    /// q arrays of posterior means.
    pub(super) u: Vec<Vec<f32>>,
    /// Square of the text's scale (1 where the model has no scales of texts) plus `pi/8` times the posterior
    /// variance.
    pub(super) v: Vec<f32>,
    /// Only the square of the scale.
    pub(super) square: Vec<f32>,
    /// slope_dim arrays of features.
    pub(super) z: Vec<Vec<f32>>,
}

impl TextColumns {
    /// Empty columns.
    pub(crate) fn empty(crossed: &CrossedEffects) -> Self {
        Self {
            u: vec![Vec::new(); crossed.link.scores()],
            v: Vec::new(),
            square: Vec::new(),
            z: vec![Vec::new(); crossed.slope_dim],
        }
    }

    pub(crate) fn new(crossed: &CrossedEffects) -> Self {
        let mut columns = Self::empty(crossed);
        let q = crossed.link.scores();
        for text in 0..crossed.texts() {
            let u = &crossed.u[text * q..(text + 1) * q];
            columns.push(u, crossed.v[text], crossed.noise(text), crossed.features(text));
        }
        columns
    }

    /// A text with scores `u` of variance `v`, whose scale adds `noise` to that of a label
    /// ([`CrossedEffects::noise`]).
    pub(crate) fn one(u: &[f64], v: f64, noise: f64, z: &[f64]) -> Self {
        let of = |n: usize| vec![Vec::new(); n];
        let mut columns = Self { u: of(u.len()), v: Vec::new(), square: Vec::new(), z: of(z.len()) };
        columns.push(u, v, noise, z);
        columns
    }

    pub(crate) fn push(&mut self, u: &[f64], v: f64, noise: f64, z: &[f64]) {
        for (column, &u) in self.u.iter_mut().zip(u) {
            column.push(u as f32);
        }
        for (column, &z) in self.z.iter_mut().zip(z) {
            column.push(z as f32);
        }
        let square = 1.0 + PI_8 * noise as f32;
        self.v.push(square + PI_8 * v as f32);
        self.square.push(square);
    }

    pub(crate) fn set(&mut self, text: usize, u: &[f64], v: f64, noise: f64) {
        for (column, &u) in self.u.iter_mut().zip(u) {
            column[text] = u as f32;
        }
        self.square[text] = 1.0 + PI_8 * noise as f32;
        self.v[text] = self.square[text] + PI_8 * v as f32;
    }

    pub(crate) fn len(&self) -> usize {
        self.v.len()
    }
}

/// An annotator ready for prediction.
#[derive(Clone, Debug)]
pub(crate) struct AnnotatorPredictor {
    link: Link,
    pub(super) intercepts: Vec<f32>,
    /// `pi/8` times the posterior variance of each intercept.
    pub(super) variance: Vec<f32>,
    pub(super) slopes: Vec<f32>,
    /// `pi/8` times the posterior covariance of the slopes, row-major.
    pub(super) slope_covariance: Vec<f32>,
    /// Factor of the scores; 1 without a discrimination.
    pub(super) discrimination: f32,
    /// `pi/8` times the posterior variance of its logarithm.
    pub(super) discrimination_variance: f32,
    /// `pi/4` times its covariance with each intercept.
    pub(super) discrimination_covariance: Vec<f32>,
}

impl AnnotatorPredictor {
    pub(crate) fn new(crossed: &CrossedEffects, annotator: usize) -> Self {
        Self::from_parts(crossed, &crossed.annotators[annotator].theta, &crossed.covariance_of(annotator))
    }

    /// The predictor of an annotator fitted without slopes; `None` where groups have none.
    pub(crate) fn without_groups(crossed: &CrossedEffects, annotator: usize) -> Option<Self> {
        let found = crossed.annotator_without_groups(annotator)?;
        Some(Self::from_parts(crossed, &found.theta, &found.covariance))
    }

    /// The marginal predictor: an annotator drawn from the population.
    pub(crate) fn population(crossed: &CrossedEffects) -> Self {
        Self::from_parts(crossed, &vec![0.0; crossed.width()], &crossed.prior_covariance())
    }

    /// A new annotator with these attribute values.
    pub(crate) fn from_attributes(crossed: &CrossedEffects, values: &[Option<u16>]) -> Self {
        let (mean, covariance) = crossed.prior_of(values);
        Self::from_parts(crossed, &mean, &covariance)
    }

    fn from_parts(crossed: &CrossedEffects, theta: &[f64], covariance: &[f64]) -> Self {
        let (link, w) = (crossed.link, crossed.width());
        let (n, d) = (link.intercepts(), link.random_effects());
        let mut intercepts = vec![0.0; n];
        link.intercepts_of(&crossed.fixed_effects, &theta[..d], &mut intercepts);
        let mut jacobian = vec![0.0; n * d];
        link.jacobian(&crossed.fixed_effects, &theta[..d], &mut jacobian);
        let own: Vec<f64> = (0..d).flat_map(|i| covariance[i * w..i * w + d].to_vec()).collect();
        let variance = (0..n).map(|j| PI_8 * quadratic(&own, &jacobian[j * d..(j + 1) * d]) as f32).collect();
        let (discrimination_variance, discrimination_covariance) = if link.discrimination {
            let at = link.threshold_effects();
            let with = &own[at * d..(at + 1) * d];
            let covariance = |j: usize| 2.0 * PI_8 * dot(with, &jacobian[j * d..(j + 1) * d]) as f32;
            (PI_8 * own[at * d + at] as f32, (0..n).map(covariance).collect())
        } else {
            (0.0, vec![0.0; n])
        };
        Self {
            link,
            discrimination: link.discrimination_of(&theta[..d]) as f32,
            discrimination_variance,
            discrimination_covariance,
            intercepts: intercepts.iter().map(|&o| o as f32).collect(),
            variance,
            slopes: theta[d..].iter().map(|&s| s as f32).collect(),
            slope_covariance: (d..w)
                .flat_map(|i| (d..w).map(move |j| PI_8 * covariance[i * w + j] as f32))
                .collect(),
        }
    }

    /// This annotator with the intercepts fixed at `x` posterior standard deviations from their mean: all of
    /// them together or `only` one.
    pub(crate) fn moved(&self, only: Option<usize>, x: f64) -> Self {
        let mut predictor = self.clone();
        for (j, (o, variance)) in predictor.intercepts.iter_mut().zip(&mut predictor.variance).enumerate() {
            if only.is_none_or(|c| c == j) {
                // One common step, that of the shift, preserves the order of thresholds.
                let own = if only.is_none() { self.variance[0] } else { *variance };
                *o += x as f32 * (own / PI_8).sqrt();
                *variance = (*variance - own).max(0.0);
            }
        }
        if self.link.discrimination && only.is_none() && self.variance[0] > 0.0 {
            // Conditional distribution of the discrimination given the step: normal conditioning, with the
            // same step for all intercepts.
            let (own, with) = (self.variance[0], self.discrimination_covariance[0] / 2.0);
            predictor.discrimination *= (with / own * x as f32 * (own / PI_8).sqrt()).exp();
            let left = self.discrimination_variance - with * with / own;
            predictor.discrimination_variance = left.max(0.0);
            predictor.discrimination_covariance.iter_mut().for_each(|c| *c -= 2.0 * with);
        }
        predictor
    }

    /// Posterior standard deviation of the common shift of all intercepts.
    pub(crate) fn shift_sd(&self) -> f64 {
        f64::from(self.variance[0] / PI_8).sqrt()
    }

    /// Difference of `pi/8` times the variance of each intercept from that of `other`.
    pub(crate) fn variance_moved_to<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = f64> + 'a {
        self.variance.iter().zip(&other.variance).map(|(a, b)| f64::from(*b) - f64::from(*a))
    }

    /// How a sum over levels, `by_level` times the probability of each, changes with the logit of each
    /// intercept on text `at`, and with the logarithm of its variance.
    pub(crate) fn logit_slopes(&self, texts: &TextColumns, at: usize, by_level: &[f64]) -> Vec<LogitSlope> {
        let u = |score: usize| f64::from(texts.u[score][at]);
        let a = f64::from(self.discrimination);
        let shift: f64 = texts.z.iter().zip(&self.slopes).map(|(z, s)| f64::from(z[at] * s)).sum();
        let mut variance = f64::from(texts.v[at]);
        let r = self.slopes.len();
        for (i, z) in texts.z.iter().enumerate() {
            for (j, other) in texts.z.iter().enumerate() {
                variance += f64::from(self.slope_covariance[i * r + j] * z[at] * other[at]);
            }
        }
        let logits: Vec<(f64, f64)> = if self.link.softmax {
            let own = self.intercepts.iter().zip(&self.variance).enumerate();
            own.map(|(c, (o, v))| (u(c) + f64::from(*o), variance + f64::from(*v))).collect()
        } else {
            let score = a * u(0);
            let square = f64::from(texts.square[at]);
            let own = f64::from(self.discrimination_variance);
            let of_text = square
                + (variance - square) * if self.link.discrimination { a * a } else { 1.0 }
                + own * score * score;
            let each = self.intercepts.iter().zip(&self.variance).zip(&self.discrimination_covariance);
            each.map(|((o, v), with)| {
                (score + shift + f64::from(*o), of_text + f64::from(*v) + f64::from(*with) * score)
            })
            .collect()
        };
        let places: Vec<f64> =
            logits.iter().map(|(logit, v)| logit / v.max(f64::MIN_POSITIVE).sqrt()).collect();
        let by_place: Vec<f64> = if self.link.softmax {
            let top = places.iter().copied().fold(f64::MIN, f64::max);
            let chances: Vec<f64> = places.iter().map(|x| (x - top).exp()).collect();
            let all: f64 = chances.iter().sum();
            let mean: f64 = chances.iter().zip(by_level).map(|(p, m)| p * m).sum::<f64>() / all;
            chances.iter().zip(by_level).map(|(p, m)| p / all * (m - mean)).collect()
        } else {
            let steps = by_level.windows(2).map(|pair| pair[1] - pair[0]);
            places.iter().zip(steps).map(|(x, step)| step * density(*x)).collect()
        };
        let each = by_place.iter().zip(&places).zip(&logits);
        each.map(|((slope, x), (_, v))| LogitSlope {
            logit: slope / v.sqrt(),
            variance: -0.5 * slope * x / v,
        })
        .collect()
    }

    /// Probabilities of `range`, level-major: `out[c * range.len() + i]`.
    pub(crate) fn fill(
        &self,
        texts: &TextColumns,
        range: Range<usize>,
        out: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let n = range.len();
        let out = &mut out[..n * self.link.levels];
        scratch.variance.clear();
        scratch.variance.extend_from_slice(&texts.v[range.clone()]);
        if self.link.softmax {
            self.fill_softmax(texts, range, out, scratch);
        } else {
            scratch.shifted.clear();
            scratch.shifted.extend_from_slice(&texts.u[0][range.clone()]);
            if self.link.discrimination {
                self.discriminate(&texts.square[range.clone()], scratch);
            }
            self.add_slopes(texts, range, scratch);
            self.fill_cumulative(out, scratch);
        }
        clip_probabilities(out, self.link.levels);
    }

    /// Multiplies the scores, which also remain in `scratch.scores`, and makes their variance that of the
    /// product.
    fn discriminate(&self, squares: &[f32], scratch: &mut Scratch) {
        let (a, own) = (self.discrimination, self.discrimination_variance);
        for ((u, v), square) in scratch.shifted.iter_mut().zip(&mut scratch.variance).zip(squares) {
            *u *= a;
            *v = square + (*v - square) * a * a + own * *u * *u;
        }
        scratch.scores.clear();
        scratch.scores.extend_from_slice(&scratch.shifted);
    }

    fn add_slopes(&self, texts: &TextColumns, range: Range<usize>, scratch: &mut Scratch) {
        let r = self.slopes.len();
        for (z, s) in texts.z.iter().zip(&self.slopes) {
            for (u, z) in scratch.shifted.iter_mut().zip(&z[range.clone()]) {
                *u += s * z;
            }
        }
        for i in 0..r {
            for j in 0..=i {
                let w = self.slope_covariance[i * r + j] * if i == j { 1.0 } else { 2.0 };
                let (a, b) = (&texts.z[i][range.clone()], &texts.z[j][range.clone()]);
                for ((v, a), b) in scratch.variance.iter_mut().zip(a).zip(b) {
                    *v += w * a * b;
                }
            }
        }
    }

    fn fill_cumulative(&self, out: &mut [f32], scratch: &Scratch) {
        let n = scratch.shifted.len();
        let (levels, last) = out.split_at_mut(n * (self.link.levels - 1));
        last.fill(1.0); // holds P(y >= j) of the level before
        for ((level, &o), (&variance, &with)) in levels
            .chunks_exact_mut(n)
            .zip(&self.intercepts)
            .zip(self.variance.iter().zip(&self.discrimination_covariance))
        {
            let texts = scratch.shifted.iter().zip(&scratch.variance);
            let probabilities = level.iter_mut().zip(last.iter_mut());
            let put = |p: &mut f32, above: &mut f32, logit: f32| {
                let g = fast::sigmoid(logit);
                let g = if g < *above { g } else { *above };
                *p = *above - g;
                *above = g;
            };
            if self.link.discrimination {
                for (((p, above), (u, v)), score) in probabilities.zip(texts).zip(&scratch.scores) {
                    put(p, above, (u + o) / (v + variance + with * score).sqrt());
                }
            } else {
                for ((p, above), (u, v)) in probabilities.zip(texts) {
                    put(p, above, (u + o) / (v + variance).sqrt());
                }
            }
        }
    }

    fn fill_softmax(&self, texts: &TextColumns, range: Range<usize>, out: &mut [f32], scratch: &mut Scratch) {
        let n = range.len();
        scratch.shifted.clear();
        scratch.shifted.resize(n, f32::MIN);
        for ((x, u), (&o, &variance)) in
            out.chunks_exact_mut(n).zip(&texts.u).zip(self.intercepts.iter().zip(&self.variance))
        {
            for (((x, u), v), top) in
                x.iter_mut().zip(&u[range.clone()]).zip(&scratch.variance).zip(&mut scratch.shifted)
            {
                *x = (u + o) / (v + variance).sqrt();
                *top = if *x > *top { *x } else { *top };
            }
        }
        scratch.softmax(out);
    }
}

/// Derivatives of a measure with respect to one logit of an annotator on a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogitSlope {
    /// With respect to the logit.
    pub(crate) logit: f64,
    /// With respect to its attenuating variance, in units of the logistic's.
    pub(crate) variance: f64,
}

/// Density of the standard logistic distribution.
fn density(x: f64) -> f64 {
    let p = dissensus_stats::math::sigmoid(x);
    p * (1.0 - p)
}

/// Buffers of [`AnnotatorPredictor::fill`] and of [`super::annotator_columns::AnnotatorColumns::fill`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(super) shifted: Vec<f32>,
    pub(super) variance: Vec<f32>,
    /// The text's part of `shifted`, before it is multiplied by the annotators.
    pub(super) scores: Vec<f32>,
}

impl Scratch {
    /// Turns exponents into probabilities, level-major; `shifted` holds the largest exponent of each,
    /// `variance` is overwritten.
    pub(super) fn softmax(&mut self, out: &mut [f32]) {
        let n = self.shifted.len();
        self.variance.fill(0.0);
        for x in out.chunks_exact_mut(n) {
            for ((x, top), sum) in x.iter_mut().zip(&self.shifted).zip(&mut self.variance) {
                *x = fast::exp(*x - top);
                *sum += *x;
            }
        }
        for x in out.chunks_exact_mut(n) {
            x.iter_mut().zip(&self.variance).for_each(|(x, sum)| *x /= sum);
        }
    }
}

/// Raises every probability of `levels` to at least [`MIN_PROBABILITY`]; they still sum to 1.
pub(super) fn clip_probabilities(out: &mut [f32], levels: usize) {
    let keep = 1.0 - MIN_PROBABILITY * levels as f32;
    out.iter_mut().for_each(|p| *p = *p * keep + MIN_PROBABILITY);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::Target;
    use dissensus_stats::math::quadrature::FIVE;

    /// The uncertainty of an annotator is the difference between the nodes plus the remaining variance at
    /// each: correlated severity and discrimination must not be counted as independent.
    #[test]
    fn shifted_predictors_keep_the_variance() {
        for correlation in [-0.85, 0.0, 0.6] {
            let link =
                Link { discrimination: true, ..Link::new(Target { kind: TargetKind::Binary, levels: 2 }) };
            let mut crossed = CrossedEffects::new(link, vec![0.0; 3], 1, &[]);
            let (severity, log) = (0.3, 0.02f64);
            let both = correlation * f64::sqrt(severity * log);
            crossed.annotators[0].theta = vec![0.4, 0.1];
            crossed.annotators[0].covariance = vec![severity, both, both, log];
            let whole = AnnotatorPredictor::new(&crossed, 0);
            for u in [-2.0f32, 0.0, 2.0] {
                let mean = |p: &AnnotatorPredictor| p.discrimination * u + p.intercepts[0];
                let within = |p: &AnnotatorPredictor| {
                    let score = p.discrimination * u;
                    let with = p.discrimination_covariance[0] * score;
                    (p.variance[0] + with + p.discrimination_variance * score * score) / PI_8
                };
                let nodes = FIVE.map(|(x, weight)| (weight as f32, whole.moved(None, x)));
                let centre: f32 = nodes.iter().map(|(w, p)| w * mean(p)).sum();
                let found: f32 =
                    nodes.iter().map(|(w, p)| w * (within(p) + (mean(p) - centre).powi(2))).sum();
                let expected = within(&whole);
                assert!((found / expected - 1.0).abs() < 0.08, "{correlation} {u}: {found} for {expected}");
            }
        }
    }
}
