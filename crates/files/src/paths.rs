//! Names beside a file, real paths, and folders brought to the disk.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// `PATH` with `ending` behind its whole name: `a.b` and `.runs` make `a.b.runs`.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(ending);
    PathBuf::from(name)
}

/// The path with every link resolved. On Windows without the prefix `\\?\` where the path does without it, which many
/// libraries (SQLite's URIs among them) do not understand.
///
/// # Errors
/// There is nothing of that name, or a folder on the way may not be entered.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// The folder that `path` stands in; the current one where none is named.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Brings a folder to the disk: a new or changed name in it is there after a power cut only then.
///
/// # Errors
/// What the disk says.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

/// Folders cannot be opened for this here; the system's journal keeps names.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beside_a_file_and_folders_of_bare_names() {
        assert_eq!(beside(Path::new("a/z.runs"), ".runs"), Path::new("a/z.runs.runs"));
        assert_eq!(folder_of(Path::new("z")), Path::new("."));
        assert_eq!(folder_of(Path::new("a/z")), Path::new("a"));
    }
}
