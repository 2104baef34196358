//! Checksums of files, by which an unchanged report is recognised.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, Read as _};
use std::path::Path;

/// A file of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FileSum {
    pub(super) name: String,
    pub(super) sha256: String,
}

/// The file of a folder that lists its other files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listing {
    /// Its name.
    pub(super) file: &'static str,
    /// Its field `kind`, which identifies folders of ours.
    pub(super) kind: &'static str,
}

/// The fields of a listing by which a folder is recognised.
#[derive(Deserialize)]
struct Listed {
    kind: String,
    files: Vec<FileSum>,
}

/// State of a folder that is to be written to.
pub(super) enum Folder {
    /// An unchanged folder of ours.
    Unchanged,
    /// One in which these files were changed.
    Changed(Vec<String>),
    /// Anything else.
    Other,
}

impl Listing {
    /// Determines the state of a folder.
    pub(super) fn folder(self, dir: &Path) -> Folder {
        let Ok(bytes) = std::fs::read(dir.join(self.file)) else { return Folder::Other };
        let Ok(found) = serde_json::from_slice::<Listed>(&bytes) else { return Folder::Other };
        let known = |name: &str| name == self.file || found.files.iter().any(|file| file.name == name);
        let names = names_in(dir);
        if found.kind != self.kind || !names.is_ok_and(|all| all.iter().all(|name| known(name))) {
            return Folder::Other;
        }
        // Deleted files are no loss; edited files are someone's work.
        let changed = |file: &FileSum| match sum_of(&dir.join(&file.name)) {
            Ok((sum, _)) => sum != file.sha256,
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        };
        let changed: Vec<String> =
            found.files.into_iter().filter(|file| changed(file)).map(|file| file.name).collect();
        if changed.is_empty() { Folder::Unchanged } else { Folder::Changed(changed) }
    }
}

/// Formats bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of a file in hexadecimal, and its length in bytes.
pub(super) fn sum_of(path: &Path) -> io::Result<(String, u64)> {
    let (mut sum, mut bytes) = (Sha256::new(), 0);
    let mut file = std::fs::File::open(path)?;
    let mut part = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut part)?;
        if read == 0 {
            return Ok((hex(&sum.finalize()), bytes));
        }
        sum.update(&part[..read]);
        bytes += read as u64;
    }
}

/// Names of all files in a folder and its subfolders, with `/`; a link counts as a file.
fn names_in(dir: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    let mut open = vec![(dir.to_owned(), String::new())];
    while let Some((folder, before)) = open.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = format!("{before}{}", entry.file_name().to_string_lossy());
            match entry.file_type()?.is_dir() {
                true => open.push((entry.path(), format!("{name}/"))),
                false => names.push(name),
            }
        }
    }
    Ok(names)
}
