//! The usual split of texts with a given mean level.

use nalgebra::{DMatrix, DVector};

/// Terms of the polynomial: the possible maximum is a parabola over the mean, and observed values are flatter
/// or more pointed.
const TERMS: usize = 5;
/// Minimum number of texts to estimate the usual value.
const MIN_TEXTS: usize = 30;

/// The usual split at a mean level: a polynomial of degree four, fitted to all texts by least squares.
#[derive(Clone, Debug, PartialEq)]
pub struct UsualSplit {
    coefficients: [f64; TERMS],
    /// Upper end of the range of mean levels, from 0.
    top: f64,
}

impl UsualSplit {
    /// Fits the curve to `(mean level, split)` of texts on a scale of `levels`. `None` for fewer than 30.
    pub fn fit(texts: impl Iterator<Item = (f32, f32)>, levels: usize) -> Option<Self> {
        let top = levels.saturating_sub(1).max(1) as f64;
        let (mut gram, mut moments, mut count) =
            (DMatrix::zeros(TERMS, TERMS), DVector::zeros(TERMS), 0usize);
        for (mean, split) in texts {
            let row = DVector::from_column_slice(&powers(f64::from(mean), top));
            gram.ger(1.0, &row, &row, 1.0);
            moments.axpy(f64::from(split), &row, 1.0);
            count += 1;
        }
        if count < MIN_TEXTS {
            return None;
        }
        // Texts with the same mean do not identify the rest of the curve: the smallest coefficients are used
        // then.
        let solved = gram.svd(true, true).solve(&moments, 1e-9 * count as f64).ok()?;
        let mut coefficients = [0.0; TERMS];
        coefficients.copy_from_slice(solved.as_slice());
        Some(Self { coefficients, top })
    }

    /// The usual split at a mean level, 0..1.
    pub fn at(&self, mean: f64) -> f64 {
        let powers = powers(mean, self.top);
        self.coefficients.iter().zip(powers).map(|(c, x)| c * x).sum::<f64>().clamp(0.0, 1.0)
    }

    /// Slope of the usual split per level.
    pub fn slope(&self, mean: f64) -> f64 {
        const STEP: f64 = 1e-3;
        (self.at(mean + STEP) - self.at(mean - STEP)) / (2.0 * STEP)
    }
}

/// Legendre polynomials of the mean on -1..1, for well-conditioned equations.
fn powers(mean: f64, top: f64) -> [f64; TERMS] {
    let x = 2.0 * mean / top - 1.0;
    let second = 1.5 * x * x - 0.5;
    let third = (5.0 * x * second - 2.0 * x) / 3.0;
    [1.0, x, second, third, (7.0 * x * third - 3.0 * second) / 4.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parabola_is_recovered() {
        let of = |mean: f32| 0.8 * mean * (4.0 - mean) / 4.0;
        let texts = || (0..60).map(|i| 4.0 * i as f32 / 59.0).map(|mean| (mean, of(mean)));
        let usual = UsualSplit::fit(texts(), 5).unwrap();
        for (mean, split) in texts() {
            assert!((usual.at(f64::from(mean)) - f64::from(split)).abs() < 1e-6, "{mean}");
        }
        assert_eq!(UsualSplit::fit(texts().take(MIN_TEXTS - 1), 5), None);
    }

    #[test]
    fn texts_of_one_mean_are_averaged() {
        let texts = (0..40).map(|i| (2.0, if i % 2 == 0 { 0.2 } else { 0.4 }));
        let usual = UsualSplit::fit(texts, 5).unwrap();
        assert!((usual.at(2.0) - 0.3).abs() < 1e-6);
    }
}
