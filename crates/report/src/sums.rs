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
pub(super) fn names_in(dir: &Path) -> io::Result<Vec<String>> {
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
