//! Evidence of annotators' labels about the slopes of their groups.
//!
//! An annotator's labels are a normal observation of the slopes' prior mean, with all effects of that
//! annotator integrated out (the posterior without its prior), so that differences between members of one
//! group limit the weight of each annotator.

use super::crossed::CrossedEffects;
use super::group_columns::GroupColumns;
use dissensus_stats::math::axpy;
use dissensus_stats::math::cholesky::Factor;

/// `-m' precision m / 2 + linear' m`, the log-likelihood of the prior mean `m` of one annotator's slopes.
#[derive(Clone, Debug)]
pub(super) struct SlopeEvidence {
    pub(super) precision: Vec<f64>,
    pub(super) linear: Vec<f64>,
}

/// The same for the slopes of all groups, columns x slopes.
#[derive(Clone, Debug)]
pub(super) struct GroupEvidence {
    slopes: usize,
    precision: Vec<f64>,
    linear: Vec<f64>,
}

/// Posterior of the slopes of all groups.
pub(super) struct GroupEstimate {
    /// columns x slopes.
    pub(super) means: Vec<f64>,
    /// Their covariance is `root root'`; (columns x slopes) x (columns x slopes).
    pub(super) root: Vec<f64>,
}

impl CrossedEffects {
    /// Evidence about the slopes in the labels of an annotator whose effects have this posterior given them.
    pub(super) fn slope_evidence(
        &self,
        annotator: usize,
        theta: &[f64],
        covariance: &[f64],
    ) -> SlopeEvidence {
        let (d, w, n) = (self.link.random_effects(), self.width(), self.slope_dim);
        let (prior, vars) = (self.prior_mean(annotator), &self.slope_vars);
        let mut precision = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let own = if i == j { 1.0 / vars[i] } else { 0.0 };
                precision[i * n + j] = own - covariance[(d + i) * w + d + j] / (vars[i] * vars[j]);
            }
        }
        // The derivative at the current prior mean, and the part of it due to the curvature.
        let linear = (0..n)
            .map(|i| {
                let curved = dissensus_stats::math::dot(&precision[i * n..(i + 1) * n], &prior[d..]);
                (theta[d + i] - prior[d + i]) / vars[i] + curved
            })
            .collect();
        SlopeEvidence { precision, linear }
    }
}

impl GroupEvidence {
    pub(super) fn none(columns: usize, slopes: usize) -> Self {
        let n = columns * slopes;
        Self { slopes, precision: vec![0.0; n * n], linear: vec![0.0; n] }
    }

    /// Adds the evidence of one annotator in these columns.
    pub(super) fn add(&mut self, columns: &[u16], evidence: &SlopeEvidence) {
        let (n, all) = (self.slopes, self.linear.len());
        for &row in columns {
            let row = usize::from(row) * n;
            axpy(1.0, &evidence.linear, &mut self.linear[row..row + n]);
            for &column in columns {
                let column = usize::from(column) * n;
                for i in 0..n {
                    let from = &evidence.precision[i * n..(i + 1) * n];
                    axpy(1.0, from, &mut self.precision[(row + i) * all + column..][..n]);
                }
            }
        }
    }

    /// This evidence plus `sign` times the other.
    pub(super) fn with(&self, sign: f64, other: &Self) -> Self {
        let mut both = self.clone();
        axpy(sign, &other.precision, &mut both.precision);
        axpy(sign, &other.linear, &mut both.linear);
        both
    }

    /// Precision and linear part of the effects from which the groups' slopes deviate, under the prior
    /// `N(0, variance)`.
    fn of_effects(&self, columns: &GroupColumns, variance: f64) -> (Factor, Vec<f64>) {
        let (n, all) = (self.slopes, self.linear.len());
        let mut precision = self.precision.clone();
        precision.chunks_exact_mut(all).for_each(|row| columns.transposed(row, n));
        columns.transposed(&mut precision, n * all);
        precision.iter_mut().step_by(all + 1).for_each(|p| *p += 1.0 / variance);
        let mut linear = self.linear.clone();
        columns.transposed(&mut linear, n);
        (Factor::new(&precision, all), linear)
    }

    /// Posterior means of the groups' slopes, columns x slopes.
    pub(super) fn means(&self, columns: &GroupColumns, variance: f64) -> Vec<f64> {
        let (factor, mut means) = self.of_effects(columns, variance);
        factor.solve(&mut means);
        columns.deviations(&mut means, self.slopes);
        means
    }

    pub(super) fn estimate(&self, columns: &GroupColumns, variance: f64) -> GroupEstimate {
        let (n, all) = (self.slopes, self.linear.len());
        let (factor, mut means) = self.of_effects(columns, variance);
        factor.solve(&mut means);
        columns.deviations(&mut means, n);
        let mut root = Factor::new(&factor.inverse(), all).lower().to_vec();
        columns.deviations(&mut root, n * all);
        GroupEstimate { means, root }
    }
}
