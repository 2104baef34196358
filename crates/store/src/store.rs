//! Making, opening and closing a project, and the way every read and write goes.

use crate::check::Depth;
use crate::connect::{Access, connect, has_journal, start_journal};
use crate::copy::{self, CopyTarget};
use crate::events::Appending;
use crate::lock::Lock;
use crate::migrate::{self, MIGRATIONS};
use crate::readers::Readers;
use crate::records::CheckRecords;
use crate::tx::WriteTx;
use crate::writer::{Writer, lock};
use crate::{Result, StoreError, check};
use dissensus_domain::CopyId;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// An open project. Cloning is cheap and shares it; it is closed by [`Store::close`] or with the last clone.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shown: PathBuf,
    /// The file itself, links resolved.
    file: PathBuf,
    readers: Readers,
    /// None where the project is open to read only.
    writer: Option<Writer>,
    /// The copy that this store appends events under; none until it has appended one.
    copy: Arc<Mutex<Option<CopyId>>>,
    lock: Mutex<Option<Lock>>,
    records: CheckRecords,
}

/// Every project that this process has open to write, for [`checkpoint_all`].
static OPEN: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

/// Brings the journal of every project that this process has open to write into its file, as far as no reader is in the
/// way. For a program that is told to end at once. Returns when it is done.
pub fn checkpoint_all() {
    let open: Vec<Arc<Inner>> = lock(&OPEN).iter().filter_map(Weak::upgrade).collect();
    for inner in open {
        if let Some(writer) = &inner.writer {
            // Nobody is left to hear of an error; what was confirmed is safe in the journal.
            let _ = writer.checkpoint();
        }
    }
}

impl Store {
    /// Makes a new project at `path` and opens it.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where there is anything of that name; no folder, a read-only folder, a full disk.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_with(path.as_ref(), MIGRATIONS, &CheckRecords::default())
    }

    /// As [`Store::create`]; what the project is when it is closed is noted in `records`.
    ///
    /// # Errors
    /// As [`Store::create`].
    pub fn create_recorded(path: impl AsRef<Path>, records: &CheckRecords) -> Result<Self> {
        Self::create_with(path.as_ref(), MIGRATIONS, records)
    }

    /// Opens the project at `path` to read and write, and brings one of an older format up to date after copying it to
    /// `NAME.dissensus.before-vN`. Jobs that were running when the program last ended are now interrupted.
    ///
    /// # Errors
    /// Every reason why this is no project that can be opened, each with its own variant. The file is then unchanged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path.as_ref(), MIGRATIONS, &CheckRecords::default())
    }

    /// As [`Store::open`]; a large file that `records` knows to be in order is not checked again.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_recorded(path: impl AsRef<Path>, records: &CheckRecords) -> Result<Self> {
        Self::open_with(path.as_ref(), MIGRATIONS, records)
    }

    /// Opens the project at `path` to read, also while a window has it open and on media that cannot be written.
    ///
    /// # Errors
    /// As [`Store::open`], but never for being locked or read-only. A project of an older format must be opened to
    /// write once: [`StoreError::Older`] says so.
    pub fn open_reader(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_reader_with(path.as_ref(), MIGRATIONS, &CheckRecords::default())
    }

    /// As [`Store::open_reader`]; a large file that `records` knows to be in order is not checked again.
    ///
    /// # Errors
    /// As [`Store::open_reader`].
    pub fn open_reader_recorded(path: impl AsRef<Path>, records: &CheckRecords) -> Result<Self> {
        Self::open_reader_with(path.as_ref(), MIGRATIONS, records)
    }

    pub(crate) fn create_with(path: &Path, migrations: &[&str], records: &CheckRecords) -> Result<Self> {
        if std::fs::symlink_metadata(path).is_ok() {
            return Err(StoreError::Exists(path.to_owned()));
        }
        let file = place_for(path)?;
        let lock = Lock::take(&file, path)?;
        match std::fs::File::create_new(&file) {
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Exists(path.to_owned()));
            }
            Err(e) => return Err(StoreError::from_io(path, "making the project", &e)),
        }
        let made = fill(&file, path, migrations)
            .and_then(|conn| Self::assemble(&file, path, Some((conn, lock)), Access::Read, records));
        if made.is_err() {
            let _ = std::fs::remove_file(&file); // ours, and nobody could have seen it complete
        }
        made
    }

    pub(crate) fn open_with(path: &Path, migrations: &[&str], records: &CheckRecords) -> Result<Self> {
        let file = check::locate(path)?;
        check::header(&file, path, migrations)?;
        if check::is_read_only(&file, path)? {
            return Err(StoreError::ReadOnly(path.to_owned()));
        }
        let lock = Lock::take(&file, path)?;
        let records = &match depth_for(&file, records) {
            Depth::Schema => records.keeping_time(),
            Depth::Contents(_) => records.clone(),
        };
        let conn = open_to_write(&file, path, migrations, records)?;
        let store = Self::assemble(&file, path, Some((conn, lock)), Access::Read, records)?;
        store.interrupt_running()?;
        Ok(store)
    }

    pub(crate) fn open_reader_with(path: &Path, migrations: &[&str], records: &CheckRecords) -> Result<Self> {
        let file = check::locate(path)?;
        check::header(&file, path, migrations)?;
        let depth = depth_for(&file, records);
        let (conn, access) = open_to_read(&file, path)?;
        let version = check::version(&conn, path, migrations)?;
        check::contents(&conn, path, migrations, version, depth)?;
        drop(conn);
        let known = migrate::newest(migrations);
        if version < known {
            return Err(StoreError::Older { path: path.to_owned(), found: version, known });
        }
        Self::assemble(&file, path, None, access, records)
    }

    pub(crate) fn assemble(
        file: &Path,
        shown: &Path,
        write: Option<(Connection, Lock)>,
        access: Access,
        records: &CheckRecords,
    ) -> Result<Self> {
        let (writer, held) = match write {
            Some((conn, lock)) => (Some(Writer::start(conn, shown)?), Some(lock)),
            None => (None, None),
        };
        let readers = Readers::new(file.to_owned(), shown.to_owned(), access);
        let inner = Arc::new(Inner {
            shown: shown.to_owned(),
            readers,
            writer,
            copy: Arc::default(),
            lock: Mutex::new(held),
            file: file.to_owned(),
            records: records.clone(),
        });
        if inner.writer.is_some() {
            let mut open = lock(&OPEN);
            open.retain(|known| known.strong_count() > 0);
            open.push(Arc::downgrade(&inner));
        }
        Ok(Self { inner })
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
        &self.inner.shown
    }

    /// The project file itself, links resolved: what belongs to a project lies beside this one, however it was opened.
    pub fn file(&self) -> &Path {
        &self.inner.file
    }

    /// True where the project is open to read only.
    pub fn is_reader(&self) -> bool {
        self.inner.writer.is_none()
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
        let Some(writer) = &self.inner.writer else {
            return Err(StoreError::OpenedToRead(self.inner.shown.clone()).into());
        };
        let path = self.inner.shown.clone();
        let copy = Arc::clone(&self.inner.copy);
        writer.run(move |conn| {
            let explain = |e| StoreError::explain(&path, "writing", e);
            let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(explain)?;
            let appending = Appending::under(*lock(&copy));
            let value = work(&mut WriteTx { conn: &tx, path: &path, appending: &appending })?;
            let start = Instant::now();
            tx.commit().map_err(explain)?;
            // Only now: a copy that was made in a transaction that failed is in no file.
            *lock(&copy) = appending.copy();
            Ok((value, start.elapsed()))
        })?
    }

    /// Runs `read` with a reading connection.
    pub(crate) fn read<T>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.inner.readers.with(read)?.map_err(|e| StoreError::explain(&self.inner.shown, doing, e))
    }

    /// Copies the project as it is at this moment, journal included, to one file at `target`. Labels may be given meanwhile;
    /// they are not in the copy. `progress` is told of bytes done and bytes in all, and may stop it. The copy appears whole
    /// and on the disk, or not at all.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where the target must be new and is not, or is the project itself; [`StoreError::Locked`] where
    /// a project that is to be replaced is open; [`StoreError::CopyCancelled`], no folder, a folder that cannot be written,
    /// a full disk. The target is then as it was.
    pub fn copy_to(
        &self,
        target: &Path,
        what: CopyTarget,
        mut progress: impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<()> {
        let file = place_for(target)?;
        if file == self.inner.file {
            return Err(StoreError::Exists(target.to_owned()));
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
        let explain = |e| StoreError::explain(&self.inner.shown, "reading", e).into();
        self.inner.readers.with(|conn| read(conn, &explain))?
    }
}

impl Inner {
    fn close(&self) -> Result<()> {
        self.readers.stop();
        let ended = self.writer.as_ref().map_or(Ok(()), Writer::stop);
        let held = lock(&self.lock).take();
        // It was in order when it was opened, only SQLite wrote to it since, and no journal is left.
        if held.is_some() && ended.is_ok() && !has_journal(&self.file) {
            self.records.note(&self.file);
        }
        drop(held);
        ended
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Nobody is left to hear of an error; what was confirmed is safe in the journal.
        let _ = self.close();
    }
}

/// Where a new project goes: its folder with links resolved, so that two names of one file have one lock.
fn place_for(path: &Path) -> Result<PathBuf> {
    let invalid = || StoreError::Directory(path.to_owned());
    let name = path.file_name().ok_or_else(invalid)?;
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

/// Makes the tables in the empty file.
fn fill(file: &Path, shown: &Path, migrations: &[&str]) -> Result<Connection> {
    let make = || {
        let mut conn = connect(file, Access::Write)?;
        migrate::apply(&mut conn, migrations, 0)?;
        // Only now: the first page must say in the file itself, not in the journal, what the file is.
        start_journal(&conn)?;
        Ok(conn)
    };
    make().map_err(|e| StoreError::explain(shown, "making the project", e))
}

/// How much of a file is to be checked. Beside a journal the file's own times say nothing.
fn depth_for(file: &Path, records: &CheckRecords) -> Depth {
    if !has_journal(file) && records.knows(file) { Depth::Schema } else { Depth::Contents(records.whole()) }
}

/// Checks the locked file before anything in it is changed, then brings it up to date. Checked through the connection that
/// writes, which knows the CHECKs of the tables; until it is found in order, nothing can be written through it.
fn open_to_write(
    file: &Path,
    shown: &Path,
    migrations: &[&str],
    records: &CheckRecords,
) -> Result<Connection> {
    let explain = |e| StoreError::explain(shown, "opening the project", e);
    let depth = depth_for(file, records);
    let left_open = has_journal(file);
    let mut conn = connect(file, Access::Write).map_err(explain)?;
    // File and journal make the project only together. Should they not, closing must leave both as they are.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, left_open).map_err(explain)?;
    conn.pragma_update(None, "query_only", true).map_err(explain)?;
    let version = check::version(&conn, shown, migrations)?;
    check::contents(&conn, shown, migrations, version, depth)?;
    conn.pragma_update(None, "query_only", false).map_err(explain)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(explain)?;
    start_journal(&conn).map_err(explain)?;
    let newest = migrate::newest(migrations);
    if version < newest {
        migrate::back_up(&conn, file, shown, newest)?;
        migrate::apply(&mut conn, migrations, version)
            .map_err(|e| StoreError::explain(shown, "bringing the project up to date", e))?;
    }
    Ok(conn)
}

/// The first way to read the file that works: taking part in its journal, or as a file that nothing changes.
fn open_to_read(file: &Path, shown: &Path) -> Result<(Connection, Access)> {
    let attempt = |access| {
        let conn = connect(file, access)?;
        // Until the file is known to be sound, closing must not write its journal back.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_journal(file))?;
        if access == Access::Read && conn.is_readonly("main")? {
            return Err(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY).into_error());
        }
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok((conn, access))
    };
    let explain = |e| StoreError::explain(shown, "opening the project to read", e);
    match attempt(Access::Read) {
        Err(e) if cannot_write(&e) => {}
        done => return done.map_err(explain),
    }
    // Without a journal nobody has it open, and taking part in one would leave side files that we may not remove.
    if !has_journal(file) {
        return attempt(Access::Immutable).map_err(explain);
    }
    match attempt(Access::ReadOnly) {
        Err(e) if cannot_write(&e) => Err(StoreError::Unfinished(shown.to_owned())),
        done => done.map_err(explain),
    }
}

trait IntoError {
    fn into_error(self) -> rusqlite::Error;
}

impl IntoError for rusqlite::ffi::Error {
    fn into_error(self) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(self, None)
    }
}

fn cannot_write(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as C;
    matches!(error.sqlite_error_code(), Some(C::ReadOnly | C::CannotOpen | C::PermissionDenied))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewJob, NewText};
    use dissensus_files::beside;

    fn add(store: &Store, name: &str, bytes: usize) -> Result<()> {
        let (external_id, body) = (name.to_owned(), "x".repeat(bytes));
        store.write(move |tx| tx.add_text(&NewText { external_id, body, ..NewText::default() }).map(|_| ()))
    }

    /// The migrations of a program to come.
    fn later() -> Vec<&'static str> {
        [MIGRATIONS, &["ALTER TABLE texts ADD COLUMN language TEXT; CREATE TABLE more (a TEXT) STRICT;"]]
            .concat()
    }

    #[test]
    fn an_older_project_is_copied_then_brought_up_to_date() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        add(&store, "t1", 10).unwrap();
        store.close().unwrap();
        assert_eq!(
            Store::open_reader_with(&path, &later(), &CheckRecords::default()).unwrap_err().code(),
            "project-older"
        );
        let store = Store::open_with(&path, &later(), &CheckRecords::default()).unwrap();
        assert_eq!(store.counts().unwrap().texts, 1);
        store.close().unwrap();
        assert_eq!(Store::open(&path).unwrap_err().code(), "project-newer");
        Store::open_with(&path, &later(), &CheckRecords::default()).unwrap().close().unwrap();
        let copy = Store::open(beside(&path, &format!(".before-v{}", MIGRATIONS.len() + 1))).unwrap();
        assert_eq!(copy.counts().unwrap().texts, 1);
        copy.close().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        add(&store, "t1", 10).unwrap();
        store.close().unwrap();
        let broken =
            [MIGRATIONS, &["CREATE TABLE more (a TEXT) STRICT; SELECT nothing FROM nowhere;"]].concat();
        assert!(Store::open_with(&path, &broken, &CheckRecords::default()).is_err());
        let store = Store::open(&path).unwrap();
        assert_eq!(store.counts().unwrap().texts, 1);
    }

    #[test]
    fn a_full_file_is_told_and_what_was_confirmed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        let writer = store.inner.writer.as_ref().unwrap();
        // SQLite's own limit answers as a full disk does.
        writer
            .run(|c| c.pragma_update_and_check(None, "max_page_count", 60, |r| r.get::<_, i64>(0)).unwrap())
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
        let alone = Store::assemble(&path, &path, None, Access::Immutable, &CheckRecords::default()).unwrap();
        assert_eq!(alone.counts().unwrap().texts, 1);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no side files, even while open");
    }

    #[test]
    fn opening_writes_nothing_where_nothing_has_to_be_noted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        Store::create(&path).unwrap().close().unwrap();
        let before = std::fs::read(&path).unwrap();
        let store = Store::open(&path).unwrap();
        store.close().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before);
        let store = Store::open(&path).unwrap();
        let job = NewJob { kind: "encode".into(), title: "all".into(), total: None, started_ms: 0 };
        store.start_job(&job).unwrap();
    }
}
