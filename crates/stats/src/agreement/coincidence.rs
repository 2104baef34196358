//! The matrix of coincidences for computing alpha.

use super::alphas::Alphas;

/// How often levels c and k occur on the same text, each text's pairs weighted by 1 / (labels - 1).
#[derive(Clone, Debug)]
pub(crate) struct Coincidences {
    levels: usize,
    matrix: Vec<f64>,
}

impl Coincidences {
    pub(crate) fn new(levels: usize) -> Self {
        Self { levels, matrix: vec![0.0; levels * levels] }
    }

    /// Wraps a levels x levels matrix filled by [`add_coincidences`].
    pub(crate) fn of_matrix(levels: usize, matrix: Vec<f64>) -> Self {
        Self { levels, matrix }
    }

    /// Adds one text's counts of levels, or subtracts them with `sign` -1. Texts with one label have no
    /// pairs.
    pub(crate) fn add(&mut self, counts: &[u32], sign: f64) {
        add_coincidences(&mut self.matrix, counts, sign);
    }

    pub(crate) fn alphas(&self, ordinal: bool) -> Alphas {
        let marginal: Vec<f64> = self.matrix.chunks_exact(self.levels).map(|row| row.iter().sum()).collect();
        let between = ordinal_positions(&marginal);
        Alphas {
            nominal: self.alpha(&marginal, |_, _| 1.0),
            ordinal: ordinal
                .then(|| self.alpha(&marginal, |c, k| (between[c] - between[k]).powi(2)))
                .flatten(),
            interval: ordinal.then(|| self.alpha(&marginal, |c, k| (c as f64 - k as f64).powi(2))).flatten(),
        }
    }

    /// `1 - observed / expected` difference.
    fn alpha(&self, marginal: &[f64], difference: impl Fn(usize, usize) -> f64) -> Option<f64> {
        let n: f64 = marginal.iter().sum();
        let (mut observed, mut expected) = (0.0, 0.0);
        for c in 0..self.levels {
            for k in (0..self.levels).filter(|k| *k != c) {
                let d = difference(c, k);
                observed += self.matrix[c * self.levels + k] * d;
                expected += marginal[c] * marginal[k] * d;
            }
        }
        // Below this the rest is rounding from leaving annotators out.
        (n > 1.5 && expected > 1e-9).then(|| 1.0 - (n - 1.0) * observed / expected)
    }
}

/// [`Coincidences::add`] for a matrix of levels x levels.
pub(crate) fn add_coincidences(matrix: &mut [f64], counts: &[u32], sign: f64) {
    let n: u32 = counts.iter().sum();
    if n < 2 {
        return;
    }
    let weight = sign / f64::from(n - 1);
    for (c, &a) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
        for (k, &b) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let pairs = if c == k { f64::from(a) * f64::from(a - 1) } else { f64::from(a) * f64::from(b) };
            matrix[c * counts.len() + k] += weight * pairs;
        }
    }
}

/// `1 - observed / expected` difference of pairs with one label of each of two groups (rows and columns of
/// `matrix`), under the nominal or the ordinal difference; ordinal distances are based on both groups' labels
/// together. `None` without pairs, or where all labels are one level.
pub(crate) fn between_alpha(matrix: &[f64], levels: usize, ordinal: bool) -> Option<f64> {
    let rows: Vec<f64> = matrix.chunks_exact(levels).map(|row| row.iter().sum()).collect();
    let columns: Vec<f64> = (0..levels).map(|k| matrix.iter().skip(k).step_by(levels).sum()).collect();
    let positions = ordinal_positions(&rows.iter().zip(&columns).map(|(a, b)| a + b).collect::<Vec<_>>());
    let difference = |c: usize, k: usize| match (c == k, ordinal) {
        (true, _) => 0.0,
        (false, true) => (positions[c] - positions[k]).powi(2),
        (false, false) => 1.0,
    };
    let n: f64 = rows.iter().sum();
    let (mut observed, mut expected) = (0.0, 0.0);
    for c in 0..levels {
        for k in 0..levels {
            observed += matrix[c * levels + k] * difference(c, k);
            expected += rows[c] * columns[k] * difference(c, k);
        }
    }
    (n > 0.0 && expected > 1e-9).then(|| 1.0 - n * observed / expected)
}

/// Positions whose distance is the number of labels between two levels plus half of each end's: the ordinal
/// difference `(sum_{g=c}^{k} n_g - (n_c + n_k) / 2)^2` is the square of their distance.
fn ordinal_positions(marginal: &[f64]) -> Vec<f64> {
    let mut before = 0.0;
    marginal
        .iter()
        .map(|n| {
            let at = before + n / 2.0;
            before += n;
            at
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_can_be_added_and_removed() {
        let mut c = Coincidences::new(3);
        c.add(&[2, 1, 0], 1.0);
        c.add(&[0, 0, 4], 1.0);
        let before = c.alphas(true);
        c.add(&[1, 1, 1], 1.0);
        assert_ne!(c.alphas(true), before);
        c.add(&[1, 1, 1], -1.0);
        assert!((c.alphas(true).interval.unwrap() - before.interval.unwrap()).abs() < 1e-12);
    }

    /// By hand: pairs (0, 0) 3, (0, 1) 1, (1, 0) 1, (1, 1) 3 differ with a share of 2 / 8, by chance with 1 /
    /// 2.
    #[test]
    fn subgroups_agree_beyond_chance() {
        let found = between_alpha(&[3.0, 1.0, 1.0, 3.0], 2, false).unwrap();
        assert!((found - 0.5).abs() < 1e-12, "{found}");
        assert!((between_alpha(&[3.0, 1.0, 1.0, 3.0], 2, true).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(between_alpha(&[3.0, 0.0, 0.0, 0.0], 2, false), None);
        // If one group is one level higher throughout, agreement is lower than by chance.
        assert!(between_alpha(&[0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0], 3, false).unwrap() < 0.0);
    }

    #[test]
    fn perfect_agreement_is_one_and_a_single_level_is_undefined() {
        let mut c = Coincidences::new(2);
        c.add(&[3, 0], 1.0);
        assert_eq!(c.alphas(false).nominal, None);
        c.add(&[0, 2], 1.0);
        assert_eq!(c.alphas(false).nominal, Some(1.0));
    }
}
