//! Calibration of predicted probabilities.

use super::scored::Scored;
use serde::{Deserialize, Serialize};

/// Expected calibration error: predictions are grouped into `bins` equal bins by the probability of the most
/// likely level; the mean over predictions of |share correct - mean probability| of their bin (Guo et al.
/// 2017, eq. 3). Bins are open to the left, (0, 0.1], (0.1, 0.2], ... Zero for empty input.
pub fn expected_calibration_error(scored: &Scored, bins: usize) -> f64 {
    let bins = bins.max(1);
    let mut gap = vec![0.0f64; bins]; // sum of (correct - probability)
    for (confidence, hit) in stated(scored) {
        gap[bin(confidence, bins)] += f64::from(u8::from(hit)) - confidence;
    }
    gap.iter().map(|g| g.abs()).sum::<f64>() / scored.observations.len().max(1) as f64
}

/// One bin of a calibration curve (reliability diagram).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalibrationBin {
    /// Lower end, exclusive.
    pub from: f64,
    /// Upper end, inclusive.
    pub to: f64,
    /// Number of labels whose prediction is in the bin.
    pub labels: usize,
    /// Mean probability of the predicted level; absent in an empty bin.
    pub confidence: Option<f64>,
    /// Share of the labels that are the predicted level; absent in an empty bin.
    pub accuracy: Option<f64>,
}

/// The curve whose weighted distance from the diagonal is [`expected_calibration_error`]: `bins` (at least
/// one) bins of equal width over (0, 1], of the probability of the most likely level (Niculescu-Mizil and
/// Caruana 2005; Guo et al. 2017, eq. 1 and 2).
pub fn calibration_curve(scored: &Scored, bins: usize) -> Vec<CalibrationBin> {
    let bins = bins.max(1);
    let mut sums = vec![(0usize, 0.0f64, 0usize); bins];
    for (confidence, hit) in stated(scored) {
        let (labels, sum, hits) = &mut sums[bin(confidence, bins)];
        *labels += 1;
        *sum += confidence;
        *hits += usize::from(hit);
    }
    let edge = |b: usize| b as f64 / bins as f64;
    let curve = sums.into_iter().enumerate().map(|(b, (labels, sum, hits))| CalibrationBin {
        from: edge(b),
        to: edge(b + 1),
        labels,
        confidence: (labels > 0).then(|| sum / labels as f64),
        accuracy: (labels > 0).then(|| hits as f64 / labels as f64),
    });
    curve.collect()
}

/// The probability of the predicted level of every label, and whether the label is that level.
fn stated(scored: &Scored) -> impl Iterator<Item = (f64, bool)> {
    scored
        .predicted()
        .into_iter()
        .zip(&scored.observations)
        .enumerate()
        .map(|(i, (p, o))| (f64::from(scored.row(i)[usize::from(p)]), o.level == p))
}

/// Index of the bin of a confidence, for `bins` equal bins that include their upper end.
pub(crate) fn bin(confidence: f64, bins: usize) -> usize {
    ((confidence * bins as f64).ceil() as usize).clamp(1, bins) - 1
}
