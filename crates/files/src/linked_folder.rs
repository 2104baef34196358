//! Copies of a folder by hard links.

use crate::atomic_folder::AtomicFolder;
use std::io;
use std::path::Path;

/// Creates the folder `target` atomically with the contents of `source`. Files are hard-linked if
/// the file system supports it, which takes no disk space, and copied otherwise. Removing either
/// folder, or replacing a file in one of them, does not affect the other; writing into an existing
/// file changes both.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if `target` exists, or an I/O error; `target` is then not
/// created.
pub fn link_or_copy_folder(source: &Path, target: &Path) -> io::Result<()> {
    let folder = AtomicFolder::create(target)?;
    fill(source, folder.path())?;
    folder.finish_new()
}

fn fill(source: &Path, target: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(source)? {
        let entry = entry?;
        // A hard link to a symbolic link would point to the same relative path and break in the new
        // folder.
        let (from, to) = (entry.path().canonicalize()?, target.join(entry.file_name()));
        if from.is_dir() {
            std::fs::create_dir(&to)?;
            fill(&from, &to)?;
        } else {
            std::fs::hard_link(&from, &to).or_else(|_| std::fs::copy(&from, &to).map(drop))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_folders_are_independent() {
        let place = tempfile::tempdir().unwrap();
        let (source, target) = (place.path().join("a"), place.path().join("b"));
        std::fs::create_dir_all(source.join("inner")).unwrap();
        std::fs::write(source.join("weights"), b"many").unwrap();
        std::fs::write(source.join("inner/config"), b"few").unwrap();
        link_or_copy_folder(&source, &target).unwrap();
        let again = link_or_copy_folder(&source, &target).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        crate::write_atomically(&source.join("weights"), b"others").unwrap();
        assert_eq!(std::fs::read(target.join("weights")).unwrap(), b"many");
        std::fs::remove_dir_all(&source).unwrap();
        assert_eq!(std::fs::read(target.join("inner/config")).unwrap(), b"few");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing half made stays");
    }

    #[cfg(unix)]
    #[test]
    fn files_are_hard_linked() {
        use std::os::unix::fs::MetadataExt as _;
        let place = tempfile::tempdir().unwrap();
        let (source, target) = (place.path().join("a"), place.path().join("b"));
        std::fs::create_dir(&source).unwrap();
        std::fs::write(place.path().join("weights"), b"many").unwrap();
        std::os::unix::fs::symlink("../weights", source.join("weights")).unwrap();
        link_or_copy_folder(&source, &target).unwrap();
        let inode = |path: &Path| std::fs::symlink_metadata(path).unwrap().ino();
        assert_eq!(inode(&target.join("weights")), inode(&place.path().join("weights")));
    }

    #[test]
    fn unreadable_source_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        assert!(link_or_copy_folder(&place.path().join("none"), &place.path().join("b")).is_err());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
