//! Metrics for ordered levels.

use super::answers::median;
use super::scored::Scored;

/// The median level of every prediction.
pub(crate) fn medians(scored: &Scored) -> Vec<u16> {
    scored.probabilities.chunks_exact(scored.levels.max(1)).map(median).collect()
}

/// Mean distance between both, in levels. Zero for empty input.
pub fn mean_absolute_error(truth: &[u16], predicted: &[u16]) -> f64 {
    let sum: f64 = truth.iter().zip(predicted).map(|(&t, &p)| f64::from(t.abs_diff(p))).sum();
    sum / truth.len().max(1) as f64
}

/// Mean over labels of `sum_{j < K-1} (P(y <= j) - [label <= j])^2` (Epstein 1969, in the unnormalised form
/// of Wilks, Statistical methods in the atmospheric sciences, eq. 8.49). Zero for empty input.
pub fn ranked_probability_score(scored: &Scored) -> f64 {
    let mut sum = 0.0;
    for (i, o) in scored.observations.iter().enumerate() {
        let mut below = 0.0;
        for (j, &p) in scored.row(i).iter().enumerate().take(scored.levels - 1) {
            below += f64::from(p);
            sum += (below - f64::from(u8::from(usize::from(o.level) <= j))).powi(2);
        }
    }
    sum / scored.observations.len().max(1) as f64
}

/// Cohen's kappa with quadratic weights (Cohen 1968, eq. 6): `1 - sum w_ij o_ij / sum w_ij e_ij`,
/// `w_ij = (i - j)^2`. `None` where it is undefined (one level only).
pub fn quadratic_kappa(truth: &[u16], predicted: &[u16], levels: usize) -> Option<f64> {
    let n = truth.len() as f64;
    let mut rows = vec![0.0; levels];
    let mut columns = vec![0.0; levels];
    let mut observed = 0.0;
    for (&t, &p) in truth.iter().zip(predicted) {
        rows[usize::from(t)] += 1.0;
        columns[usize::from(p)] += 1.0;
        observed += (f64::from(t) - f64::from(p)).powi(2);
    }
    let mut expected = 0.0;
    for (i, r) in rows.iter().enumerate() {
        for (j, c) in columns.iter().enumerate() {
            expected += (i as f64 - j as f64).powi(2) * r * c / n;
        }
    }
    (expected > 0.0).then(|| 1.0 - observed / expected)
}

/// Correlation of the label with the level the prediction expects, `sum_c c p_c` ([`super::pearson`]); for
/// two levels that is the correlation of the label with its probability. `None` where either is constant.
pub fn label_correlation(scored: &Scored) -> Option<f64> {
    let labels: Vec<f64> = scored.observations.iter().map(|o| f64::from(o.level)).collect();
    let expected: Vec<f64> = (0..labels.len()).map(|i| expected_level(scored.row(i))).collect();
    super::pearson(&labels, &expected)
}

/// Correlation of labels with predicted levels ([`super::pearson`]). `None` where either is constant.
pub fn level_correlation(truth: &[u16], predicted: &[u16]) -> Option<f64> {
    let numbers = |levels: &[u16]| -> Vec<f64> { levels.iter().map(|level| f64::from(*level)).collect() };
    super::pearson(&numbers(truth), &numbers(predicted))
}

/// `sum_c c p_c`, levels counted from 0.
pub(crate) fn expected_level(p: &[f32]) -> f64 {
    p.iter().enumerate().map(|(c, &p)| c as f64 * f64::from(p)).sum()
}
