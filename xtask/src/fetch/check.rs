//! Checksums: is a folder exactly the encoder that the catalogue names?

use super::catalogue::{Entry, File};
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::Read;
use std::path::Path;

/// Where a folder came from, which decides the files it must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Hub,
    Python,
    /// Found on disk: files that only one source has may be missing.
    Either,
}

impl Origin {
    /// Whether `file` comes with this source.
    pub(crate) fn has(self, file: &File) -> bool {
        match file.only.as_deref() {
            None => true,
            Some("hub") => self == Self::Hub,
            Some(_) => self == Self::Python,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hub => "the model hub",
            Self::Python => "the Python package registry",
            Self::Either => "disk",
        })
    }
}

/// What a check found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Every file exists and has its checksum.
    Right,
    /// The first file that is missing or different.
    Wrong(String),
}

/// Checks every file of `folder` against the catalogue.
///
/// # Errors
/// A file exists and cannot be read.
pub(crate) fn folder(folder: &Path, entry: &Entry, origin: Origin) -> Result<Verdict> {
    for file in &entry.files {
        let path = folder.join(&file.path);
        let Ok(metadata) = path.metadata() else {
            if origin.has(file) {
                return Ok(Verdict::Wrong(format!("{} is missing", file.path)));
            }
            continue;
        };
        if metadata.len() != file.bytes {
            let (have, want) = (metadata.len(), file.bytes);
            return Ok(Verdict::Wrong(format!("{} has {have} bytes, and should have {want}", file.path)));
        }
        let have = sha256(&path)?;
        if have != file.sha256 {
            let want = &file.sha256;
            return Ok(Verdict::Wrong(format!(
                "{} has the wrong checksum: sha256 {have}, and should have {want}",
                file.path
            )));
        }
    }
    Ok(Verdict::Right)
}

/// The SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// It cannot be read.
pub(crate) fn sha256(path: &Path) -> Result<String> {
    let mut file = std::fs::File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).with_context(|| format!("reading {}", path.display()))?;
        if read == 0 {
            break;
        }
        digest.update(&buffer[..read]);
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with one file that holds "abc", whose digest is the worked example of FIPS 180-4.
    fn abc() -> (tempfile::TempDir, Entry) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.json"), "abc").unwrap();
        let file = File {
            path: "config.json".into(),
            bytes: 3,
            sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into(),
            only: None,
        };
        let entry = Entry { name: "abc".into(), embedded: false, hub: None, python: None, files: vec![file] };
        (folder, entry)
    }

    fn why(verdict: Verdict) -> String {
        match verdict {
            Verdict::Wrong(why) => why,
            Verdict::Right => panic!("taken for right"),
        }
    }

    #[test]
    fn folder_with_the_right_files_is_accepted() {
        let (path, entry) = abc();
        assert_eq!(folder(path.path(), &entry, Origin::Hub).unwrap(), Verdict::Right);
    }

    #[test]
    fn changed_file_is_named() {
        let (path, entry) = abc();
        std::fs::write(path.path().join("config.json"), "abd").unwrap();
        let why = why(folder(path.path(), &entry, Origin::Hub).unwrap());
        assert!(why.starts_with("config.json has the wrong checksum"), "{why}");
    }

    #[test]
    fn cut_and_a_missing_file_are_named() {
        let (path, entry) = abc();
        std::fs::write(path.path().join("config.json"), "ab").unwrap();
        assert_eq!(
            why(folder(path.path(), &entry, Origin::Hub).unwrap()),
            "config.json has 2 bytes, and should have 3"
        );
        std::fs::remove_file(path.path().join("config.json")).unwrap();
        assert_eq!(why(folder(path.path(), &entry, Origin::Either).unwrap()), "config.json is missing");
    }

    #[test]
    fn file_may_be_missing_from_the_other_source() {
        let (path, mut entry) = abc();
        entry.files.push(File {
            path: "NOTICE".into(),
            bytes: 1,
            sha256: String::new(),
            only: Some("python".into()),
        });
        assert_eq!(folder(path.path(), &entry, Origin::Hub).unwrap(), Verdict::Right);
        assert_eq!(folder(path.path(), &entry, Origin::Either).unwrap(), Verdict::Right);
        assert_eq!(why(folder(path.path(), &entry, Origin::Python).unwrap()), "NOTICE is missing");
    }
}
