//! Advisory locks that restrict a project to one program at a time.
//!
//! Two files are locked through the system, so that the locks end with the process, however it
//! ends. `NAME.dissensus.lock` guards against opening the same path. A second lock file, in a
//! folder of the user and named by the number of the project file, guards against opening the same
//! file under another name: after a move, or through a hard link or a bind mount. Both record who
//! holds them and what was opened ([`Opening`]); if a program crashes, the next one reads that.

use crate::file_id::{FileId, FileState};
use crate::{Result, StoreError};
use dissensus_files::{open_or_create_regular, with_suffix};
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use uuid::Uuid;

/// What one write session had open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opening {
    /// The path with links resolved; `None` if it is not Unicode.
    pub(crate) path: Option<PathBuf>,
    pub(crate) file: String,
    /// Creation time of the file, in nanoseconds since 1970, if the file system records it.
    pub(crate) created: Option<u128>,
    /// The identity of its write-ahead log; `None` if the file system only supports the rollback
    /// journal.
    pub(crate) journal: Option<String>,
    /// Creation time of the journal, in nanoseconds since 1970, if the file system records it.
    pub(crate) journal_created: Option<u128>,
    /// Unique id of this session.
    pub(crate) opening: Uuid,
}

impl Opening {
    /// Describes a session on `file` (links resolved) in its current state.
    pub(crate) fn new(file: &Path, state: &FileState, journal: Option<FileState>) -> Self {
        Self {
            path: file.to_str().map(PathBuf::from),
            file: state.id.to_string(),
            created: nanoseconds(state),
            journal: journal.map(|journal| journal.id.to_string()),
            journal_created: journal.as_ref().and_then(nanoseconds),
            opening: Uuid::now_v7(),
        }
    }

    /// Whether the session had this file open.
    pub(crate) fn is_of(&self, state: &FileState) -> bool {
        let same_time = match (self.created, nanoseconds(state)) {
            (Some(then), Some(now)) => then == now,
            _ => true,
        };
        self.file == state.id.to_string() && same_time
    }

    /// Whether the session had this write-ahead log. `None` if only the file number matches, which
    /// may have been reused by a later file.
    pub(crate) fn had_journal(&self, state: &FileState) -> Option<bool> {
        if self.journal.as_ref()? != &state.id.to_string() {
            return Some(false);
        }
        Some(self.journal_created? == nanoseconds(state)?)
    }
}

fn nanoseconds(state: &FileState) -> Option<u128> {
    Some(state.created?.duration_since(UNIX_EPOCH).ok()?.as_nanos())
}

/// The locks of a project that is open for writing; the lock files are removed when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    held: Vec<HeldLock>,
    /// What a session that was not closed left in the lock files next to the project and in the
    /// user's folder.
    left: [Option<Opening>; 2],
}

#[derive(Debug)]
struct HeldLock {
    file: File,
    path: PathBuf,
    /// Retains the lock files, because they are the only record of which file a remaining journal
    /// belongs to.
    kept: bool,
}

impl Lock {
    /// Locks the project `file` (links resolved); error messages name it `shown`.
    pub(crate) fn take(file: &Path, shown: &Path) -> Result<Self> {
        let (held, left) = HeldLock::take(with_suffix(file, ".lock"), file, shown)?;
        Ok(Self { held: vec![held], left: [left, None] })
    }

    /// Also locks the file `id` in `folder`, independently of its name. If that folder cannot be
    /// used, only the path is locked: a full or read-only home folder must not prevent labelling.
    pub(crate) fn lock_file(&mut self, id: FileId, folder: &Path, file: &Path, shown: &Path) -> Result<()> {
        if let Err(e) = make_private_folder(folder) {
            tracing::warn!(kind = %e.kind(), "a project is locked by its name alone");
            return Ok(());
        }
        match HeldLock::take(path_by_id(folder, id), file, shown) {
            Ok((held, left)) => {
                self.held.push(held);
                self.left[1] = left;
                Ok(())
            }
            Err(e @ (StoreError::Locked { .. } | StoreError::UnsafeLock(_))) => Err(e),
            Err(e) => {
                tracing::warn!(code = e.code(), "a project is locked by its name alone");
                Ok(())
            }
        }
    }

    /// What the last program that opened this path had open, if it did not close it.
    pub(crate) fn is_left_over(&self) -> Option<&Opening> {
        self.left[0].as_ref()
    }

    /// What the last program that opened this file, under any name, had open, if it did not close
    /// it.
    pub(crate) fn left_by_file(&self) -> Option<&Opening> {
        self.left[1].as_ref()
    }

    /// Records what is open now, replacing what an earlier session left. Call this only after that
    /// has been handled.
    pub(crate) fn note(&mut self, opening: &Opening) {
        // The lock by file first: a program that finds the record next to the project, and the file
        // under a new name afterwards, then always reads there under which name it is open.
        for held in self.held.iter_mut().rev() {
            // A full disk must not prevent opening the project. Without this record, a journal is
            // identified by its contents only.
            if let Err(e) = held.write(Some(opening)) {
                tracing::warn!(kind = %e.kind(), "the lock file does not say what is open");
            }
        }
    }

    /// Leaves the lock files and their contents in place when this is dropped.
    pub(crate) fn leave_files(&mut self) {
        self.held.iter_mut().for_each(|held| held.kept = true);
    }
}

impl HeldLock {
    fn take(path: PathBuf, project: &Path, shown: &Path) -> Result<(Self, Option<Opening>)> {
        loop {
            // Does not follow links: otherwise the sender of a project could have any of our files
            // overwritten.
            let mut file = open_or_create_regular(&path).map_err(|e| match e.kind() {
                std::io::ErrorKind::InvalidInput => StoreError::UnsafeLock(e.to_string()),
                _ => StoreError::from_io(shown, "locking the project", &e),
            })?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let (holder, opening) = read(&mut file);
                    let name = opening.and_then(|opening| opening.path).filter(|path| path != project);
                    let by = match name {
                        Some(name) => format!("{holder}, as {}", name.display()),
                        None => holder,
                    };
                    return Err(StoreError::Locked { path: shown.to_owned(), by });
                }
                Err(TryLockError::Error(e)) => {
                    return Err(StoreError::from_io(shown, "locking the project", &e));
                }
            }
            // The previous program may have removed the file between our opening and locking it.
            // Our lock is then on a file without a name, and the next program would not see it.
            if is_still(&file, &path) {
                let (_, left) = read(&mut file);
                let mut held = Self { file, path, kept: false };
                // Recording who we are only informs the next program: a full disk must not prevent
                // opening the project.
                if let Err(e) = held.write(left.as_ref()) {
                    tracing::warn!(kind = %e.kind(), "the lock file does not say who holds it");
                }
                return Ok((held, left));
            }
        }
    }

    fn write(&mut self, opening: Option<&Opening>) -> std::io::Result<()> {
        let program = std::env::current_exe()
            .ok()
            .and_then(|p| p.file_name().map(|n| n.to_string_lossy().into_owned()))
            .unwrap_or_else(|| "a program".to_owned());
        let mut text = format!("{program}, process {}", std::process::id());
        if let Some(opening) = opening {
            text.push('\n');
            text.push_str(&serde_json::to_string(opening)?);
        }
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())?;
        self.file.set_len(text.len() as u64)?;
        self.file.flush()
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // Removed while still locked, see `take`. On systems other than Unix a file in use cannot
        // be removed, so it stays. If the folder was moved, the name may now be that of another
        // program's lock.
        if cfg!(unix)
            && !self.kept
            && is_still(&self.file, &self.path)
            && let Err(e) = std::fs::remove_file(&self.path)
        {
            tracing::warn!(kind = %e.kind(), "a lock file stays behind; the next program takes it over");
        }
        if !cfg!(unix)
            && !self.kept
            && let Err(e) = self.write(None)
        {
            tracing::warn!(kind = %e.kind(), "a lock file names an opening that has ended");
        }
        if let Err(e) = self.file.unlock() {
            tracing::warn!(kind = %e.kind(), "a project was not unlocked; it is when this program ends");
        }
    }
}

/// What the lock file next to `file` records as open, now or when its program crashed.
pub(crate) fn opening_next_to(file: &Path) -> Option<Opening> {
    opening_in(&with_suffix(file, ".lock"))
}

/// Like [`opening_next_to`], for the file `id` under any name.
pub(crate) fn opening_of_file(id: FileId, folder: &Path) -> Option<Opening> {
    opening_in(&path_by_id(folder, id))
}

fn opening_in(path: &Path) -> Option<Opening> {
    let regular = std::fs::symlink_metadata(path).is_ok_and(|about| about.is_file());
    regular.then(|| File::open(path).ok()).flatten().and_then(|mut file| read(&mut file).1)
}

fn path_by_id(folder: &Path, id: FileId) -> PathBuf {
    folder.join(format!("{id}.lock"))
}

/// Reads who holds the lock, and what they have open, from the lock file.
fn read(file: &mut File) -> (String, Option<Opening>) {
    let mut bytes = Vec::new();
    let got = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(64 << 10).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let (holder, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let opening = serde_json::from_str(rest).ok();
    let holder: String = holder.trim().chars().take(200).collect();
    match got {
        Ok(_) if !holder.is_empty() => (holder.replace(char::is_control, " "), opening),
        _ => ("by another program".to_owned(), opening),
    }
}

/// Creates a folder that only its owner can enter; an existing folder is unchanged.
fn make_private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(ours), Ok(named)) => ours.dev() == named.dev() && ours.ino() == named.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_still(_file: &File, _path: &Path) -> bool {
    true // the file is never removed, so its name always leads to it
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_names_its_holder_and_is_released_on_drop() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("a.dissensus");
        let lock = Lock::take(&project, &project).unwrap();
        match Lock::take(&project, &project) {
            Err(StoreError::Locked { by, .. }) => {
                assert!(by.contains(&std::process::id().to_string()), "{by}");
            }
            other => panic!("{other:?}"),
        }
        drop(lock);
        assert!(!cfg!(unix) || !with_suffix(&project, ".lock").exists());
        drop(Lock::take(&project, &project).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn link_in_place_of_the_lock_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (project, victim) = (folder.path().join("a.dissensus"), folder.path().join("victim"));
        std::fs::write(&victim, "precious").unwrap();
        let nowhere = folder.path().join("nowhere");
        for target in [&victim, &nowhere] {
            std::os::unix::fs::symlink(target, with_suffix(&project, ".lock")).unwrap();
            let error = Lock::take(&project, &project).unwrap_err();
            assert_eq!(error.code(), "project-lock-file", "{error}");
            std::fs::remove_file(with_suffix(&project, ".lock")).unwrap();
        }
        std::fs::hard_link(&victim, with_suffix(&project, ".lock")).unwrap();
        assert_eq!(Lock::take(&project, &project).unwrap_err().code(), "project-lock-file");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        assert!(!nowhere.exists());
    }

    #[test]
    fn stale_lock_file_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("a.dissensus");
        std::fs::write(with_suffix(&project, ".lock"), "dissensus, process 1").unwrap();
        drop(Lock::take(&project, &project).unwrap());
    }
}
