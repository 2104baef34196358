//! Reproducible pseudo-random orders.

/// Mixes two numbers into one (SplitMix64, Steele, Lea and Flood 2014).
pub fn mix(a: u32, b: u32) -> u64 {
    let mut z = (u64::from(a) << 32 | u64::from(b)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
