//! Small numerical tools: nodes of integrals, fast single-precision functions, the normal distribution, dense
//! solves, a quasi-Newton minimiser, seeded random numbers.

pub mod blocked_cholesky;
pub mod cholesky;
pub mod clustered;
pub mod distributions;
pub(crate) mod f_distribution;
pub mod fast;
pub mod lbfgs;
pub mod median;
pub(crate) mod normal;
pub mod quadrature;
pub mod random;

/// `1 / (1 + e^-x)` in double precision, exact at both ends.
#[inline]
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// Inner product with eight running sums, so that it vectorises.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    for (x, y) in a8.iter().zip(b8) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// `y += a x`.
#[inline]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Factor of a variance in the attenuation of a logit (MacKay 1992, eq. 11).
pub const PI_8: f64 = std::f64::consts::PI / 8.0;

/// Attenuation of a logistic function whose argument has variance `v`: `1 / sqrt(1 + pi v / 8)` (MacKay 1992,
/// The evidence framework applied to classification networks, eq. 11).
#[inline]
pub fn attenuation(v: f64) -> f64 {
    1.0 / (1.0 + PI_8 * v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_handles_a_remainder() {
        let a: Vec<f64> = (0..11).map(f64::from).collect();
        assert_eq!(dot(&a, &a), 385.0);
    }

    #[test]
    fn sigmoid_is_symmetric_and_flatten_shrinks() {
        assert_eq!(sigmoid(0.0), 0.5);
        assert!((sigmoid(3.0) + sigmoid(-3.0) - 1.0).abs() < 1e-15);
        assert_eq!(sigmoid(-1000.0), 0.0);
        assert_eq!(attenuation(0.0), 1.0);
        assert!(attenuation(2.0) < attenuation(1.0));
    }
}
