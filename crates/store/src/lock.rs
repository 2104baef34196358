//! The advisory lock that keeps a project to one program at a time.
//!
//! `NAME.dissensus.lock` is locked through the system, so the lock ends with the process however it ends; what is
//! written in the file only says who holds it.

use crate::{Result, StoreError};
use dissensus_files::{beside, open_or_create_regular};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Held while a project is open to write; the lock file is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Locks the project `file` (links resolved); `shown` is its name in messages.
    pub(crate) fn take(file: &Path, shown: &Path) -> Result<Self> {
        let path = beside(file, ".lock");
        loop {
            // Never through a link: whoever sent the project could otherwise have any file of ours overwritten.
            let mut file = open_or_create_regular(&path).map_err(|e| match e.kind() {
                std::io::ErrorKind::InvalidInput => StoreError::UnsafeLock(e.to_string()),
                _ => StoreError::from_io(shown, "locking the project", &e),
            })?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Locked { path: shown.to_owned(), by: holder(&mut file) });
                }
                Err(TryLockError::Error(e)) => {
                    return Err(StoreError::from_io(shown, "locking the project", &e));
                }
            }
            // The program before us may have removed the file between our opening and our locking it; then the
            // lock we hold is on a file without a name, and the next program would not see it.
            if is_still(&file, &path) {
                // Who we are is a courtesy to the next program: a full disk must not keep this one out.
                if let Err(e) = write_holder(&mut file) {
                    tracing::warn!(kind = %e.kind(), "the lock file does not say who holds it");
                }
                return Ok(Self { file, path });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while still locked, see `take`. Elsewhere than on Unix a file in use keeps its name, so it stays.
        if cfg!(unix)
            && let Err(e) = std::fs::remove_file(&self.path)
        {
            tracing::warn!(kind = %e.kind(), "a lock file stays behind; the next program takes it over");
        }
        if let Err(e) = self.file.unlock() {
            tracing::warn!(kind = %e.kind(), "a project was not unlocked; it is when this program ends");
        }
    }
}

fn write_holder(file: &mut File) -> std::io::Result<()> {
    let program = std::env::current_exe()
        .ok()
        .and_then(|p| p.file_name().map(|n| n.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "a program".to_owned());
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    write!(file, "{program}, process {}", std::process::id())?;
    file.flush()
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.take(200).read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => text.trim().replace(char::is_control, " "),
        _ => "by another program".to_owned(),
    }
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
    fn names_its_holder_and_goes_when_dropped() {
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
        assert!(!cfg!(unix) || !beside(&project, ".lock").exists());
        drop(Lock::take(&project, &project).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_under_the_name_of_the_lock_is_refused_and_what_it_leads_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (project, victim) = (folder.path().join("a.dissensus"), folder.path().join("victim"));
        std::fs::write(&victim, "precious").unwrap();
        let nowhere = folder.path().join("nowhere");
        for target in [&victim, &nowhere] {
            std::os::unix::fs::symlink(target, beside(&project, ".lock")).unwrap();
            let error = Lock::take(&project, &project).unwrap_err();
            assert_eq!(error.code(), "project-lock-file", "{error}");
            std::fs::remove_file(beside(&project, ".lock")).unwrap();
        }
        std::fs::hard_link(&victim, beside(&project, ".lock")).unwrap();
        assert_eq!(Lock::take(&project, &project).unwrap_err().code(), "project-lock-file");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        assert!(!nowhere.exists());
    }

    #[test]
    fn a_lock_file_left_behind_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("a.dissensus");
        std::fs::write(beside(&project, ".lock"), "dissensus, process 1").unwrap();
        drop(Lock::take(&project, &project).unwrap());
    }
}
