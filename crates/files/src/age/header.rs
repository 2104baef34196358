//! The lines before the content: the file key, encrypted, and a code of all lines.

use super::{AgeError, MAGIC, MOST_WORK, Passphrase, damaged_or_unreadable, keys};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use chacha20poly1305::aead::{Aead as _, KeyInit as _};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use std::io::{BufRead, Read as _};

/// The longest line that is read.
const LONGEST: u64 = 1024;
/// What the line before the code begins with.
const END: &str = "---";

/// A file key that is encrypted with a passphrase.
pub(super) struct Stanza {
    salt: [u8; 16],
    work: u8,
    /// The encrypted key, and its tag.
    body: Vec<u8>,
}

impl Stanza {
    pub(super) fn new(file_key: &[u8; 16], passphrase: &Passphrase) -> Self {
        let (salt, work) = (rand::random(), passphrase.work);
        // The works of a passphrase are valid, and 16 bytes are never too long.
        let body = keys::wrapping(passphrase, &salt, work)
            .and_then(|key| ChaCha20Poly1305::new(&key.into()).encrypt(&Nonce::default(), &file_key[..]).ok())
            .unwrap_or_default();
        Self { salt, work, body }
    }

    fn open(&self, passphrase: &Passphrase) -> Result<[u8; 16], AgeError> {
        if self.work > MOST_WORK {
            return Err(AgeError::TooMuchWork(self.work));
        }
        let key = keys::wrapping(passphrase, &self.salt, self.work).ok_or(AgeError::Damaged)?;
        let opened = ChaCha20Poly1305::new(&key.into()).decrypt(&Nonce::default(), self.body.as_slice());
        let file_key = opened.map_err(|_| AgeError::WrongPassphrase)?;
        file_key.try_into().map_err(|_| AgeError::Damaged)
    }
}

/// The header, with its code.
pub(super) fn write(stanza: &Stanza, file_key: &[u8; 16]) -> Vec<u8> {
    let (salt, body) = (BASE64.encode(stanza.salt), BASE64.encode(&stanza.body));
    let mut lines = MAGIC.to_vec();
    lines.extend(format!("-> scrypt {salt} {}\n{body}\n{END}", stanza.work).bytes());
    let code = keys::hmac(&keys::header(file_key), &[&lines]);
    lines.extend(format!(" {}\n", BASE64.encode(code)).bytes());
    lines
}

/// Reads the header, and returns the file key.
pub(super) fn read(source: &mut impl BufRead, passphrase: &Passphrase) -> Result<[u8; 16], AgeError> {
    let mut lines = Vec::new();
    let first = line(source, &mut lines)?;
    if first.len() + 1 != MAGIC.len() || !MAGIC.starts_with(first.as_bytes()) {
        return Err(AgeError::NotEncrypted);
    }
    let recipient = line(source, &mut lines)?;
    let mut words = recipient.split(' ');
    if words.next() != Some("->") {
        return Err(AgeError::Damaged);
    }
    if words.next() != Some("scrypt") {
        return Err(AgeError::ForKey);
    }
    let (salt, work) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let salt = decoded(salt)?.try_into().map_err(|_| AgeError::Damaged)?;
    let is_number = !work.is_empty() && !work.starts_with('0') && work.bytes().all(|b| b.is_ascii_digit());
    if !is_number || words.next().is_some() {
        return Err(AgeError::Damaged);
    }
    // A longer number is more than any limit.
    let work = work.parse().unwrap_or(u8::MAX);
    let body = decoded(&line(source, &mut lines)?)?;
    if body.len() != 32 {
        return Err(AgeError::Damaged);
    }
    let last = line(source, &mut lines)?;
    let code = last.strip_prefix(END).and_then(|rest| rest.strip_prefix(' ')).ok_or(AgeError::Damaged)?;
    let covered = lines.len() - last.len() - 1 + END.len();
    let file_key = Stanza { salt, work, body }.open(passphrase)?;
    match keys::is_code_of(&keys::header(&file_key), &lines[..covered], &decoded(code)?) {
        true => Ok(file_key),
        false => Err(AgeError::Damaged),
    }
}

/// The next line, without its end; it is added to `lines` with it.
fn line(source: &mut impl BufRead, lines: &mut Vec<u8>) -> Result<String, AgeError> {
    let begin = lines.len();
    source.take(LONGEST).read_until(b'\n', lines).map_err(damaged_or_unreadable)?;
    let line = lines[begin..].strip_suffix(b"\n").ok_or(AgeError::Damaged)?;
    String::from_utf8(line.to_vec()).map_err(|_| AgeError::Damaged)
}

fn decoded(text: &str) -> Result<Vec<u8>, AgeError> {
    BASE64.decode(text).map_err(|_| AgeError::Damaged)
}
