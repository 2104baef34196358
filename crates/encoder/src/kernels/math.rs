//! The exponential and the error function in 32 bits, written so that the compiler can vectorise them.

/// Computes `e^x` within two units in the last place for finite results; 0 below -87 and `e^88` above 88,
/// never NaN for numbers.
///
/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`; the Taylor series of `e^r` to the seventh power, times `2^n`
/// built from its exponent bits.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    /// Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
    const ROUND: f32 = 12_582_912.0;
    /// The high part of ln 2 has enough trailing zeros for exact products with n.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let low = x < -87.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let series = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * series))));
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    if low { 0.0 } else { series * power }
}

/// Density of the standard normal distribution.
#[inline(always)]
pub(crate) fn normal_pdf(x: f32) -> f32 {
    const AT_0: f32 = 0.398_942_3;
    AT_0 * exp(-0.5 * (x * x))
}

const TANH_SCALE: f32 = 0.797_884_6;
const TANH_CUBIC: f32 = 0.044_715;

/// Computes `0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`, as `x / (1 + e^(-2 y))`.
#[inline(always)]
pub(crate) fn gelu_tanh(x: f32) -> f32 {
    let y = TANH_SCALE * (x + TANH_CUBIC * x * x * x);
    x / (1.0 + exp(-2.0 * y))
}

/// Derivative of [`gelu_tanh`]: with `s = 1 / (1 + e^(-2 y))`, `s + 2 x s (1 - s) dy/dx`.
#[inline(always)]
pub(crate) fn gelu_tanh_slope(x: f32) -> f32 {
    let y = TANH_SCALE * (x + TANH_CUBIC * x * x * x);
    let s = 1.0 / (1.0 + exp(-2.0 * y));
    s + 2.0 * x * s * (1.0 - s) * TANH_SCALE * (1.0 + 3.0 * TANH_CUBIC * x * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_accurate() {
        for i in -86_000..88_000 {
            let x = i as f32 / 1000.0;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) / expected - 1.0).abs() < 3e-7, "exp({x}) = {}", exp(x));
        }
        assert_eq!((exp(0.0), exp(-1e30), exp(f32::NEG_INFINITY)), (1.0, 0.0, 0.0));
        assert!(exp(1e30).is_finite());
    }
}
