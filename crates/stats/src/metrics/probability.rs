//! Metrics of the predicted probability of the given label: log loss and Brier score.

use super::scored::Scored;

/// Lower bound of probabilities before a logarithm.
pub(crate) const CLIP: f64 = 1e-9;

/// Mean of `-ln p(label)` (scikit-learn's `log_loss`), p at least 1e-9. Zero for empty input.
pub fn log_loss(scored: &Scored) -> f64 {
    let sum: f64 = scored
        .observations
        .iter()
        .enumerate()
        .map(|(i, o)| -f64::from(scored.row(i)[usize::from(o.level)]).max(CLIP).ln())
        .sum();
    sum / scored.observations.len().max(1) as f64
}

/// Mean over labels of `sum_c (p_c - [c = label])^2` (Brier 1950, eq. 2: the form over all levels, 0..2; for
/// two levels it is twice scikit-learn's former `brier_score_loss`). Zero for empty input.
pub fn brier(scored: &Scored) -> f64 {
    let sum: f64 = scored
        .observations
        .iter()
        .enumerate()
        .map(|(i, o)| {
            let row = scored.row(i).iter().enumerate();
            row.map(|(c, &p)| (f64::from(p) - f64::from(u8::from(c == usize::from(o.level)))).powi(2))
                .sum::<f64>()
        })
        .sum();
    sum / scored.observations.len().max(1) as f64
}
