//! Contribution of every label to the numbers that are sums, and the numbers computed from these sums.

use crate::metrics::Scores;
use crate::metrics::calibration::bin;
use crate::metrics::ordinal::expected_level;
use crate::metrics::probability::CLIP;

/// Bins of the calibration error in [`Scores`].
const BINS: usize = 10;

const LABELS: usize = 0;
const HITS: usize = 1;
const LOG_LOSS: usize = 2;
const BRIER: usize = 3;
const RANKED: usize = 4;
const DISTANCE: usize = 5;
const X: usize = 6;
const Y: usize = 7;
const XX: usize = 8;
const YY: usize = 9;
const XY: usize = 10;
const MEDIAN: usize = 11;
const MEDIAN_SQUARED: usize = 12;
const MEDIAN_LEVEL: usize = 13;
const GAPS: usize = 14;

/// Sums over labels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums([f64; GAPS + BINS]);

/// A label and its prediction.
pub(super) struct Label<'a> {
    pub(super) level: u16,
    pub(super) predicted: u16,
    pub(super) median: u16,
    pub(super) p: &'a [f32],
    /// Origin of levels in products, to limit the rounding of small variances.
    pub(super) centre: f64,
}

impl Sums {
    pub(super) const NONE: Self = Self([0.0; GAPS + BINS]);

    /// Contribution of one label; definitions are in [`crate::metrics`].
    pub(super) fn of(label: &Label<'_>) -> Self {
        let Label { level, predicted, median, p, centre } = *label;
        let mut s = [0.0; GAPS + BINS];
        let is = |c: usize| f64::from(u8::from(usize::from(level) == c));
        let hit = f64::from(u8::from(level == predicted));
        s[LABELS] = 1.0;
        s[HITS] = hit;
        s[LOG_LOSS] = -f64::from(p[usize::from(level)]).max(CLIP).ln();
        let mut below = 0.0;
        for (c, &p) in p.iter().enumerate() {
            s[BRIER] += (f64::from(p) - is(c)).powi(2);
            below += f64::from(p);
            if c + 1 < label.p.len() {
                s[RANKED] += (below - f64::from(u8::from(usize::from(level) <= c))).powi(2);
            }
        }
        s[DISTANCE] = f64::from(level.abs_diff(median));
        s[X] = f64::from(level) - centre;
        s[Y] = expected_level(p) - centre;
        s[XX] = s[X] * s[X];
        s[YY] = s[Y] * s[Y];
        s[XY] = s[X] * s[Y];
        s[MEDIAN] = f64::from(median) - centre;
        s[MEDIAN_SQUARED] = s[MEDIAN] * s[MEDIAN];
        s[MEDIAN_LEVEL] = s[X] * s[MEDIAN];
        let confidence = f64::from(p[usize::from(predicted)]);
        s[GAPS + bin(confidence, BINS)] = hit - confidence;
        Self(s)
    }

    pub(super) fn add(&mut self, weight: f64, other: &Self) {
        for (s, o) in self.0.iter_mut().zip(&other.0) {
            *s += weight * o;
        }
    }

    pub(super) fn labels(&self) -> f64 {
        self.0[LABELS]
    }

    /// Writes the numbers that are sums. Nothing is written without labels.
    pub(super) fn write(&self, ordinal: bool, correlates: bool, scores: &mut Scores) {
        let s = &self.0;
        let n = s[LABELS];
        if n == 0.0 {
            return;
        }
        scores.accuracy = Some(s[HITS] / n);
        scores.log_loss = Some(s[LOG_LOSS] / n);
        scores.brier = Some(s[BRIER] / n);
        scores.ece = Some(s[GAPS..].iter().map(|g| g.abs()).sum::<f64>() / n);
        // Below this the variance of a constant is only rounding.
        let correlation = |y: usize, yy: usize, xy: usize| {
            let (x2, y2) = (s[XX] - s[X] * s[X] / n, s[yy] - s[y] * s[y] / n);
            let varies = x2 > 1e-12 * s[XX] && y2 > 1e-12 * s[yy];
            varies.then(|| ((s[xy] - s[X] * s[y] / n) / (x2 * y2).sqrt()).clamp(-1.0, 1.0))
        };
        if ordinal {
            scores.pearson_median = correlation(MEDIAN, MEDIAN_SQUARED, MEDIAN_LEVEL);
            scores.mae = Some(s[DISTANCE] / n);
            scores.ranked_probability_score = Some(s[RANKED] / n);
        }
        if correlates {
            scores.pearson = correlation(Y, YY, XY);
        }
    }
}

/// Confusion matrix with weights, label by predicted.
pub(super) struct Confusion {
    levels: usize,
    cells: Vec<f64>,
}

impl Confusion {
    pub(super) fn new(levels: usize) -> Self {
        Self { levels, cells: vec![0.0; levels * levels] }
    }

    pub(super) fn add(&mut self, weight: f64, cell: usize) {
        self.cells[cell] += weight;
    }

    /// Weights of the labels of each level, and of the answers.
    fn totals(&self) -> (Vec<f64>, Vec<f64>) {
        let levels = self.levels;
        let rows = self.cells.chunks_exact(levels.max(1)).map(|r| r.iter().sum()).collect();
        let columns = (0..levels).map(|c| (0..levels).map(|r| self.cells[r * levels + c]).sum()).collect();
        (rows, columns)
    }

    /// The mean F1 of the levels that `occurs` marks, the same in every resample; such a level without weight
    /// in a resample counts 0. `None` without weight.
    pub(super) fn macro_f1(&self, occurs: &[bool]) -> Option<f64> {
        let (levels, (rows, columns)) = (self.levels, self.totals());
        let used: Vec<usize> = (0..levels).filter(|&c| occurs[c]).collect();
        let f1 = |c: &usize| match rows[*c] + columns[*c] {
            0.0 => 0.0,
            both => 2.0 * self.cells[c * levels + c] / both,
        };
        let weight: f64 = rows.iter().sum();
        (weight > 0.0).then(|| used.iter().map(f1).sum::<f64>() / used.len() as f64)
    }

    /// [`crate::metrics::quadratic_kappa`]; `None` where it is undefined.
    pub(super) fn quadratic_kappa(&self) -> Option<f64> {
        let (rows, columns) = self.totals();
        let n: f64 = rows.iter().sum();
        let (mut observed, mut expected) = (0.0, 0.0);
        for (i, r) in rows.iter().enumerate() {
            for (j, c) in columns.iter().enumerate() {
                let w = (i as f64 - j as f64).powi(2);
                observed += w * self.cells[i * self.levels + j];
                expected += w * r * c / n;
            }
        }
        (expected > 0.0).then(|| 1.0 - observed / expected)
    }
}
