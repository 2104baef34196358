//! Correlation of two scores of the same texts, where texts were scored by different models.
//!
//! The models of cross-fitting differ in their averages. Over all texts at once these differences would
//! correlate too: two scores that are constant in each fold, except for what their folds have in common,
//! would correlate perfectly. So both correlations are *within strata*, a stratum being the texts that the
//! same models scored: Pearson's of scores minus their stratum's mean (the pooled within-group correlation),
//! and Spearman's as the same of relative ranks within the stratum. With one stratum they are the usual ones.

use super::bootstrap::weighted_ranks;
use super::correlation::order;
use super::interval::{BootstrapOptions, Figure, Interval, resample};
use crate::data::ModelError;
use crate::data::progress::Progress;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Minimum number of independent texts (clusters) for an interval.
pub const MIN_CLUSTERS: usize = 20;

/// Minimum number of clusters for a correlation: two texts always correlate by 1 or -1, and a few carry
/// almost no information.
const MIN_SCORES: usize = 10;

/// Correlations closer to 1 than this are 1 up to rounding.
const EXACT: f64 = 1e-9;

/// Two scores of texts, one row per text.
#[derive(Clone, Copy, Debug)]
pub struct ScorePairs<'a> {
    pub x: &'a [f64],
    pub y: &'a [f64],
    /// Identifier of the models that scored the text.
    pub strata: &'a [u16],
    /// Cluster of the text (a thread, a document), whose texts are not independent. Any numbers.
    pub clusters: &'a [u32],
}

/// A correlation, in -1..=1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    pub value: f64,
    /// Its interval; `None` with fewer than 20 clusters, or where it is 1 or -1.
    pub interval: Option<(f64, f64)>,
}

/// Both correlations of two scores; `None` where one of them does not vary within any stratum, or with fewer
/// than 10 clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreCorrelation {
    /// Number of texts.
    pub texts: usize,
    /// Pearson's.
    pub pearson: Option<Correlation>,
    /// Spearman's.
    pub spearman: Option<Correlation>,
}

/// Correlations of two scores within strata. Intervals are bootstrapped over clusters (see [`Interval`]) on
/// the scale of Fisher's z, `atanh r` (Fisher 1921), where the spread of a correlation hardly depends on its
/// size. They describe other texts under the same models, not other labels. `tests/score_correlation.rs`
/// measures their coverage.
///
/// # Errors
/// [`ModelError::Length`] where the lists are not equally long; [`ModelError::Confidence`],
/// [`ModelError::NoResamples`], [`ModelError::Cancelled`].
pub fn score_correlation(
    pairs: &ScorePairs<'_>,
    bootstrap: Option<&BootstrapOptions>,
    progress: &dyn Progress,
) -> Result<ScoreCorrelation, ModelError> {
    let texts = pairs.x.len();
    for (what, found) in [
        ("the second scores", pairs.y.len()),
        ("the strata of scores", pairs.strata.len()),
        ("the clusters of scores", pairs.clusters.len()),
    ] {
        if found != texts {
            return Err(ModelError::Length { what, expected: texts, found });
        }
    }
    let strata = Stratum::all(pairs);
    let of_all = correlations(&strata, &vec![1.0; texts]);
    let (clusters, cluster_of) = numbered(pairs.clusters);
    let resampled = match bootstrap {
        Some(options) if clusters >= MIN_CLUSTERS => {
            let of = |weights: &[f64]| {
                let weights: Vec<f64> = cluster_of.iter().map(|cluster| weights[*cluster]).collect();
                correlations(&strata, &weights)
            };
            resample(&vec![1; clusters], options, "correlation", progress, of)?
        }
        _ => Vec::new(),
    };
    let figure = |which: usize| {
        let value = of_all[which].filter(|_| clusters >= MIN_SCORES)?;
        let z = resampled.iter().map(|found| found[which].map(f64::atanh));
        let range = (f64::NEG_INFINITY, f64::INFINITY);
        let of = Figure { estimate: value.atanh(), clusters, range };
        let exact = value.abs() > 1.0 - EXACT;
        let interval = bootstrap.filter(|_| !exact).and_then(|options| Interval::new(of, z, options));
        Some(Correlation { value, interval: interval.map(|i| (i.low.tanh(), i.high.tanh())) })
    };
    Ok(ScoreCorrelation { texts, pearson: figure(0), spearman: figure(1) })
}

/// Number of distinct values, and the index of the value at each position.
fn numbered(of: &[u32]) -> (usize, Vec<usize>) {
    let mut known = BTreeMap::new();
    let places = of.iter().map(|number| {
        let next = known.len();
        *known.entry(*number).or_insert(next)
    });
    let places = places.collect();
    (known.len(), places)
}

/// Texts that the same models scored.
struct Stratum {
    rows: Vec<usize>,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Positions in `x` and `y`, sorted once.
    by_x: Vec<u32>,
    by_y: Vec<u32>,
}

impl Stratum {
    fn all(pairs: &ScorePairs<'_>) -> Vec<Self> {
        let mut rows: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        for (row, stratum) in pairs.strata.iter().enumerate() {
            rows.entry(*stratum).or_default().push(row);
        }
        let of = |rows: Vec<usize>| {
            let x: Vec<f64> = rows.iter().map(|row| pairs.x[*row]).collect();
            let y: Vec<f64> = rows.iter().map(|row| pairs.y[*row]).collect();
            let (by_x, by_y) = (order(&x), order(&y));
            Self { rows, x, y, by_x, by_y }
        };
        rows.into_values().map(of).collect()
    }
}

/// Weighted squares and products within strata.
#[derive(Default)]
struct Squares {
    xx: f64,
    yy: f64,
    xy: f64,
    /// Squares below these are due to the rounding of means.
    rounding: (f64, f64),
}

impl Squares {
    fn add(&mut self, x: &[f64], y: &[f64], weights: &[f64], whole: f64) {
        let mean = |v: &[f64]| v.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / whole;
        let (mx, my) = (mean(x), mean(y));
        for ((x, y), w) in x.iter().zip(y).zip(weights) {
            let (dx, dy) = (x - mx, y - my);
            self.xx += w * dx * dx;
            self.yy += w * dy * dy;
            self.xy += w * dx * dy;
        }
        let rounding = |v: &[f64]| 1e-22 * whole * v.iter().fold(0.0f64, |m, v| m.max(v.abs())).powi(2);
        self.rounding.0 += rounding(x);
        self.rounding.1 += rounding(y);
    }

    fn correlation(&self) -> Option<f64> {
        let varies = self.xx > self.rounding.0 && self.yy > self.rounding.1;
        varies.then(|| (self.xy / (self.xx * self.yy).sqrt()).clamp(-1.0, 1.0))
    }
}

/// Pearson's and Spearman's correlation, where text `i` has the weight `weights[i]`.
fn correlations(strata: &[Stratum], weights: &[f64]) -> [Option<f64>; 2] {
    let (mut values, mut ranks) = (Squares::default(), Squares::default());
    for stratum in strata {
        let weights: Vec<f64> = stratum.rows.iter().map(|row| weights[*row]).collect();
        let whole: f64 = weights.iter().sum();
        if whole <= 0.0 {
            continue;
        }
        values.add(&stratum.x, &stratum.y, &weights, whole);
        let relative = |values: &[f64], order: &[u32]| -> Vec<f64> {
            weighted_ranks(values, order, &weights).into_iter().map(|rank| rank / whole).collect()
        };
        let (x, y) = (relative(&stratum.x, &stratum.by_x), relative(&stratum.y, &stratum.by_y));
        ranks.add(&x, &y, &weights, whole);
    }
    [values.correlation(), ranks.correlation()]
}
