//! Soft labels of a panel: how the labels of given people on one text are distributed over the levels.
//!
//! The people are known, so their shares are random numbers whose distribution follows from each one's
//! prediction: the number of people at or below a level is Poisson-binomial. The expected shares are the mean
//! prediction, calibrated probabilities. Under a distance that is a sum of absolute differences the best
//! answer is not the mean but a median, as for a single label. That answer is not a probability: it is the
//! shares to expect among these people, and for a small panel the share of a level has few possible values.

/// Probability of each number of successes, 0 to n, among n independent trials with these probabilities
/// (Poisson-binomial distribution, by convolution one trial at a time).
pub(crate) fn poisson_binomial(chances: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut p = vec![1.0];
    for chance in chances {
        let chance = chance.clamp(0.0, 1.0);
        p.push(0.0);
        for k in (1..p.len()).rev() {
            p[k] = p[k] * (1.0 - chance) + p[k - 1] * chance;
        }
        p[0] *= 1.0 - chance;
    }
    p
}

/// The smallest number whose cumulative probability reaches one half.
fn median_count(p: &[f64]) -> usize {
    let mut below = 0.0;
    let at = p.iter().position(|p| {
        below += p;
        below >= 0.5 - 1e-9
    });
    at.unwrap_or(p.len().saturating_sub(1))
}

/// The mean of the predictions, people x levels: the expected share of each level.
pub(crate) fn mean(rows: &[&[f32]], levels: usize) -> Vec<f64> {
    let mut mean = vec![0.0; levels];
    for row in rows {
        mean.iter_mut().zip(*row).for_each(|(m, &p)| *m += f64::from(p) / rows.len() as f64);
    }
    mean
}

/// The shares with the smallest expected Wasserstein distance to those of the panel's labels: at every level
/// the median of the share of people at or below it. (The distance is the sum over levels of the absolute
/// difference of the cumulative shares, and the medians never decrease from one level to the next, so that
/// each can be determined separately.)
pub(crate) fn median_cumulative(rows: &[&[f32]], levels: usize) -> Vec<f64> {
    let n = rows.len() as f64;
    let mut at_or_below = vec![0.0; rows.len()];
    let mut shares = Vec::with_capacity(levels);
    let mut before = 0;
    for level in 0..levels {
        at_or_below.iter_mut().zip(rows).for_each(|(sum, row)| *sum += f64::from(row[level]));
        let counted = if level + 1 == levels {
            rows.len()
        } else {
            median_count(&poisson_binomial(at_or_below.iter().copied())).max(before)
        };
        shares.push((counted - before) as f64 / n);
        before = counted;
    }
    shares
}

/// The shares with the smallest expected Manhattan distance to those of the panel's labels: each level's
/// median where these sum to one, as with two levels; otherwise people are assigned one after the other, each
/// to the level where that lowers the expected distance most. The distance of each level is convex in its
/// count, so that this is the optimum (Gross 1956; Fox 1966).
pub(crate) fn median_by_level(rows: &[&[f32]], levels: usize) -> Vec<f64> {
    let n = rows.len();
    // Probability that at most this many people give each level.
    let at_most: Vec<Vec<f64>> = (0..levels)
        .map(|level| {
            let mut below = 0.0;
            let p = poisson_binomial(rows.iter().map(|row| f64::from(row[level])));
            p.into_iter()
                .map(|p| {
                    below += p;
                    below
                })
                .collect()
        })
        .collect();
    let mut counts = vec![0; levels];
    for _ in 0..n {
        // One more person at a level changes its expected distance by 2 P(count <= now) - 1.
        let next = (0..levels)
            .min_by(|&a, &b| at_most[a][counts[a]].total_cmp(&at_most[b][counts[b]]).then(a.cmp(&b)));
        if let Some(level) = next {
            counts[level] += 1;
        }
    }
    counts.into_iter().map(|count| count as f64 / n as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_binomial_where_all_chances_are_equal() {
        let p = poisson_binomial([0.3; 4].into_iter());
        let binomial = [0.2401, 0.4116, 0.2646, 0.0756, 0.0081];
        assert!(p.iter().zip(binomial).all(|(a, b)| (a - b).abs() < 1e-12), "{p:?}");
        assert_eq!(poisson_binomial(std::iter::empty()), [1.0]);
        // A probability above 1 by rounding does not give a negative one.
        assert_eq!(poisson_binomial([1.0 + 1e-7, 0.0].into_iter()), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn panel_of_one_answers_the_median_or_the_mode() {
        let p: &[f32] = &[0.4, 0.05, 0.15, 0.2, 0.2];
        assert_eq!(median_cumulative(&[p], 5), [0.0, 0.0, 1.0, 0.0, 0.0]);
        assert_eq!(median_by_level(&[p], 5), [1.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn large_panel_approaches_its_mean() {
        let rows = vec![[0.1f32, 0.25, 0.65].as_slice(); 400];
        for shares in [median_cumulative(&rows, 3), median_by_level(&rows, 3)] {
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let far = shares.iter().zip(mean(&rows, 3)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(far < 0.006, "{shares:?}");
        }
    }

    #[test]
    fn binary_median_and_mode_agree() {
        let rows: [&[f32]; 3] = [&[0.9, 0.1], &[0.6, 0.4], &[0.3, 0.7]];
        // P(0, 1, 2, 3 of the second level) = .162, .504, .306, .028.
        let expected = [2.0 / 3.0, 1.0 / 3.0];
        assert_eq!(median_cumulative(&rows, 2), expected);
        assert_eq!(median_by_level(&rows, 2), expected);
    }
}
