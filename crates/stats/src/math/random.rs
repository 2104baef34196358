//! Seeded random numbers.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A seeded ChaCha generator; `stream` separates different uses of one seed.
pub fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// Hash of some bytes (64-bit FNV-1a).
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A pseudorandom number in [0, 1) that only depends on `parts` (SplitMix64 over each in turn).
pub(crate) fn unit(parts: &[u64]) -> f64 {
    let mixed = parts.iter().fold(0u64, |state, part| {
        let mut z = (state ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    });
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_depend_only_on_their_keys() {
        // Published test vectors: FNV-1a of "" and "a"; SplitMix64 of seed 0 gives 0xe220a8397b1dcdaf first.
        assert_eq!((fingerprint(b""), fingerprint(b"a")), (0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c));
        assert!((unit(&[0]) - 0xe220_a839_7b1d_cdaf_u64 as f64 / 2f64.powi(64)).abs() < 1e-15);
        let n = 4000;
        let mean = (0..n).map(|i| unit(&[7, i, 1])).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
