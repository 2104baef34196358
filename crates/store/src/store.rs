//! An open project: the way every read and write goes, and closing it.

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
use dissensus_files::beside;
use rusqlite::{Connection, TransactionBehavior};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant, SystemTime};

/// An open project. Cloning is cheap and shares it; it is closed by [`Store::close`] or with the last clone.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

/// What a project that is open to write is made of.
pub(crate) struct OpenToWrite {
    pub(crate) conn: Connection,
    pub(crate) lock: Lock,
    pub(crate) journal_put_aside: Option<PathBuf>,
}

#[derive(Debug)]
struct Inner {
    own: Arc<OwnFile>,
    readers: Readers,
    /// None where the project is open to read only.
    writer: Option<Writer>,
    /// The copy that this store appends events under; none until it has appended one.
    copy: Arc<Mutex<Option<CopyId>>>,
    /// Whether this opening left its secret in the file, by which another project knows it later.
    left_secret: Arc<AtomicBool>,
    lock: Mutex<Option<Lock>>,
    records: CheckRecords,
    /// Where the journal of another file, found at opening, was put.
    journal_put_aside: Option<PathBuf>,
}

/// Every project that this process has open to write, for [`checkpoint_all`].
static OPEN: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

/// Brings the journal of every project that this process has open to write into its file, as far as no reader is in the
/// way. For a program that is told to end at once. Returns when it is done.
pub fn checkpoint_all() {
    let open: Vec<Arc<Inner>> = lock(&OPEN).iter().filter_map(Weak::upgrade).collect();
    for inner in open {
        // Nobody is left to hear of an error; what was confirmed is safe in the journal.
        if let Some(Err(e)) = inner.writer.as_ref().map(Writer::checkpoint) {
            tracing::warn!(code = e.code(), "the journal was not brought into the file; it stays beside it");
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
        let (writer, held, journal_put_aside) = match write {
            Some(open) => {
                (Some(Writer::start(open.conn, Arc::clone(&own))?), Some(open.lock), open.journal_put_aside)
            }
            None => (None, None, None),
        };
        let readers = Readers::new(Arc::clone(&own), access);
        if writer.is_some() {
            // Should the file be moved or replaced, no other connection can reach what is open any more, to save a copy of it.
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
            journal_put_aside,
        });
        if inner.writer.is_some() {
            let mut open = lock(&OPEN);
            open.retain(|known| known.strong_count() > 0);
            open.push(Arc::downgrade(&inner));
        }
        Ok(Self { inner })
    }

    /// Where the journal of another file was put that lay beside the project when it was opened; none where there was none.
    pub fn journal_put_aside(&self) -> Option<&Path> {
        self.inner.journal_put_aside.as_deref()
    }

    /// Refuses where the path of the project does not name the open file any more, as after a move or a restored backup.
    ///
    /// # Errors
    /// [`StoreError::Displaced`].
    pub fn must_be_in_place(&self) -> Result<()> {
        match &self.inner.writer {
            Some(_) => self.inner.own.must_be_written_in_place()?,
            None => self.inner.own.must_have_its_name()?,
        }
        self.inner.own.must_be_led_to()
    }

    /// Brings everything written so far into the one file, so that a copy of it is the whole project. False where a read
    /// that is under way still needs the older pages; they are then brought in within a few seconds of its end. To be
    /// called at the end of an import, a run, a new question; single labels are brought in when labelling pauses.
    ///
    /// # Errors
    /// What the disk says; what was confirmed is then still safe in the journal.
    pub fn checkpoint(&self) -> Result<bool> {
        self.inner.writer.as_ref().map_or(Ok(true), Writer::checkpoint)
    }

    /// The path that the project was opened with.
    pub fn path(&self) -> &Path {
        self.inner.own.shown()
    }

    /// The project file itself, links resolved: what belongs to a project lies beside this one, however it was opened.
    pub fn file(&self) -> &Path {
        self.inner.own.file()
    }

    /// True where the project is open to read only.
    pub fn is_reader(&self) -> bool {
        self.inner.writer.is_none()
    }

    /// Refuses where the project is open to read only: for work that would be in vain, before it begins. What writes is refused anyway.
    ///
    /// # Errors
    /// [`StoreError::OpenedToRead`].
    pub fn must_write(&self) -> Result<()> {
        self.writer().map(drop)
    }

    fn writer(&self) -> Result<&Writer> {
        self.inner.writer.as_ref().ok_or_else(|| StoreError::OpenedToRead(self.path().to_owned()))
    }

    /// Looks whether others write to the project.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn watch(&self) -> Result<Watch> {
        let conn = self.inner.readers.connect()?;
        let seen = self.inner.seen(&conn)?;
        Ok(Watch { store: self.clone(), conn, seen })
    }

    /// Closes the project for every clone: finishes the writes handed over, waits for the reads under way and leaves
    /// one file. Not to be called from inside a closure given to this store. Closing twice is no error.
    ///
    /// # Errors
    /// What the disk says when the journal is written back; what was confirmed before is then still safe in the journal.
    pub fn close(&self) -> Result<()> {
        self.inner.close()
    }

    /// Runs `work` on the writing thread in one transaction: kept as a whole when it returns `Ok` and the disk has
    /// confirmed it, undone as a whole when it returns `Err` or panics (the panic goes on in the caller).
    ///
    /// # Errors
    /// What `work` returns, or what the disk says.
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

    /// As [`Store::write`], with the time that the commit took: the disk's own part.
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
            own.must_be_led_to()?;
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
            // Only now: a copy that was made in a transaction that failed is in no file.
            *lock(&copy) = appending.copy();
            left_secret.fetch_or(wrote, Ordering::Relaxed);
            // Should the file have been moved or replaced meanwhile, what was committed is not where anybody looks for it.
            own.must_be_written_in_place()?;
            own.must_be_led_to()?;
            Ok((value, start.elapsed()))
        })?
    }

    /// Runs `work`, which writes what nobody did: it leaves no secret of this opening.
    pub(crate) fn without_secret(&self, work: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        self.inner.left_secret.store(true, Ordering::Relaxed);
        let done = work(self);
        self.inner.left_secret.store(false, Ordering::Relaxed);
        done
    }

    /// Runs `work`, which writes, with the writing connection and outside a transaction.
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
            own.brought_in();
            own.must_be_written_in_place().map(|()| done)
        })??;
        done.map_err(|e| self.inner.own.explain(doing, e))
    }

    /// Runs `read` with a reading connection.
    pub(crate) fn read<T>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.inner.readers.with(read)?.map_err(|e| self.inner.own.explain(doing, e))
    }

    /// Copies the project as it is at this moment, journal included, to one file at `target`. Labels may be given meanwhile;
    /// they are not in the copy. `progress` is told of bytes done and bytes in all, and may stop it. The copy appears whole
    /// and on the disk, or not at all.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where the target must be new and is not, [`StoreError::CopyOntoItself`], [`StoreError::SideFile`]; [`StoreError::Locked`]
    /// where a project that is to be replaced is open; [`StoreError::CopyCancelled`], no folder, a folder that cannot be
    /// written, a full disk. The target is then as it was.
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
        // Whoever has the target open would go on writing to a file without a name.
        let _lock = Lock::take(&file, target)?;
        self.with_reader(|conn| {
            // One read transaction round all steps, so that a write meanwhile does not make SQLite begin anew.
            let tx = conn
                .unchecked_transaction()
                .map_err(|e| StoreError::explain(self.path(), "copying the project", e))?;
            copy::copy_to(&tx, self.path(), &file, what, &mut progress)
        })?
    }

    /// Runs `read` with a reading connection and hands on what it returns.
    pub(crate) fn with_reader<T>(&self, read: impl FnOnce(&Connection) -> T) -> Result<T> {
        self.inner.readers.with(read)
    }

    /// As [`Store::read`], where errors of the caller's own come in between.
    pub(crate) fn read_with<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Connection, &dyn Fn(rusqlite::Error) -> E) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let explain = |e| StoreError::explain(self.path(), "reading", e).into();
        self.inner.readers.with(|conn| read(conn, &explain))?
    }
}

/// Knows whether anybody else wrote to a project since it was asked last.
#[derive(Debug)]
pub struct Watch {
    store: Store,
    conn: Connection,
    seen: Seen,
}

/// What tells that a project was written to.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// SQLite's count, which changes with every commit of another connection, whichever program that is in.
    Count(i64),
    /// Lengths and times of the file and its journal, where they are read as if nothing could change them.
    Files([Option<(u64, Option<SystemTime>)>; 2]),
}

impl Watch {
    /// Whether anything was written since this was last asked.
    ///
    /// # Errors
    /// [`StoreError::Displaced`] where the path names another file by now, or what the disk says.
    pub fn changed(&mut self) -> Result<bool> {
        let inner = &self.store.inner;
        self.store.must_be_in_place()?;
        let now = inner.seen(&self.conn)?;
        let changed = now != self.seen;
        if changed && inner.readers.reads_alone() {
            // Who cannot write the file had no part in its journal: what was read before may be of the old file.
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
    fn seen(&self, conn: &Connection) -> Result<Seen> {
        if self.readers.reads_alone() {
            let about = |file: &Path| std::fs::metadata(file).ok().map(|it| (it.len(), it.modified().ok()));
            let file = self.own.file();
            return Ok(Seen::Files([about(file), about(&beside(file, "-wal"))]));
        }
        let count = conn.pragma_query_value(None, "data_version", |r| r.get(0));
        count.map(Seen::Count).map_err(|e| StoreError::explain(self.own.shown(), "looking for changes", e))
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
        // Whoever opens the project next learns from the lock files which file the journal belongs to.
        if has_journal(file) {
            held.keep_files();
        } else if ended.is_ok() && in_place {
            // It was in order when it was opened, only SQLite wrote to it since, and no journal is left.
            self.records.note(file);
        }
        ended
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Nobody is left to hear of an error; what was confirmed is safe in the journal.
        if let Err(e) = self.close() {
            tracing::warn!(code = e.code(), "a project was not closed well; its journal stays beside it");
        }
    }
}

/// The file beside which a file of this name is kept while that is open: its journals, their index and its lock.
pub fn side_file_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let of = ["-wal", "-shm", "-journal", ".lock"].iter().find_map(|ending| name.strip_suffix(ending))?;
    (!of.is_empty()).then(|| path.with_file_name(of))
}

/// Where a new project goes: its folder with links resolved, so that two names of one file have one lock.
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
    fn a_full_file_is_told_and_what_was_confirmed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        let writer = store.inner.writer.as_ref().unwrap();
        // SQLite's own limit answers as a full disk does.
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
    fn a_file_that_nothing_changes_is_read_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        add(&store, "t1", 10).unwrap();
        store.close().unwrap();
        let alone = Store::assemble(
            OwnFile::of(&path, &path).unwrap(),
            None,
            Access::Immutable,
            &CheckRecords::default(),
        )
        .unwrap();
        assert_eq!(alone.counts().unwrap().texts, 1);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no side files, even while open");
    }

    #[test]
    fn a_file_that_is_read_alone_is_read_anew_where_somebody_else_can_write_it_after_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        add(&store, "t1", 10).unwrap();
        store.close().unwrap();
        let alone = Store::assemble(
            OwnFile::of(&path, &path).unwrap(),
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
    fn whoever_reads_while_a_writer_is_killed_leaves_the_journal_to_the_next_who_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        add(&store, "t1", 10).unwrap();
        store.close().unwrap();
        // Connected before there is anything in the journal.
        let reader = Store::open_reader(&path).unwrap();
        let mut watch = reader.watch().unwrap();
        assert_eq!(reader.counts().unwrap().texts, 1);
        // A writer whose connection never brings its journal into the file, as one that is killed.
        let killed = crate::connect::connect(&path, Access::Write).unwrap();
        killed.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        killed.execute("INSERT INTO settings (key, value) VALUES ('k', '1')", []).unwrap();
        drop(killed);
        assert!(watch.changed().unwrap());
        let journal = beside(&path, "-wal");
        let before = (std::fs::read(&path).unwrap(), std::fs::read(&journal).unwrap());
        assert!(!before.1.is_empty(), "the test needs a journal");
        drop(watch);
        reader.close().unwrap();
        drop(reader);
        assert!((std::fs::read(&path).unwrap(), std::fs::read(&journal).unwrap()) == before);
        assert_eq!(Store::open(&path).unwrap().setting::<u32>("k").unwrap(), Some(1));
    }
}
