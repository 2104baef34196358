//! Copies of the whole project, also while it is open elsewhere or being labelled.

use super::Project;
use crate::error::EditingError;
use dissensus_api::CopyReport;
use dissensus_domain::{JobKind, WorkState};
use dissensus_files::{AtomicFolder, with_suffix};
use dissensus_project::encryption::{Existing, Passphrase, encrypt_file, is_encrypted, private_folder_by};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Follow, Progress};
use dissensus_store::{CopyTarget, StoreError};
use dissensus_training::saved_runs::AUXILIARY;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Suffix of the folder of a project's runs: tuned encoders and checkpoints.
const RUNS: &str = ".runs";

/// Options of a copy.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopyChoices<'a> {
    /// Whether to replace an existing file. Never applies to a folder of runs, or to an open project.
    pub replace: bool,
    /// Whether to include the files of the runs, which are large.
    pub runs: bool,
    /// Encrypts the file. The files of the runs would stay readable, so they are not included then.
    pub passphrase: Option<&'a Passphrase>,
}

/// Copies the project as it is at this moment to one file at `path`, and optionally the files of its
/// runs. The copy appears complete and on disk, or not at all; labels given meanwhile are not in it.
///
/// # Errors
/// The file exists or cannot be written, or it was cancelled. Nothing is left then.
pub fn save_copy<'a>(
    cx: &Project,
    path: &Path,
    choices: CopyChoices<'_>,
    follow: impl Into<Follow<'a>>,
) -> Result<CopyReport, ProjectError> {
    let title = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    cx.context.run(follow, JobKind::Copy, &title, |progress| write_copy(cx, path, choices, progress))
}

fn write_copy(
    cx: &Project,
    path: &Path,
    choices: CopyChoices<'_>,
    progress: &dyn Progress,
) -> Result<CopyReport, ProjectError> {
    let store = &cx.context.store;
    if choices.runs && choices.passphrase.is_some() {
        return Err(EditingError::RunsNotEncrypted.into());
    }
    let runs = Some(with_suffix(store.file(), RUNS)).filter(|folder| folder.is_dir());
    let target = with_suffix(path, RUNS);
    let with_runs = runs.as_ref().filter(|_| choices.runs);
    if with_runs.is_some() && std::fs::symlink_metadata(&target).is_ok() {
        return Err(EditingError::RunsExist(target).into());
    }
    // The large part first: the project gets its name only when everything that belongs to it is there.
    let finished: BTreeSet<String> = store
        .runs()?
        .into_iter()
        .filter(|run| run.state == WorkState::Finished)
        .map(|run| run.uid.to_string())
        .collect();
    // Left by a run that was killed while it ended: unneeded texts of another project.
    let is_left_over = |inner: &Path| {
        let of_run = inner.parent().is_some_and(|run| finished.contains(&*run.to_string_lossy()));
        of_run && inner.file_name().is_some_and(|name| name == AUXILIARY)
    };
    let folder = with_runs.map(|from| copied_folder(from, &target, is_left_over, progress)).transpose()?;
    match choices.passphrase {
        Some(passphrase) => write_encrypted(cx, path, choices.replace, passphrase, progress)?,
        None => {
            let what = if choices.replace { CopyTarget::Replace } else { CopyTarget::New };
            copy_file(cx, path, what, progress)?;
        }
    }
    let failed = |source| ProjectError::Io { path: target.clone(), doing: "copying the runs to", source };
    if let Some(folder) = folder {
        folder.finish_new().map_err(failed)?;
    }
    let bytes = std::fs::metadata(path).map_or(0, |about| about.len());
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    Ok(CopyReport {
        path: shown(path),
        bytes: bytes as f64,
        runs: with_runs.map(|_| shown(&target)),
        runs_left: runs.filter(|_| !choices.runs).map(|folder| shown(&folder)),
    })
}

fn copy_file(
    cx: &Project,
    path: &Path,
    what: CopyTarget,
    progress: &dyn Progress,
) -> Result<(), ProjectError> {
    let copied = cx.context.store.copy_to(path, what, |done, all| {
        progress.report(done, Some(all), "");
        progress.flow()
    });
    copied.map_err(|error| match error {
        StoreError::Exists(path) => EditingError::CopyExists(path).into(),
        other => other.into(),
    })
}

/// Copies the project next to itself, and encrypts that copy to `path`.
fn write_encrypted(
    cx: &Project,
    path: &Path,
    replace: bool,
    passphrase: &Passphrase,
    progress: &dyn Progress,
) -> Result<(), ProjectError> {
    let project = cx.context.store.file();
    if dissensus_store::is_same_file(path, project) {
        return Err(StoreError::CopyOntoItself(path.to_owned()).into());
    }
    let exists = || ProjectError::from(EditingError::CopyExists(path.to_owned()));
    // Only an earlier encrypted copy is replaced: never a project, which may be open.
    if std::fs::symlink_metadata(path).is_ok() && !(replace && is_encrypted(path)) {
        return Err(exists());
    }
    let inside = private_folder_by(project)?;
    let plain = inside.path().join("copy.dissensus");
    copy_file(cx, &plain, CopyTarget::New, progress)?;
    let existing = if replace { Existing::Replace } else { Existing::Refuse };
    encrypt_file(&plain, path, existing, passphrase, progress).map_err(|error| match error {
        ProjectError::Io { source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists => exists(),
        other => other,
    })
}

/// Copies a folder with everything in it except links, temporary files and paths for which `left_out` is
/// true; under a temporary name until it is finished.
fn copied_folder(
    from: &Path,
    target: &Path,
    left_out: impl Fn(&Path) -> bool,
    progress: &dyn Progress,
) -> Result<AtomicFolder, ProjectError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ProjectError::Io { path, doing: "copying the runs to", source }
    };
    let folder = AtomicFolder::create(target).map_err(failed(target))?;
    let mut open: Vec<PathBuf> = vec![PathBuf::new()];
    let (mut done, mut buffer) = (0, vec![0; 1 << 20]);
    while let Some(inner) = open.pop() {
        let entries = std::fs::read_dir(from.join(&inner)).map_err(failed(from))?;
        for entry in entries {
            let entry = entry.map_err(failed(from))?;
            let name = inner.join(entry.file_name());
            let (source, place) = (from.join(&name), folder.path().join(&name));
            let kind = entry.file_type().map_err(failed(&source))?;
            if kind.is_dir() {
                std::fs::create_dir(&place).map_err(failed(target))?;
                open.push(name);
            } else if kind.is_file()
                && !entry.file_name().to_string_lossy().ends_with(".part")
                && !left_out(&name)
            {
                let mut read = File::open(&source).map_err(failed(&source))?;
                let mut write = File::create_new(&place).map_err(failed(target))?;
                loop {
                    let count = read.read(&mut buffer).map_err(failed(&source))?;
                    if count == 0 {
                        break;
                    }
                    write.write_all(&buffer[..count]).map_err(failed(target))?;
                    done += count as u64;
                    progress.report(done, None, "runs");
                    if progress.cancelled() {
                        return Err(ProjectError::Cancelled);
                    }
                }
            }
        }
    }
    Ok(folder)
}
