//! A folder or a ZIP archive, file by file. Nothing from an archive is ever written to disk.

use crate::ExchangeError;
use crate::unpacking::{beyond_limit, unpacking_limit};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;
use zip::result::ZipError;

/// Maximum number of files.
const MAX_FILES: usize = 100_000;
/// The longest file, unpacked, in bytes: a longer one does not contain answers, or is a decompression bomb.
pub(crate) const MAX_FILE_BYTES: u64 = 256 << 20;
/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 6;

/// A folder or an archive that was opened.
#[derive(Debug)]
pub(crate) struct Package {
    path: PathBuf,
    archive: Option<ZipArchive<File>>,
    /// Bytes that were read so far, and the limit, which only an archive has.
    unpacked: u64,
    limit: u64,
}

impl Package {
    /// Opens the folder or archive at the path.
    ///
    /// # Errors
    /// It cannot be read, or is a damaged archive.
    pub(crate) fn open(path: &Path) -> Result<Self, ExchangeError> {
        let (archive, limit) = match path.is_dir() {
            true => (None, u64::MAX),
            false => {
                let file = File::open(path).map_err(|e| ExchangeError::reading(path, e))?;
                let packed = file.metadata().map_err(|e| ExchangeError::reading(path, e))?.len();
                (Some(ZipArchive::new(file).map_err(|e| damaged(path, &e))?), unpacking_limit(packed))
            }
        };
        Ok(Self { path: path.to_owned(), archive, unpacked: 0, limit })
    }

    /// The names of its files, with `/` between folders, in order.
    ///
    /// # Errors
    /// Too many files, or a name that leads out of the archive.
    pub(crate) fn names(&self) -> Result<Vec<String>, ExchangeError> {
        let mut names = Vec::new();
        match &self.archive {
            Some(archive) => {
                for name in archive.file_names() {
                    let name = name.map_err(|e| damaged(&self.path, &e))?;
                    if !name.ends_with('/') {
                        names.push(name.into_owned());
                    }
                }
            }
            None => walk(&self.path, "", 0, &mut names).map_err(|e| ExchangeError::reading(&self.path, e))?,
        }
        if names.len() > MAX_FILES {
            return Err(self.refused(format!("it has more than {MAX_FILES} files")));
        }
        if let Some(name) = names.iter().find(|name| leaves_archive(name)) {
            return Err(self.refused(format!(
                "the name of its file \"{}\" leads out of it, which no tool writes",
                name.escape_debug()
            )));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The bytes of one file.
    ///
    /// # Errors
    /// It is damaged, locked with a password, packed in an unusual way, or longer than [`MAX_FILE_BYTES`].
    pub(crate) fn read(&mut self, name: &str) -> Result<Vec<u8>, ExchangeError> {
        let path = self.path.clone();
        let mut bytes = Vec::new();
        let left = self.limit.saturating_sub(self.unpacked).min(MAX_FILE_BYTES) + 1;
        let read = match &mut self.archive {
            None => File::open(path.join(name)).and_then(|f| f.take(left).read_to_end(&mut bytes)),
            Some(archive) => {
                let file = archive.by_name(name).map_err(|e| damaged(&path, &e))?;
                file.take(left).read_to_end(&mut bytes)
            }
        };
        read.map_err(|e| self.refused(format!("its file \"{name}\" cannot be unpacked ({e})")))?;
        self.unpacked += bytes.len() as u64;
        if self.unpacked > self.limit {
            return Err(self.refused(beyond_limit(self.limit)));
        }
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(self.refused(format!(
                "its file \"{name}\" is longer than {} MiB unpacked: unpack it and import what is in it",
                MAX_FILE_BYTES >> 20
            )));
        }
        Ok(bytes)
    }

    fn refused(&self, why: String) -> ExchangeError {
        ExchangeError::Package { path: self.path.clone(), why }
    }
}

fn damaged(path: &Path, error: &ZipError) -> ExchangeError {
    let why = match error {
        ZipError::Io(_) | ZipError::InvalidArchive(_) => {
            format!("it is damaged, or not whole ({error}): fetch or export it again")
        }
        other => format!("{other}: unpack it, and import what is in it"),
    };
    ExchangeError::Package { path: path.to_owned(), why }
}

/// Whether a name, resolved in a folder, would be outside of it.
fn leaves_archive(name: &str) -> bool {
    name.starts_with(['/', '\\'])
        || name.split(['/', '\\']).any(|part| part == "..")
        || name.as_bytes().get(1) == Some(&b':')
        || name.contains('\0')
}

/// Ordinary files below a folder; links are not followed.
fn walk(root: &Path, below: &str, depth: usize, names: &mut Vec<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name().to_string_lossy().into_owned());
        let name = if below.is_empty() { name } else { format!("{below}/{name}") };
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(root, &name, depth + 1, names)?;
        } else if kind.is_file() {
            names.push(name);
        }
        if names.len() > MAX_FILES {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::parent("../a", true)]
    #[case::parent_of_a_folder("a/../../b", true)]
    #[case::absolute("/etc/passwd", true)]
    #[case::backslash("\\x", true)]
    #[case::drive("C:\\x", true)]
    #[case::parent_with_backslashes("a\\..\\b", true)]
    #[case::zero_byte("a\0b", true)]
    #[case::file("a", false)]
    #[case::file_in_a_folder("a/b.jsonl", false)]
    #[case::dots_in_names("..a/b..", false)]
    #[case::dots_in_a_file("annotation/x.txt/..anna.tsv", false)]
    fn names_leaving_the_archive_are_detected(#[case] name: &str, #[case] out: bool) {
        assert_eq!(leaves_archive(name), out);
    }
}
