//! SHA-256 in the notation of the catalogue.

use std::fmt::Write;
use std::io::{ErrorKind, Read, Result as IoResult};

use sha2::{Digest, Sha256};

/// Bytes read at a time: enough that reading, not the calls, takes the time.
const CHUNK: usize = 1 << 20;

/// The sum in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The sum of everything that can be read, without holding more than a chunk of it.
pub(crate) fn sha256_of(mut source: impl Read) -> IoResult<String> {
    let mut sum = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match source.read(&mut chunk) {
            Ok(0) => return Ok(hexadecimal(&sum.finalize())),
            Ok(read) => sum.update(&chunk[..read]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_nothing_is_the_standard_one() {
        // FIPS 180-4 example vector for the empty message.
        let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), expected);
    }

    #[test]
    fn reading_in_chunks_gives_the_same_sum() {
        let bytes: Vec<u8> = (0..2 * CHUNK + 17).map(|i| (i % 251) as u8).collect();
        assert_eq!(sha256_of(bytes.as_slice()).unwrap(), sha256(&bytes));
    }
}
