//! The digamma function.

/// `d/dx ln Gamma(x)` for x > 0: raised to 10 or more by `psi(x) = psi(x + 1) - 1 / x`, then the asymptotic
/// series (Abramowitz and Stegun 6.3.5 and 6.3.18), accurate to 1e-13.
pub(super) fn digamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 10.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let s = 1.0 / (x * x);
    let series = s * (1.0 / 12.0 - s * (1.0 / 120.0 - s * (1.0 / 252.0 - s * (1.0 / 240.0 - s / 132.0))));
    x.ln() - 0.5 / x - series - below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digamma_matches_known_values() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        assert!((digamma(1.0) + EULER).abs() < 1e-13);
        assert!((digamma(0.5) + EULER + 2.0 * std::f64::consts::LN_2).abs() < 1e-12);
        // psi(n) = H(n - 1) - Euler's constant
        let harmonic: f64 = (1..40).map(|k| 1.0 / f64::from(k)).sum();
        assert!((digamma(40.0) - harmonic + EULER).abs() < 1e-13);
    }
}
