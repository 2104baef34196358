//! The signed description of a release, by which installed programs learn that there is a newer version
//! (`crates/app/src/updates`), and the key that it is signed with.

use crate::manifests::{Published, dated};
use crate::project::Project;
use crate::shell::say;
use anyhow::{Context, Result, bail};
use minisign::{KeyPair, PublicKey, PublicKeyBox, SecretKey, SecretKeyBox};
use serde::Serialize;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

/// The description of the newest release.
pub(super) const DESCRIPTION: &str = "latest.json";
/// Its signature.
pub(super) const SIGNATURE: &str = "latest.json.minisig";
/// The variable with the secret key, without a passphrase, as minisign writes it.
const KEY: &str = "UPDATE_KEY";
/// The file with the public key, which is compiled into the program.
const PUBLIC: &str = "crates/app/updates.pub";
/// The file of a new secret key.
const SECRET: &str = "dissensus-updates.key";
/// The version of the form, which programs check.
const FORMAT: u32 = 1;
/// Programs read at most 64 KiB.
const MAX_BYTES: usize = 60 << 10;

#[derive(Serialize)]
struct Description<'a> {
    format: u32,
    version: &'a str,
    date: &'a str,
    notes: &'a str,
    files: Vec<DescribedFile<'a>>,
}

#[derive(Serialize)]
struct DescribedFile<'a> {
    name: &'a str,
    bytes: u64,
    sha256: &'a str,
}

/// Writes the description and its signature next to the files of the release. There is none as long as the
/// repository has no public key, without which programs make no check.
///
/// # Errors
/// The variable has no key although the repository has one: programs in use would find no description in the
/// newest release. The key is none, or not that of the public key; or a file cannot be read or written.
pub(super) fn write(
    root: &Path,
    folder: &Path,
    version: &str,
    changelog: &str,
    notes: &str,
    files: &[Published],
) -> Result<()> {
    for old in [DESCRIPTION, SIGNATURE] {
        let old = folder.join(old);
        if old.exists() {
            fs::remove_file(&old).with_context(|| format!("removing {}", old.display()))?;
        }
    }
    match key_to_sign_with(root, &std::env::var(KEY).unwrap_or_default())? {
        Some(key) => write_signed(folder, &description(folder, version, changelog, notes, files)?, &key),
        None => {
            say(format!(
                "{KEY} and {PUBLIC} have no key, so there is no {DESCRIPTION}: programs of this release make no check for updates"
            ));
            Ok(())
        }
    }
}

/// The secret key; none if the repository has no public one either.
fn key_to_sign_with(root: &Path, key: &str) -> Result<Option<SecretKey>> {
    if !key.trim().is_empty() {
        return secret_of(root, key).map(Some);
    }
    if fs::read_to_string(root.join(PUBLIC)).is_ok_and(|text| public_of(&text).is_some()) {
        bail!(
            "{KEY} has no key, but {PUBLIC} has one: without {DESCRIPTION} in the newest release, every check for updates of the programs in use would fail"
        );
    }
    Ok(None)
}

/// The secret key, if it is that of the repository.
fn secret_of(root: &Path, key: &str) -> Result<SecretKey> {
    let secret = SecretKeyBox::from_string(key.trim()).and_then(SecretKeyBox::into_unencrypted_secret_key);
    let secret = secret.with_context(|| format!("{KEY} is no secret key without a passphrase"))?;
    let public = fs::read_to_string(root.join(PUBLIC)).with_context(|| format!("reading {PUBLIC}"))?;
    let public = public_of(&public).with_context(|| format!("{PUBLIC} has no key"))?;
    if PublicKey::from_secret_key(&secret)? != public {
        bail!("the key in {KEY} is not that of {PUBLIC}: programs would refuse what it signs");
    }
    Ok(secret)
}

fn public_of(text: &str) -> Option<PublicKey> {
    PublicKeyBox::from_string(text).and_then(PublicKeyBox::into_public_key).ok()
}

fn description(
    folder: &Path,
    version: &str,
    changelog: &str,
    notes: &str,
    files: &[Published],
) -> Result<String> {
    let (_, date) = dated(changelog)
        .find(|(dated, _)| *dated == version)
        .with_context(|| format!("CHANGELOG.md has no date of version {version}"))?;
    let files = files.iter().map(|file| described(folder, file)).collect::<Result<_>>()?;
    let json = serde_json::to_string_pretty(&Description { format: FORMAT, version, date, notes, files })?;
    if json.len() > MAX_BYTES {
        bail!(
            "{DESCRIPTION} has {} bytes, of which programs read {MAX_BYTES}: shorten the notes",
            json.len()
        );
    }
    Ok(json + "\n")
}

fn described<'a>(folder: &Path, file: &'a Published) -> Result<DescribedFile<'a>> {
    let Published { name, sha256 } = file;
    let about = fs::metadata(folder.join(name)).with_context(|| format!("reading {name}"))?;
    Ok(DescribedFile { name, bytes: about.len(), sha256 })
}

fn write_signed(folder: &Path, description: &str, key: &SecretKey) -> Result<()> {
    let signature = minisign::sign(None, key, Cursor::new(description), None, None)?.into_string();
    for (name, content) in [(DESCRIPTION, description), (SIGNATURE, &signature)] {
        let path = folder.join(name);
        fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?;
        say(path.display().to_string());
    }
    Ok(())
}

/// `cargo xtask update-key FOLDER`: makes the key of releases. The public one goes into the repository, the
/// secret one into the folder, from where it becomes a secret of the workflow of releases.
///
/// # Errors
/// The repository has a key already, or a file cannot be written.
pub(crate) fn make_key(project: &Project, folder: &Path) -> Result<()> {
    let secret = make_key_in(&project.root, folder)?;
    say(format!("{PUBLIC}: commit it"));
    say(format!(
        "{}: store it as the secret {KEY} of the repository and keep no copy online",
        secret.display()
    ));
    Ok(())
}

fn make_key_in(root: &Path, folder: &Path) -> Result<PathBuf> {
    let place = root.join(PUBLIC);
    if fs::read_to_string(&place).is_ok_and(|text| public_of(&text).is_some()) {
        bail!("{PUBLIC} has a key already, and programs in use know no other: remove it first to change it");
    }
    let keys = KeyPair::generate_unencrypted_keypair()?;
    let path = folder.join(SECRET);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path).with_context(|| format!("making {}", path.display()))?;
    file.write_all(keys.sk.to_box(None)?.into_string().as_bytes())?;
    file.sync_all()?;
    fs::write(&place, keys.pk.to_box()?.into_string()).with_context(|| format!("writing {PUBLIC}"))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n\n## 9.9.9 (2027-03-01)\n\n- First entry\n- Second entry\n";
    const NOTES: &str = "- First entry\n- Second entry\n";

    fn folder_with_file() -> (tempfile::TempDir, Vec<Published>) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("d.deb"), "abc").unwrap();
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
        (folder, vec![Published { name: "d.deb".to_owned(), sha256 }])
    }

    #[test]
    fn description_is_the_one_that_programs_are_tested_with() {
        let (folder, files) = folder_with_file();
        let written = description(folder.path(), "9.9.9", CHANGELOG, NOTES, &files).unwrap();
        assert_eq!(written, include_str!("../../../../crates/app/src/updates/latest.json"));
        assert!(description(folder.path(), "9.9.8", CHANGELOG, NOTES, &files).is_err(), "no such version");
        let long = "long ".repeat(20_000);
        assert!(
            description(folder.path(), "9.9.9", CHANGELOG, &long, &files).is_err(),
            "too long to be read"
        );
    }

    #[test]
    fn key_of_a_release_is_that_of_the_repository() {
        let (folder, files) = folder_with_file();
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("crates/app")).unwrap();
        fs::write(root.path().join(PUBLIC), "untrusted comment: no key yet\n").unwrap();
        assert!(key_to_sign_with(root.path(), "").unwrap().is_none(), "no key at all");
        let keys = tempfile::tempdir().unwrap();
        let made = fs::read_to_string(make_key_in(root.path(), keys.path()).unwrap()).unwrap();
        let error = make_key_in(root.path(), keys.path()).unwrap_err().to_string();
        assert!(error.contains("has a key already"), "{error}");
        let key = secret_of(root.path(), &made).unwrap();
        let text = description(folder.path(), "9.9.9", CHANGELOG, NOTES, &files).unwrap();
        write_signed(folder.path(), &text, &key).unwrap();
        let signature = fs::read_to_string(folder.path().join(SIGNATURE)).unwrap();
        let signature = minisign::SignatureBox::from_string(&signature).unwrap();
        let public = public_of(&fs::read_to_string(root.path().join(PUBLIC)).unwrap()).unwrap();
        let signed =
            |text: &str| minisign::verify(&public, &signature, Cursor::new(text), true, false, false).is_ok();
        assert!(signed(&text) && !signed(&text.replace("9.9.9", "9.9.8")));
        let other = KeyPair::generate_unencrypted_keypair().unwrap().sk.to_box(None).unwrap().into_string();
        let error = secret_of(root.path(), &other).unwrap_err().to_string();
        assert!(error.contains("is not that of"), "{error}");
        assert!(secret_of(root.path(), "rubbish").is_err());
        assert!(key_to_sign_with(root.path(), &made).unwrap().is_some());
        let error = key_to_sign_with(root.path(), " \n").unwrap_err().to_string();
        assert!(error.contains("has no key, but"), "{error}");
    }
}
