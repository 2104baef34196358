//! The file that was opened last, kept while it stays as it is: what is looked at before it is imported is unpacked and rewritten once.

use crate::error::WorkbenchError;
use crate::sync::lock;
use crate::view::ImportChoices;
use dissensus_exchange::{OpenOptions, Source};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Clones share what is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Opened(Arc<Mutex<Option<Kept>>>);

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    asked: Asked,
    as_it_was: Stamp,
    source: Source,
}

/// What was not to be guessed: format, encoding and sheet.
type Asked = (Option<String>, Option<String>, Option<String>);

/// What changes when somebody writes a file. A folder has none: what is in its files may change without it.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: SystemTime,
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        Some(Self { length: about.len(), modified: about.modified().ok()? })
    }
}

impl Opened {
    /// Opens a file as `choices` say, or gives out what it was opened as if it has not changed since.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn open(&self, path: &Path, choices: &ImportChoices) -> Result<Source, WorkbenchError> {
        let ImportChoices { format, encoding, sheet, .. } = choices;
        let asked: Asked = (format.clone(), encoding.clone(), sheet.clone());
        let before = Stamp::of(path);
        if let Some(kept) = lock(&self.0).as_ref() {
            let same = kept.path == path && kept.asked == asked;
            if same && before.as_ref() == Some(&kept.as_it_was) {
                return Ok(kept.source.clone());
            }
        }
        // What is kept of another file or another state of it is of no more use.
        self.forget();
        let options =
            OpenOptions { format: format.as_deref(), encoding: encoding.as_deref(), sheet: sheet.as_deref() };
        let source = Source::open_with(path, &options)?;
        // A file that was written to meanwhile is read anew the next time.
        if let Some(as_it_was) = before.filter(|before| Stamp::of(path).as_ref() == Some(before)) {
            *lock(&self.0) = Some(Kept { path: path.to_owned(), asked, as_it_was, source: source.clone() });
        }
        Ok(source)
    }

    /// Keeps nothing any more.
    pub(super) fn forget(&self) {
        let kept = lock(&self.0).take();
        // Its files are removed without the lock.
        drop(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table in UTF-16, which is rewritten to be read.
    fn table(path: &Path, label: &str) {
        let table = format!("\u{feff}text,{label}\nhello,1\n");
        let bytes: Vec<u8> = table.encode_utf16().flat_map(u16::to_le_bytes).collect();
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn a_file_is_opened_anew_once_it_or_what_is_asked_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        table(&path, "first");
        let opened = Opened::default();
        let plain = ImportChoices::default();
        let first = opened.open(&path, &plain).unwrap();
        assert_eq!(first.columns(), ["text", "first"]);
        assert!(lock(&opened.0).is_some());
        // As long as before, and another moment.
        table(&path, "other");
        let later = SystemTime::now() + std::time::Duration::from_secs(5);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert_eq!(opened.open(&path, &plain).unwrap().columns(), ["text", "other"]);
        let encoding = ImportChoices { encoding: Some("no-such".to_owned()), ..ImportChoices::default() };
        assert!(opened.open(&path, &encoding).is_err());
        opened.forget();
        assert!(lock(&opened.0).is_none());
        assert!(opened.open(folder.path(), &plain).is_err());
    }
}
