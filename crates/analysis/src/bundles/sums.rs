//! `SHA256SUMS`: the checksum of every other file of a bundle, in the format of coreutils' `sha256sum -c`.
//!
//! Checksums guard only against accidents: a person who alters a bundle can write new ones.

use crate::bundle_folder::{BUNDLE, SUMS};
use crate::error::AnalysisError;
use dissensus_project::error::ProjectError;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// Writes the checksums of all files in `dir`.
pub(super) fn write(dir: &Path) -> Result<(), ProjectError> {
    let mut lines = String::new();
    for file in files_in(dir)? {
        let path = dir.join(&file);
        let sum = sum_of(&path).map_err(|source| io_error(&path, "reading", source))?;
        lines.push_str(&format!("{sum}  {file}\n"));
    }
    let path = dir.join(SUMS);
    std::fs::write(&path, lines).map_err(|source| io_error(&path, "writing", source))
}

/// Makes sure that the bundle `dir` has all files that it was made with and no others, unaltered, and
/// returns their names.
///
/// # Errors
/// [`AnalysisError::Bundle`] names the file that is missing, altered or extra; or an I/O error.
pub(super) fn check(dir: &Path) -> Result<Vec<String>, ProjectError> {
    let refused = |reason: String| ProjectError::from(AnalysisError::Bundle { path: dir.to_owned(), reason });
    if !dir.is_dir() {
        return Err(refused("there is no such folder".to_owned()));
    }
    let path = dir.join(SUMS);
    let sums = match std::fs::read_to_string(&path) {
        Ok(sums) => sums,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(refused(format!("{SUMS} is missing")));
        }
        Err(error) => return Err(io_error(&path, "reading", error)),
    };
    let mut files = Vec::new();
    for line in sums.lines() {
        let listed = line.split_once("  ").filter(|(sum, file)| sum.len() == 64 && is_inside(file));
        let Some((sum, file)) = listed else { return Err(refused(format!("{SUMS} has been altered"))) };
        let path = dir.join(file);
        match sum_of(&path) {
            Ok(found) if found == sum => files.push(file.to_owned()),
            Ok(_) => return Err(refused(format!("{file} has been altered"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(refused(format!("{file} is missing")));
            }
            Err(error) => return Err(io_error(&path, "reading", error)),
        }
    }
    match files_in(dir)?.into_iter().find(|file| !files.contains(file)) {
        Some(more) => Err(refused(format!("{more} does not belong to it"))),
        None => Ok(files),
    }
}

/// Whether a folder contains only the parts of a bundle, hidden files included; altered or not.
pub(super) fn contains_only_bundle_files(dir: &Path) -> bool {
    let Ok(sums) = std::fs::read_to_string(dir.join(SUMS)) else { return false };
    let listed: HashSet<&str> =
        sums.lines().filter_map(|line| line.split_once("  ")).map(|(_, file)| file).collect();
    let all = walk(dir, |_| true);
    listed.contains(BUNDLE) && all.is_ok_and(|all| all.iter().all(|file| listed.contains(file.as_str())))
}

/// File names with slashes, in order, without the checksums themselves and without hidden files, which
/// operating systems create in folders.
fn files_in(dir: &Path) -> Result<Vec<String>, ProjectError> {
    walk(dir, |name| !name.starts_with('.'))
}

/// File names below `dir` that `wanted` accepts.
fn walk(dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>, ProjectError> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let path = dir.join(&folder);
        let read = |source| io_error(&path, "reading", source);
        for entry in std::fs::read_dir(&path).map_err(read)? {
            let entry = entry.map_err(read)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !wanted(&name) || (folder.is_empty() && name == SUMS) {
                continue;
            }
            let inside = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if entry.file_type().map_err(read)?.is_dir() { folders.push(inside) } else { found.push(inside) }
        }
    }
    found.sort();
    Ok(found)
}

fn is_inside(file: &str) -> bool {
    !file.is_empty() && Path::new(file).components().all(|part| matches!(part, Component::Normal(_)))
}

fn sum_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let (mut sum, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            read => sum.update(&chunk[..read]),
        }
    }
    Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn io_error(path: &Path, doing: &'static str, source: io::Error) -> ProjectError {
    ProjectError::Io { path: path.to_owned(), doing, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("encoder")).unwrap();
        std::fs::write(folder.path().join("encoder/config.json"), "{}").unwrap();
        std::fs::write(folder.path().join("README.md"), "abc").unwrap();
        write(folder.path()).unwrap();
        folder
    }

    fn refused(folder: &tempfile::TempDir) -> String {
        check(folder.path()).unwrap_err().to_string()
    }

    #[test]
    fn checksums_match_sha256sum() {
        let folder = made();
        let sums = std::fs::read_to_string(folder.path().join(SUMS)).unwrap();
        // FIPS 180-4: the example "abc".
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  README.md\n";
        assert!(sums.starts_with(abc) && sums.contains("  encoder/config.json\n"), "{sums}");
        std::fs::write(folder.path().join(".DS_Store"), "a system's own").unwrap();
        assert_eq!(check(folder.path()).unwrap(), ["README.md", "encoder/config.json"]);
    }

    #[test]
    fn missing_altered_and_extra_files_are_named() {
        let folder = made();
        let config = folder.path().join("encoder/config.json");
        std::fs::write(&config, "[]").unwrap();
        assert!(refused(&folder).contains("encoder/config.json has been altered"), "{}", refused(&folder));
        std::fs::remove_file(&config).unwrap();
        assert!(refused(&folder).contains("encoder/config.json is missing"));
        std::fs::write(&config, "{}").unwrap();
        check(folder.path()).unwrap();
        std::fs::write(folder.path().join("encoder/vocab.txt"), "").unwrap();
        assert!(refused(&folder).contains("encoder/vocab.txt does not belong"));
    }

    #[test]
    fn checksum_paths_stay_in_the_folder() {
        let folder = made();
        for line in [
            "short  README.md".to_owned(),
            format!("{}  ../x", "0".repeat(64)),
            format!("{}  /etc/passwd", "0".repeat(64)),
        ] {
            std::fs::write(folder.path().join(SUMS), line).unwrap();
            assert!(refused(&folder).contains("SHA256SUMS has been altered"));
        }
        std::fs::remove_file(folder.path().join(SUMS)).unwrap();
        assert!(refused(&folder).contains("SHA256SUMS is missing"));
    }
}
