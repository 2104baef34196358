//! File names next to a file, real paths, and syncing of folders.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Appends `ending` to the whole file name: `a.b` and `.runs` make `a.b.runs`.
pub fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(ending);
    PathBuf::from(name)
}

/// Resolves every link in the path. On Windows the prefix `\\?\` is omitted where possible, since
/// many libraries (including SQLite's URIs) do not understand it.
///
/// # Errors
/// The path does not exist, or a folder on the way is not accessible.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// The parent folder of `path`; the current folder if it has none.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs a folder to disk, so that new and renamed entries survive a power cut.
///
/// # Errors
/// The folder cannot be opened or synced.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

/// Does nothing: folders cannot be opened for syncing on this system, whose journal preserves
/// names.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sibling_names_and_parent_folders() {
        assert_eq!(with_suffix(Path::new("a/z.runs"), ".runs"), Path::new("a/z.runs.runs"));
        assert_eq!(folder_of(Path::new("z")), Path::new("."));
        assert_eq!(folder_of(Path::new("a/z")), Path::new("a"));
    }
}
