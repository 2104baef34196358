//! An open project: the entry point for all reads and writes, and closing it.

use crate::appending::Appending;
use crate::connect::{Access, has_journal};
use crate::copy::{self, CopyTarget};
use crate::lock::Lock;
use crate::own_file::{AtClosing, OwnFile};
use crate::readers::Readers;
use crate::records::CheckRecords;
use crate::side_files;
use crate::sync::lock;
use crate::tx::WriteTx;
use crate::writer::Writer;
use crate::{Result, StoreError};
use dissensus_domain::CopyId;
use dissensus_files::with_suffix;
use rusqlite::{Connection, TransactionBehavior};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant, SystemTime};

/// An open project. Clones are cheap and share it; it is closed by [`Store::close`] or when the
/// last clone is dropped.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

/// The parts of a project that is open for writing.
pub(crate) struct OpenToWrite {
    pub(crate) conn: Connection,
    pub(crate) lock: Lock,
    pub(crate) foreign_journal: Option<PathBuf>,
}

#[derive(Debug)]
struct Inner {
    own: Arc<OwnFile>,
    readers: Readers,
    /// `None` if the project is open read-only.
    writer: Option<Writer>,
    /// The copy id under which this store appends events; `None` until the first one.
    copy: Arc<Mutex<Option<CopyId>>>,
    /// Whether this session has left its secret in the file, by which another project recognizes it
    /// later.
    left_secret: Arc<AtomicBool>,
    lock: Mutex<Option<Lock>>,
    records: CheckRecords,
    /// The new path of a foreign journal that was found at opening.
    foreign_journal: Option<PathBuf>,
}

/// Every project that this process has open for writing, for [`checkpoint_all`].
static OPEN: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

/// Writes the journals of all projects that this process has open for writing back to their files,
/// as far as readers permit. For a program that must exit immediately. Returns when it is done.
pub fn checkpoint_all() {
    let open: Vec<Arc<Inner>> = lock(&OPEN).iter().filter_map(Weak::upgrade).collect();
    for inner in open {
        // Errors cannot be reported any more; what was confirmed is safe in the journal.
        if let Some(Err(e)) = inner.writer.as_ref().map(Writer::checkpoint) {
            tracing::warn!(code = e.code(), "the journal was not brought into the file; it stays next to it");
        }
    }
}

impl Store {
    pub(crate) fn assemble(
        own: OwnFile,
        write: Option<OpenToWrite>,
        access: Access,
        records: &CheckRecords,
    ) -> Result<Self> {
        let own = Arc::new(own);
        let (writer, held, foreign_journal) = match write {
            Some(open) => {
                (Some(Writer::start(open.conn, Arc::clone(&own))?), Some(open.lock), open.foreign_journal)
            }
            None => (None, None, None),
        };
        let readers = Readers::new(Arc::clone(&own), access);
        if writer.is_some() {
            // Opens a connection in advance: if the file is moved or replaced, new connections
            // cannot reach the open file to save a copy of it.
            readers.with(|_| ())?;
        }
        let inner = Arc::new(Inner {
            readers,
            writer,
            copy: Arc::default(),
            left_secret: Arc::default(),
            lock: Mutex::new(held),
            own,
            records: records.clone(),
            foreign_journal,
        });
        if inner.writer.is_some() {
            let mut open = lock(&OPEN);
            open.retain(|known| known.strong_count() > 0);
            open.push(Arc::downgrade(&inner));
        }
        Ok(Self { inner })
    }

    /// The new path of a foreign journal that was next to the project when it was opened, if any.
    pub fn foreign_journal(&self) -> Option<&Path> {
        self.inner.foreign_journal.as_deref()
    }

    /// Fails if the path of the project no longer names the open file, for example after a move or
    /// a restored backup.
    ///
    /// # Errors
    /// [`StoreError::Displaced`].
    pub fn must_be_in_place(&self) -> Result<()> {
        match &self.inner.writer {
            Some(_) => self.inner.own.must_be_written_in_place()?,
            None => self.inner.own.must_have_its_name()?,
        }
        self.inner.own.check_path()
    }

    /// Writes everything in the journal back to the file, so that a copy of the file is the
    /// complete project. Returns false if a concurrent read still needs the older pages; they are
    /// then written back within a few seconds of its end. Call this at the end of an import, a run,
    /// or after adding a question; single labels are written back when labelling pauses.
    ///
    /// # Errors
    /// An I/O error; what was confirmed is then still safe in the journal.
    pub fn checkpoint(&self) -> Result<bool> {
        self.inner.writer.as_ref().map_or(Ok(true), Writer::checkpoint)
    }

    /// The path that the project was opened with.
    pub fn path(&self) -> &Path {
        self.inner.own.shown()
    }

    /// The project file itself, with links resolved. Side files are next to this path, however the
    /// project was opened.
    pub fn file(&self) -> &Path {
        self.inner.own.file()
    }

    /// Whether the project is open read-only.
    pub fn is_reader(&self) -> bool {
        self.inner.writer.is_none()
    }

    /// Fails early, before work whose result could not be written, if the project is open
    /// read-only. Writes fail in any case.
    ///
    /// # Errors
    /// [`StoreError::OpenedToRead`].
    pub fn must_write(&self) -> Result<()> {
        self.writer().map(drop)
    }

    fn writer(&self) -> Result<&Writer> {
        self.inner.writer.as_ref().ok_or_else(|| StoreError::OpenedToRead(self.path().to_owned()))
    }

    /// Starts to watch for writes by other connections.
    pub fn watch(&self) -> Result<Watch> {
        let conn = self.inner.readers.connect()?;
        let seen = self.inner.seen(&conn)?;
        Ok(Watch { store: self.clone(), conn, seen })
    }

    /// Closes the project for every clone: finishes pending writes, waits for current reads, and
    /// leaves a single file. Must not be called from inside a closure given to this store. Closing
    /// twice is not an error.
    ///
    /// # Errors
    /// Writing back the journal failed; what was confirmed before is then still safe in the
    /// journal.
    pub fn close(&self) -> Result<()> {
        self.inner.close()
    }

    /// Runs `work` on the writing thread in one transaction. It is committed if `work` returns
    /// `Ok`, and rolled back if `work` returns `Err` or panics (the panic is propagated to the
    /// caller). After `Ok`, the commit is on disk.
    ///
    /// # Errors
    /// The error of `work`, or an I/O error.
    pub fn write<T, E>(
        &self,
        work: impl FnOnce(&mut WriteTx<'_>) -> std::result::Result<T, E> + Send + 'static,
    ) -> std::result::Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.write_timed(work).map(|(value, _)| value)
    }

    /// Like [`Store::write`], and returns how long the commit took, mostly for the disk.
    pub(crate) fn write_timed<T, E>(
        &self,
        work: impl FnOnce(&mut WriteTx<'_>) -> std::result::Result<T, E> + Send + 'static,
    ) -> std::result::Result<(T, Duration), E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let writer = self.writer()?;
        let own = Arc::clone(&self.inner.own);
        let copy = Arc::clone(&self.inner.copy);
        let left_secret = Arc::clone(&self.inner.left_secret);
        writer.run(move |conn| {
            let path = own.shown();
            let explain = |e| own.explain("writing", e);
            own.must_be_written_in_place()?;
            own.check_path()?;
            let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(explain)?;
            let first = if own.marks_at_end() { None } else { Some(own.mark(&tx).map_err(explain)?) };
            let changes = tx.total_changes();
            let appending = Appending::under(*lock(&copy));
            let mut write = WriteTx { conn: &tx, path, appending: &appending };
            let value = work(&mut write)?;
            let wrote = tx.total_changes() != changes;
            if wrote && !left_secret.load(Ordering::Relaxed) {
                write.add_work_secret()?;
            }
            let mark = match first {
                Some(mark) => Some(mark),
                None if wrote => Some(own.mark(&tx).map_err(explain)?),
                None => None,
            };
            let start = Instant::now();
            tx.commit().map_err(|e| {
                own.not_committed();
                explain(e)
            })?;
            own.committed(mark);
            // Only now, since a copy id created in a failed transaction is in no file.
            *lock(&copy) = appending.copy();
            left_secret.fetch_or(wrote, Ordering::Relaxed);
            // If the file was moved or replaced meanwhile, the commit is not in the file that will
            // be opened next.
            own.must_be_written_in_place()?;
            own.check_path()?;
            Ok((value, start.elapsed()))
        })?
    }

    /// Runs `work`, whose writes are not a user's work: it leaves no secret for this session.
    pub(crate) fn without_secret(&self, work: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        self.inner.left_secret.store(true, Ordering::Relaxed);
        let done = work(self);
        self.inner.left_secret.store(false, Ordering::Relaxed);
        done
    }

    /// Runs `work`, which writes, on the writing connection outside of a transaction.
    pub(crate) fn on_writer<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let own = Arc::clone(&self.inner.own);
        let done = self.writer()?.run(move |conn| {
            own.must_be_written_in_place()?;
            let done = own.mark(conn).and_then(|mark| {
                own.committed(Some(mark));
                work(conn)
            });
            own.journal_written();
            own.must_be_written_in_place().map(|()| done)
        })??;
        done.map_err(|e| self.inner.own.explain(doing, e))
    }

    /// Runs `read` on a reading connection.
    pub(crate) fn read<T>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.inner.readers.with(read)?.map_err(|e| self.inner.own.explain(doing, e))
    }

    /// Copies the current state of the project, including its journal, to a single file at
    /// `target`. Labels given meanwhile are not in the copy. `progress` receives the number of
    /// copied bytes and the total, and can cancel. The copy is created atomically and synced to
    /// disk.
    ///
    /// # Errors
    /// [`StoreError::Exists`] if the target must be new and exists; [`StoreError::CopyOntoItself`];
    /// [`StoreError::SideFile`]; [`StoreError::Locked`] if a project that is to be replaced is
    /// open; [`StoreError::CopyCancelled`]; the folder does not exist or is not writable; or the
    /// disk is full. The target is then unchanged.
    pub fn copy_to(
        &self,
        target: &Path,
        what: CopyTarget,
        mut progress: impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<()> {
        let file = place_for(target)?;
        if file == self.inner.own.file() {
            return Err(StoreError::CopyOntoItself(target.to_owned()));
        }
        // A program that has the target open would continue to write to a deleted file.
        let _lock = Lock::take(&file, target)?;
        self.with_reader(|conn| {
            // A single read transaction for all steps, so that a concurrent write does not make
            // SQLite start again.
            let tx = conn
                .unchecked_transaction()
                .map_err(|e| StoreError::explain(self.path(), "copying the project", e))?;
            copy::copy_to(&tx, self.path(), &file, what, &mut progress)
        })?
    }

    /// Runs `read` on a reading connection and returns its result.
    pub(crate) fn with_reader<T>(&self, read: impl FnOnce(&Connection) -> T) -> Result<T> {
        self.inner.readers.with(read)
    }

    /// Like [`Store::read`], for closures with their own error type.
    pub(crate) fn read_with<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Connection, &dyn Fn(rusqlite::Error) -> E) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let explain = |e| StoreError::explain(self.path(), "reading", e).into();
        self.inner.readers.with(|conn| read(conn, &explain))?
    }
}

/// Detects whether another connection wrote to a project since the last call.
#[derive(Debug)]
pub struct Watch {
    store: Store,
    conn: Connection,
    seen: ChangeMark,
}

/// A state that changes when a project is written to.
#[derive(Debug, PartialEq, Eq)]
enum ChangeMark {
    /// SQLite's counter, which changes with every commit of another connection in any program.
    Count(i64),
    /// Lengths and times of the file and its journal, if they are read as immutable.
    Files([Option<(u64, Option<SystemTime>)>; 2]),
}

impl Watch {
    /// Whether anything was written since the last call.
    ///
    /// # Errors
    /// [`StoreError::Displaced`] if the path names another file by now, or an I/O error.
    pub fn changed(&mut self) -> Result<bool> {
        let inner = &self.store.inner;
        self.store.must_be_in_place()?;
        let now = inner.seen(&self.conn)?;
        let changed = now != self.seen;
        if changed && inner.readers.reads_alone() {
            // Immutable reads do not use the journal, so data read before may be of the old file.
            inner.readers.renew();
        }
        self.seen = now;
        Ok(changed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.store.inner.readers.leave(&self.conn);
    }
}

impl Inner {
    fn seen(&self, conn: &Connection) -> Result<ChangeMark> {
        if self.readers.reads_alone() {
            let about = |file: &Path| std::fs::metadata(file).ok().map(|it| (it.len(), it.modified().ok()));
            let file = self.own.file();
            return Ok(ChangeMark::Files([about(file), about(&with_suffix(file, "-wal"))]));
        }
        let count = conn.pragma_query_value(None, "data_version", |r| r.get(0));
        count
            .map(ChangeMark::Count)
            .map_err(|e| StoreError::explain(self.own.shown(), "looking for changes", e))
    }

    fn close(&self) -> Result<()> {
        self.readers.stop();
        let held = lock(&self.lock).take();
        let at_closing = self.own.at_closing();
        let ended = self.writer.as_ref().map_or(Ok(()), Writer::stop);
        self.own.release();
        let Some(mut held) = held else { return ended };
        let file = self.own.file();
        let in_place = self.own.must_have_its_name().is_ok();
        match at_closing {
            AtClosing::SetAside if has_journal(file) => {
                if let Err(e) = side_files::set_aside(file, self.own.shown()) {
                    tracing::warn!(
                        code = e.code(),
                        "the journal of a file that is gone stays under its name"
                    );
                }
            }
            _ if !in_place => self.own.clear_empty_journal(),
            _ => {}
        }
        // The next program learns from the lock files which file the journal belongs to.
        if has_journal(file) {
            held.leave_files();
        } else if ended.is_ok() && in_place {
            // It was sound when it was opened, only SQLite wrote to it since, and no journal is
            // left.
            self.records.note(file);
        }
        ended
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Errors cannot be reported any more; what was confirmed is safe in the journal.
        if let Err(e) = self.close() {
            tracing::warn!(code = e.code(), "a project was not closed well; its journal stays next to it");
        }
    }
}

/// If `path` is the name of a side file (a journal, its index or a lock), the name of the file that
/// it belongs to.
pub fn side_file_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let of = ["-wal", "-shm", "-journal", ".lock"].iter().find_map(|ending| name.strip_suffix(ending))?;
    (!of.is_empty()).then(|| path.with_file_name(of))
}

/// The path of a new project, with the links of its folder resolved, so that two names of one file
/// share one lock.
pub(crate) fn place_for(path: &Path) -> Result<PathBuf> {
    let invalid = || StoreError::Directory(path.to_owned());
    let name = path.file_name().ok_or_else(invalid)?;
    if let Some(of) = side_file_of(path) {
        return Err(StoreError::SideFile { path: path.to_owned(), of });
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let folder = dissensus_files::real_path(folder).map_err(|_| StoreError::NoFolder(folder.to_owned()))?;
    if !folder.is_dir() {
        return Err(StoreError::NoFolder(folder));
    }
    Ok(folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewText;

    fn add(store: &Store, name: &str, bytes: usize) -> Result<()> {
        let (external_id, body) = (name.to_owned(), "x".repeat(bytes));
        store.write(move |tx| tx.add_text(&NewText { external_id, body, ..NewText::default() }).map(|_| ()))
    }

    #[test]
    fn full_file_is_reported_and_confirmed_labels_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        let writer = store.inner.writer.as_ref().unwrap();
        // SQLite's own limit has the same effect as a full disk.
        writer
            .run(|c| c.pragma_update_and_check(None, "max_page_count", 120, |r| r.get::<_, i64>(0)).unwrap())
            .unwrap();
        let mut kept = 0;
        let error = loop {
            match add(&store, &format!("t{kept}"), 10_000) {
                Ok(()) => kept += 1,
                Err(e) => break e,
            }
            assert!(kept < 100, "the limit does not hold");
        };
        assert_eq!(error.code(), "disk-full", "{error}");
        assert!(kept > 0);
        assert_eq!(store.counts().unwrap().texts, kept);
        store.close().unwrap();
        assert_eq!(Store::open(&path).unwrap().counts().unwrap().texts, kept);
    }

    #[test]
    fn unwritable_file_is_read_without_side_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        add(&store, "t1", 10).unwrap();
        store.close().unwrap();
        let alone = Store::assemble(
            OwnFile::new(&path, &path).unwrap(),
            None,
            Access::Immutable,
            &CheckRecords::default(),
        )
        .unwrap();
        assert_eq!(alone.counts().unwrap().texts, 1);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no side files, even while open");
    }

    #[test]
    fn file_is_reread_if_it_becomes_writable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        add(&store, "t1", 10).unwrap();
        store.close().unwrap();
        let alone = Store::assemble(
            OwnFile::new(&path, &path).unwrap(),
            None,
            Access::Immutable,
            &CheckRecords::default(),
        )
        .unwrap();
        let mut watch = alone.watch().unwrap();
        assert!(!watch.changed().unwrap());
        let other = Store::open(&path).unwrap();
        add(&other, "t2", 10).unwrap();
        assert!(watch.changed().unwrap());
        assert_eq!(alone.counts().unwrap().texts, 2, "out of the journal");
        assert!(!watch.changed().unwrap());
        add(&other, "t3", 100_000).unwrap();
        other.close().unwrap();
        assert!(watch.changed().unwrap());
        assert_eq!(alone.counts().unwrap().texts, 3, "out of the file");
        let error = add(&alone, "t4", 10).unwrap_err();
        assert_eq!(error.code(), "project-opened-to-read", "{error}");
        assert_eq!(alone.must_write().unwrap_err().code(), error.code());
    }

    #[test]
    fn reader_leaves_the_journal_of_a_killed_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        add(&store, "t1", 10).unwrap();
        store.close().unwrap();
        // Connected before the journal has any contents.
        let reader = Store::open_reader(&path).unwrap();
        let mut watch = reader.watch().unwrap();
        assert_eq!(reader.counts().unwrap().texts, 1);
        // A writer that never writes its journal back to the file, like one that was killed.
        let killed = crate::connect::connect(&path, Access::Write).unwrap();
        killed.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        killed.execute("INSERT INTO settings (key, value) VALUES ('k', '1')", []).unwrap();
        drop(killed);
        assert!(watch.changed().unwrap());
        let journal = with_suffix(&path, "-wal");
        let before = (std::fs::read(&path).unwrap(), std::fs::read(&journal).unwrap());
        assert!(!before.1.is_empty(), "the test needs a journal");
        drop(watch);
        reader.close().unwrap();
        drop(reader);
        assert!((std::fs::read(&path).unwrap(), std::fs::read(&journal).unwrap()) == before);
        assert_eq!(Store::open(&path).unwrap().setting::<u32>("k").unwrap(), Some(1));
    }
}
