//! Pages that open with a passphrase: their content is encrypted.
//!
//! AES-256-GCM (NIST SP 800-38D), with a key that PBKDF2-HMAC-SHA-256 (RFC 8018) derives from the
//! passphrase.

use crate::study::error::StudyError;
use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use dissensus_domain::Language;
use dissensus_files::replace_private;
use dissensus_project::error::ProjectError;
use dissensus_store::PacketKey;
use hmac::Mac as _;
use serde::Serialize;
use sha2::Sha256;
use std::collections::BTreeSet;
use std::path::Path;

/// What the packet's key signs as its passphrase.
const SIGNED: &[u8] = b"dissensus-passphrase";
/// Digits of five bits that are not mistaken for each other.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Number of digits, and of digits between two hyphens.
const LENGTH: usize = 16;
const GROUP: usize = 4;
/// The passphrase has 80 random bits, so derivation adds little: it must be quick on a phone.
const ITERATIONS: u32 = 100_000;
/// How the list of passphrases begins.
const LIST: &[u8] = b"person,packet,passphrase\n";

/// The encrypted content of a page.
#[derive(Serialize)]
struct Locked<'a> {
    /// The language of the form that asks for the passphrase.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<Language>,
    locked: Envelope<'a>,
}

/// Everything but the iterations is in base64.
#[derive(Serialize)]
struct Envelope<'a> {
    iterations: u32,
    salt: &'a str,
    nonce: &'a str,
    /// The encrypted content, and the tag.
    data: &'a str,
}

/// The passphrase of a packet's page, such as `k7qm-3fzh-9xw2-ab4c`. It follows from the packet's key, so it
/// stays the same when the page is written again.
pub(super) fn passphrase(key: &PacketKey) -> String {
    let mut mac = super::submission::code(key);
    mac.update(SIGNED);
    let code = mac.finalize().into_bytes();
    let bit = |at: usize| code[at / 8] >> (7 - at % 8) & 1;
    let digit =
        |at: usize| DIGITS[(0..5).fold(0, |value, next| value << 1 | usize::from(bit(at * 5 + next)))];
    let digits: Vec<u8> = (0..LENGTH).map(digit).collect();
    let groups: Vec<_> = digits.chunks(GROUP).map(|group| String::from_utf8_lossy(group)).collect();
    groups.join("-")
}

/// The content of a page, readable only with the passphrase; JSON.
///
/// # Errors
/// Only where the content is longer than 64 GB.
pub(super) fn lock(
    content: &str,
    passphrase: &str,
    language: Option<Language>,
) -> Result<String, ProjectError> {
    encrypt(content, passphrase, language, &rand::random(), &rand::random())
}

fn encrypt(
    content: &str,
    passphrase: &str,
    language: Option<Language>,
    salt: &[u8; 16],
    nonce: &[u8; 12],
) -> Result<String, ProjectError> {
    let mut key = [0; 32];
    pbkdf2::pbkdf2_hmac::<Sha256>(plain(passphrase).as_bytes(), salt, ITERATIONS, &mut key);
    let cipher = Aes256Gcm::new(&key.into());
    let data = cipher
        .encrypt(&Nonce::from(*nonce), content.as_bytes())
        .map_err(|_| ProjectError::internal(&"the content of a page is too long to be encrypted"))?;
    let [salt, nonce, data] = [salt.as_slice(), nonce, &data].map(|bytes| BASE64.encode(bytes));
    let locked = Locked {
        language,
        locked: Envelope { iterations: ITERATIONS, salt: &salt, nonce: &nonce, data: &data },
    };
    serde_json::to_string(&locked).map_err(|error| ProjectError::internal(&error))
}

/// A passphrase without what people may leave out or add.
fn plain(passphrase: &str) -> String {
    passphrase.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The passphrase of a page: its person, the number of the person's packet, and the passphrase.
pub(super) type Row = (String, usize, String);

/// The list as a table.
fn table(rows: &[Row]) -> Result<Vec<u8>, ProjectError> {
    let mut table = csv::Writer::from_writer(LIST.to_vec());
    for (person, packet, passphrase) in rows {
        let row = [person, &packet.to_string(), passphrase];
        table.write_record(row).map_err(|error| ProjectError::internal(&error))?;
    }
    table.into_inner().map_err(|error| ProjectError::internal(&error))
}

/// Checks that a list may be written to `file`: nothing is there, or a list of pages that are in `rows`.
///
/// # Errors
/// Another file is in the way, also the list of another project.
pub(super) fn check_list(rows: &[Row], file: &Path) -> Result<(), ProjectError> {
    let there = match std::fs::read(file) {
        Ok(there) => there,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(ProjectError::Io { path: file.to_owned(), doing: "reading", source }),
    };
    let ours = table(rows)?;
    let known: BTreeSet<&[u8]> = ours.split(|byte| *byte == b'\n').collect();
    match there.starts_with(LIST) && there.split(|byte| *byte == b'\n').all(|line| known.contains(line)) {
        true => Ok(()),
        false => Err(StudyError::Exists(file.to_owned()).into()),
    }
}

/// Writes the list, readable by its owner only, in place of an earlier one.
///
/// # Errors
/// The same as [`check_list`], or it cannot be written.
pub(super) fn write_list(rows: &[Row], file: &Path) -> Result<(), ProjectError> {
    check_list(rows, file)?;
    let failed = |source| ProjectError::Io { path: file.to_owned(), doing: "writing", source };
    match replace_private(file, LIST, &table(rows)?).map_err(failed)? {
        true => Ok(()),
        false => Err(StudyError::Exists(file.to_owned()).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passphrase_follows_from_the_key() {
        let [one, other] = [PacketKey([7; 32]), PacketKey([8; 32])].map(|key| passphrase(&key));
        assert_eq!(one, passphrase(&PacketKey([7; 32])));
        assert_ne!(one, other);
        assert_eq!(one.len(), LENGTH + 3);
        assert_eq!(plain(&one).len(), LENGTH);
    }

    #[test]
    fn encrypted_content_matches_another_implementation() {
        let locked = encrypt("{\"a\":1}", "k7qm-3fzh-9xw2-ab4c", None, &[1; 16], &[2; 12]).unwrap();
        // tools/fixtures/locked_page.py
        let fixture = include_str!("../../../../ui/src/page/locked-page.json");
        let [locked, fixture]: [serde_json::Value; 2] =
            [&locked, fixture].map(|json| serde_json::from_str(json).unwrap());
        assert_eq!(locked, fixture);
    }

    #[test]
    fn only_an_earlier_list_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passphrases.csv");
        let row = |name: &str| (name.to_owned(), 1, "abcd".to_owned());
        write_list(&[row("ada")], &file).unwrap();
        write_list(&[row("ada"), row("ben")], &file).unwrap();
        let written = "person,packet,passphrase\nada,1,abcd\nben,1,abcd\n";
        assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
        // The list of another project, and any other file.
        assert!(write_list(&[row("cleo")], &file).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
        std::fs::write(&file, "other").unwrap();
        assert!(write_list(&[row("ada")], &file).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "other");
    }
}
