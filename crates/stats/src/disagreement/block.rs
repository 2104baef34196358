//! Sums over a block of texts or annotators.

/// Number of texts processed at a time: small enough that a block of probabilities fits in the first-level
/// cache.
pub const BLOCK: usize = 512;

#[inline]
pub(super) fn accumulate(total: &mut [f64], values: &[f32], sign: f64) {
    for (total, value) in total.iter_mut().zip(values) {
        *total += sign * f64::from(*value);
    }
}

/// The sum of `of` over `values` in double precision, eight at a time so that the compiler can vectorise it.
#[inline(always)]
pub(super) fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [0.0f64; LANES];
    let (whole, rest) = values.as_chunks::<LANES>();
    for chunk in whole {
        lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane += f64::from(of(*value)));
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|value| f64::from(of(*value))).sum::<f64>()
}
