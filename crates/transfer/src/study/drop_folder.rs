//! A folder into which people put their submissions, such as one that a service synchronises.

use super::Study;
use super::hand_in::{is_encrypted_submission, is_submission};
use super::merge::{merge, merge_each, notice, passes, refuse, unread_file};
use super::submission;
use crate::study::error::StudyError;
use dissensus_api::{CollectedFiles, MergeConsent, MergedFile, MergedKind};
use dissensus_project::encryption::{Passphrase, ReadableFiles};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Follow, Silent};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The setting with digests of the submissions that were merged from folders, and of their files' names.
const COLLECTED: &str = "collected";
/// How deep folders in the folder are read: one for each person is usual.
const DEPTH: usize = 3;
/// How a file ends that has only a part of its content yet.
const ENDINGS_OF_PARTS: [&str; 6] = ["tmp", "part", "partial", "crdownload", "download", "icloud"];
/// The ending that pages and windows propose.
const ENDING: &str = "handin";
/// How other files end that people put here instead.
const ENDINGS_OF_OTHERS: [&str; 6] = ["dissensus", "html", "zip", "gz", "7z", "age"];
/// When a file is tried again that could not be read or merged for a reason that passes.
const AGAIN: Duration = Duration::from_secs(10);
/// The copy that knows the packet may be merged later.
const UNKNOWN: &str = "merge-unknown-packet";

/// The code of an encrypted file that was cut off or changed.
const DAMAGED: &str = "encrypted-damaged";
/// The codes of an encrypted file that no known passphrase opens.
const LOCKED: [&str; 2] = ["encrypted", "passphrase-wrong"];

/// A file as it was when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// A file that was looked at.
#[derive(Debug)]
struct Known {
    version: Version,
    /// Of its content; `None` of a file that is no submission.
    digest: Option<String>,
    /// Whether it is encrypted, and no known passphrase opens it.
    locked: bool,
}

/// Files with one content, and its digest.
type SameContent = (String, Vec<(PathBuf, Version)>);

/// The submissions in a folder. It only reads them: each is merged once, whatever it is called.
#[derive(Debug)]
pub struct DropFolder {
    folder: PathBuf,
    /// Of encrypted submissions: people may have chosen their own.
    passphrases: Vec<Passphrase>,
    /// Files that need not be read again, as long as they do not change.
    done: BTreeMap<PathBuf, Known>,
    /// The others, as they were the last time.
    open: Option<Vec<(PathBuf, Version)>>,
    /// Of these, the ones that were refused for a reason that passes, and its code.
    failed: BTreeMap<PathBuf, (Version, String)>,
    /// When files are tried again that did not change.
    again: Option<Instant>,
    /// Number of packets and pages that the project knew.
    packets: usize,
}

impl DropFolder {
    pub fn new(folder: &Path) -> Self {
        let folder = folder.to_owned();
        let (done, failed) = (BTreeMap::new(), BTreeMap::new());
        Self { folder, passphrases: Vec::new(), done, open: None, failed, again: None, packets: 0 }
    }

    /// Opens encrypted submissions with this passphrase.
    pub fn with_passphrase(self, passphrase: Option<Passphrase>) -> Self {
        Self { passphrases: passphrase.into_iter().collect(), ..self }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Files that were passed over and may be meant: packets, copies, pages and archives.
    pub fn passed_over(&self) -> impl Iterator<Item = &Path> {
        let other = self.done.iter().filter(|(_, known)| known.digest.is_none());
        other.map(|(path, _)| path.as_path()).filter(|path| {
            let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
            ENDINGS_OF_OTHERS.contains(&ending.as_str())
        })
    }

    /// Whether [`DropFolder::collect`] may find something that it has not found before.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn has_news(&self) -> Result<bool, ProjectError> {
        let listed = self.candidates()?;
        Ok(self.open.as_ref() != Some(&listed) || self.again.is_some_and(|at| Instant::now() >= at))
    }

    /// Tries another passphrase for the encrypted submissions that were refused without it, and collects.
    ///
    /// # Errors
    /// It opens none of them: nothing was merged. Or those of [`DropFolder::collect`].
    pub fn unlock(&mut self, cx: &Study, passphrase: Passphrase) -> Result<CollectedFiles, ProjectError> {
        let mut wrong = None;
        for path in self.done.iter().filter(|(_, known)| known.locked).map(|(path, _)| path.clone()) {
            wrong = ReadableFiles::of(&[path], Some(&passphrase), &Silent)
                .err()
                .filter(|error| LOCKED.contains(&error.code()));
            if wrong.is_none() {
                break;
            }
        }
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        self.passphrases.push(passphrase);
        self.done.retain(|_, known| !known.locked);
        self.collect(cx)
    }

    /// Merges the submissions that are new here, and were not merged from a folder before. A further file
    /// with the content of another one, as services make it, is reported once.
    ///
    /// # Errors
    /// The folder cannot be read, or the project not written; problems with a file are in the result.
    pub fn collect(&mut self, cx: &Study) -> Result<CollectedFiles, ProjectError> {
        let store = &cx.context.store;
        store.must_write()?;
        let mut collected: BTreeSet<String> = store.setting(COLLECTED)?.unwrap_or_default();
        let before = collected.len();
        let packets = store.packets()?.len() + store.join_pages()?.len();
        let knows_more = packets != std::mem::replace(&mut self.packets, packets);
        // What comes while files are merged is not in this list, and so it is news the next time.
        let listed = self.candidates()?;
        self.again = None;
        let mut found = CollectedFiles::default();
        for (digest, mut files) in self.submissions(&listed, &mut found.waiting) {
            let mut merged = collected.contains(&digest);
            if !merged {
                let (path, version) = files.remove(0);
                let tried = self.failed.remove(&path).filter(|(tried, _)| *tried == version);
                if let Some((_, code)) = &tried
                    && code == UNKNOWN
                    && !knows_more
                {
                    self.fails(path, version, code.clone());
                    continue;
                }
                let report = match self.merge(cx, &path, tried.is_some()) {
                    Ok(Some(report)) => report,
                    Ok(None) => {
                        found.waiting.push(shown(path));
                        found.waiting.extend(files.into_iter().map(|(path, _)| shown(path)));
                        continue;
                    }
                    Err(error) if found.files.is_empty() => return Err(error),
                    // What was merged before is reported first.
                    Err(_) => {
                        self.again = Some(Instant::now());
                        break;
                    }
                };
                if let Some(code) = code_that_passes(&report) {
                    if tried.is_none_or(|(_, before)| before != code) {
                        found.files.push(report);
                    }
                    self.fails(path, version, code);
                    continue;
                }
                merged = !report.refused;
                let locked = code_of(&report, |code| LOCKED.contains(&code)).is_some();
                found.files.push(report);
                // It may have been written anew meanwhile: then it is looked at again.
                if content_digest(&path).ok().flatten().as_ref() != Some(&digest) {
                    continue;
                }
                if merged {
                    collected.extend([digest.clone(), self.mark(&path, &digest)]);
                }
                self.done.insert(path, Known { version, digest: Some(digest.clone()), locked });
            }
            // Those that were reported, or merged, first: they are the originals of others.
            files.sort_by_key(|(path, _)| !collected.contains(&self.mark(path, &digest)));
            for (path, version) in files {
                let mark = self.mark(&path, &digest);
                if !collected.contains(&mark) {
                    found.files.push(self.copy(&path, &digest));
                    // A refused file is reported again by the next program.
                    collected.extend(merged.then_some(mark));
                }
                self.done.insert(path, Known { version, digest: Some(digest.clone()), locked: false });
            }
        }
        found.files.sort_by(|a, b| a.file.cmp(&b.file));
        found.waiting.sort();
        if collected.len() != before {
            store.write(move |tx| tx.set_setting(COLLECTED, &collected))?;
        }
        self.open = Some(self.not_done(listed));
        Ok(found)
    }

    fn fails(&mut self, path: PathBuf, version: Version, code: String) {
        self.failed.insert(path, (version, code));
        self.again = Some(Instant::now() + AGAIN);
    }

    /// The submissions among files, by name; those that cannot be read yet are added to `waiting`.
    fn submissions(&mut self, listed: &[(PathBuf, Version)], waiting: &mut Vec<String>) -> Vec<SameContent> {
        let mut found: BTreeMap<String, Vec<(PathBuf, Version)>> = BTreeMap::new();
        for (path, version) in listed.iter().cloned() {
            match content_digest(&path) {
                // Not there any more, or still locked by the service.
                Err(_) => {
                    waiting.push(shown(path));
                    self.again = Some(Instant::now() + AGAIN);
                }
                Ok(None) if is_named_as_one(&path) => waiting.push(shown(path)),
                Ok(None) => drop(self.done.insert(path, Known { version, digest: None, locked: false })),
                Ok(Some(digest)) => found.entry(digest).or_default().push((path, version)),
            }
        }
        // Services add something to the name of a copy.
        found.values_mut().for_each(|files| files.sort_by_key(|(path, _)| path.as_os_str().len()));
        let mut found: Vec<SameContent> = found.into_iter().collect();
        found.sort_by(|(_, a), (_, b)| a[0].0.cmp(&b[0].0));
        found
    }

    /// Merges a file; `None` if its end is missing. The history has only the first try.
    fn merge(&self, cx: &Study, path: &Path, tried: bool) -> Result<Option<MergedFile>, ProjectError> {
        let readable = match self.readable(path) {
            Ok(readable) => readable,
            // A service may still be writing it.
            Err(error) if error.code() == DAMAGED => return Ok(None),
            Err(error) => {
                let mut file = unread_file(path);
                refuse(&mut file, error);
                return Ok(Some(file));
            }
        };
        let [decrypted] = readable.paths() else { return Ok(None) };
        let merged = self.merge_readable(cx, decrypted, tried)?;
        Ok(merged.map(|merged| MergedFile { file: shown(path.to_owned()), ..merged }))
    }

    /// A file that can be read, with the first of the passphrases that opens it.
    fn readable(&self, path: &Path) -> Result<ReadableFiles, ProjectError> {
        let file = [path.to_owned()];
        let mut found = ReadableFiles::of(&file, self.passphrases.first(), &Silent);
        for passphrase in self.passphrases.iter().skip(1) {
            match &found {
                Err(error) if LOCKED.contains(&error.code()) => {}
                _ => break,
            }
            found = ReadableFiles::of(&file, Some(passphrase), &Silent);
        }
        found
    }

    fn merge_readable(
        &self,
        cx: &Study,
        path: &Path,
        tried: bool,
    ) -> Result<Option<MergedFile>, ProjectError> {
        // What was encrypted can be any file, also a copy or a packet.
        if File::open(path).is_ok_and(|mut file| matches!(is_submission(&mut file), Ok(false))) {
            let mut file = unread_file(path);
            refuse(&mut file, StudyError::NotOurs.into());
            return Ok(Some(file));
        }
        // It is no work of its own to find that out, which the history would have.
        if File::open(path).is_ok_and(|mut file| submission::is_cut_off(&mut file)) {
            return Ok(None);
        }
        let (files, consent) = ([path.to_owned()], MergeConsent::default());
        let report = match tried {
            true => merge_each(cx, &files, &consent, &Silent)?,
            false => merge(cx, &files, &consent, Follow::Job)?,
        };
        let cut_off = |file: &MergedFile| {
            file.problems.iter().any(|one| one.refused && one.problem.code == submission::CUT_OFF)
        };
        Ok(report.files.into_iter().find(|file| !cut_off(file)))
    }

    /// The report on a file with the content of another one.
    fn copy(&self, path: &Path, digest: &str) -> MergedFile {
        let same = |(_, known): &(&PathBuf, &Known)| known.digest.as_deref() == Some(digest);
        let original = self.done.iter().filter(same).min_by_key(|(path, _)| path.as_os_str().len());
        let why = match original {
            Some((original, _)) => format!("it has the same content as {}", self.relative(original)),
            None => "its content was merged before".to_owned(),
        };
        let problems = vec![notice(why)];
        MergedFile { kind: Some(MergedKind::HandIn), problems, ..unread_file(path) }
    }

    /// What is noted of a file that was merged or reported: its name and content, as a digest, because names
    /// of people stay nowhere after a withdrawal.
    fn mark(&self, path: &Path, digest: &str) -> String {
        hexadecimal(Sha256::digest(format!("{}\n{digest}", self.relative(path))).as_ref())
    }

    fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.folder).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Files that may be submissions and were not looked at as they are now, by name.
    fn candidates(&self) -> Result<Vec<(PathBuf, Version)>, ProjectError> {
        let failed = |source| ProjectError::Io { path: self.folder.clone(), doing: "reading", source };
        let mut all = Vec::new();
        files_in(&self.folder, DEPTH, &mut all).map_err(failed)?;
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(self.not_done(all))
    }

    fn not_done(&self, mut files: Vec<(PathBuf, Version)>) -> Vec<(PathBuf, Version)> {
        files.retain(|(path, version)| self.done.get(path).is_none_or(|known| known.version != *version));
        files
    }
}

/// Why a file was refused, if that passes by itself.
fn code_that_passes(file: &MergedFile) -> Option<String> {
    code_of(file, |code| passes(code) || code == UNKNOWN)
}

/// The code of a wanted kind for which a file was refused.
fn code_of(file: &MergedFile, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let mut codes = file.problems.iter().filter(|one| one.refused).map(|one| &one.problem.code);
    codes.find(|code| is_wanted(code)).cloned()
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
    let inner = path.file_stem().map(Path::new).filter(|_| has_ending(path, "age"));
    has_ending(inner.unwrap_or(path), ENDING)
}

fn has_ending(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(wanted))
}

/// The digest of a submission, or of an encrypted file that is named as one; `None` of another file.
fn content_digest(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    if !is_submission(&mut file)? && !is_encrypted_submission(path) {
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
    Ok(Some(hexadecimal(digest.finalize().as_ref())))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn shown(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}
