//! Encryption with a passphrase in the age format (<https://age-encryption.org/v1>), so that any tool for
//! that format opens the files too.
//!
//! Written and read are files with one scrypt stanza: a random file key is encrypted with a key that scrypt
//! (RFC 7914) derives from the passphrase, and the content with ChaCha20-Poly1305 (RFC 8439) in pieces of
//! 64 KiB. Files that are encrypted for a key are recognised and not opened.

mod armor;
mod header;
mod keys;
mod payload;

use armor::Unarmored;
use header::Stanza;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

/// How a file begins.
const MAGIC: &[u8] = b"age-encryption.org/v1\n";
/// Work of scrypt for a passphrase that a person made up, as a power of two: about a second and 256 MB, what
/// other tools take too.
const WORK: u8 = 18;
/// Work for a random passphrase, to which the derivation adds little.
const LIGHT_WORK: u8 = 12;
/// The most work that a file may ask for, 1 GB: more would let a file stop the computer.
pub const MOST_WORK: u8 = 20;

/// A passphrase. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Passphrase {
    words: String,
    work: u8,
}

impl Passphrase {
    /// A passphrase that a person made up; `None` if it is empty or blank.
    pub fn new(words: &str) -> Option<Self> {
        let words = words.to_owned();
        (!words.trim().is_empty()).then_some(Self { words, work: WORK })
    }

    /// A passphrase with at least 64 random bits, which takes less work.
    pub fn from_random(words: String) -> Self {
        Self { words, work: LIGHT_WORK }
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(..)")
    }
}

/// Why a file is not encrypted or decrypted.
#[derive(Debug)]
pub enum AgeError {
    Read(io::Error),
    Write(io::Error),
    /// The caller stopped it.
    Stopped,
    /// The file is not in the age format.
    NotEncrypted,
    WrongPassphrase,
    /// It is encrypted for a key, not with a passphrase.
    ForKey,
    /// It asks for more work than [`MOST_WORK`].
    TooMuchWork(u8),
    /// It was cut off or changed.
    Damaged,
}

/// What is asked between two pieces: whether to go on, after so many bytes of the source.
pub type GoOn<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Encrypts everything in `source`. What was written to `target` before an error is useless.
///
/// # Errors
/// Reading or writing fails, or `go_on` is false.
pub fn encrypt(
    source: &mut impl Read,
    target: &mut impl Write,
    passphrase: &Passphrase,
    go_on: GoOn<'_>,
) -> Result<(), AgeError> {
    let file_key: [u8; 16] = rand::random();
    let stanza = Stanza::new(&file_key, passphrase);
    target.write_all(&header::write(&stanza, &file_key)).map_err(AgeError::Write)?;
    let nonce: [u8; 16] = rand::random();
    target.write_all(&nonce).map_err(AgeError::Write)?;
    payload::encrypt(source, target, &keys::payload(&file_key, &nonce), go_on)
}

/// Decrypts a file, also one in text form. What was written to `target` before an error is of a file that was
/// cut off or changed: it must be thrown away.
///
/// # Errors
/// Another passphrase, a file that is not encrypted with a passphrase, asks for too much work, was cut off or
/// changed; reading or writing fails, or `go_on` is false.
pub fn decrypt(
    source: &mut impl Read,
    target: &mut impl Write,
    passphrase: &Passphrase,
    go_on: GoOn<'_>,
) -> Result<(), AgeError> {
    let mut source = BufReader::new(source);
    match armor::is_armored(source.fill_buf().map_err(AgeError::Read)?) {
        true => decrypt_plain(&mut BufReader::new(Unarmored::new(source)), target, passphrase, go_on),
        false => decrypt_plain(&mut source, target, passphrase, go_on),
    }
}

fn decrypt_plain(
    source: &mut impl BufRead,
    target: &mut impl Write,
    passphrase: &Passphrase,
    go_on: GoOn<'_>,
) -> Result<(), AgeError> {
    let file_key = header::read(source, passphrase)?;
    let mut nonce = [0; 16];
    read_exactly(source, &mut nonce)?;
    payload::decrypt(source, target, &keys::payload(&file_key, &nonce), go_on)
}

/// Whether a file is in the age format, by its first bytes; false for one that cannot be read.
pub fn is_encrypted(path: &Path) -> bool {
    let mut first = Vec::new();
    // Other than regular files may block.
    path.is_file()
        && File::open(path).and_then(|file| file.take(128).read_to_end(&mut first)).is_ok()
        && begins_encrypted(&first)
}

/// Whether these are the first bytes of a file in the age format.
pub fn begins_encrypted(first: &[u8]) -> bool {
    first.starts_with(MAGIC) || armor::is_armored(first)
}

/// Reads as many bytes as fit; a file that ends before was cut off.
fn read_exactly(source: &mut impl Read, buffer: &mut [u8]) -> Result<(), AgeError> {
    source.read_exact(buffer).map_err(damaged_or_unreadable)
}

/// Errors of our own readers are of the content, others of the disk.
fn damaged_or_unreadable(error: io::Error) -> AgeError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => AgeError::Damaged,
        _ => AgeError::Read(error),
    }
}

#[cfg(test)]
mod tests;
