//! Significance of differences between groups on a text.

/// Sums closer than this are equal.
const TIE: f64 = 1e-9;

/// Mean label and predicted distributions of some people on one text: levels are counted from 0.
pub struct Side<'a> {
    /// Mean of their labels.
    pub observed: f64,
    /// A distribution over the levels for each of them, at least one; each sums to 1.
    pub predicted: Vec<&'a [f64]>,
}

impl Side<'_> {
    fn expected(&self) -> f64 {
        let mean = |p: &&[f64]| -> f64 { p.iter().enumerate().map(|(c, p)| c as f64 * p).sum() };
        self.predicted.iter().map(mean).sum::<f64>() / self.predicted.len() as f64
    }

    /// Distribution of the sum of their labels, which are independent given their predictions.
    fn of_sums(&self) -> Vec<f64> {
        self.predicted.iter().fold(vec![1.0], |sums, p| {
            let mut more = vec![0.0; sums.len() + p.len() - 1];
            for (s, chance) in sums.iter().enumerate() {
                p.iter().enumerate().for_each(|(c, p)| more[s + c] += chance * p);
            }
            more
        })
    }
}

/// Two-sided p value of the difference D of the mean labels of two sides: the probability, under the
/// predictions for all people who labelled, that D is at least as far from its expectation as observed.
/// Exact: the distributions are convolved. Costs (people x levels)^2.
pub fn difference_p_value([a, b]: [&Side<'_>; 2]) -> f64 {
    let expected = b.expected() - a.expected();
    let far = (b.observed - a.observed - expected).abs() - TIE;
    if far <= 0.0 {
        return 1.0;
    }
    let (of_a, of_b) = (a.of_sums(), b.of_sums());
    let mut up_to = vec![0.0; of_b.len() + 1];
    let mut from = vec![0.0; of_b.len() + 1];
    for s in 0..of_b.len() {
        up_to[s + 1] = up_to[s] + of_b[s];
        let back = of_b.len() - 1 - s;
        from[back] = from[back + 1] + of_b[back];
    }
    let (na, nb) = (a.predicted.len() as f64, b.predicted.len() as f64);
    // Sums of b from `high` on, and below `low`, are at least as far away.
    let at = |sum: f64| sum.clamp(0.0, of_b.len() as f64) as usize;
    let tails = of_a.iter().enumerate().map(|(s, chance)| {
        let centre = s as f64 / na + expected;
        let high = at((nb * (centre + far)).ceil());
        let low = at((nb * (centre - far)).floor() + 1.0);
        chance * (from[high] + up_to[low])
    });
    tails.sum::<f64>().min(1.0)
}

/// Which of `p` are significant: the procedure of Benjamini and Yekutieli (2001), which limits the expected
/// share of false discoveries to `rate` under any dependence between the comparisons.
pub(super) fn false_discovery_rate(p: &[f64], rate: f64) -> Vec<bool> {
    let harmonic: f64 = (1..=p.len().max(1)).map(|i| 1.0 / i as f64).sum();
    independent_discoveries(p, rate / harmonic)
}

/// Which of `p` are significant: the procedure of Benjamini and Hochberg (1995), which limits the expected
/// share of false discoveries to `rate` where the values are independent or positively dependent. They are
/// the values up to the largest one that does not exceed its rank times `rate` over their number.
pub fn independent_discoveries(p: &[f64], rate: f64) -> Vec<bool> {
    let step = rate / p.len().max(1) as f64;
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let below_line = |(rank, at): (usize, &usize)| p[*at] <= step * (rank + 1) as f64;
    let last =
        order.iter().enumerate().filter(|x| below_line(*x)).map(|(rank, _)| rank + 1).max().unwrap_or(0);
    let mut discovered = vec![false; p.len()];
    order[..last].iter().for_each(|at| discovered[*at] = true);
    discovered
}

/// Holm's step-down correction of p values for multiple tests (Holm 1979): each p value times the number of
/// tests that are not smaller, not less than the previous one, and at most 1.
pub fn holm(tests: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        tests.iter().enumerate().filter_map(|(at, p)| Some((at, (*p)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut corrected = vec![None; tests.len()];
    let mut least = 0.0_f64;
    for (done, (at, p)) in order.iter().enumerate() {
        least = least.max((p * (order.len() - done) as f64).min(1.0));
        corrected[*at] = Some(least);
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: with one label per side and P(4) = 0.02, D is 4 or -4 with probability 2 x 0.02 x 0.98; a
    /// normal approximation gives 4e-7.
    #[test]
    fn skewed_labels_have_exact_p_values() {
        let skewed = [0.98, 0.0, 0.0, 0.0, 0.02];
        let side = |observed| Side { observed, predicted: vec![&skewed] };
        assert!((difference_p_value([&side(0.0), &side(4.0)]) - 0.0392).abs() < 1e-12);
        assert_eq!(difference_p_value([&side(4.0), &side(4.0)]), 1.0);
    }

    /// Three labels against two, enumerating all 3^5 outcomes.
    #[test]
    fn p_value_is_the_share_of_extreme_outcomes() {
        let p = [[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4], [0.05, 0.9, 0.05]];
        let mean = |p: &[f64; 3]| p[1] + 2.0 * p[2];
        let expected = (mean(&p[3]) + mean(&p[4])) / 2.0 - p[..3].iter().map(mean).sum::<f64>() / 3.0;
        let outcomes: Vec<([usize; 5], f64)> = (0..243usize)
            .map(|i| {
                let levels = [i % 3, i / 3 % 3, i / 9 % 3, i / 27 % 3, i / 81];
                (levels, levels.iter().zip(&p).map(|(level, p)| p[*level]).product())
            })
            .collect();
        let means = |l: &[usize; 5]| ((l[0] + l[1] + l[2]) as f64 / 3.0, (l[3] + l[4]) as f64 / 2.0);
        for (levels, _) in &outcomes {
            let (a, b) = means(levels);
            let far = (b - a - expected).abs();
            let as_far = |other: &[usize; 5]| {
                let (a, b) = means(other);
                (b - a - expected).abs() >= far - 1e-9
            };
            let share: f64 = outcomes.iter().filter(|(other, _)| as_far(other)).map(|(_, p)| p).sum();
            let first = Side { observed: a, predicted: p[..3].iter().map(|p| &p[..]).collect() };
            let second = Side { observed: b, predicted: p[3..].iter().map(|p| &p[..]).collect() };
            let found = difference_p_value([&first, &second]);
            assert!((found - share).abs() < 1e-9, "{levels:?}: {found} {share}");
        }
    }

    /// By hand: adjusted values p m (1 + 1/2 + 1/3 + 1/4) / rank of 0.0001, 0.004, 0.02 are 0.00083, 0.0167,
    /// 0.0556.
    #[test]
    fn benjamini_yekutieli_matches_the_reference() {
        let p = [0.02, 0.0001, 0.5, 0.004];
        assert_eq!(false_discovery_rate(&p, 0.05), [false, true, false, true]);
        assert_eq!(false_discovery_rate(&p, 0.056), [true, true, false, true]);
    }

    /// By hand: adjusted values p m / rank are 0.0004, 0.008, 0.0267 and 0.5.
    #[test]
    fn benjamini_hochberg_matches_the_reference() {
        let p = [0.02, 0.0001, 0.5, 0.004];
        assert_eq!(independent_discoveries(&p, 0.05), [true, true, false, true]);
        assert_eq!(independent_discoveries(&p, 0.025), [false, true, false, true]);
        assert_eq!(independent_discoveries(&[], 0.05), [false; 0]);
    }

    /// R: p.adjust(p, "BH") <= rate: each value times their number over its rank, but at most that of any
    /// larger one. Computed here for each value from all of them.
    #[test]
    fn discoveries_match_adjusted_p_values() {
        let mut state = 7_u64;
        for n in 1..60 {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 40) as f64 / (1_u64 << 24) as f64
            };
            // Half of them small, with ties.
            let p: Vec<f64> =
                (0..n).map(|at| if at % 2 == 0 { (next() * 8.0).ceil() / 400.0 } else { next() }).collect();
            let rank = |of: f64| p.iter().filter(|other| **other <= of).count() as f64;
            let raised = |of: &f64| of * p.len() as f64 / rank(*of);
            let adjusted = |of: &f64| p.iter().filter(|other| *other >= of).map(raised).fold(1.0, f64::min);
            let expected: Vec<bool> = p.iter().map(|of| adjusted(of) <= 0.05 + 1e-12).collect();
            assert_eq!(independent_discoveries(&p, 0.05 + 1e-12), expected, "{p:?}");
        }
    }

    #[test]
    fn holm_matches_the_published_example() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02.
        let found = holm(&[Some(0.01), None, Some(0.04), Some(0.03), Some(0.005)]);
        let expected = [Some(0.03), None, Some(0.06), Some(0.06), Some(0.02)];
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.zip(expected).is_none_or(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
            assert_eq!(found.is_some(), expected.is_some());
        }
        assert_eq!(holm(&[Some(0.9), Some(0.8)]), [Some(1.0), Some(1.0)]);
        assert!(holm(&[]).is_empty());
    }
}
