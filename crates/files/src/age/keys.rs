//! Keys that are derived from others.

use super::Passphrase;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

pub(super) type Key = [u8; 32];

/// HMAC-SHA-256 of parts that follow each other.
pub(super) fn hmac(key: &[u8], parts: &[&[u8]]) -> Key {
    let mut mac = keyed(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// Whether a code of one part is the right one, compared in constant time.
pub(super) fn is_code_of(key: &[u8], part: &[u8], code: &[u8]) -> bool {
    let mut mac = keyed(key);
    mac.update(part);
    mac.verify_slice(code).is_ok()
}

#[allow(clippy::expect_used, reason = "a key of any length is valid for HMAC")]
fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("any length")
}

/// HKDF-SHA-256 (RFC 5869) of one block.
fn hkdf(key: &[u8], salt: &[u8], info: &[u8]) -> Key {
    hmac(&hmac(salt, &[key]), &[info, &[1]])
}

/// The key of the code at the end of the header.
pub(super) fn header(file_key: &[u8; 16]) -> Key {
    hkdf(file_key, &[], b"header")
}

/// The key of the content.
pub(super) fn payload(file_key: &[u8; 16], nonce: &[u8; 16]) -> Key {
    hkdf(file_key, nonce, b"payload")
}

/// The key that scrypt derives from a passphrase, of work 2 to the power of `work`; `None` for a work that
/// scrypt does not know.
pub(super) fn wrapping(passphrase: &Passphrase, salt: &[u8; 16], work: u8) -> Option<Key> {
    let params = scrypt::Params::new(work, 8, 1, 32).ok()?;
    let salt = [b"age-encryption.org/v1/scrypt".as_slice(), salt].concat();
    let mut key = [0; 32];
    scrypt::scrypt(passphrase.words.as_bytes(), &salt, &params, &mut key).ok()?;
    Some(key)
}
