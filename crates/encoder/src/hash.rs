//! SHA-256 in the notation of the catalogue.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The sum in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_sum_of_nothing_is_the_standard_one() {
        // FIPS 180-4 example vector for the empty message.
        let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(super::sha256(b""), expected);
    }
}
