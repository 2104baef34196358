//! Wilcoxon's signed-rank test: whether paired differences are centred on zero.

use super::correlation::ranks;
use serde::{Deserialize, Serialize};

/// Largest number of differences for the exact null distribution, if no two are equal.
const EXACT: usize = 50;

/// Differences closer to each other, or to zero, than this are equal: shares of few labels tie often, and
/// rounding must not separate them.
const SAME: f64 = 1e-9;

/// Wilcoxon's signed-rank test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wilcoxon {
    /// Number of pairs that differ; the others are left out, as Wilcoxon did.
    pub pairs: usize,
    /// Sum of the ranks of positive differences.
    pub positive: f64,
    /// Sum of the ranks of negative differences.
    pub negative: f64,
    /// Two-sided p.
    pub p: f64,
    /// Whether p is exact; else it is the normal approximation with the variance corrected for ties.
    pub exact: bool,
}

/// The test of `differences` (Wilcoxon 1945; variance with ties by Pratt and Gibbons 1981:
/// `n (n + 1) (2 n + 1) / 24 - sum (t^3 - t) / 48`, no continuity correction, like scipy's `wilcoxon`). Exact
/// for up to 50 differences without ties; zeros are left out and do not count as ties. `None` if every
/// difference is zero.
pub fn wilcoxon(differences: &[f64]) -> Option<Wilcoxon> {
    let rounded = differences.iter().map(|d| (d / SAME).round() * SAME);
    let left: Vec<f64> = rounded.filter(|d| *d != 0.0).collect();
    if left.is_empty() || left.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let sizes: Vec<f64> = left.iter().map(|d| d.abs()).collect();
    let ranks = ranks(&sizes);
    let sum =
        |sign: f64| left.iter().zip(&ranks).filter(|(d, _)| **d * sign > 0.0).map(|(_, r)| r).sum::<f64>();
    let (positive, negative) = (sum(1.0), sum(-1.0));
    let ties = ties(&sizes);
    let n = left.len();
    let exact = n <= EXACT && ties == 0.0;
    let p = if exact { exact_p(n, positive.min(negative)) } else { normal_p(n, positive, ties) };
    Some(Wilcoxon { pairs: n, positive, negative, p, exact })
}

/// `sum t^3 - t` over groups of t equal sizes.
fn ties(sizes: &[f64]) -> f64 {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|t| (t.len() as f64).powi(3) - t.len() as f64).sum()
}

fn normal_p(n: usize, positive: f64, ties: f64) -> f64 {
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let z = (positive - mean) / variance.sqrt();
    libm::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// `min(1, 2 P(W <= w))`: the share of the 2^n choices of signs whose rank sum is at most w, counted rank by
/// rank.
fn exact_p(n: usize, w: f64) -> f64 {
    let most = n * (n + 1) / 2;
    let mut ways = vec![0.0f64; most + 1]; // at most 2^50: exact in doubles
    ways[0] = 1.0;
    for rank in 1..=n {
        for sum in (rank..=most).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let below: f64 = ways[..=(w as usize).min(most)].iter().sum();
    (2.0 * below / 2f64.powi(n as i32)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_case_matches_hand_computation() {
        // Eight choices of signs, one of which has no negative rank: 2 / 8.
        let test = wilcoxon(&[0.1, 0.0, 0.3, 0.2]).unwrap();
        assert_eq!((test.pairs, test.positive, test.negative, test.exact), (3, 6.0, 0.0, true));
        assert!((test.p - 0.25).abs() < 1e-12);
    }

    #[test]
    fn rounding_does_not_break_ties() {
        let (a, b) = (0.3 - 0.2, 0.2 - 0.1);
        assert_ne!(a, b);
        let test = wilcoxon(&[a, -b, 0.7]).unwrap();
        assert_eq!((test.positive, test.negative, test.exact), (4.5, 1.5, false));
        assert_eq!(wilcoxon(&[]), None);
        assert_eq!(wilcoxon(&[0.0, 1e-15, -1e-15]), None);
    }
}
