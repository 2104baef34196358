//! Loadings of the factors that an answer's options share, by penalised likelihood.

use super::factors::{CERTAIN, Nodes, OptionFactors, model_nodes, scale};
use crate::data::ModelError;
use crate::math::normal::Table;
use crate::math::{dot, lbfgs, normal};
use dissensus_domain::OptionSet;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Precision of the normal prior of a loading: the penalty of a loading of 1 equals the evidence of about
/// half an answer.
const PRECISION: f64 = 1.0;
/// Minimum number of answers with an option, and without it, for the option to be included.
const MIN_ANSWERS: usize = 5;
const STEPS: usize = 100;
const TOLERANCE: f64 = 1e-7;
/// Smallest probability of a decision during the fit.
const MIN_PROBABILITY: f64 = 1e-12;
/// Number of answers summed up together, always the same ones, so that sums are reproducible.
const BLOCK: usize = 64;

/// The loadings under which these answers (`sets`, with `probabilities` answers x options) are most likely,
/// under a standard normal prior; independence with fewer than two options that vary. Deterministic: it
/// starts from the first principal axes of the residuals' correlations.
///
/// # Errors
/// [`ModelError::Length`] as for [`OptionFactors::new`].
pub(super) fn fit(
    options: usize,
    factors: usize,
    probabilities: &[f32],
    sets: &[OptionSet],
) -> Result<OptionFactors, ModelError> {
    let chosen = |k: usize| sets.iter().filter(|set| set.contains(k as u8)).count();
    let varies = |k: &usize| (MIN_ANSWERS..=sets.len().saturating_sub(MIN_ANSWERS)).contains(&chosen(*k));
    let active: Vec<usize> = (0..options).filter(varies).collect();
    if active.len() < 2 || factors == 0 {
        return OptionFactors::independent(options);
    }
    let likelihood = Likelihood::new(options, &active, factors, probabilities, sets);
    let mut loadings = likelihood.start();
    let curvature = 1.0 / (PRECISION + 0.3 * sets.len() as f64);
    let inverse = vec![curvature; loadings.len()];
    lbfgs::minimise(&mut loadings, &inverse, STEPS, TOLERANCE, |l, gradient| likelihood.value(l, gradient));
    let mut all = vec![0.0; options * factors];
    for (of, option) in loadings.chunks_exact(factors).zip(&active) {
        all[option * factors..(option + 1) * factors].copy_from_slice(of);
    }
    OptionFactors::new(options, factors, all)
}

/// The penalised negative log-likelihood of loadings. Thresholds are those of the integral, which the nodes
/// approximate to four digits or better.
pub(super) struct Likelihood {
    options: usize,
    nodes: Nodes,
    /// Normal quantile of each probability (answers x options).
    quantiles: Vec<f64>,
    /// 1 where the option was chosen, -1 where not.
    signs: Vec<f64>,
    factors: usize,
}

impl Likelihood {
    pub(super) fn new(
        options: usize,
        active: &[usize],
        factors: usize,
        probabilities: &[f32],
        sets: &[OptionSet],
    ) -> Self {
        let rows = || probabilities.chunks_exact(options).zip(sets);
        let quantile = |p: f32| normal::quantile(f64::from(p).clamp(CERTAIN, 1.0 - CERTAIN));
        Self {
            options: active.len(),
            nodes: model_nodes(factors),
            quantiles: rows().flat_map(|(row, _)| active.iter().map(|k| quantile(row[*k]))).collect(),
            signs: rows()
                .flat_map(|(_, set)| active.iter().map(|k| if set.contains(*k as u8) { 1.0 } else { -1.0 }))
                .collect(),
            factors,
        }
    }

    /// Principal axes of the correlations of residuals `(y - p) / sqrt(p (1 - p))`, which are 0 without
    /// loadings. At 0 itself the likelihood has no slope.
    fn start(&self) -> Vec<f64> {
        let k = self.options;
        let mut residuals = Vec::with_capacity(self.signs.len());
        for (quantile, sign) in self.quantiles.iter().zip(&self.signs) {
            let p = normal::cdf(*quantile);
            let sd = (p * (1.0 - p)).sqrt().max(0.05);
            residuals.push((0.5 * (sign + 1.0) - p) / sd);
        }
        let answers = residuals.len() / k;
        let r = DMatrix::from_row_slice(answers, k, &residuals);
        let mut correlations = r.tr_mul(&r) / answers as f64;
        correlations.fill_diagonal(0.0);
        let eigen = correlations.symmetric_eigen();
        let mut axes: Vec<usize> = (0..k).collect();
        axes.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]).then(a.cmp(b)));
        let mut start = vec![0.1; k * self.factors];
        for (factor, axis) in axes.into_iter().take(self.factors).enumerate() {
            let length = eigen.eigenvalues[axis].max(0.01).sqrt();
            // The sign of an axis is arbitrary; its largest component is made positive.
            let largest = (0..k)
                .map(|i| eigen.eigenvectors[(i, axis)])
                .fold(0.0, |most: f64, v| if v.abs() > most.abs() { v } else { most });
            for i in 0..k {
                start[i * self.factors + factor] =
                    eigen.eigenvectors[(i, axis)] * length.min(1.0) * largest.signum();
            }
        }
        start
    }

    /// Returns the value and writes its gradient to `gradient`.
    pub(super) fn value(&self, loadings: &[f64], gradient: &mut [f64]) -> f64 {
        let scales: Vec<f64> = loadings.chunks_exact(self.factors).map(scale).collect();
        let shifts: Vec<f64> = (0..self.nodes.weights.len())
            .flat_map(|q| loadings.chunks_exact(self.factors).map(move |l| dot(l, self.nodes.point(q))))
            .collect();
        let at = At { table: Table::new(), likelihood: self, loadings, scales: &scales, shifts: &shifts };
        let block = BLOCK * self.options;
        let parts: Vec<(f64, Vec<f64>)> = self
            .quantiles
            .par_chunks(block)
            .zip(self.signs.par_chunks(block))
            .map(|(quantiles, signs)| at.sum(quantiles, signs))
            .collect();
        let mut value = 0.5 * PRECISION * dot(loadings, loadings);
        gradient.iter_mut().zip(loadings).for_each(|(g, l)| *g = PRECISION * l);
        for (log, slope) in parts {
            value -= log;
            gradient.iter_mut().zip(slope).for_each(|(g, slope)| *g -= slope);
        }
        value
    }
}

/// Loadings, and the values derived from them that all answers share.
struct At<'a> {
    table: Table,
    likelihood: &'a Likelihood,
    loadings: &'a [f64],
    scales: &'a [f64],
    /// nodes x options.
    shifts: &'a [f64],
}

impl At<'_> {
    /// Log-likelihood of some answers and its gradient with respect to the loadings.
    fn sum(&self, quantiles: &[f64], signs: &[f64]) -> (f64, Vec<f64>) {
        let (k, nodes) = (self.likelihood.options, self.likelihood.nodes.weights.len());
        let (mut log, mut gradient) = (0.0, vec![0.0; self.loadings.len()]);
        let (mut hazards, mut logs) = (vec![0.0; nodes * k], vec![0.0; nodes]);
        for (quantiles, signs) in quantiles.chunks_exact(k).zip(signs.chunks_exact(k)) {
            for q in 0..nodes {
                logs[q] = self.likelihood.nodes.weights[q].ln()
                    + self.at_node(q, quantiles, signs, &mut hazards[q * k..(q + 1) * k]);
            }
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = logs.iter().map(|log| (log - most).exp()).sum();
            log += most + total.ln();
            for q in 0..nodes {
                let posterior = (logs[q] - most).exp() / total;
                self.add_slope(q, posterior, quantiles, &hazards[q * k..(q + 1) * k], &mut gradient);
            }
        }
        (log, gradient)
    }

    /// Log-probability of the decisions of one answer given a node; writes its derivatives with respect to
    /// the latent means to `hazards`.
    fn at_node(&self, q: usize, quantiles: &[f64], signs: &[f64], hazards: &mut [f64]) -> f64 {
        let k = quantiles.len();
        let (mut log, mut product) = (0.0, 1.0_f64);
        for option in 0..k {
            let x = signs[option] * (quantiles[option] * self.scales[option] + self.shifts[q * k + option]);
            let (p, density) = self.table.at(x);
            let p = p.max(MIN_PROBABILITY);
            hazards[option] = signs[option] * density / p;
            product *= p;
            if option % 16 == 15 {
                log += product.ln();
                product = 1.0;
            }
        }
        log + product.ln()
    }

    fn add_slope(&self, q: usize, posterior: f64, quantiles: &[f64], hazards: &[f64], gradient: &mut [f64]) {
        let (factors, point) = (self.likelihood.factors, self.likelihood.nodes.point(q));
        for (option, hazard) in hazards.iter().enumerate() {
            let own = option * factors..(option + 1) * factors;
            let stretch = quantiles[option] / self.scales[option];
            let slope = posterior * hazard;
            for ((g, l), z) in gradient[own.clone()].iter_mut().zip(&self.loadings[own]).zip(point) {
                *g += slope * (stretch * l + z);
            }
        }
    }
}
