//! Selection of the variances of text scores by the evidence, and the resulting Gaussian process.

use dissensus_stats::math::blocked_cholesky::BlockedFactor;
use dissensus_stats::math::{axpy, dot};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// Candidate variances, as multiples of the current variance of text effects.
const VARIANCE_MULTIPLES: [f64; 6] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Smallest variance of the texts' own effects, as a multiple of the current one.
const MIN_TEXT_VARIANCE: f64 = 0.1;

/// Prior variances of text scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variances {
    pub(super) linear: f64,
    pub(super) rbf: f64,
    pub(super) ngrams: f64,
    pub(super) text: f64,
}

/// A choice of variances and of the kernel's inverse squared width.
#[derive(Clone, Copy)]
pub(super) struct KernelChoice {
    pub(super) width: f64,
    pub(super) variances: Variances,
}

/// Lower halves of the kernels (embeddings, similar texts, n-grams where there are any), and pseudo-data:
/// score estimates from labels only, with the variance of each.
pub(super) struct Process {
    pub(super) linear: DMatrix<f64>,
    pub(super) rbf: DMatrix<f64>,
    pub(super) ngrams: Option<DMatrix<f64>>,
    pub(super) z: DVector<f64>,
    pub(super) noise: Vec<f64>,
}

/// Posterior of a process for its training texts.
pub(super) struct Solution {
    /// Weights of the kernels.
    pub(super) alpha: Vec<f64>,
    /// The mean of each text's score without its own pseudo-datum and those of its copies.
    pub(super) left_out: Vec<f64>,
    /// Log density of the pseudo-data, each without its copies and itself, summed.
    pub(super) density: f64,
}

impl Process {
    fn factor(&self, v: Variances) -> Option<BlockedFactor> {
        let n = self.z.len();
        let mut a = DMatrix::zeros(n, n);
        for (j, mut column) in a.column_iter_mut().enumerate() {
            let below = |kernel: &DMatrix<f64>, variance: f64, column: &mut [f64]| {
                axpy(variance, &kernel.as_slice()[j * n + j..(j + 1) * n], &mut column[j..]);
            };
            let column = column.as_mut_slice();
            below(&self.linear, v.linear, column);
            below(&self.rbf, v.rbf, column);
            if let Some(ngrams) = &self.ngrams {
                below(ngrams, v.ngrams, column);
            }
            column[j] += v.text + self.noise[j];
        }
        BlockedFactor::new(a)
    }

    pub(super) fn log_evidence(&self, v: Variances) -> f64 {
        let Some(factor) = self.factor(v) else { return f64::MIN };
        -0.5 * factor.half_solve(&self.z).norm_squared() - 0.5 * factor.log_determinant()
    }

    /// Optimises one variance after the other, twice, each over [`VARIANCE_MULTIPLES`] of `unit`.
    pub(super) fn best(&self, unit: f64) -> (f64, Variances) {
        let ngrams = if self.ngrams.is_some() { unit } else { 0.0 };
        let mut best = Variances { linear: unit, rbf: unit, ngrams, text: 0.5 * unit };
        let mut reached = None;
        for turn in 0..8 {
            if turn % 4 == 0 && self.ngrams.is_none() {
                continue;
            }
            let tried: Vec<(f64, Variances)> = VARIANCE_MULTIPLES
                .par_iter()
                .map(|&factor| {
                    let mut v = best;
                    match turn % 4 {
                        0 => v.ngrams = factor * unit,
                        1 => v.rbf = factor * unit,
                        2 => v.text = factor.max(MIN_TEXT_VARIANCE) * unit,
                        _ => v.linear = factor * unit,
                    }
                    let known = reached.filter(|_| v == best);
                    (known.unwrap_or_else(|| self.log_evidence(v)), v)
                })
                .collect();
            let (evidence, variances) = tried.iter().fold(tried[0], |b, t| if t.0 > b.0 { *t } else { b });
            (reached, best) = (Some(evidence), variances);
        }
        (reached.unwrap_or(f64::MIN), best)
    }

    /// Solves with the texts of each of the `groups`, which together are all texts, left out together:
    /// `z_G - (B_GG)^-1 alpha_G` with `B` the inverse of the covariance (Rasmussen and Williams 2006, eq.
    /// 5.12, for blocks).
    pub(super) fn solve(&self, v: Variances, groups: &[Vec<usize>]) -> Option<Solution> {
        let n = self.z.len();
        // `B = M' M`.
        let inverse_lower = self.factor(v)?.inverse_lower();
        let alpha = inverse_lower.tr_mul(&(&inverse_lower * &self.z));
        let inverse = |i: usize, j: usize| {
            let from = i.max(j);
            let column = |of: usize| &inverse_lower.as_slice()[of * n + from..(of + 1) * n];
            dot(column(i), column(j))
        };
        let mut left_out = vec![0.0; n];
        let mut density = 0.0;
        for group in groups {
            let n = group.len();
            let block = DMatrix::from_fn(n, n, |i, j| inverse(group[i], group[j]));
            let covariance = block.cholesky()?.inverse();
            let away = &covariance * DVector::from_fn(n, |i, _| alpha[group[i]]);
            for (i, &text) in group.iter().enumerate() {
                left_out[text] = self.z[text] - away[i];
                density += log_density(self.z[text], left_out[text], covariance[(i, i)]);
            }
        }
        Some(Solution { alpha: alpha.as_slice().to_vec(), left_out, density })
    }
}

pub(super) fn log_density(x: f64, mean: f64, variance: f64) -> f64 {
    -0.5 * ((x - mean).powi(2) / variance + variance.ln() + std::f64::consts::TAU.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(keep: impl Fn(usize) -> bool) -> (Process, Vec<f64>) {
        let x: Vec<f64> = (0..12).filter(|i| keep(*i)).map(|i| i as f64 * 0.37 - 2.0).collect();
        let n = x.len();
        let of = |k: fn(f64, f64) -> f64| DMatrix::from_fn(n, n, |i, j| k(x[i], x[j]));
        let process = Process {
            linear: of(|a, b| a * b),
            rbf: of(|a, b| (-(a - b).powi(2)).exp()),
            ngrams: Some(of(|a, b| f64::from(u8::from(a * b > 0.0)))),
            z: DVector::from_fn(n, |i, _| x[i].sin()),
            noise: x.iter().map(|x| 0.2 + 0.05 * x.abs()).collect(),
        };
        (process, x)
    }

    #[test]
    fn leave_one_out_means_match_refits() {
        let v = Variances { linear: 0.4, rbf: 0.8, ngrams: 0.3, text: 0.5 };
        let (whole, x) = process(|_| true);
        let groups: Vec<Vec<usize>> =
            (0..12).filter(|i| *i != 7).map(|i| if i == 3 { vec![3, 7] } else { vec![i] }).collect();
        let left_out = whole.solve(v, &groups).unwrap().left_out;
        for out in 0..12 {
            let together = |i: usize| i == out || ([3, 7].contains(&i) && [3, 7].contains(&out));
            let (part, rest) = process(|i| !together(i));
            let alpha = part.solve(v, &[]).unwrap().alpha;
            let k = |a: f64, b: f64| {
                let same = f64::from(u8::from(a * b > 0.0));
                v.linear * a * b + v.rbf * (-(a - b).powi(2)).exp() + v.ngrams * same
            };
            let mean: f64 = rest.iter().zip(&alpha).map(|(r, a)| a * k(*r, x[out])).sum();
            assert!((mean - left_out[out]).abs() < 1e-9, "{out}");
        }
    }

    #[test]
    fn evidence_matches_the_normal_density() {
        // One text: covariance is a single number.
        let one = DMatrix::from_element(1, 1, 1.0);
        let (z, noise) = (DVector::from_element(1, 0.7), vec![0.3]);
        let p = Process { linear: one.clone(), rbf: one.clone(), ngrams: Some(one), z, noise };
        let v = Variances { linear: 0.4, rbf: 0.8, ngrams: 0.1, text: 0.5 };
        let expected = log_density(0.7, 0.0, 2.1) + 0.5 * std::f64::consts::TAU.ln();
        assert!((p.log_evidence(v) - expected).abs() < 1e-12);
    }
}
