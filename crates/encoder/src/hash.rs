//! Checksums in lower-case hexadecimal: SHA-256, and the SHA-1 that git uses for files.

use std::fmt::Write;
use std::io::{ErrorKind, Read, Result as IoResult};

use sha2::{Digest, Sha256};

/// Bytes read at a time: large enough that the overhead of calls is negligible.
const CHUNK: usize = 1 << 20;

/// Computes the SHA-256 in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Computes the SHA-256 of a stream, chunk by chunk.
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

/// Computes git's name of a file, which the model hub uses for every file outside its large-file store: the
/// SHA-1 of `blob LENGTH`, a zero byte and the contents. `length` must be the length of the source.
#[cfg(feature = "hub")]
pub(crate) fn git_blob_sha1(mut source: impl Read, length: u64) -> IoResult<String> {
    use sha1::Sha1;
    let mut sum = Sha1::new();
    sum.update(format!("blob {length}\0"));
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
    fn checksum_of_empty_input_matches_the_standard() {
        // FIPS 180-4 example vector for the empty message.
        let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), expected);
    }

    #[test]
    #[cfg(feature = "hub")]
    fn git_hashes_match_git_hash_object() {
        let name = |bytes: &[u8]| git_blob_sha1(bytes, bytes.len() as u64).unwrap();
        assert_eq!(name(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(name(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    #[test]
    fn reading_in_chunks_gives_the_same_checksum() {
        let bytes: Vec<u8> = (0..2 * CHUNK + 17).map(|i| (i % 251) as u8).collect();
        assert_eq!(sha256_of(bytes.as_slice()).unwrap(), sha256(&bytes));
    }
}
