//! What pages send: each submission is on disk before it is acknowledged, and merged soon after.

use super::incoming::key_of;
use super::merge::{merge_each, passes};
use super::{Study, submission};
use crate::study::error::StudyError;
use dissensus_api::{MergeConsent, MergeReport};
use dissensus_domain::PacketId;
use dissensus_editing::withdraw;
use dissensus_files::AtomicFile;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use dissensus_project::log::go_on;
use dissensus_project::sync::lock;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use uuid::Uuid;

/// Endings of files that wait to be merged, that are being merged, and that cannot be merged.
const WAITING: &str = "handin";
const MERGING: &str = "merging";
const REFUSED: &str = "refused";
/// How many submissions of one packet can wait, or be set aside, each from another page that was opened.
const PAGES: usize = 8;
/// Submissions of different packets are written at the same time.
const LOCKS: usize = 64;
/// How many files are merged before others may plan.
const PART: usize = 8;

/// A folder next to the project, `NAME.dissensus.received`, with the latest submission of each browser until
/// it is merged.
pub struct Inbox {
    cx: Study,
    folder: PathBuf,
    locks: Vec<Mutex<()>>,
}

impl Inbox {
    /// Opens the inbox of a project; [`Inbox::merge`] then merges what an earlier process has left.
    ///
    /// # Errors
    /// The open project is a packet or read-only, or the folder cannot be made.
    pub fn open(cx: &Study) -> Result<Self, ProjectError> {
        cx.whole_project()?;
        cx.context.store.must_write()?;
        let folder = withdraw::received_folder(cx.context.store.file());
        fs::create_dir_all(&folder).map_err(|source| ProjectError::Io {
            path: folder.clone(),
            doing: "making the folder",
            source,
        })?;
        Ok(Self { cx: cx.clone(), folder, locks: (0..LOCKS).map(|_| Mutex::new(())).collect() })
    }

    /// Checks a submission of a packet and puts it on the disk; returns its number of answers. `page`
    /// identifies the page that was opened: what it sends later contains what it sent before.
    ///
    /// # Errors
    /// It is no submission of this packet, was changed or cut off; what this page sent before could not be
    /// merged; too many pages wait; the disk fails.
    pub fn receive(&self, packet: PacketId, page: Uuid, content: &[u8]) -> Result<u32, ProjectError> {
        let header = submission::header(content)?;
        if header.packet != packet.0 {
            return Err(StudyError::OtherPacket.into());
        }
        let key = key_of(&self.cx, header.project, header.packet)?;
        submission::read_bytes(content, &header, &key)?;
        let target = self.folder.join(format!("{}.{page}.{WAITING}", packet.0));
        let failed = |source| ProjectError::Io { path: target.clone(), doing: "writing", source };
        let _alone = lock(&self.locks[packet.0.as_u128() as usize % LOCKS]);
        if fs::metadata(target.with_extension(REFUSED)).is_ok() {
            return Err(StudyError::SetAside.into());
        }
        match fs::metadata(&target) {
            // A request that was sent before, and arrives late.
            Ok(there) if there.len() > content.len() as u64 => return Ok(header.answers),
            Ok(_) => {}
            Err(_) => {
                let (waiting, refused) = self.count(packet).map_err(failed)?;
                if waiting >= PAGES || refused >= PAGES {
                    return Err(StudyError::TooManyPages.into());
                }
            }
        }
        let mut file = AtomicFile::create_private(&target).map_err(failed)?;
        file.write_all(content).map_err(failed)?;
        file.finish().map_err(failed)?;
        Ok(header.answers)
    }

    /// How many submissions of a packet wait or are being merged, and how many were set aside.
    fn count(&self, packet: PacketId) -> std::io::Result<(usize, usize)> {
        let begin = packet.0.to_string();
        let (mut waiting, mut refused) = (0, 0);
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let ending = name.strip_prefix(&begin).and_then(|rest| rest.rsplit('.').next());
            match ending {
                Some(WAITING | MERGING) => waiting += 1,
                Some(REFUSED) => refused += 1,
                _ => {}
            }
        }
        Ok((waiting, refused))
    }

    /// Merges all that waits. What cannot be merged is renamed, and in the report.
    ///
    /// # Errors
    /// The folder cannot be read, or nothing can be merged; everything then waits on.
    pub fn merge(&self) -> Result<MergeReport, ProjectError> {
        let failed = |source| ProjectError::Io { path: self.folder.clone(), doing: "reading", source };
        // What comes from now on is a file of its own, also from the same page.
        for waiting in self.files(WAITING).map_err(failed)? {
            let merging = waiting.with_extension(MERGING);
            // A file that could not be merged the last time is contained in this one, unless this one came
            // late.
            let bytes = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
            if bytes(&merging) <= bytes(&waiting) {
                moved("taking a submission in", &waiting, fs::rename(&waiting, &merging));
            }
        }
        let files = self.files(MERGING).map_err(failed)?;
        let mut report = MergeReport { files: Vec::new() };
        // Between two parts, people can join.
        for part in files.chunks(PART) {
            report.files.extend(self.merge_part(part)?.files);
        }
        Ok(report)
    }

    /// Number of submissions that wait to be merged.
    pub fn waiting(&self) -> usize {
        [WAITING, MERGING].iter().map(|ending| self.files(ending).map_or(0, |files| files.len())).sum()
    }

    fn merge_part(&self, files: &[PathBuf]) -> Result<MergeReport, ProjectError> {
        let report = merge_each(&self.cx, files, &MergeConsent::default(), &Silent)?;
        for (file, path) in report.files.iter().zip(files) {
            let codes = file.problems.iter().filter(|one| one.refused).map(|one| one.problem.code.as_str());
            let codes: Vec<&str> = codes.collect();
            match file.refused {
                true if codes.iter().any(|code| passes(code)) => {}
                // Nothing of people who withdrew stays.
                true if !codes.contains(&"merge-withdrawn") => {
                    moved("setting a submission aside", path, fs::rename(path, path.with_extension(REFUSED)));
                }
                _ => moved("removing a merged submission", path, fs::remove_file(path)),
            }
        }
        Ok(report)
    }

    /// Files with this ending, in the order of their names.
    fn files(&self, ending: &str) -> std::io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|found| found == ending) {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }
}

/// Goes on after a file could not be moved: it is merged again the next time, which changes nothing.
fn moved(doing: &'static str, file: &Path, result: std::io::Result<()>) {
    go_on(doing, result.map_err(|source| ProjectError::Io { path: file.to_owned(), doing, source }));
}

impl Drop for Inbox {
    /// Removes the folder if it is empty.
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}
