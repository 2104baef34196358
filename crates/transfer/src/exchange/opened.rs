//! Caches the file that was opened last, as long as it does not change, if it had to be unpacked or
//! rewritten: a preview comes before the import, and rewriting once is enough.

use dissensus_api::ImportChoices;
use dissensus_exchange::{OpenOptions, Source};
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// A file that was modified so recently may be modified again without a later time of modification.
const SETTLED: Duration = Duration::from_secs(2);

/// Clones share the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Opened(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    kept: Option<OpenFile>,
    /// Incremented whenever the cache is cleared: a file whose opening began before that is not cached.
    turn: u64,
}

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    asked: ReadOptions,
    as_it_was: Stamp,
    source: Source,
}

/// The options that replace guesses: format, encoding and sheet.
type ReadOptions = (Option<String>, Option<String>, Option<String>);

/// Values that change when a file is modified or replaced. A folder has none: its files may change without
/// it.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: SystemTime,
    /// The identity of the file, and the time of the last change of its data or metadata, if the system
    /// reports them.
    identity: Option<(u64, i64, i64)>,
}

impl Stamp {
    fn new(path: &Path) -> Option<Self> {
        let about = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Self { length: about.len(), modified: about.modified().ok()?, identity: identity(&about) })
    }

    fn is_settled(&self) -> bool {
        self.modified.elapsed().is_ok_and(|age| age >= SETTLED)
    }
}

#[cfg(unix)]
fn identity(about: &Metadata) -> Option<(u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((about.ino(), about.ctime(), about.ctime_nsec()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, i64, i64)> {
    None
}

impl Opened {
    /// Opens a file with the options in `choices`, or returns it from the cache if it has not changed.
    pub(super) fn open(&self, path: &Path, choices: &ImportChoices) -> Result<Source, ProjectError> {
        let ImportChoices { format, encoding, sheet, .. } = choices;
        let asked: ReadOptions = (format.clone(), encoding.clone(), sheet.clone());
        let before = Stamp::new(path);
        if let Some(kept) = lock(&self.0).kept.as_ref() {
            let same = kept.path == path && kept.asked == asked && kept.source.is_there();
            if same && before.as_ref() == Some(&kept.as_it_was) {
                return Ok(kept.source.clone());
            }
        }
        // A cached file that is another one, or has changed, is of no more use.
        let turn = self.forget();
        let options =
            OpenOptions { format: format.as_deref(), encoding: encoding.as_deref(), sheet: sheet.as_deref() };
        let source = Source::open_with(path, &options)?;
        // A file that was modified meanwhile is opened again the next time; one that is read unchanged is
        // cheap to open.
        let unchanged = |before: &Stamp| before.is_settled() && Stamp::new(path).as_ref() == Some(before);
        if let Some(as_it_was) = before.filter(unchanged).filter(|_| source.is_rewritten()) {
            let kept = OpenFile { path: path.to_owned(), asked, as_it_was, source: source.clone() };
            let mut state = lock(&self.0);
            if state.turn == turn {
                state.kept = Some(kept);
            }
        }
        Ok(source)
    }

    /// Clears the cache, and does not cache the file that is being opened.
    pub(super) fn forget(&self) -> u64 {
        let (kept, turn) = {
            let mut state = lock(&self.0);
            state.turn += 1;
            (state.kept.take(), state.turn)
        };
        // Its files are removed without the lock.
        drop(kept);
        turn
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

    /// Sets the time of modification to an hour and so many seconds ago.
    fn written_at(path: &Path, seconds: u64) {
        let at = SystemTime::now() - Duration::from_secs(3600) + Duration::from_secs(seconds);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
    }

    fn rewritten_to(source: &Source) -> PathBuf {
        source.read_from().to_owned()
    }

    #[test]
    fn file_is_rewritten_once_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        table(&path, "first");
        let (opened, plain) = (Opened::default(), ImportChoices::default());
        // Just written: it may be modified again within the same moment.
        opened.open(&path, &plain).unwrap();
        assert!(lock(&opened.0).kept.is_none());
        written_at(&path, 0);
        let first = opened.open(&path, &plain).unwrap();
        assert_eq!(first.columns(), ["text", "first"]);
        assert_eq!(rewritten_to(&opened.open(&path, &plain).unwrap()), rewritten_to(&first));
        // Another file of the same length in its place, with the time of the first one.
        let other = folder.path().join("b.csv");
        table(&other, "other");
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::File::options().write(true).open(&other).unwrap().set_modified(modified).unwrap();
        std::fs::rename(&other, &path).unwrap();
        let expected = if cfg!(unix) { "other" } else { "first" };
        assert_eq!(opened.open(&path, &plain).unwrap().columns(), ["text", expected]);
        table(&path, "later");
        written_at(&path, 9);
        let later = opened.open(&path, &plain).unwrap();
        assert_eq!(later.columns(), ["text", "later"]);
        // The rewritten file is gone, because the temporary folder was cleaned up.
        std::fs::remove_file(rewritten_to(&later)).unwrap();
        assert_ne!(rewritten_to(&opened.open(&path, &plain).unwrap()), rewritten_to(&later));
        let encoding = ImportChoices { encoding: Some("no-such".to_owned()), ..ImportChoices::default() };
        assert!(opened.open(&path, &encoding).is_err());
        opened.open(&path, &plain).unwrap();
        opened.forget();
        assert!(lock(&opened.0).kept.is_none());
        assert!(opened.open(folder.path(), &plain).is_err());
    }

    #[test]
    fn plain_file_is_not_cached() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "text,label\nhello,1\n").unwrap();
        written_at(&path, 0);
        let opened = Opened::default();
        opened.open(&path, &ImportChoices::default()).unwrap();
        assert!(lock(&opened.0).kept.is_none());
    }
}
