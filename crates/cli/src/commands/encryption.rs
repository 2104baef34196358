//! `project decrypt`, and the passphrases of other commands: from a file, the environment or the keyboard,
//! never from an argument, which other programs can see.

use crate::args::{Decrypt, EncryptArgs, PassphraseArg};
use crate::output;
use crate::progress::Bar;
use anyhow::{Result, bail};
use console::Term;
use dissensus_project::encryption::{
    EncryptionError, Passphrase, ReadableFiles, decrypt_file, is_encrypted, passphrase_in, typed_passphrase,
};
use dissensus_project::error::ProjectError;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The environment variable with a passphrase.
const VARIABLE: &str = "DISSENSUS_PASSPHRASE";
/// How often a passphrase can be typed.
const TRIES: u32 = 3;

/// What `project decrypt --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct Decrypted<'a> {
    /// The decrypted file.
    file: &'a Path,
    /// Its size.
    bytes: u64,
}

pub(crate) fn decrypt(args: &Decrypt) -> Result<()> {
    // Nobody is asked for the passphrase of a file that has none.
    if !is_encrypted(&args.file) {
        let failed = |source| ProjectError::Io { path: args.file.clone(), doing: "reading", source };
        std::fs::File::open(&args.file).map_err(failed)?;
        return Err(ProjectError::from(EncryptionError::NotEncrypted(args.file.clone())).into());
    }
    let known = known_passphrase(args.passphrase.file.as_deref())?;
    with_tries(known, &args.file, |passphrase| {
        decrypt_file(&args.file, &args.target, passphrase, &Bar::new("bytes"))
    })?;
    let bytes = std::fs::metadata(&args.target)?.len();
    if args.output.json {
        return output::json(&Decrypted { file: &args.target, bytes });
    }
    output::line(&format!(
        "Wrote {}, which is not encrypted: delete it when you no longer need it",
        args.target.display()
    ))
}

/// The passphrase with which a command encrypts; `None` where it does not.
pub(super) fn to_encrypt(args: &EncryptArgs) -> Result<Option<Passphrase>> {
    if !args.encrypt && args.file.is_none() {
        return Ok(None);
    }
    if let Some(known) = known_passphrase(args.file.as_deref())? {
        return Ok(Some(known));
    }
    let first = asked("Passphrase: ")?;
    let passphrase = typed_passphrase(&first)?;
    match asked("The same again: ")? == first {
        true => Ok(Some(passphrase)),
        false => bail!("the two passphrases differ: nothing was written"),
    }
}

/// Files that a command reads, decrypted where they are encrypted.
pub(super) fn readable(args: &PassphraseArg, files: &[PathBuf]) -> Result<ReadableFiles> {
    let Some(encrypted) = files.iter().find(|file| is_encrypted(file)) else {
        return Ok(ReadableFiles::of(files, None, &dissensus_project::jobs::Silent)?);
    };
    let known = known_passphrase(args.file.as_deref())?;
    with_tries(known, encrypted, |passphrase| ReadableFiles::of(files, Some(passphrase), &Bar::new("bytes")))
}

/// The passphrase in a file or in the environment, where an empty one is none.
pub(super) fn known_passphrase(file: Option<&Path>) -> Result<Option<Passphrase>> {
    if let Some(file) = file {
        return Ok(Some(passphrase_in(file)?));
    }
    match std::env::var(VARIABLE) {
        Ok(words) if words.is_empty() => Ok(None),
        Ok(words) => Ok(Some(typed_passphrase(&words)?)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => bail!("{VARIABLE} is no text in UTF-8"),
    }
}

/// Does `work` with a passphrase that is known, or typed up to three times.
fn with_tries<T>(
    known: Option<Passphrase>,
    file: &Path,
    work: impl Fn(&Passphrase) -> Result<T, ProjectError>,
) -> Result<T> {
    if let Some(passphrase) = known {
        return Ok(work(&passphrase)?);
    }
    let mut tries = 1;
    loop {
        let passphrase = typed_passphrase(&asked(&format!("Passphrase of {}: ", file.display()))?)?;
        match work(&passphrase) {
            Err(error) if error.code() == "passphrase-wrong" && tries < TRIES => {
                super::note(&error.to_string())
            }
            done => return Ok(done?),
        }
        tries += 1;
    }
}

/// Asks for a passphrase, which is not shown while it is typed.
fn asked(prompt: &str) -> Result<String> {
    let terminal = Term::stderr();
    if !terminal.is_term() {
        bail!("a passphrase is needed: give --passphrase-file FILE, or set {VARIABLE}");
    }
    write!(&terminal, "{}", output::visible(prompt))?;
    Ok(terminal.read_secure_line()?)
}
