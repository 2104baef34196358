//! Files that are encrypted with a passphrase: packets, submissions and copies.

use crate::error::ProjectError;
use crate::jobs::Progress;
use dissensus_files::age::{self, AgeError, MOST_WORK};
use dissensus_files::{AtomicFile, PrivateFolder, folder_of};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use dissensus_files::age::{Passphrase, is_encrypted};

/// How the name of an encrypted file ends.
pub const ENDING: &str = ".age";
/// The longest line of a file with a passphrase.
const LONGEST: usize = 4096;

dissensus_domain::errors! {
    /// Why a file is not encrypted or decrypted.
    #[derive(Debug)]
    pub enum EncryptionError {
        NoPassphrase(PathBuf) => "encrypted",
            "{0} is encrypted: give its passphrase (--passphrase-file; in the window: choose the file and type it)";
        Wrong(PathBuf) => "passphrase-wrong",
            "this is not the passphrase of {0}: check it, or ask the person who encrypted the file";
        Empty => "passphrase-empty", "the passphrase is empty: choose one with at least one character";
        PassphraseFile { path: PathBuf, why: &'static str } => "passphrase-file",
            "{path} has no passphrase: {why}; write it into the first line";
        ForKey(PathBuf) => "encrypted-for-key",
            "{0} is encrypted for a key, not with a passphrase: decrypt it with an age tool that has the key";
        TooMuchWork { path: PathBuf, asked: u8, most: u8 } => "encrypted-work",
            "{path} asks for work of 2^{asked} to try a passphrase, and at most 2^{most} is done: more would fill the memory. Ask for a file that is encrypted with less, or decrypt it with another age tool";
        Damaged(PathBuf) => "encrypted-damaged", "{0} was cut off or changed after it was encrypted: ask for it again";
        NotEncrypted(PathBuf) => "not-encrypted", "{0} is not encrypted with a passphrase";
        Exists(PathBuf) => "decrypted-exists", "{0} exists already: choose another name, nothing is replaced";
    }
}

impl From<EncryptionError> for ProjectError {
    fn from(error: EncryptionError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}

/// A passphrase that somebody typed.
///
/// # Errors
/// It is empty or blank.
pub fn typed_passphrase(words: &str) -> Result<Passphrase, ProjectError> {
    Ok(Passphrase::new(words).ok_or(EncryptionError::Empty)?)
}

/// The passphrase in the first line of a file.
///
/// # Errors
/// The file cannot be read, or its first line is blank or very long.
pub fn passphrase_in(path: &Path) -> Result<Passphrase, ProjectError> {
    use std::io::{BufRead as _, BufReader, Read as _};
    let failed = |source| ProjectError::Io { path: path.to_owned(), doing: "reading", source };
    let refused = |why| EncryptionError::PassphraseFile { path: path.to_owned(), why };
    let mut line = Vec::new();
    let file = File::open(path).map_err(failed)?;
    BufReader::new(file.take(LONGEST as u64 + 1)).read_until(b'\n', &mut line).map_err(failed)?;
    if line.len() > LONGEST {
        return Err(refused("its first line is too long").into());
    }
    let line = String::from_utf8(line).map_err(|_| refused("its first line is no text in UTF-8"))?;
    let line = line.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
    Ok(Passphrase::new(line).ok_or_else(|| refused("its first line is empty"))?)
}

/// Whether an encrypted file takes the name of an existing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    Refuse,
    Replace,
}

/// Encrypts `source` to `target`, which appears whole or not at all.
///
/// # Errors
/// The target exists and is not to be replaced ([`std::io::ErrorKind::AlreadyExists`] in
/// [`ProjectError::Io`]), or a disk fails, or it was cancelled.
pub fn encrypt_file(
    source: &Path,
    target: &Path,
    existing: Existing,
    passphrase: &Passphrase,
    progress: &dyn Progress,
) -> Result<(), ProjectError> {
    let (mut read, all) = opened(source)?;
    let failed = |source| ProjectError::Io { path: target.to_owned(), doing: "writing", source };
    let mut written = AtomicFile::create_private(target).map_err(failed)?;
    let mut go_on = |done| {
        progress.report(done, Some(all), "encrypting");
        !progress.cancelled()
    };
    let done = age::encrypt(&mut read, &mut written, passphrase, &mut go_on);
    done.map_err(|error| explain(error, source, target))?;
    match existing {
        Existing::Refuse => written.finish_new(),
        Existing::Replace => written.finish(),
    }
    .map_err(failed)
}

/// Whether a file is encrypted; never the open project, since a second handle of its file would release the
/// locks on it when it is closed.
pub fn is_other_encrypted(file: &Path, open: Option<&Path>) -> bool {
    !open.is_some_and(|open| dissensus_store::is_same_file(file, open)) && is_encrypted(file)
}

/// Encrypts `content` to what is written of a file.
///
/// # Errors
/// It cannot be written.
pub fn encrypt_content(
    mut content: &[u8],
    target: &mut impl Write,
    passphrase: &Passphrase,
) -> std::io::Result<()> {
    age::encrypt(&mut content, target, passphrase, &mut |_| true).map_err(|error| match error {
        AgeError::Write(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    })
}

/// Decrypts `source` to `target`, a new file that only its owner can read and that appears whole or not at
/// all.
///
/// # Errors
/// Another passphrase; a file that is not encrypted with one, was cut off or changed, or asks for too much
/// work; the target exists; a disk fails, or it was cancelled.
pub fn decrypt_file(
    source: &Path,
    target: &Path,
    passphrase: &Passphrase,
    progress: &dyn Progress,
) -> Result<(), ProjectError> {
    let exists = || EncryptionError::Exists(target.to_owned());
    if std::fs::symlink_metadata(target).is_ok() {
        return Err(exists().into());
    }
    if !is_encrypted(source) {
        // That it cannot be read comes first.
        opened(source)?;
        return Err(EncryptionError::NotEncrypted(source.to_owned()).into());
    }
    let (mut read, all) = opened(source)?;
    let failed = |source| ProjectError::Io { path: target.to_owned(), doing: "writing", source };
    let mut written = AtomicFile::create_private(target).map_err(failed)?;
    let mut go_on = |done| {
        progress.report(done, Some(all), "decrypting");
        !progress.cancelled()
    };
    let done = age::decrypt(&mut read, &mut written, passphrase, &mut go_on);
    done.map_err(|error| explain(error, source, target))?;
    written.finish_new().map_err(|source| match source.kind() {
        std::io::ErrorKind::AlreadyExists => exists().into(),
        _ => failed(source),
    })
}

fn opened(path: &Path) -> Result<(File, u64), ProjectError> {
    let failed = |source| ProjectError::Io { path: path.to_owned(), doing: "reading", source };
    let file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    Ok((file, about.len()))
}

fn explain(error: AgeError, source: &Path, target: &Path) -> ProjectError {
    let path = source.to_owned();
    match error {
        AgeError::Read(source) => ProjectError::Io { path, doing: "reading", source },
        AgeError::Write(source) => ProjectError::Io { path: target.to_owned(), doing: "writing", source },
        AgeError::Stopped => ProjectError::CancelledUnwritten,
        AgeError::NotEncrypted => EncryptionError::NotEncrypted(path).into(),
        AgeError::WrongPassphrase => EncryptionError::Wrong(path).into(),
        AgeError::ForKey => EncryptionError::ForKey(path).into(),
        AgeError::TooMuchWork(asked) => EncryptionError::TooMuchWork { path, asked, most: MOST_WORK }.into(),
        AgeError::Damaged => EncryptionError::Damaged(path).into(),
    }
}

/// The name of the decrypted file next to an encrypted one: without its ending, and one that no file has.
pub fn decrypted_name(encrypted: &Path) -> PathBuf {
    let name = encrypted.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = without_ending(&name);
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => (stem.to_owned(), format!(".{ending}")),
        _ => (name, String::new()),
    };
    let numbered = |number: u32| match number {
        1 => format!("{stem}{ending}"),
        number => format!("{stem} ({number}){ending}"),
    };
    let paths = (1..=u32::MAX).map(|number| encrypted.with_file_name(numbered(number)));
    paths.into_iter().find(|path| std::fs::symlink_metadata(path).is_err()).unwrap_or_default()
}

/// A file name without the ending of encrypted files; one without it gets another ending.
fn without_ending(name: &str) -> String {
    let begin = name.len().saturating_sub(ENDING.len());
    match name.get(begin..).filter(|end| begin > 0 && end.eq_ignore_ascii_case(ENDING)) {
        Some(_) => name[..begin].to_owned(),
        None => format!("{name}.decrypted"),
    }
}

/// A private folder next to a project, or, where nobody may write there, among the temporary files of the
/// system. What is not encrypted yet is written there, not where the encrypted file goes: that may be a
/// folder that others read.
///
/// # Errors
/// It cannot be created: a disk that is full is no reason to write elsewhere.
pub fn private_folder_by(project: &Path) -> Result<PrivateFolder, ProjectError> {
    private_folder_in(folder_of(project), &std::env::temp_dir())
}

fn private_folder_in(place: &Path, elsewhere: &Path) -> Result<PrivateFolder, ProjectError> {
    let create = |place: &Path| {
        let failed = |source| ProjectError::Io { path: place.to_owned(), doing: "writing to", source };
        PrivateFolder::create_in(place).map_err(failed)
    };
    create(place).or_else(|error| match error {
        ProjectError::Io { source, .. } if is_unwritable(source.kind()) => create(elsewhere),
        other => Err(other),
    })
}

/// Whether a folder may not be written to at all.
fn is_unwritable(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(kind, PermissionDenied | ReadOnlyFilesystem)
}

/// Files to read, of which encrypted ones are decrypted into a private temporary folder as long as this
/// exists.
#[derive(Debug)]
pub struct ReadableFiles {
    files: Vec<PathBuf>,
    _folder: Option<PrivateFolder>,
}

impl ReadableFiles {
    /// Decrypts the encrypted ones among `files`.
    ///
    /// # Errors
    /// One is encrypted and no passphrase is given, and those of [`decrypt_file`].
    pub fn of(
        files: &[PathBuf],
        passphrase: Option<&Passphrase>,
        progress: &dyn Progress,
    ) -> Result<Self, ProjectError> {
        if !files.iter().any(|file| is_encrypted(file)) {
            return Ok(Self { files: files.to_owned(), _folder: None });
        }
        let failed = |source| ProjectError::Io { path: std::env::temp_dir(), doing: "writing to", source };
        let folder = PrivateFolder::create_in(&std::env::temp_dir()).map_err(failed)?;
        let mut readable = Vec::with_capacity(files.len());
        for (number, file) in files.iter().enumerate() {
            if !is_encrypted(file) {
                readable.push(file.clone());
                continue;
            }
            let passphrase = passphrase.ok_or_else(|| EncryptionError::NoPassphrase(file.clone()))?;
            // Two may have one name.
            let inside = folder.path().join(number.to_string());
            std::fs::create_dir(&inside).map_err(failed)?;
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let target = inside.join(without_ending(&name));
            decrypt_file(file, &target, passphrase, progress)?;
            readable.push(target);
        }
        Ok(Self { files: readable, _folder: Some(folder) })
    }

    /// The files, in the order in which they were given.
    pub fn paths(&self) -> &[PathBuf] {
        &self.files
    }
}

#[cfg(test)]
#[path = "encryption_tests.rs"]
mod tests;
