//! Exponential, logistic and logarithm in single precision that the compiler can vectorise.
//!
//! Range reduction and own minimax-like polynomials; the tests verify that they are within 1e-6 of the
//! standard library (relative for `exp`, absolute for `sigmoid` and for `p ln p`).

/// Largest argument whose exponential is still finite in single precision with room to add one.
const EXP_LIMIT: f32 = 87.0;
/// Adding and subtracting 1.5 * 2^23 rounds to the nearest whole number without a branch.
const ROUND: f32 = 12_582_912.0;

/// `e^x`, with `x` clamped to [-87, 87].
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = x.clamp(-EXP_LIMIT, EXP_LIMIT);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, so that the reduced argument does not lose its low bits.
    let r = (x - n * 0.693_359_4) + n * 2.121_944_4e-4;
    // Taylor series on |r| <= ln(2)/2; the next term is below 2e-8.
    let p = 1.0 / 5040.0;
    let p = p * r + 1.0 / 720.0;
    let p = p * r + 1.0 / 120.0;
    let p = p * r + 1.0 / 24.0;
    let p = p * r + 1.0 / 6.0;
    let p = p * r + 0.5;
    let p = p * r + 1.0;
    let p = p * r + 1.0;
    // The low bits of `shifted` hold n; move it into the exponent.
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    p * scale
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Natural logarithm of a positive normal number.
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    // Split so that the mantissa is in [sqrt(1/2), sqrt(2)).
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let e = ((shifted as i32) >> 23) as f32;
    let m = f32::from_bits((shifted & 0x007f_ffff).wrapping_add(0x3f35_04f3));
    // ln m = 2 artanh((m - 1) / (m + 1)), an odd series that converges fast for |s| < 0.172.
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let p = 2.0 / 9.0;
    let p = p * z + 2.0 / 7.0;
    let p = p * z + 2.0 / 5.0;
    let p = p * z + 2.0 / 3.0;
    let p = p * z + 2.0;
    (p * s + e * -2.121_944_4e-4) + e * 0.693_359_4
}

/// `-p ln p`, zero at zero.
#[inline(always)]
pub fn entropy_term(p: f32) -> f32 {
    -p * ln(p.max(f32::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(from: f64, to: f64, steps: usize) -> impl Iterator<Item = f32> {
        (0..=steps).map(move |i| (from + (to - from) * i as f64 / steps as f64) as f32)
    }

    #[test]
    fn exp_is_within_a_millionth() {
        for x in grid(-87.0, 87.0, 200_001) {
            let truth = f64::from(x).exp();
            assert!((f64::from(exp(x)) / truth - 1.0).abs() < 1e-6, "exp({x})");
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1e9) > 0.0 && exp(1e9).is_finite());
    }

    #[test]
    fn sigmoid_is_within_a_millionth() {
        for x in grid(-40.0, 40.0, 100_001) {
            let truth = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(sigmoid(x)) - truth).abs() < 1e-6, "sigmoid({x})");
        }
    }

    #[test]
    fn ln_and_entropy_are_within_a_millionth() {
        for x in grid(1e-6, 4.0, 400_001) {
            assert!(
                (f64::from(ln(x)) - f64::from(x).ln()).abs() < 1e-6 * (1.0 + f64::from(x).ln().abs()),
                "ln({x})"
            );
        }
        for p in grid(0.0, 1.0, 100_001) {
            let truth = if p > 0.0 { -f64::from(p) * f64::from(p).ln() } else { 0.0 };
            assert!((f64::from(entropy_term(p)) - truth).abs() < 1e-6, "entropy({p})");
        }
    }
}
