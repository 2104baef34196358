//! The matrix of coincidences that alpha is computed from.

use super::alphas::Alphas;

/// How often level c and level k stand on the same text, each text's pairs weighted by 1 / (labels - 1).
#[derive(Clone, Debug)]
pub(crate) struct Coincidences {
    levels: usize,
    matrix: Vec<f64>,
}

impl Coincidences {
    pub(crate) fn new(levels: usize) -> Self {
        Self { levels, matrix: vec![0.0; levels * levels] }
    }

    /// Adds one text's counts of levels, or takes them out with `sign` -1. Texts with one label pair with nothing.
    pub(crate) fn add(&mut self, counts: &[u32], sign: f64) {
        let n: u32 = counts.iter().sum();
        if n < 2 {
            return;
        }
        let weight = sign / f64::from(n - 1);
        for (c, &a) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            for (k, &b) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
                let pairs =
                    if c == k { f64::from(a) * f64::from(a - 1) } else { f64::from(a) * f64::from(b) };
                self.matrix[c * self.levels + k] += weight * pairs;
            }
        }
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
        // Below this everything left is rounding from leaving annotators out.
        (n > 1.5 && expected > 1e-9).then(|| 1.0 - (n - 1.0) * observed / expected)
    }
}

/// Positions whose distance is the number of labels between two levels, half of each end's: the ordinal difference
/// `(sum_{g=c}^{k} n_g - (n_c + n_k) / 2)^2` is the square of their distance.
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
    fn texts_come_and_go() {
        let mut c = Coincidences::new(3);
        c.add(&[2, 1, 0], 1.0);
        c.add(&[0, 0, 4], 1.0);
        let before = c.alphas(true);
        c.add(&[1, 1, 1], 1.0);
        assert_ne!(c.alphas(true), before);
        c.add(&[1, 1, 1], -1.0);
        assert!((c.alphas(true).interval.unwrap() - before.interval.unwrap()).abs() < 1e-12);
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
