//! Percentile bootstrap: which clusters each resample draws, and what its percentiles say.

use crate::data::PerspectivesError;
use crate::data::progress::{Progress, step};
use crate::math::random::generator;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Resamples handed to the workers between two reports of progress.
const ROUND: usize = 50;

/// How a bootstrap is made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BootstrapOptions {
    /// Resamples; 1,000 give the ends of a 95 % interval to about a twentieth of its width.
    pub resamples: usize,
    /// Share of resamples inside the interval, in (0, 1).
    pub confidence: f64,
    /// Seed; the same seed, data and options give the same numbers on any number of cores.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { resamples: 1000, confidence: 0.95, seed: 0 }
    }
}

impl BootstrapOptions {
    pub(crate) fn check(&self) -> Result<(), PerspectivesError> {
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Err(PerspectivesError::Confidence(self.confidence));
        }
        if self.resamples == 0 { Err(PerspectivesError::NoResamples) } else { Ok(()) }
    }
}

/// A percentile bootstrap interval (Efron and Tibshirani 1993, An introduction to the bootstrap, ch. 13): the
/// (1 - confidence) / 2 and (1 + confidence) / 2 quantiles of the number over the resamples in which it is defined,
/// quantiles interpolated as numpy's `percentile` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Standard deviation of the number over the resamples.
    pub standard_error: f64,
    /// Resamples in which the number is defined.
    pub resamples: usize,
}

impl Interval {
    /// `None` if fewer than half of the resamples define the number: the rest would not stand for all.
    pub(crate) fn of(values: impl Iterator<Item = Option<f64>>, options: &BootstrapOptions) -> Option<Self> {
        let mut values: Vec<f64> = values.flatten().filter(|v| v.is_finite()).collect();
        if values.is_empty() || 2 * values.len() < options.resamples {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let tail = (1.0 - options.confidence) / 2.0;
        Some(Self {
            low: quantile(&values, tail),
            high: quantile(&values, 1.0 - tail),
            standard_error: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 },
            resamples: values.len(),
        })
    }
}

/// Quantile of sorted values, linear between neighbours (definition 7 of Hyndman and Fan 1996).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// What `number` says of every resample, in their order: each resample draws as many of the `clusters` as there are,
/// with replacement, and `number` gets how often each one was drawn. Resample `r` has its own stream of the seed, so
/// that nothing depends on which core computed it; the same seed and number of clusters give the same draws everywhere.
///
/// # Errors
/// [`PerspectivesError::Confidence`], [`PerspectivesError::NoResamples`], [`PerspectivesError::Cancelled`].
pub(crate) fn resample<T: Send>(
    clusters: usize,
    options: &BootstrapOptions,
    name: &str,
    progress: &mut dyn Progress,
    number: impl Fn(&[u32]) -> T + Sync,
) -> Result<Vec<T>, PerspectivesError> {
    options.check()?;
    let mut out = Vec::with_capacity(options.resamples);
    while out.len() < options.resamples {
        step(progress, name, out.len() as f32 / options.resamples as f32)?;
        let round = out.len()..(out.len() + ROUND).min(options.resamples);
        let made: Vec<T> = round
            .into_par_iter()
            .map_init(
                || vec![0u32; clusters],
                |drawn, r| {
                    drawn.fill(0);
                    let mut rng = generator(options.seed, FIRST_STREAM + r as u64);
                    (0..clusters).for_each(|_| drawn[rng.random_range(0..clusters)] += 1);
                    number(drawn)
                },
            )
            .collect();
        out.extend(made);
    }
    step(progress, name, 1.0)?;
    Ok(out)
}

/// Streams below this one belong to splits and folds of the same seed.
const FIRST_STREAM: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::Silent;

    #[test]
    fn quantiles_interpolate() {
        let sorted = [1.0, 2.0, 4.0, 8.0, 16.0];
        assert_eq!(quantile(&sorted, 0.0), 1.0);
        assert_eq!(quantile(&sorted, 0.5), 4.0);
        assert_eq!(quantile(&sorted, 0.9), 12.8);
        assert_eq!(quantile(&[7.0], 0.3), 7.0);
    }

    #[test]
    fn draws_are_seeded_complete_and_differ() {
        let options = BootstrapOptions { resamples: 120, ..Default::default() };
        let draws = |seed| {
            let options = BootstrapOptions { seed, ..options };
            resample(9, &options, "", &mut Silent, <[u32]>::to_vec).unwrap()
        };
        let first = draws(0);
        assert_eq!(first.len(), 120);
        assert_eq!(first, draws(0));
        assert_ne!(first, draws(1));
        assert!(first.iter().all(|d| d.iter().sum::<u32>() == 9));
        assert_ne!(first[0], first[1]);
        let mean: f64 = first.iter().map(|d| f64::from(d[0])).sum::<f64>() / 120.0;
        assert!((mean - 1.0).abs() < 0.3, "{mean}");
    }

    #[test]
    fn an_interval_of_mostly_undefined_numbers_is_none() {
        let options = BootstrapOptions { resamples: 10, ..Default::default() };
        let values = |defined: usize| (0..10).map(move |i| (i < defined).then_some(1.0));
        assert_eq!(Interval::of(values(4), &options), None);
        assert_eq!(Interval::of(values(5), &options).unwrap().resamples, 5);
        assert_eq!(Interval::of(std::iter::empty(), &options), None);
        let wrong = BootstrapOptions { confidence: 1.0, ..options };
        assert_eq!(wrong.check(), Err(PerspectivesError::Confidence(1.0)));
        assert_eq!(BootstrapOptions { resamples: 0, ..options }.check(), Err(PerspectivesError::NoResamples));
    }
}
