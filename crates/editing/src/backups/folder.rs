//! The folder of backups: one folder for each project, with a description next to each backup.

use crate::error::EditingError;
use dissensus_domain::ProjectId;
use dissensus_files::write_atomically;
use dissensus_project::clock::{utc_from_name, utc_name};
use dissensus_project::error::ProjectError;
use dissensus_project::home::{Home, make_private_folder};
use dissensus_store::{RecordedEvents, Store, StoreError};
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use uuid::Uuid;

/// A larger description is not one of ours.
const LARGEST_ABOUT: u64 = 1 << 16;
/// How names of temporary files and folders begin.
const PART: &str = ".dissensus-";
/// Time between two tries to lock a folder.
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// What is noted about a backup, next to it. A backup without it is complete all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct About {
    /// Where the file of the project was.
    pub(super) path: String,
    /// Name of the project.
    pub(super) name: String,
    pub(super) automatic: bool,
    #[serde(flatten)]
    pub(super) contents: Contents,
}

/// What a backup contains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Contents {
    pub(super) labels: u32,
    /// As [`content_stamp`](dissensus_store::Store::content_stamp) has it.
    pub(super) stamp: String,
    /// Number of events.
    pub(super) events: u32,
    /// Copy and sequence number of the event that was recorded last.
    pub(super) last_event: Option<(Uuid, u32)>,
}

impl Contents {
    pub(super) fn of(store: &Store) -> Result<Self, StoreError> {
        let recorded = RecordedEvents::of(store)?;
        Ok(Self {
            labels: store.counts()?.labels,
            stamp: store.content_stamp()?,
            events: recorded.count,
            last_event: recorded.last,
        })
    }
}

/// A backup on the disk.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) project: Uuid,
    pub(super) at_ms: i64,
    pub(super) file: PathBuf,
    pub(super) bytes: u64,
    pub(super) about: Option<About>,
}

impl Entry {
    /// Identifies the backup: id of the project and time.
    pub(super) fn id(&self) -> String {
        format!("{}/{}", self.project, utc_name(self.at_ms))
    }

    /// Whether it was made of the project's file at `path`.
    pub(super) fn is_of(&self, path: &Path) -> bool {
        self.about.as_ref().is_some_and(|about| about.path == path.to_string_lossy())
    }

    pub(super) fn about_file(&self) -> PathBuf {
        self.file.with_extension("json")
    }

    /// Deletes the backup and its description.
    pub(super) fn delete(&self) -> Result<(), ProjectError> {
        let failed = |source| ProjectError::Io { path: self.file.clone(), doing: "deleting", source };
        match std::fs::remove_file(&self.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        match std::fs::remove_file(self.about_file()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }
}

/// The backups of one project, which no other program changes as long as this exists.
pub(super) struct LockedFolder {
    project: Uuid,
    path: PathBuf,
    _lock: File,
}

impl LockedFolder {
    /// Makes the folder if it is missing, and waits until no other program writes to it.
    pub(super) fn of(home: &Home, project: ProjectId) -> Result<Self, ProjectError> {
        let locked = Self::within(home, project, || true)?;
        locked.ok_or_else(|| ProjectError::Internal("a folder of backups that was waited for".to_owned()))
    }

    /// Waits until no other program writes to the folder, if there is one.
    pub(super) fn existing(home: &Home, project: ProjectId) -> Result<Option<Self>, ProjectError> {
        match path_of(home, project).is_dir() {
            true => Self::of(home, project).map(Some),
            false => Ok(None),
        }
    }

    /// Like [`LockedFolder::of`], as long as `is_waiting` returns true; `None` after that.
    pub(super) fn within(
        home: &Home,
        project: ProjectId,
        is_waiting: impl Fn() -> bool,
    ) -> Result<Option<Self>, ProjectError> {
        let path = path_of(home, project);
        let failed = |source| ProjectError::Io { path: path.clone(), doing: "backing up to", source };
        make_private_folder(&path).map_err(failed)?;
        let lock = dissensus_files::open_or_create_regular(&path.join("backups.lock")).map_err(failed)?;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Some(Self { project: project.0, path, _lock: lock })),
                Err(TryLockError::WouldBlock) if is_waiting() => std::thread::sleep(BETWEEN_TRIES),
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        entries_in(&self.path, self.project)
    }

    /// The file of a new backup. Two backups in one second get different times.
    pub(super) fn free_entry(&self, at_ms: i64) -> Entry {
        let file = |at_ms| self.path.join(format!("{}.dissensus", utc_name(at_ms)));
        // To the second, as in the name, and after a backup that was made in the same second.
        let mut at_ms = at_ms.div_euclid(1000) * 1000;
        let recent =
            self.entries().into_iter().map(|entry| entry.at_ms).filter(|made| *made < at_ms + 60_000);
        at_ms = recent.max().map_or(at_ms, |newest| at_ms.max(newest + 1000));
        while std::fs::symlink_metadata(file(at_ms)).is_ok() {
            at_ms += 1000;
        }
        Entry { project: self.project, at_ms, file: file(at_ms), bytes: 0, about: None }
    }

    /// Removes what killed programs left of backups, at any age: nobody else writes to the folder.
    ///
    /// # Errors
    /// Something cannot be removed: everything else is.
    pub(super) fn remove_parts(&self) -> Result<(), ProjectError> {
        let failed =
            |path: &Path, source| ProjectError::Io { path: path.to_owned(), doing: "deleting", source };
        let files = std::fs::read_dir(&self.path).map_err(|error| failed(&self.path, error))?;
        let mut done = Ok(());
        for file in files.flatten() {
            if !file.file_name().to_string_lossy().starts_with(PART) {
                continue;
            }
            let path = file.path();
            let removed = match file.file_type() {
                Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(&path),
                _ => std::fs::remove_file(&path),
            };
            done = done.and(removed.map_err(|error| failed(&path, error)));
        }
        done
    }

    /// Removes descriptions without a backup, which a killed program leaves.
    pub(super) fn remove_lone_descriptions(&self) {
        let Ok(files) = std::fs::read_dir(&self.path) else { return };
        for file in files.flatten().map(|file| file.path()) {
            let is_ours = file.extension().is_some_and(|ending| ending == "json")
                && file.file_stem().and_then(|name| name.to_str()).and_then(utc_from_name).is_some();
            if is_ours && !file.with_extension("dissensus").exists() {
                // It is tried again after the next backup.
                std::fs::remove_file(&file).ok();
            }
        }
    }

    /// Writes the description of a backup.
    pub(super) fn describe(&self, entry: &Entry, about: &About) -> Result<(), ProjectError> {
        let path = entry.about_file();
        let failed = |source| ProjectError::Io { path: path.clone(), doing: "writing", source };
        let json = serde_json::to_vec_pretty(about).map_err(|error| failed(error.into()))?;
        write_atomically(&path, &json).map_err(failed)
    }
}

/// All backups in the folder of one project, newest first. A folder that is missing has none.
pub(super) fn entries_of(home: &Home, project: ProjectId) -> Vec<Entry> {
    entries_in(&path_of(home, project), project.0)
}

fn path_of(home: &Home, project: ProjectId) -> PathBuf {
    home.backups().join(project.0.to_string())
}

/// The backups of all projects, newest first.
pub(super) fn all_entries(home: &Home) -> Vec<Entry> {
    let Ok(folders) = std::fs::read_dir(home.backups()) else { return Vec::new() };
    let mut found: Vec<Entry> = folders
        .flatten()
        .filter_map(|folder| {
            let project = folder.file_name().to_str()?.parse().ok()?;
            Some(entries_in(&folder.path(), project))
        })
        .flatten()
        .collect();
    found.sort_by_key(|entry| std::cmp::Reverse(entry.at_ms));
    found
}

/// The backup with this id.
pub(super) fn entry(home: &Home, id: &str) -> Result<Entry, ProjectError> {
    let unknown = || EditingError::NoBackup(id.to_owned());
    let project = id.split('/').next().and_then(|project| project.parse().ok()).ok_or_else(unknown)?;
    let entries = entries_of(home, ProjectId(project));
    Ok(entries.into_iter().find(|entry| entry.id() == id).ok_or_else(unknown)?)
}

fn entries_in(folder: &Path, project: Uuid) -> Vec<Entry> {
    let Ok(files) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<Entry> = files
        .flatten()
        .filter_map(|file| {
            let file = file.path();
            if file.extension()? != "dissensus" {
                return None;
            }
            let at_ms = utc_from_name(file.file_stem()?.to_str()?)?;
            let about = std::fs::symlink_metadata(&file).ok()?;
            if !about.is_file() {
                return None;
            }
            let described = described(&file.with_extension("json"));
            Some(Entry { project, at_ms, bytes: about.len(), about: described, file })
        })
        .collect();
    found.sort_by_key(|entry| std::cmp::Reverse(entry.at_ms));
    found
}

/// Reads a description; `None` where it is missing or damaged.
fn described(path: &Path) -> Option<About> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LARGEST_ABOUT).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}
