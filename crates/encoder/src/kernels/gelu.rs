//! The Gaussian error linear unit, vectorised.

use pulp::Simd;

/// Beyond it the normal distribution function is 0 or 1 in 32 bits.
const LIMIT: f32 = 5.4;

/// Coefficients of `Phi(x) - 1/2 = x p(x^2) / q(x^2)` up to [`LIMIT`], with an error below 2e-8 times
/// `max(1, |x|)^-1`; found by iterated weighted least squares on Chebyshev points (tools/fixtures/gelu.py).
/// Constant terms last.
const P: [f32; 6] =
    [2.282_558_5e-8, 6.449_006e-6, 1.736_987_5e-4, 4.707_453_3e-3, 3.426_386e-2, 0.398_942_17];
const Q: [f32; 6] = [1.206_896e-6, 7.554_65e-5, 1.911_601_5e-3, 2.889_428_3e-2, 0.252_551_94, 1.0];

/// `x Phi(x)`, within 1e-6 times `max(1, |x|)`.
#[inline(always)]
pub(super) fn gelu<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (t, ratio, beyond) = ratio(simd, x);
    let half = simd.splat_f32s(0.5);
    // x (Phi(x) - 1/2); beyond the limit |x| / 2, which gives 0 for negative x and x for positive x.
    // The maximum of x and -x instead of the library's absolute value, which is two calls in the middle of
    // a tile whose sums fill the registers.
    let absolute = simd.max_f32s(x, simd.sub_f32s(simd.splat_f32s(0.0), x));
    let odd = simd.select_f32s(beyond, simd.mul_f32s(absolute, half), simd.mul_f32s(t, ratio));
    simd.mul_add_e_f32s(x, half, odd)
}

/// `Phi(x)`, within 1e-7.
#[inline(always)]
pub(super) fn normal_cdf<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (_, ratio, beyond) = ratio(simd, x);
    let half = simd.splat_f32s(0.5);
    let positive = simd.less_than_f32s(simd.splat_f32s(0.0), x);
    let end = simd.select_f32s(positive, half, simd.splat_f32s(-0.5));
    simd.add_f32s(half, simd.select_f32s(beyond, end, simd.mul_f32s(x, ratio)))
}

/// `x^2`, `(Phi(x) - 1/2) / x` up to [`LIMIT`], and whether `x` is beyond it.
#[inline(always)]
fn ratio<S: Simd>(simd: S, x: S::f32s) -> (S::f32s, S::f32s, S::m32s) {
    let t = simd.mul_f32s(x, x);
    let ratio = simd.div_f32s(polynomial(simd, P, t), polynomial(simd, Q, t));
    (t, ratio, simd.less_than_f32s(simd.splat_f32s(LIMIT * LIMIT), t))
}

#[inline(always)]
fn polynomial<S: Simd, const N: usize>(simd: S, coefficients: [f32; N], t: S::f32s) -> S::f32s {
    let mut value = simd.splat_f32s(coefficients[0]);
    for c in &coefficients[1..] {
        value = simd.mul_add_e_f32s(value, t, simd.splat_f32s(*c));
    }
    value
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use super::super::reference::{self, every_arch};
    use super::*;

    /// GELU and the distribution function of each number.
    struct Each<'a>(&'a [f32], &'a mut [f32], &'a mut [f32]);

    impl WithSimd for Each<'_> {
        type Output = ();

        fn with_simd<S: Simd>(self, simd: S) {
            let Self(x, y, cdf) = self;
            let out = y.chunks_mut(S::F32_LANES).zip(cdf.chunks_mut(S::F32_LANES));
            for (x, (y, cdf)) in x.chunks(S::F32_LANES).zip(out) {
                let x = simd.partial_load_f32s(x);
                simd.partial_store_f32s(y, gelu(simd, x));
                simd.partial_store_f32s(cdf, normal_cdf(simd, x));
            }
        }
    }

    fn found(arch: Arch, x: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let (mut y, mut cdf) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        arch.dispatch(Each(x, &mut y, &mut cdf));
        (y, cdf)
    }

    #[test]
    fn gelu_is_accurate() {
        let x: Vec<f32> = (-90_000..90_000).map(|i| i as f32 / 10_000.0).collect();
        for arch in every_arch() {
            let (y, cdf) = found(arch, &x);
            for (x, (y, cdf)) in x.iter().zip(y.iter().zip(cdf)) {
                let exact = reference::gelu(f64::from(*x));
                let error = (f64::from(*y) - exact).abs() / f64::from(x.abs()).max(1.0);
                assert!(error < 2.5e-7, "{arch:?}: gelu({x}) = {y}, not {exact}");
                if *x != 0.0 {
                    let exact = exact / f64::from(*x);
                    assert!(
                        (f64::from(cdf) - exact).abs() < 2.5e-7,
                        "{arch:?}: Phi({x}) = {cdf}, not {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn gelu_saturates() {
        for arch in every_arch() {
            let (y, cdf) = found(arch, &[100.0, 1e30, -100.0, -1e30]);
            assert_eq!(y, [100.0, 1e30, 0.0, 0.0], "{arch:?}");
            assert_eq!(cdf, [1.0, 1.0, 0.0, 0.0], "{arch:?}");
            assert!(found(arch, &[f32::NAN]).0[0].is_nan(), "{arch:?}");
        }
    }
}
