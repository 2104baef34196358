//! The folder of a report: its location, and its files.

use super::sums::{FileSum, Folder, Listing, hex, sum_of};
use crate::error::ReportError;
use dissensus_files::{AtomicFolder, folder_of};
use dissensus_project::error::ProjectError;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};

/// Checks before any work, and again before the end, whether a folder with this listing may be
/// written there.
///
/// # Errors
/// A non-empty folder (without `replace`, or with anything that is not our report), a file, a link, or a
/// missing parent folder.
pub(super) fn check_place(dir: &Path, listing: Listing, replace: bool) -> Result<(), ProjectError> {
    if dir.file_name().is_none() {
        return Err(ProjectError::NotAFileName(dir.display().to_string()));
    }
    if let Ok(found) = std::fs::symlink_metadata(dir) {
        if !found.is_dir() {
            return Err(ReportError::NotAReport(dir.to_owned()).into());
        }
        let empty = std::fs::read_dir(dir).is_ok_and(|mut all| all.next().is_none());
        if !empty && !replace {
            return Err(ProjectError::ExportExists(dir.to_owned()));
        }
        // Other files, and forms that were edited, must not be deleted.
        match listing.folder(dir) {
            _ if empty => {}
            Folder::Unchanged => {}
            Folder::Changed(files) => {
                return Err(ReportError::ReportChanged { dir: dir.to_owned(), files }.into());
            }
            Folder::Other => return Err(ReportError::NotAReport(dir.to_owned()).into()),
        }
    }
    match folder_of(dir).is_dir() {
        true => Ok(()),
        false => Err(failed(dir, "making", no_folder())),
    }
}

/// A system's own error would not say what is missing.
fn no_folder() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the folder that it would be in is not there; make that first")
}

/// Renames the temporary folder to its final name.
///
/// # Errors
/// Those of [`check_place`], or an I/O error.
pub(super) fn finish(
    place: AtomicFolder,
    dir: &Path,
    listing: Listing,
    replace: bool,
) -> Result<(), ProjectError> {
    // Checked again because minutes have passed.
    check_place(dir, listing, replace)?;
    if replace {
        return place.finish().map_err(|e| failed(dir, "writing", e));
    }
    // An empty folder is replaced; the system does not remove one that is no longer empty, which is refused
    // below.
    let _ = std::fs::remove_dir(dir);
    place.finish_new().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => ProjectError::ExportExists(dir.to_owned()),
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

    /// Writes a file; the folder of `name`, if any, is created.
    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), ProjectError> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| failed(folder, "making", e))?;
        }
        std::fs::write(&path, bytes).map_err(|e| failed(&path, "writing", e))?;
        self.note(name, bytes);
        Ok(())
    }

    /// Path for a file of this name that another part of the program writes.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    /// Registers a file that another part has written.
    pub(super) fn written(&mut self, name: &str) -> Result<(), ProjectError> {
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

    /// Checksums of all files except the last one, which contains them.
    pub(super) fn sums(&self) -> Vec<FileSum> {
        self.sums.clone()
    }

    /// Writes the last file, and returns all names and their size.
    pub(super) fn end(
        mut self,
        listing: Listing,
        content: &impl Serialize,
    ) -> Result<(Vec<String>, u64), ProjectError> {
        let bytes = serde_json::to_vec_pretty(content).map_err(|e| ProjectError::internal(&e))?;
        self.write(listing.file, &bytes)?;
        Ok((self.sums.into_iter().map(|sum| sum.name).collect(), self.bytes))
    }
}

pub(super) fn failed(path: &Path, doing: &'static str, source: io::Error) -> ProjectError {
    ProjectError::Io { path: path.to_owned(), doing, source }
}
