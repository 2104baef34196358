//! Records which large project files passed their check, so that it is not repeated for every
//! command.
//!
//! Checking a file with a million labels takes seconds. A record states that a file with this name,
//! size, times and place on the disk was sound. Writing to a file or replacing it changes at least
//! one of these. Records are stored outside the project, in a folder of the application that can be
//! emptied at any time. They are valid for a day (bit rot on the disk changes no time) and only for
//! the version of the program that created them.

use dissensus_files::AtomicFile;
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// For files up to this size SQLite's `integrity_check` runs at opening, which also compares every
/// index with its table (about a second for a file of this size). For larger files `quick_check`
/// runs, which does not, and the pages of embeddings are skipped: they can be recomputed and are by
/// far the most. A damaged page of embeddings is reported when it is read. A larger file that has
/// not changed since it was last checked is not checked again ([`CheckRecords`]).
pub(crate) const CHECK_WHOLE_BYTES: u64 = 32 << 20;

/// How long a record is valid.
const HOLDS: Duration = Duration::from_secs(24 * 60 * 60);

/// Resolution of file system times. A change within one tick of the previous one cannot be
/// detected.
const TICK: Duration = Duration::from_millis(20);

/// The folder with records; none by default.
#[derive(Clone, Debug, Default)]
pub struct CheckRecords {
    folder: Option<PathBuf>,
    /// The folder in which open files are locked by identity.
    locks: Option<PathBuf>,
    /// Files up to this size are always checked completely and need no record.
    above: u64,
    /// Whether the file was not checked when it was opened: a new record then retains the time of
    /// the previous one.
    keeps_time: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    file: String,
    program: String,
    bytes: u64,
    modified: Duration,
    /// Unix: device, inode, and the time of the last status change, which programs cannot set.
    place: Option<[i64; 4]>,
    checked: Duration,
}

impl CheckRecords {
    /// Stores records in `folder`, which is created when needed.
    pub fn inside(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), locks: None, above: CHECK_WHOLE_BYTES, keeps_time: false }
    }

    /// Also locks files that are opened for writing in `folder`, which is created when needed. The
    /// lock is by identity, so that it also guards against opening a file under another name or
    /// after a move.
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

    /// For a file that was opened based on a record: closing it does not extend the record's
    /// validity.
    pub(crate) fn keeping_time(&self) -> Self {
        Self { keeps_time: true, ..self.clone() }
    }

    /// Files up to this size are checked completely.
    pub(crate) fn whole(&self) -> u64 {
        if self.folder.is_some() { self.above } else { CHECK_WHOLE_BYTES }
    }

    /// Whether `file`, regardless of its journal, is unchanged since it was last found sound.
    pub(crate) fn knows(&self, file: &Path) -> bool {
        let known = || -> io::Result<bool> {
            let Some(path) = self.path(file) else { return Ok(false) };
            let known = Record::read(&path)?;
            let now = Record::new(file, &std::fs::metadata(file)?)?;
            let Some(age) = now.checked.checked_sub(known.checked) else { return Ok(false) };
            Ok(age <= HOLDS && Record { checked: now.checked, ..known } == now)
        };
        // Most files have no record. An unreadable record counts as none, so the file is checked.
        known().unwrap_or(false)
    }

    /// Records that `file`, which nobody has open for writing, is sound. If that fails, the file is
    /// checked again next time.
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
        let mut record = Record::new(file, &about)?;
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
    fn new(file: &Path, about: &Metadata) -> io::Result<Self> {
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
    fn opening_by_a_record_does_not_extend_it() {
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
    fn record_is_valid_until_the_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("p.dissensus"), folder.path().join("q.dissensus"));
        std::fs::write(&file, "abc").unwrap();
        let records = CheckRecords::of_every_size(&folder.path().join("cache"));
        assert!(!records.knows(&file));
        records.note(&file);
        assert!(records.knows(&file));
        assert!(!CheckRecords::default().knows(&file));

        // Same size and same modification time, which was set back; only the system's status change
        // time differs.
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
    fn record_is_valid_for_a_day() {
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
