//! Seeded random numbers.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A seeded ChaCha generator; `stream` keeps uses of one seed apart.
pub(crate) fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}
