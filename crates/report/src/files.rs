//! The folder of a report: where it may stand, and its files.

use super::reproduce::{Folder, NAME, Reproduce};
use super::sums::{FileSum, hex, sum_of};
use dissensus_files::{AtomicFolder, folder_of};
use dissensus_project::error::WorkbenchError;
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};

/// Says before any work, and again before the end, whether a report may stand there.
///
/// # Errors
/// A folder with something in it (without `replace`, or with what is no report of ours), a file, a link, or a folder to stand in that is not there.
pub(super) fn check_place(dir: &Path, replace: bool) -> Result<(), WorkbenchError> {
    if dir.file_name().is_none() {
        return Err(WorkbenchError::NotAFileName(dir.display().to_string()));
    }
    if let Ok(found) = std::fs::symlink_metadata(dir) {
        if !found.is_dir() {
            return Err(WorkbenchError::NotAReport(dir.to_owned()));
        }
        let empty = std::fs::read_dir(dir).is_ok_and(|mut all| all.next().is_none());
        if !empty && !replace {
            return Err(WorkbenchError::ExportExists(dir.to_owned()));
        }
        // Whatever else somebody has there, or wrote into the forms, is not ours to delete.
        match Reproduce::folder(dir) {
            _ if empty => {}
            Folder::Report => {}
            Folder::Changed(files) => {
                return Err(WorkbenchError::ReportChanged { dir: dir.to_owned(), files });
            }
            Folder::Other => return Err(WorkbenchError::NotAReport(dir.to_owned())),
        }
    }
    match folder_of(dir).is_dir() {
        true => Ok(()),
        false => Err(failed(dir, "making", io::ErrorKind::NotFound.into())),
    }
}

/// Gives the folder its name.
///
/// # Errors
/// As [`check_place`], or what the disk says.
pub(super) fn finish(place: AtomicFolder, dir: &Path, replace: bool) -> Result<(), WorkbenchError> {
    // Minutes have passed.
    check_place(dir, replace)?;
    if replace {
        return place.finish().map_err(|e| failed(dir, "writing", e));
    }
    // An empty folder gives way; one that is filled by now is kept by the system, and refused below.
    let _ = std::fs::remove_dir(dir);
    place.finish_new().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => WorkbenchError::ExportExists(dir.to_owned()),
        _ => failed(dir, "writing", error),
    })
}

/// The files of a report while it is written.
pub(super) struct Files<'a> {
    place: &'a Path,
    sums: Vec<FileSum>,
    bytes: u64,
}

impl<'a> Files<'a> {
    pub(super) fn new(place: &'a Path) -> Self {
        Self { place, sums: Vec::new(), bytes: 0 }
    }

    /// Writes a file; `name` may stand in a folder, which is made.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), WorkbenchError> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| failed(folder, "making", e))?;
        }
        std::fs::write(&path, bytes).map_err(|e| failed(&path, "writing", e))?;
        self.note(name, bytes);
        Ok(())
    }

    /// Where a file of this name is written by another part of the program.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    /// Takes in a file that another part has written.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn written(&mut self, name: &str) -> Result<(), WorkbenchError> {
        let path = self.path(name);
        let (sha256, bytes) = sum_of(&path).map_err(|e| failed(&path, "reading", e))?;
        self.bytes += bytes;
        self.sums.push(FileSum { name: name.to_owned(), sha256 });
        Ok(())
    }

    fn note(&mut self, name: &str, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.sums.push(FileSum { name: name.to_owned(), sha256: hex(&Sha256::digest(bytes)) });
    }

    /// All but the last one, which says what they are.
    pub(super) fn sums(&self) -> Vec<FileSum> {
        self.sums.clone()
    }

    /// Writes the last one, and returns all names and their size.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn end(mut self, reproduce: &Reproduce) -> Result<(Vec<String>, u64), WorkbenchError> {
        let bytes = serde_json::to_vec_pretty(reproduce).map_err(|e| WorkbenchError::internal(&e))?;
        self.write(NAME, &bytes)?;
        Ok((self.sums.into_iter().map(|sum| sum.name).collect(), self.bytes))
    }
}

pub(super) fn failed(path: &Path, doing: &'static str, source: io::Error) -> WorkbenchError {
    WorkbenchError::Io { path: path.to_owned(), doing, source }
}
