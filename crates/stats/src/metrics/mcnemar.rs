//! McNemar's test: whether two models are right equally often on the same labels.

use serde::{Deserialize, Serialize};

/// McNemar's test of paired hits and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct McNemar {
    /// Number of labels that only the first model predicts correctly.
    pub only_first: usize,
    /// Number of labels that only the second model predicts correctly.
    pub only_second: usize,
    /// Two-sided exact p: `2 P(X <= min(b, c))`, X binomial with b + c throws of a fair coin, at most 1. 1
    /// where the models never differ.
    pub exact_p: f64,
    /// `(|b - c| - 1)^2 / (b + c)` with the continuity correction (Edwards 1948), not below 0; absent where
    /// the models never differ.
    pub chi2: Option<f64>,
    /// Two-sided p of `chi2` with one degree of freedom; adequate from about 25 differing labels on.
    pub chi2_p: Option<f64>,
}

/// The test of `only_first` and `only_second` differing labels (McNemar 1947; exact form by the binomial
/// distribution; statsmodels' `mcnemar`). It assumes independent labels, which those of one text or annotator
/// are not: [`super::compare`] has a test without this assumption.
pub fn mcnemar(only_first: usize, only_second: usize) -> McNemar {
    let n = only_first + only_second;
    let gap = (only_first.abs_diff(only_second) as f64 - 1.0).max(0.0);
    let chi2 = (n > 0).then(|| gap * gap / n as f64);
    McNemar {
        only_first,
        only_second,
        exact_p: exact(only_first.min(only_second), n),
        chi2,
        chi2_p: chi2.map(|x| libm::erfc((x / 2.0).sqrt())),
    }
}

/// `min(1, 2 P(X <= k))` for X ~ Binomial(n, 1/2).
fn exact(k: usize, n: usize) -> f64 {
    if 2 * k >= n {
        return 1.0;
    }
    let log = |m: usize| libm::lgamma(m as f64 + 1.0);
    let log_chance = |i: usize| log(n) - log(i) - log(n - i) - n as f64 * std::f64::consts::LN_2;
    // From the largest term down; the ratio of adjacent terms is i / (n - i + 1) < 1.
    let mut term = log_chance(k).exp();
    let mut sum = term;
    for i in (1..=k).rev() {
        term *= i as f64 / (n - i + 1) as f64;
        sum += term;
        if term < 1e-18 * sum {
            break;
        }
    }
    (2.0 * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_match_hand_computation() {
        // 1 of 5: 2 (1 + 5) / 32.
        assert!((mcnemar(4, 1).exact_p - 0.375).abs() < 1e-12);
        assert!((mcnemar(0, 5).exact_p - 0.0625).abs() < 1e-12);
        assert_eq!(mcnemar(3, 3).exact_p, 1.0);
        assert_eq!(mcnemar(3, 3).chi2, Some(0.0));
        let none = mcnemar(0, 0);
        assert_eq!((none.exact_p, none.chi2, none.chi2_p), (1.0, None, None));
    }

    #[test]
    fn large_counts_stay_finite_and_both_forms_agree() {
        let test = mcnemar(50_400, 50_000);
        assert!((test.exact_p - test.chi2_p.unwrap()).abs() < 1e-4, "{test:?}");
        let sure = mcnemar(100_000, 0);
        assert_eq!((sure.exact_p, sure.chi2_p), (0.0, Some(0.0)));
    }
}
