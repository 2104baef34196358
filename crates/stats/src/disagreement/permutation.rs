//! An exact permutation test of two sides' labels on one text.

/// Two-sided p value of the difference of the mean levels of two sides: the share of all assignments of the
/// same labels to as many people on either side with a difference at least as large (Fisher's permutation
/// test, by counting instead of drawing). 1 where a side is empty. Costs people x people of a side x sum of
/// the levels.
pub fn permutation_p_value(first: &[u16], second: &[u16]) -> f64 {
    let (a, b) = (first.len(), second.len());
    if a == 0 || b == 0 {
        return 1.0;
    }
    let all: Vec<usize> = first.iter().chain(second).map(|level| usize::from(*level)).collect();
    let total: usize = all.iter().sum();
    // ways[k][s]: share of the choices of k of the labels seen so far that sum to s. The counts would
    // overflow a float; divided by the number of choices they are probabilities: of n labels, each is chosen
    // with probability k / n.
    let mut ways = vec![vec![0.0_f64; total + 1]; a + 1];
    ways[0][0] = 1.0;
    for (seen, level) in all.iter().enumerate() {
        for k in (1..=a.min(seen + 1)).rev() {
            let (with, without) = (k as f64 / (seen + 1) as f64, (seen + 1 - k) as f64 / (seen + 1) as f64);
            let (fewer, these) = ways.split_at_mut(k);
            let (fewer, these) = (&fewer[k - 1], &mut these[0]);
            for s in (0..=total).rev() {
                let taken = if s >= *level { fewer[s - level] } else { 0.0 };
                these[s] = without * these[s] + with * taken;
            }
        }
    }
    // Differences times a * b, whole numbers: (total - s) * a - s * b, which is 0 where both sides have the
    // same mean.
    let far = |s: usize| ((total - s) as i64 * a as i64 - s as i64 * b as i64).abs();
    let given = far(first.iter().map(|level| usize::from(*level)).sum());
    ways[a].iter().enumerate().filter(|(s, _)| far(*s) >= given).map(|(_, share)| share).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: of the C(7, 3) = 35 assignments one has the three zeros on the first side; the other end
    /// (three of the four highest) is closer to the mean than that, because four people are on the other
    /// side.
    #[test]
    fn extreme_differences_have_the_smallest_p() {
        assert!((permutation_p_value(&[0, 0, 0], &[4, 4, 4, 4]) - 1.0 / 35.0).abs() < 1e-12);
        assert!((permutation_p_value(&[0, 0], &[4, 4]) - 2.0 / 6.0).abs() < 1e-12);
        assert_eq!(permutation_p_value(&[1, 1], &[1, 1, 1]), 1.0);
        assert_eq!(permutation_p_value(&[], &[1]), 1.0);
    }

    /// Against an enumeration of all choices of three of seven people.
    #[test]
    fn p_value_is_the_share_of_permutations() {
        let labels: [u16; 7] = [0, 3, 1, 4, 2, 2, 0];
        let difference = |of: &[usize]| {
            let on = |first: bool| {
                let side: Vec<f64> =
                    (0..7).filter(|i| of.contains(i) == first).map(|i| f64::from(labels[i])).collect();
                side.iter().sum::<f64>() / side.len() as f64
            };
            (on(false) - on(true)).abs()
        };
        let mut choices = Vec::new();
        for i in 0..7 {
            for j in i + 1..7 {
                (j + 1..7).for_each(|k| choices.push([i, j, k]));
            }
        }
        for given in &choices {
            let far = difference(given);
            let as_far = choices.iter().filter(|other| difference(&other[..]) >= far - 1e-9).count();
            let side = |first: bool| -> Vec<u16> {
                (0..7).filter(|i| given.contains(i) == first).map(|i| labels[i]).collect()
            };
            let found = permutation_p_value(&side(true), &side(false));
            assert!((found - as_far as f64 / choices.len() as f64).abs() < 1e-12, "{given:?}: {found}");
        }
    }
}
