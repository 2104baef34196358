//! The normal distribution, fast enough for every option of every answer.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::sync::OnceLock;

/// The table covers the distribution from -END to END, with a fixed number of points per unit.
const END: f64 = 8.0;
const PLACES: f64 = 32.0;

/// The distribution function of the standard normal distribution.
#[inline]
pub(crate) fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Its density.
#[inline]
pub(crate) fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// Distribution function and density together, by cubic interpolation of a table: absolute error below 1e-8,
/// relative error below 1e-4, and the values at 8 beyond 8.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table(&'static [[f64; 2]]);

impl Table {
    pub(crate) fn new() -> Self {
        static VALUES: OnceLock<Vec<[f64; 2]>> = OnceLock::new();
        let at = |place: usize| {
            let x = place as f64 / PLACES - END;
            [cdf(x), density(x)]
        };
        Self(VALUES.get_or_init(|| (0..=(2.0 * END * PLACES) as usize + 1).map(at).collect()))
    }

    #[inline]
    pub(crate) fn at(self, x: f64) -> (f64, f64) {
        let x = x.clamp(-END, END);
        let place = (x + END) * PLACES;
        let whole = place as usize;
        let (low, t) = (whole as f64 / PLACES - END, place - whole as f64);
        let ([f0, d0], [f1, d1]) = (self.0[whole], self.0[whole + 1]);
        let high = low + 1.0 / PLACES;
        (hermite(t, f0, f1, d0, d1), hermite(t, d0, d1, -low * d0, -high * d1))
    }
}

/// The cubic with these values and slopes at both ends of a step of the table.
#[inline]
fn hermite(t: f64, f0: f64, f1: f64, d0: f64, d1: f64) -> f64 {
    let (d0, d1, rise) = (d0 / PLACES, d1 / PLACES, f1 - f0);
    f0 + t * (d0 + t * ((3.0 * rise - 2.0 * d0 - d1) + t * (d0 + d1 - 2.0 * rise)))
}

/// Its `p` quantile for `p` strictly between 0 and 1: a rational approximation (Abramowitz and Stegun 1964,
/// 26.2.23, within 4.5e-4) and three steps of Halley's method, each of which triples the digits.
pub(crate) fn quantile(p: f64) -> f64 {
    let tail = (-2.0 * p.min(1.0 - p).ln()).sqrt();
    let above = 2.515_517 + tail * (0.802_853 + tail * 0.010_328);
    let below = 1.0 + tail * (1.432_788 + tail * (0.189_269 + tail * 0.001_308));
    // In the lower half, where the distribution function does not lose digits.
    let (lower, mut x) = (p.min(1.0 - p), above / below - tail);
    for _ in 0..3 {
        let step = (cdf(x) - lower) / density(x);
        x -= step / (1.0 + 0.5 * x * step);
    }
    if p <= 0.5 { x } else { -x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::distributions::normal_quantile;

    #[test]
    fn quantiles_invert_the_distribution_function() {
        for p in [1e-12, 1e-6, 0.01, 0.1, 0.3, 0.5, 0.5001, 0.9, 0.999_999] {
            let (found, expected) = (quantile(p), normal_quantile(p));
            assert!((found - expected).abs() < 1e-9, "{p}: {found} against {expected}");
            assert!((cdf(found) - p).abs() < 1e-12 * p.max(1e-3), "{p}");
        }
        let table = Table::new();
        for i in -799..800 {
            let x = f64::from(i) / 100.0;
            let (found, slope) = table.at(x);
            assert!((found - cdf(x)).abs() < 1e-8 && (found / cdf(x) - 1.0).abs() < 1e-4, "{x}");
            assert!((slope - density(x)).abs() < 1e-8 && (slope / density(x) - 1.0).abs() < 1e-4, "{x}");
        }
        assert_eq!(table.at(-30.0), table.at(-8.0));
        assert!((table.at(30.0).0 - 1.0).abs() < 1e-12);
        let (step, x) = (1e-6, 0.7);
        assert!(((cdf(x + step) - cdf(x - step)) / (2.0 * step) - density(x)).abs() < 1e-9);
    }
}
