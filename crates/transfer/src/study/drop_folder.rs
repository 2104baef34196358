//! A folder into which people put their submissions, such as one that a service synchronises.

use super::Study;
use super::hand_in::is_submission;
use super::merge::merge_each;
use dissensus_api::{CollectedFiles, MergeConsent};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The setting with digests of the submissions that were merged from folders.
const COLLECTED: &str = "collected";
/// How deep folders in the folder are read: one for each person is usual.
const DEPTH: usize = 3;
/// How a file ends that has only a part of its content yet.
const ENDINGS_OF_PARTS: [&str; 6] = ["tmp", "part", "partial", "crdownload", "download", "icloud"];
/// The ending that pages and windows propose.
const ENDING: &str = "handin";
/// The code of a file of which the end is missing.
const CUT_OFF: &str = "merge-cut-off";

/// A file as it was when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// The submissions in a folder. It only reads them: each is merged once, whatever it is called.
#[derive(Debug)]
pub struct DropFolder {
    folder: PathBuf,
    /// Files that need not be read again, as long as they do not change.
    done: BTreeMap<PathBuf, Version>,
    /// The others, as they were the last time.
    open: Option<Vec<(PathBuf, Version)>>,
}

impl DropFolder {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), done: BTreeMap::new(), open: None }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Whether [`DropFolder::collect`] may find something that it has not found before.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn has_news(&self) -> Result<bool, ProjectError> {
        Ok(self.open.as_ref() != Some(&self.candidates()?))
    }

    /// Merges the submissions that are new here, and were not merged from a folder before.
    ///
    /// # Errors
    /// The folder cannot be read, or the project not written; problems with a file are in the result.
    pub fn collect(&mut self, cx: &Study) -> Result<CollectedFiles, ProjectError> {
        cx.context.store.must_write()?;
        let known: BTreeSet<String> = cx.context.store.setting(COLLECTED)?.unwrap_or_default();
        let (mut found, mut new) = (CollectedFiles::default(), Vec::new());
        for (path, version) in self.candidates()? {
            let failed = |source| ProjectError::Io { path: path.clone(), doing: "reading", source };
            match digest(&path) {
                // Not there any more, or still locked by the service.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) =>
                {
                    found.waiting.push(path.to_string_lossy().into_owned());
                }
                Err(error) => return Err(failed(error)),
                Ok(None) if is_named_as_one(&path) => found.waiting.push(path.to_string_lossy().into_owned()),
                Ok(None) => drop(self.done.insert(path, version)),
                Ok(Some(digest)) if known.contains(&digest) => drop(self.done.insert(path, version)),
                Ok(Some(digest)) => new.push((path, version, digest)),
            }
        }
        let mut collected = known;
        for (path, version, digest) in new {
            let report = merge_each(cx, std::slice::from_ref(&path), &MergeConsent::default(), &Silent)?;
            for file in report.files {
                if file.problems.iter().any(|one| one.refused && one.problem.code == CUT_OFF) {
                    found.waiting.push(path.to_string_lossy().into_owned());
                    continue;
                }
                if !file.refused {
                    collected.insert(digest.clone());
                }
                self.done.insert(path.clone(), version);
                found.files.push(file);
            }
        }
        cx.context.store.write(move |tx| tx.set_setting(COLLECTED, &collected))?;
        self.open = Some(self.candidates()?);
        Ok(found)
    }

    /// Files that may be submissions and were not looked at as they are now, by name.
    fn candidates(&self) -> Result<Vec<(PathBuf, Version)>, ProjectError> {
        let failed = |source| ProjectError::Io { path: self.folder.clone(), doing: "reading", source };
        let mut all = Vec::new();
        files_in(&self.folder, DEPTH, &mut all).map_err(failed)?;
        all.retain(|(path, version)| self.done.get(path) != Some(version));
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(all)
    }
}

fn files_in(folder: &Path, depth: usize, all: &mut Vec<(PathBuf, Version)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        // A link could lead anywhere.
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        if about.is_dir() && depth > 1 && !name.starts_with('.') {
            // A folder that nobody may read, or that has just gone, is passed over.
            let _ = files_in(&path, depth - 1, all);
        }
        if about.is_file() && !is_part(&name) {
            all.push((path, Version { bytes: about.len(), modified: about.modified().ok() }));
        }
    }
    Ok(())
}

/// Whether a service or a browser writes this file at the moment, as far as its name shows.
fn is_part(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    name.starts_with('.')
        || name.starts_with('~')
        || ending.is_some_and(|end| ENDINGS_OF_PARTS.contains(&end.as_str()))
}

fn is_named_as_one(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING))
}

/// The digest of a submission; `None` of another file.
fn digest(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    if !is_submission(&mut file)? {
        return Ok(None);
    }
    let mut digest = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block)? {
            0 => break,
            bytes => digest.update(&block[..bytes]),
        }
    }
    Ok(Some(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}
