//! Whether a stated probability comes true as often as it says.

use super::Scored;

/// Expected calibration error: predictions fall into `bins` equal bins by the probability of the most likely level;
/// the mean over predictions of |share correct - mean probability| of their bin (Guo et al. 2017, eq. 3). Bins are
/// open to the left, (0, 0.1], (0.1, 0.2], ... Zero for empty input.
pub fn expected_calibration_error(scored: &Scored, bins: usize) -> f64 {
    let bins = bins.max(1);
    let mut gap = vec![0.0f64; bins]; // sum of (correct - probability)
    let predicted = scored.predicted();
    for (i, (o, &p)) in scored.observations.iter().zip(&predicted).enumerate() {
        let confidence = f64::from(scored.row(i)[usize::from(p)]);
        let bin = ((confidence * bins as f64).ceil() as usize).clamp(1, bins) - 1;
        gap[bin] += f64::from(u8::from(o.level == p)) - confidence;
    }
    gap.iter().map(|g| g.abs()).sum::<f64>() / scored.observations.len().max(1) as f64
}
