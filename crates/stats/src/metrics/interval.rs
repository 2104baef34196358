//! Bootstrap intervals: how resamples are drawn, and how intervals follow from their spread.
//!
//! A resample includes all clusters (texts or annotators) and gives each a random weight (the Bayesian
//! bootstrap of Rubin 1981; fractional-random-weight bootstrap of Xu et al. 2020). It measures the same
//! spread as drawing clusters with replacement, but no class and no annotator ever vanishes from a resample,
//! which is what made figures such as macro-F1 jump and percentile intervals miss their own estimate.
//!
//! The interval is `estimate -+ t sqrt((k + 1) / (k - 1)) s`: s is the standard deviation over resamples, k
//! the number of clusters that the figure is based on, t the quantile of Student's distribution with k - 1
//! degrees of freedom (Hesterberg 2015, What teachers should know about the bootstrap, sections 3.3 and 4.1;
//! the root is the Bayesian bootstrap's small-sample factor). It contains the estimate by construction.
//! Percentile, bias-corrected and basic intervals were simulated too: where resamples are biased (calibration
//! error, worst tenth) they covered far less than the nominal level. `tests/coverage.rs` measures the
//! coverage of this one.

use crate::data::ModelError;
use crate::data::progress::{Progress, step};
use crate::math::distributions::student_quantile;
use crate::math::random::generator;
use rand_distr::{Distribution, Exp1, Gamma};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Confidence level of every interval that window, command and report show, and of the accompanying verdicts.
pub const CONFIDENCE_LEVEL: f64 = 0.95;

/// Number of resamples passed to the workers between two progress reports.
const ROUND: usize = 50;

/// Spread below this share of the figure is rounding.
const ROUNDING: f64 = 1e-10;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BootstrapOptions {
    /// Number of resamples; with 1,000 the width of an interval is accurate to about 5 %.
    pub resamples: usize,
    /// Probability that the interval contains the population's value, in (0, 1).
    pub confidence: f64,
    /// Seed; the same seed, data and options give the same numbers on any number of cores.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { resamples: 1000, confidence: CONFIDENCE_LEVEL, seed: 0 }
    }
}

impl BootstrapOptions {
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Err(ModelError::Confidence(self.confidence));
        }
        if self.resamples == 0 { Err(ModelError::NoResamples) } else { Ok(()) }
    }
}

/// A confidence interval around a figure, which always contains the figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Standard deviation of the figure over the resamples.
    pub standard_error: f64,
    /// Number of resamples in which the figure is defined.
    pub resamples: usize,
}

/// Properties of a figure that its interval depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) estimate: f64,
    /// Number of clusters that the figure is based on, at least two: all of them, or those of the decisive
    /// part (the worst tenth, the rarest class).
    pub(crate) clusters: usize,
    /// The smallest and the largest possible value of the figure.
    pub(crate) range: (f64, f64),
}

impl Interval {
    /// `None` where there is too little data: fewer than two clusters, resamples that do not vary, or a
    /// figure that fewer than half of the resamples define (the rest would not be representative).
    pub(crate) fn new(
        figure: Figure,
        values: impl Iterator<Item = Option<f64>>,
        options: &BootstrapOptions,
    ) -> Option<Self> {
        let values: Vec<f64> = values.flatten().filter(|v| v.is_finite()).collect();
        let Figure { estimate, clusters, range } = figure;
        if clusters < 2 || values.len() < 2 || 2 * values.len() < options.resamples || !estimate.is_finite() {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let standard_error = (squares / (n - 1.0)).sqrt();
        if standard_error <= ROUNDING * (1.0 + estimate.abs()) {
            return None;
        }
        let k = clusters as f64;
        let t = student_quantile(0.5 + 0.5 * options.confidence, clusters - 1);
        let half = t * ((k + 1.0) / (k - 1.0)).sqrt() * standard_error;
        Some(Self {
            low: (estimate - half).max(range.0),
            high: (estimate + half).min(range.1),
            standard_error,
            resamples: values.len(),
        })
    }
}

/// Applies `number` to every resample, in their order: each resample gives cluster `i` a random weight, gamma
/// distributed with mean `sizes[i]` and scaled so that all weights sum to the sum of `sizes`. A cluster of
/// size n represents n identical clusters. Resample `r` has its own stream of the seed, so that the result
/// does not depend on the distribution over cores; the same seed and sizes give the same weights everywhere.
///
/// # Errors
/// [`ModelError::Confidence`], [`ModelError::NoResamples`], [`ModelError::Cancelled`].
pub(crate) fn resample<T: Send>(
    sizes: &[u32],
    options: &BootstrapOptions,
    name: &str,
    progress: &dyn Progress,
    number: impl Fn(&[f64]) -> T + Sync,
) -> Result<Vec<T>, ModelError> {
    options.check()?;
    let whole: f64 = sizes.iter().map(|n| f64::from(*n)).sum();
    let gammas: Vec<Option<Gamma<f64>>> =
        sizes.iter().map(|&n| if n == 1 { None } else { Gamma::new(f64::from(n), 1.0).ok() }).collect();
    let mut out = Vec::with_capacity(options.resamples);
    while out.len() < options.resamples {
        step(progress, name, out.len() as f32 / options.resamples as f32)?;
        let round = out.len()..(out.len() + ROUND).min(options.resamples);
        let made: Vec<T> = round
            .into_par_iter()
            .map_init(
                || vec![0.0; sizes.len()],
                |weights, r| {
                    let mut rng = generator(options.seed, FIRST_STREAM + r as u64);
                    for ((weight, gamma), &size) in weights.iter_mut().zip(&gammas).zip(sizes) {
                        *weight = match gamma {
                            Some(gamma) => gamma.sample(&mut rng),
                            None if size == 0 => 0.0,
                            None => Exp1.sample(&mut rng),
                        };
                    }
                    let scale = whole / weights.iter().sum::<f64>();
                    weights.iter_mut().for_each(|w| *w *= scale);
                    number(weights)
                },
            )
            .collect();
        out.extend(made);
    }
    step(progress, name, 1.0)?;
    Ok(out)
}

/// Streams below this one are reserved for splits and folds with the same seed.
const FIRST_STREAM: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::Silent;

    #[test]
    fn weights_are_seeded_positive_and_sum_to_the_sizes() {
        let options = BootstrapOptions { resamples: 400, ..Default::default() };
        let sizes = [1, 1, 5, 1, 0, 2];
        let weights = |seed| {
            let options = BootstrapOptions { seed, ..options };
            resample(&sizes, &options, "", &Silent, <[f64]>::to_vec).unwrap()
        };
        let first = weights(0);
        assert_eq!(first.len(), 400);
        assert_eq!(first, weights(0));
        assert_ne!(first, weights(1));
        assert!(first.iter().all(|w| (w.iter().sum::<f64>() - 10.0).abs() < 1e-9));
        assert!(first.iter().flatten().enumerate().all(|(i, w)| (*w > 0.0) == (i % 6 != 4)));
        // Dirichlet weights: mean n, variance n (N - n) / (N + 1) with N the sum of the sizes.
        for (at, size) in [(0, 1.0), (2, 5.0), (5, 2.0)] {
            let mean = first.iter().map(|w| w[at]).sum::<f64>() / 400.0;
            let variance = first.iter().map(|w| (w[at] - mean).powi(2)).sum::<f64>() / 399.0;
            let expected = size * (10.0 - size) / 11.0;
            assert!((mean - size).abs() < 0.25, "{at}: {mean}");
            assert!((variance / expected - 1.0).abs() < 0.35, "{at}: {variance} against {expected}");
        }
    }

    #[test]
    fn interval_contains_its_figure_or_is_absent() {
        let options = BootstrapOptions { resamples: 10, confidence: 0.9, seed: 0 };
        let values = |defined: usize| (0..10).map(move |i| (i < defined).then_some(f64::from(i as u8)));
        let figure = Figure { estimate: 20.0, clusters: 8, range: (0.0, 22.0) };
        assert_eq!(Interval::new(figure, values(4), &options), None);
        // Five values 0 to 4: standard deviation 1.5811, t of 7 degrees 1.8946, root of 9 / 7.
        let interval = Interval::new(figure, values(5), &options).unwrap();
        assert_eq!(interval.resamples, 5);
        assert!((interval.low - (20.0 - 1.894_579 * (9.0f64 / 7.0).sqrt() * 2.5f64.sqrt())).abs() < 1e-5);
        assert_eq!(interval.high, 22.0);
        assert_eq!(Interval::new(figure, std::iter::empty(), &options), None);
        assert_eq!(Interval::new(figure, std::iter::repeat_n(Some(0.3), 10), &options), None);
        assert_eq!(Interval::new(Figure { clusters: 1, ..figure }, values(10), &options), None);
        let wrong = BootstrapOptions { confidence: 1.0, ..options };
        assert_eq!(wrong.check(), Err(ModelError::Confidence(1.0)));
        assert_eq!(BootstrapOptions { resamples: 0, ..options }.check(), Err(ModelError::NoResamples));
    }
}
