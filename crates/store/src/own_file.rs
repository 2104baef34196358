//! Compares the file that a store has open with the file that its path names.
//!
//! SQLite continues to read and write an open file that was moved, replaced or deleted, while its
//! journal remains under the old name. Anything written then is in no file that will be opened
//! again. Every commit therefore compares the file with its path before and after, with one file
//! system lookup each for the file and for its journal.

use crate::connect::{Access, LONG_JOURNAL, connect, has_journal};
use crate::file_id::{FileId, FilePin, FileState};
use crate::journal_mark::{self, Mark};
use crate::lock::Opening;
use crate::side_files;
use crate::sync::lock;
use crate::{Displaced, Result, StoreError};
use dissensus_files::with_suffix;
use rusqlite::Connection;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

#[derive(Debug)]
pub(crate) struct OwnFile {
    /// The path, with links resolved.
    file: PathBuf,
    /// The path as shown in messages.
    shown: PathBuf,
    /// The absolute path that was requested, if it leads to the file through a link.
    asked: Option<PathBuf>,
    state: FileState,
    /// `None` if not supported, and after the project is closed: otherwise a disk could not be
    /// unmounted.
    pin: Mutex<Option<FilePin>>,
    written: Mutex<WriterState>,
}

/// The state of the file as known to the writer.
#[derive(Debug, Default)]
struct WriterState {
    /// Length and modification time of the file. With a write-ahead log, only our own checkpoints
    /// change them.
    stamp: Option<(u64, Option<SystemTime>)>,
    /// The write-ahead log, if there is one.
    journal: Option<FileState>,
    /// The newest mark, see [`journal`].
    mark: Option<Mark>,
    /// The fingerprint of the file if it has no mark yet, see [`journal_mark::fingerprint`].
    base: String,
    /// Whether the next transaction starts a new epoch of the mark: it is the first one of this
    /// opening, or the journal has been completely written back to the file.
    new_stretch: bool,
    /// Whether the file contains the newest mark.
    whole: bool,
}

impl OwnFile {
    /// The file currently at `file` (links resolved); error messages name it `shown`.
    pub(crate) fn new(file: &Path, shown: &Path) -> Result<Self> {
        let pin = FilePin::on(file);
        let state = match &pin {
            Some(pin) => pin.state(),
            None => FileState::of(file),
        };
        let state = state.map_err(|e| StoreError::from_io(shown, "looking at the project", &e))?;
        let asked = std::path::absolute(shown).ok().filter(|asked| asked != file);
        Ok(Self {
            file: file.to_owned(),
            shown: shown.to_owned(),
            asked,
            state,
            pin: Mutex::new(pin),
            written: Mutex::default(),
        })
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    pub(crate) fn id(&self) -> FileId {
        self.state.id
    }

    /// Starts to compare for a connection that writes: its journal exists, and it has written
    /// nothing yet.
    pub(crate) fn begin_to_write(&self, conn: &Connection) -> Result<()> {
        let explain = |e| StoreError::explain(&self.shown, "looking at the journal", e);
        let mode: String = conn.pragma_query_value(None, "journal_mode", |r| r.get(0)).map_err(explain)?;
        // An unreadable mark counts as none: it was not written by a program of ours.
        let mark = journal_mark::mark(conn).unwrap_or_default();
        let about = |path: &Path| {
            FileState::of(path).map_err(|e| StoreError::from_io(&self.shown, "looking at the project", &e))
        };
        let journal = if mode == "wal" { Some(about(&with_suffix(&self.file, "-wal"))?) } else { None };
        let whole = self.holds(mark.as_ref());
        let base = if mark.is_none() { self.base() } else { String::new() };
        let stamp = Some(stamp(&about(&self.file)?));
        *lock(&self.written) = WriterState { stamp, journal, mark, base, new_stretch: true, whole };
        self.must_have_its_name()
    }

    /// The description of this session for the lock files.
    pub(crate) fn opening(&self) -> Opening {
        Opening::new(&self.file, &self.state, lock(&self.written).journal)
    }

    /// Fails if the path does not name the open file.
    pub(crate) fn must_have_its_name(&self) -> Result<()> {
        self.as_named().map(drop)
    }

    /// Interprets the error of a failed statement: if the file is no longer at its path, that is
    /// reported as the cause of an I/O error.
    pub(crate) fn explain(&self, doing: &'static str, error: rusqlite::Error) -> StoreError {
        let found = StoreError::explain(self.shown(), doing, error);
        match found {
            StoreError::Disk { .. } | StoreError::Unreadable(_) => {
                self.must_have_its_name().err().unwrap_or(found)
            }
            _ => found,
        }
    }

    /// Fails if the requested path now leads to another file, because a link in it was changed.
    pub(crate) fn check_path(&self) -> Result<()> {
        let Some(asked) = &self.asked else { return Ok(()) };
        match FileState::behind(asked) {
            Ok(behind) if behind.id == self.state.id => Ok(()),
            Ok(_) => Err(self.displaced(Displaced::LinkChanged { file: self.file.clone() })),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(self.displaced(Displaced::LinkChanged { file: self.file.clone() }))
            }
            Err(e) => Err(self.displaced(Displaced::Unknown(e.to_string()))),
        }
    }

    fn as_named(&self) -> Result<FileState> {
        match FileState::of(&self.file) {
            Ok(named) if named.id == self.state.id => Ok(named),
            Ok(_) => Err(self.displaced(self.whereabouts(Displaced::Replaced))),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(self.displaced(self.whereabouts(Displaced::Removed)))
            }
            Err(e) => Err(self.displaced(Displaced::Unknown(e.to_string()))),
        }
    }

    /// Fails if data would not be written to the file that the path names, with its journal next to
    /// it.
    pub(crate) fn must_be_written_in_place(&self) -> Result<()> {
        let now = stamp(&self.as_named()?);
        let (known, journal) = {
            let written = lock(&self.written);
            (written.stamp, written.journal)
        };
        if let Some(journal) = journal {
            match FileState::of(&with_suffix(&self.file, "-wal")) {
                Ok(named) if named.id == journal.id => {}
                Ok(_) => return Err(self.displaced(Displaced::JournalGone)),
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    self.must_have_its_name()?; // with its folder
                    return Err(self.displaced(Displaced::JournalGone));
                }
                // The folder disappeared after the file was checked.
                Err(e) if e.kind() == ErrorKind::NotADirectory => self.must_have_its_name()?,
                Err(e) => return Err(self.displaced(Displaced::Unknown(e.to_string()))),
            }
            if known.is_some_and(|known| known != now) {
                return self.look_inside(now);
            }
        }
        Ok(())
    }

    /// The file was written or touched by another program. It is still ours if it contains a state
    /// that the journal continues.
    fn look_inside(&self, now: (u64, Option<SystemTime>)) -> Result<()> {
        let alone = connect(&self.file, Access::Immutable).and_then(|conn| journal_mark::mark(&conn));
        let mut written = lock(&self.written);
        match (alone, &written.mark) {
            (Ok(Some(alone)), Some(newest)) if newest.continues(&alone) => {
                written.stamp = Some(now);
                Ok(())
            }
            _ => Err(self.displaced(Displaced::Overwritten)),
        }
    }

    /// Whether the file without its journal contains this mark.
    fn holds(&self, mark: Option<&Mark>) -> bool {
        let alone = connect(&self.file, Access::Immutable).and_then(|conn| journal_mark::mark(&conn));
        alone.is_ok_and(|alone| alone.as_ref() == mark)
    }

    /// The fingerprint of the file before the first mark is written to its journal; empty if the
    /// journal already has contents.
    fn base(&self) -> String {
        if has_journal(&self.file) {
            return String::new();
        }
        let base = connect(&self.file, Access::Immutable).and_then(|alone| journal_mark::fingerprint(&alone));
        base.unwrap_or_default()
    }

    /// The mark of the first transaction of this session, if that migrates the file to a newer
    /// format. Nothing else is written before [`OwnFile::begin_to_write`].
    pub(crate) fn mark_of_migration(&self, conn: &Connection) -> Mark {
        match journal_mark::mark(conn).unwrap_or_default() {
            Some(mark) => mark.next_stretch(self.holds(Some(&mark))),
            None => Mark::first(Some(self.base())),
        }
    }

    /// Whether there is a write-ahead log. Without one, a transaction must write its mark first, so
    /// that the page with the previous mark gets into the rollback journal before any page is
    /// written to the file.
    pub(crate) fn marks_at_end(&self) -> bool {
        lock(&self.written).journal.is_some()
    }

    /// Writes the mark of the current transaction of `conn`. Without it, the file would seem to be
    /// in the previous state.
    pub(crate) fn mark(&self, conn: &Connection) -> rusqlite::Result<Mark> {
        let mark = {
            let written = lock(&self.written);
            match &written.mark {
                None => Mark::first(Some(written.base.clone())),
                // While a reader prevents checkpoints, the file falls behind by any number of
                // transactions, but by no more epochs than there are openings.
                Some(mark) if written.new_stretch => mark.next_stretch(written.whole),
                Some(mark) => mark.next(),
            }
        };
        mark.write(conn).map(|()| mark)
    }

    /// Call this after a failed commit, of which any part may be in the journal.
    pub(crate) fn not_committed(&self) {
        let mut written = lock(&self.written);
        (written.new_stretch, written.whole) = (true, false);
    }

    /// Call this after each commit.
    pub(crate) fn committed(&self, mark: Option<Mark>) {
        let mut written = lock(&self.written);
        if let Some(mark) = mark {
            written.mark = Some(mark);
            (written.new_stretch, written.whole) = (false, false);
        }
        if written.journal.is_none() {
            written.stamp = FileState::of(&self.file).ok().as_ref().map(stamp);
        }
    }

    /// Call this after anything that may have written a part of the journal back to the file.
    pub(crate) fn journal_written(&self) {
        let mut written = lock(&self.written);
        if self.holds(written.mark.as_ref()) {
            (written.new_stretch, written.whole) = (true, true);
        }
        // Of the open file itself if possible, since another file may have its name by now.
        let state = match lock(&self.pin).as_ref().map(FilePin::state) {
            Some(Ok(state)) => Ok(state),
            _ => FileState::of(&self.file),
        };
        if let Ok(state) = state
            && state.id == self.state.id
        {
            written.stamp = Some(stamp(&state));
        }
    }

    /// Whether the journal is long enough to be written back to the file.
    pub(crate) fn journal_is_long(&self) -> bool {
        lock(&self.written).journal.is_some()
            && std::fs::metadata(with_suffix(&self.file, "-wal"))
                .is_ok_and(|about| about.len() > LONG_JOURNAL.into())
    }

    /// Whether the journal may be written back to the open file at closing, or is to be put aside.
    pub(crate) fn at_closing(&self) -> AtClosing {
        let Err(StoreError::Displaced { how, .. }) = self.must_be_written_in_place() else {
            return AtClosing::BringIn;
        };
        let untouched = || match lock(&self.pin).as_ref().map(FilePin::state) {
            Some(Ok(state)) => lock(&self.written).stamp == Some(stamp(&state)),
            _ => false,
        };
        match how {
            // Nobody else can have written to it: the file itself is locked, and there is no
            // journal next to its new name.
            Displaced::Moved { to: Some(to), .. } if untouched() && self.has_no_other_journal(&to) => {
                AtClosing::BringIn
            }
            // The connection still has the journal, with everything that was confirmed.
            Displaced::JournalGone if untouched() => AtClosing::BringIn,
            // The file was deleted.
            Displaced::Removed | Displaced::Replaced
                if lock(&self.pin).as_ref().is_some_and(|pin| pin.has_name().is_ok_and(|named| !named)) =>
            {
                AtClosing::SetAside
            }
            _ => AtClosing::Leave,
        }
    }

    /// Releases the file; call this when no connection is left.
    pub(crate) fn release(&self) {
        *lock(&self.pin) = None;
    }

    /// Deletes the journal of a file that was moved while open, once all of it is in the file.
    pub(crate) fn clear_empty_journal(&self) {
        let ours = lock(&self.written).journal;
        let path = with_suffix(&self.file, "-wal");
        if FileState::of(&path)
            .is_ok_and(|there| there.bytes == 0 && Some(there.id) == ours.map(|ours| ours.id))
        {
            side_files::remove(&path);
            side_files::remove(&with_suffix(&self.file, "-shm"));
        }
    }

    fn has_no_other_journal(&self, to: &Path) -> bool {
        let ours = lock(&self.written).journal;
        match FileState::of(&with_suffix(to, "-wal")) {
            Ok(there) => there.bytes == 0 || Some(there.id) == ours.map(|ours| ours.id),
            Err(e) => e.kind() == ErrorKind::NotFound,
        }
    }

    /// Determines where a file is that is no longer at its path, or whose path names another file.
    fn whereabouts(&self, found: Displaced) -> Displaced {
        let pin = lock(&self.pin);
        let Some(pin) = pin.as_ref() else {
            // It is unknown whether the file still exists.
            return match found {
                Displaced::Removed => Displaced::Moved { to: None, replaced: false },
                found => found,
            };
        };
        let replaced = matches!(found, Displaced::Replaced);
        match pin.has_name() {
            Ok(true) => Displaced::Moved { to: pin.path(), replaced },
            _ => found,
        }
    }

    fn displaced(&self, how: Displaced) -> StoreError {
        StoreError::Displaced { path: self.shown.clone(), how }
    }
}

/// What to do with the journal when a project is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtClosing {
    /// Write it back to the file, as usual.
    BringIn,
    /// Leave it in place, with the record of which file it belongs to.
    Leave,
    /// The file is gone: put the journal aside under another name.
    SetAside,
}

fn stamp(state: &FileState) -> (u64, Option<SystemTime>) {
    (state.bytes, state.modified)
}
