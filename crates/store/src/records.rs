//! Which large project files were found in order, so that they are not checked again at every command.
//!
//! Checking a file of a million labels takes seconds. A record says: the file of this name, with this size, these times and
//! this place on the disk was found in order. Whatever writes to a file or replaces it changes one of these. Records are
//! kept apart from the project, in a folder of the application that may be emptied at any time, hold for a day (a disk
//! that loses a bit changes no time) and only for the version of the program that made them.

use dissensus_files::AtomicFile;
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Up to this size of file SQLite's `integrity_check` runs at opening, which compares every index with its table too (about
/// a second for a file of this size). Beyond it `quick_check` runs, which does not, and the pages of embeddings are left
/// out: they can be computed again and are by far the most; a page found damaged later is reported as such by whatever
/// reads it. A file beyond it that is known to be unchanged since it was last found in order is not checked again
/// ([`CheckRecords`]).
pub(crate) const CHECK_WHOLE_BYTES: u64 = 32 << 20;

/// How long a record holds.
const HOLDS: Duration = Duration::from_secs(24 * 60 * 60);

/// The clocks of file systems tick this coarsely. What changes within a tick of the last change cannot be told from it.
const TICK: Duration = Duration::from_millis(20);

/// Where records are kept; nowhere by default.
#[derive(Clone, Debug, Default)]
pub struct CheckRecords {
    folder: Option<PathBuf>,
    /// Where open files are locked by their identity.
    locks: Option<PathBuf>,
    /// Files up to this size are checked whole every time and need no record.
    above: u64,
    /// The file was not checked when it was opened: a new record says when the record of before said it was.
    keeps_time: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    file: String,
    program: String,
    bytes: u64,
    modified: Duration,
    /// Unix: device, inode, and when its contents or its description last changed, which no program can set.
    place: Option<[i64; 4]>,
    checked: Duration,
}

impl CheckRecords {
    /// Keeps records in `folder`, which is made when it is needed.
    pub fn inside(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), locks: None, above: CHECK_WHOLE_BYTES, keeps_time: false }
    }

    /// Locks files that are opened to write in `folder` too, which is made when it is needed: by what they are, so that a second
    /// opening of a file that was moved, or under another of its names, is met.
    pub fn with_locks(self, folder: &Path) -> Self {
        Self { locks: Some(folder.to_owned()), ..self }
    }

    pub(crate) fn locks(&self) -> Option<&Path> {
        self.locks.as_deref()
    }

    #[cfg(test)]
    pub(crate) fn of_every_size(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), locks: None, above: 0, keeps_time: false }
    }

    /// For a file that was opened on the word of a record: closing it makes that word no younger.
    pub(crate) fn keeping_time(&self) -> Self {
        Self { keeps_time: true, ..self.clone() }
    }

    /// Up to this size a file is checked whole.
    pub(crate) fn whole(&self) -> u64 {
        if self.folder.is_some() { self.above } else { CHECK_WHOLE_BYTES }
    }

    /// True where `file` is as it was when it was last found in order. (Its journal is another matter.)
    pub(crate) fn knows(&self, file: &Path) -> bool {
        let known = || -> io::Result<bool> {
            let Some(path) = self.path(file) else { return Ok(false) };
            let known = Record::read(&path)?;
            let now = Record::of(file, &std::fs::metadata(file)?)?;
            let Some(age) = now.checked.checked_sub(known.checked) else { return Ok(false) };
            Ok(age <= HOLDS && Record { checked: now.checked, ..known } == now)
        };
        // Most files have no record, and one that cannot be read is none: the file is checked.
        known().unwrap_or(false)
    }

    /// Notes that `file`, which nobody has open to write, was found in order. Where that cannot be noted it is checked again.
    pub(crate) fn note(&self, file: &Path) {
        let Some(path) = self.path(file) else { return };
        if let Err(e) = self.try_to_note(file, &path) {
            tracing::warn!(kind = %e.kind(), "it was not noted that a project is in order; it is checked again");
        }
    }

    fn try_to_note(&self, file: &Path, path: &Path) -> io::Result<()> {
        let about = std::fs::metadata(file)?;
        if about.len() <= self.above {
            return Ok(());
        }
        if about.modified()?.elapsed().is_ok_and(|age| age < TICK) {
            std::thread::sleep(TICK);
        }
        let mut record = Record::of(file, &about)?;
        if self.keeps_time {
            record.checked = Record::read(path)?.checked;
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut out = AtomicFile::create_private(path)?;
        out.write_all(&serde_json::to_vec(&record)?)?;
        out.finish()
    }

    fn path(&self, file: &Path) -> Option<PathBuf> {
        let mut hasher = DefaultHasher::new();
        file.hash(&mut hasher);
        Some(self.folder.as_ref()?.join(format!("{:016x}.json", hasher.finish())))
    }
}

impl Record {
    fn of(file: &Path, about: &Metadata) -> io::Result<Self> {
        let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_err(io::Error::other);
        Ok(Self {
            file: format!("{file:?}"),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            bytes: about.len(),
            modified: since(about.modified()?)?,
            place: place(about),
            checked: since(SystemTime::now())?,
        })
    }

    fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }
}

#[cfg(unix)]
fn place(about: &Metadata) -> Option<[i64; 4]> {
    use std::os::unix::fs::MetadataExt;
    Some([about.dev().cast_signed(), about.ino().cast_signed(), about.ctime(), about.ctime_nsec()])
}

#[cfg(not(unix))]
fn place(_about: &Metadata) -> Option<[i64; 4]> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_opened_on_the_word_of_a_record_is_not_known_for_longer() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p.dissensus");
        std::fs::write(&file, "abc").unwrap();
        let records = CheckRecords::of_every_size(&folder.path().join("cache"));
        records.note(&file);
        let read = || -> Record {
            serde_json::from_slice(&std::fs::read(records.path(&file).unwrap()).unwrap()).unwrap()
        };
        let first = read().checked;
        std::fs::write(&file, "abcd").unwrap();
        records.keeping_time().note(&file);
        assert_eq!(read().checked, first);
        assert!(records.knows(&file), "it is the file of the new record");
        records.note(&file);
        assert!(read().checked > first);
    }

    #[test]
    fn a_file_is_known_until_anything_writes_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("p.dissensus"), folder.path().join("q.dissensus"));
        std::fs::write(&file, "abc").unwrap();
        let records = CheckRecords::of_every_size(&folder.path().join("cache"));
        assert!(!records.knows(&file));
        records.note(&file);
        assert!(records.knows(&file));
        assert!(!CheckRecords::default().knows(&file));

        // The same size and the same time of change, set back by hand: the system's own time tells.
        let before = std::fs::metadata(&file).unwrap().modified().unwrap();
        std::fs::write(&file, "abd").unwrap();
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
        assert_eq!(records.knows(&file), cfg!(not(unix)));

        std::fs::write(&file, "abcd").unwrap();
        assert!(!records.knows(&file));
        records.note(&file);
        std::fs::copy(&file, &other).unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert!(!records.knows(&file) || cfg!(not(unix)));
    }

    #[test]
    fn a_record_holds_for_a_day_and_a_small_file_needs_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p.dissensus");
        std::fs::write(&file, "abc").unwrap();
        let cache = folder.path().join("cache");
        let records = CheckRecords::of_every_size(&cache);
        records.note(&file);
        let path = records.path(&file).unwrap();
        let record: Record = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let at = |checked| {
            serde_json::to_vec(&Record {
                checked,
                ..Record { file: record.file.clone(), program: record.program.clone(), ..record }
            })
            .unwrap()
        };
        std::fs::write(&path, at(record.checked - HOLDS)).unwrap();
        assert!(!records.knows(&file));
        std::fs::write(&path, at(record.checked + HOLDS)).unwrap();
        assert!(!records.knows(&file), "a clock that jumped back proves nothing");
        std::fs::write(&path, "{").unwrap();
        assert!(!records.knows(&file));
        let small = CheckRecords::inside(&folder.path().join("other"));
        small.note(&file);
        assert!(!folder.path().join("other").exists());
    }
}
