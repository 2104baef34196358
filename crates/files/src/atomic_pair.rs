//! Two files that belong together; the second never exists without the first.

use crate::atomic_file::AtomicFile;
use crate::paths::{folder_of, sync_folder};
use crate::stale;
use std::io;
use std::path::Path;
use tempfile::TempPath;

/// Syncs two files of one folder to disk and renames them to their targets, `first` before
/// `second`. With `replace` existing files are replaced, otherwise they are an error. If the
/// process is killed between the two renames, `second` does not exist, so the pair never looks
/// complete when it is not.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] without `replace` if a target exists, or an I/O error. Both
/// targets are then unchanged.
pub fn finish_pair(first: AtomicFile, second: AtomicFile, replace: bool) -> io::Result<()> {
    let (first_target, first) = first.synced()?;
    let (second_target, second) = second.synced()?;
    if !replace {
        first.persist_noclobber(&first_target).map_err(|e| e.error)?;
        if let Err(error) = second.persist_noclobber(&second_target) {
            // Created by this function just above.
            std::fs::remove_file(&first_target)?;
            return Err(error.error);
        }
        return sync_folder(folder_of(&second_target));
    }
    let before = SetAside::new(&second_target)?;
    let renamed = SetAside::new(&first_target).and_then(|before_first| {
        let placed = first.persist(&first_target).and_then(|_| second.persist(&second_target));
        placed.map(drop).map_err(|e| before_first.back_to(&first_target).err().unwrap_or(e.error))
    });
    if let Err(error) = renamed {
        before.back_to(&second_target)?;
        return Err(error);
    }
    sync_folder(folder_of(&second_target))
}

/// An existing file moved to a temporary name; removed when dropped.
struct SetAside(Option<TempPath>);

impl SetAside {
    fn new(target: &Path) -> io::Result<Self> {
        if std::fs::symlink_metadata(target).is_err() {
            return Ok(Self(None));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(stale::PREFIX).suffix(stale::SUFFIX);
        let aside = builder.tempfile_in(folder_of(target))?.into_temp_path();
        std::fs::rename(target, &aside)?;
        Ok(Self(Some(aside)))
    }

    /// Restores the file, or removes the target if there was none before.
    fn back_to(self, target: &Path) -> io::Result<()> {
        match self.0 {
            Some(aside) => aside.persist(target).map_err(|e| e.error),
            None => match std::fs::remove_file(target) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn written(path: &Path, words: &str) -> AtomicFile {
        let mut file = AtomicFile::create(path).unwrap();
        file.write_all(words.as_bytes()).unwrap();
        file
    }

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn both_files_appear_or_neither() {
        let folder = tempfile::tempdir().unwrap();
        let (ids, array) = (folder.path().join("a.ids.txt"), folder.path().join("a.npy"));
        finish_pair(written(&ids, "1"), written(&array, "x"), false).unwrap();
        assert_eq!((read(&ids), read(&array)), ("1".to_owned(), "x".to_owned()));
        finish_pair(written(&ids, "2"), written(&array, "y"), true).unwrap();
        assert_eq!((read(&ids), read(&array)), ("2".to_owned(), "y".to_owned()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left next to them");
    }

    #[test]
    fn concurrent_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (ids, array) = (folder.path().join("a.ids.txt"), folder.path().join("a.npy"));
        for theirs in [&ids, &array] {
            let pair = (written(&ids, "1"), written(&array, "x"));
            std::fs::write(theirs, "theirs").unwrap();
            let error = finish_pair(pair.0, pair.1, false).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(read(theirs), "theirs");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            std::fs::remove_file(theirs).unwrap();
        }
    }

    /// A folder blocks the second name: the first file has its old contents again.
    #[test]
    fn failed_second_file_restores_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let (ids, array) = (folder.path().join("a.ids.txt"), folder.path().join("a.npy"));
        std::fs::write(&ids, "before").unwrap();
        let pair = (written(&ids, "1"), written(&array, "x"));
        std::fs::create_dir(&array).unwrap();
        std::fs::write(array.join("inside"), "").unwrap();
        finish_pair(pair.0, pair.1, true).unwrap_err();
        assert_eq!(read(&ids), "before");
        assert!(array.join("inside").exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
