//! Creating and opening projects. A file is checked before anything in it is changed.

use crate::check::{self, Depth};
use crate::connect::{Access, connect, has_journal, leave_alone, start_journal};
use crate::copy_pages::copy_pages;
use crate::journal;
use crate::journal_mark::{self, Belongs, Mark};
use crate::lock::Lock;
use crate::migrate::{self, MIGRATIONS};
use crate::migration_meter::is_interrupted;
use crate::own_file::OwnFile;
use crate::records::CheckRecords;
use crate::side_files::{self, ROLLBACK};
use crate::store::{OpenToWrite, Store, place_for};
use crate::{Result, StoreError, rollback};
use dissensus_domain::{Progress, ProjectId, Silent};
use dissensus_files::AtomicFile;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Store {
    /// Creates a project at `path` and opens it.
    ///
    /// # Errors
    /// [`StoreError::Exists`] if `path` exists; the folder does not exist or is read-only; or the
    /// disk is full.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_with(path.as_ref(), MIGRATIONS, &CheckRecords::default(), None)
    }

    /// Creates an empty copy of a project at `path` and opens it. Its contents will belong to that
    /// project.
    ///
    /// # Errors
    /// Like [`Store::create`].
    pub fn create_copy_of(project: ProjectId, path: impl AsRef<Path>) -> Result<Self> {
        Self::create_with(path.as_ref(), MIGRATIONS, &CheckRecords::default(), Some(project))
    }

    /// Like [`Store::create`], and records the project's state in `records` when it is closed.
    pub fn create_recorded(path: impl AsRef<Path>, records: &CheckRecords) -> Result<Self> {
        Self::create_with(path.as_ref(), MIGRATIONS, records, None)
    }

    /// Opens the project at `path` for reading and writing. A project of an older format is
    /// migrated after copying it to `NAME.dissensus.before-vN`. Jobs that were running when the
    /// program last ended are marked as interrupted.
    ///
    /// # Errors
    /// Every reason why the project cannot be opened has its own variant. The file is then
    /// unchanged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_recorded(path, &CheckRecords::default(), &unwatched())
    }

    /// Like [`Store::open`], but skips the check of a large file that `records` lists as sound, and
    /// reports to `progress` while a project of an older format is copied and migrated.
    ///
    /// # Errors
    /// Like [`Store::open`]; [`StoreError::UpgradeCancelled`] if `progress` cancels the copy or the
    /// migration, and nothing of either is left.
    pub fn open_recorded(
        path: impl AsRef<Path>,
        records: &CheckRecords,
        progress: &Arc<dyn Progress>,
    ) -> Result<Self> {
        Self::open_with(path.as_ref(), MIGRATIONS, records, progress)
    }

    /// Opens the project at `path` for reading, even while a window has it open, or on read-only
    /// media.
    ///
    /// # Errors
    /// Like [`Store::open`], but never because the project is locked or read-only.
    /// [`StoreError::Older`] if the project has an older format and must be opened for writing
    /// once.
    pub fn open_reader(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_reader_with(path.as_ref(), MIGRATIONS, &CheckRecords::default())
    }

    /// Like [`Store::open_reader`], but skips the check of a large file that `records` lists as
    /// sound.
    pub fn open_reader_recorded(path: impl AsRef<Path>, records: &CheckRecords) -> Result<Self> {
        Self::open_reader_with(path.as_ref(), MIGRATIONS, records)
    }

    pub(crate) fn create_with(
        path: &Path,
        migrations: &[&str],
        records: &CheckRecords,
        copy_of: Option<ProjectId>,
    ) -> Result<Self> {
        if std::fs::symlink_metadata(path).is_ok() {
            return Err(StoreError::Exists(path.to_owned()));
        }
        let file = place_for(path)?;
        let mut lock = Lock::take(&file, path)?;
        // An existing journal does not belong to a file that is created now.
        let foreign_journal =
            if has_journal(&file) { Some(side_files::set_aside(&file, path)?) } else { None };
        let io = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::AlreadyExists => StoreError::Exists(path.to_owned()),
            _ => StoreError::from_io(path, "making the project", &e),
        };
        // The file has a temporary name until it is complete: a program that crashes meanwhile
        // leaves no journal that would empty a file of this name.
        let part = AtomicFile::create(&file).map_err(io)?;
        fill(part.temporary_path(), path, migrations, copy_of)?;
        part.finish_new().map_err(io)?;
        let open = || {
            let own = OwnFile::new(&file, path)?;
            if let Some(folder) = records.locks() {
                lock.lock_file(own.id(), folder, &file, path)?;
            }
            let conn = open_new(&file, path)?;
            own.begin_to_write(&conn)?;
            lock.note(&own.opening());
            Self::assemble(own, Some(OpenToWrite { conn, lock, foreign_journal }), Access::Read, records)
        };
        let made = open();
        // Created by us, and nobody else can have written to it.
        if made.is_err()
            && let Err(e) = std::fs::remove_file(&file)
        {
            tracing::warn!(kind = %e.kind(), "a project that could not be opened when it was made leaves an empty one");
        }
        made
    }

    pub(crate) fn open_with(
        path: &Path,
        migrations: &[&str],
        records: &CheckRecords,
        progress: &Arc<dyn Progress>,
    ) -> Result<Self> {
        let file = check::locate(path)?;
        check::header(&file, path, migrations)?;
        if check::is_read_only(&file, path)? {
            return Err(StoreError::ReadOnly(path.to_owned()));
        }
        let mut lock = Lock::take(&file, path)?;
        let own = OwnFile::new(&file, path)?;
        if let Some(folder) = records.locks() {
            lock.lock_file(own.id(), folder, &file, path)?;
        }
        journal::fetch(&file, path, lock.left_by_file())?;
        let records = &match depth_for(&file, records) {
            Depth::Schema => records.keeping_time(),
            Depth::Contents(_) => records.clone(),
        };
        let (conn, foreign_journal) = open_to_write(&own, &lock, migrations, records, progress)?;
        own.begin_to_write(&conn)?;
        lock.note(&own.opening());
        let open = OpenToWrite { conn, lock, foreign_journal };
        let store = Self::assemble(own, Some(open), Access::Read, records)?;
        store.without_secret(Self::interrupt_running)?;
        Ok(store)
    }

    /// Copies a project of an earlier format, including its journal, to the new file `target`,
    /// where it can be migrated. The project itself is unchanged.
    ///
    /// # Errors
    /// Like [`Store::open_reader_recorded`], except for the format; or `target` exists or cannot be
    /// written.
    pub fn copy_of_earlier(path: &Path, target: &Path, records: &CheckRecords) -> Result<()> {
        let (own, access, _) = read_checked(path, MIGRATIONS, records)?;
        std::fs::File::create_new(target)
            .map_err(|e| StoreError::from_io(target, "copying the project", &e))?;
        let copied = connect(own.file(), access).and_then(|conn| {
            let mark = |copy: &Connection| match journal_mark::mark(copy).unwrap_or_default() {
                Some(_) => Mark::first(None).write(copy),
                None => Ok(()),
            };
            let copied = copy_pages(&conn, target, mark, &mut |_, _| ControlFlow::Continue(()));
            leave_alone(conn);
            copied
        });
        copied.map(drop).map_err(|e| StoreError::explain(path, "copying the project", e))?;
        own.must_have_its_name()
    }

    pub(crate) fn open_reader_with(path: &Path, migrations: &[&str], records: &CheckRecords) -> Result<Self> {
        let (own, access, version) = read_checked(path, migrations, records)?;
        let known = migrate::newest(migrations);
        if version < known {
            return Err(StoreError::Older { path: path.to_owned(), found: version, known });
        }
        Self::assemble(own, None, access, records)
    }
}

/// Checks a file that is to be opened read-only. Returns how it can be read, and its format.
fn read_checked(path: &Path, migrations: &[&str], records: &CheckRecords) -> Result<(OwnFile, Access, u32)> {
    let file = check::locate(path)?;
    check::header(&file, path, migrations)?;
    let depth = depth_for(&file, records);
    let own = OwnFile::new(&file, path)?;
    journal::must_be_readable(&file, path, records.locks())?;
    // Reading never rolls the file back, even if that is due: a program that writes may yet decide
    // otherwise.
    if rollback::is_next_to(&file) && !journal::is_held(&file) {
        let check = |conn: &Connection| check_whole(conn, path, migrations, records);
        return Err(match rollback::judge(&file, path, &check)? {
            Belongs::Yes => StoreError::Unfinished(path.to_owned()),
            _ => StoreError::ForeignJournal(path.to_owned()),
        });
    }
    let sound_alone = || is_sound_alone(&file, path, migrations, records);
    let mut belongs = Belongs::Unknown;
    let mut read = || {
        let (conn, access) = open_to_read(&file, path)?;
        belongs = journal::must_fit(&file, path, &conn, sound_alone)?;
        let version = check::version(&conn, path, migrations)?;
        check::contents(&conn, path, migrations, version, depth)?;
        Ok((version, access))
    };
    let (version, access) = match read() {
        Err(StoreError::Damaged { .. } | StoreError::Altered { .. } | StoreError::NotOurs(_))
            if has_journal(&file)
                && belongs != Belongs::Yes
                && sound_alone()
                && !journal::is_written_to(&file, path)? =>
        {
            // File and journal together are not a sound project, but the file without the journal
            // is.
            return Err(StoreError::ForeignJournal(path.to_owned()));
        }
        found => found?,
    };
    own.must_have_its_name()?;
    Ok((own, access, version))
}

/// Creates the tables in the empty file.
fn fill(file: &Path, shown: &Path, migrations: &[&str], copy_of: Option<ProjectId>) -> Result<()> {
    let make = || {
        let mut conn = connect(file, Access::Write)?;
        migrate::apply_as(&mut conn, migrations, 0, copy_of, &Mark::first(None), (&unwatched(), ""))?;
        // Only now, since the first page that identifies the file must be in the file itself, not
        // in the journal.
        start_journal(&conn)?;
        conn.close().map_err(|(_, e)| e)
    };
    make().map_err(|e| StoreError::explain(shown, "making the project", e))
}

fn open_new(file: &Path, shown: &Path) -> Result<Connection> {
    let open = || {
        let conn = connect(file, Access::Write)?;
        start_journal(&conn)?;
        Ok(conn)
    };
    open().map_err(|e| StoreError::explain(shown, "making the project", e))
}

/// How much of a file is checked. If there is a journal, the file's own times are not conclusive.
fn depth_for(file: &Path, records: &CheckRecords) -> Depth {
    if !has_journal(file) && records.knows(file) { Depth::Schema } else { Depth::Contents(records.whole()) }
}

/// Checks the locked file before anything in it is changed, then migrates it. A journal that
/// belongs to another file is first put aside, and its new name is returned.
fn open_to_write(
    own: &OwnFile,
    lock: &Lock,
    migrations: &[&str],
    records: &CheckRecords,
    progress: &Arc<dyn Progress>,
) -> Result<(Connection, Option<PathBuf>)> {
    let (file, shown) = (own.file(), own.shown());
    let explain = |e| StoreError::explain(shown, "opening the project", e);
    let sound_alone = || is_sound_alone(file, shown, migrations, records);
    let put_aside = || -> Result<Option<PathBuf>> {
        own.must_have_its_name()?;
        side_files::set_aside(file, shown).map(Some)
    };
    let left_open = has_journal(file);
    let mut aside = None;
    if left_open && journal::by_identity(file, lock.is_left_over()) == Belongs::No && sound_alone() {
        aside = put_aside()?;
    }
    if rollback::is_next_to(file) {
        own.must_have_its_name()?;
        let check = |conn: &Connection| check_whole(conn, shown, migrations, records);
        if rollback::judge(file, shown, &check)? != Belongs::Yes {
            own.must_have_its_name()?;
            aside = Some(side_files::set_aside_with_endings(file, shown, &[ROLLBACK])?);
        }
    }
    let (mut conn, version) = match checked(own, migrations, records) {
        Ok(found) => found,
        Err((error, belongs)) => {
            // File and journal together are not a sound project.
            if !has_journal(file) || belongs == Belongs::Yes || !sound_alone() {
                return Err(error);
            }
            aside = put_aside()?;
            checked(own, migrations, records).map_err(|(e, _)| e)?
        }
    };
    start_journal(&conn).map_err(explain)?;
    if version < migrate::newest(migrations) {
        upgrade(own, &mut conn, migrations, version, progress).map_err(|e| match (e, &aside) {
            (StoreError::UpgradeCancelled(path), Some(journal)) => {
                StoreError::UpgradeCancelledAside { path, journal: journal.clone() }
            }
            (e, _) => e,
        })?;
    }
    Ok((conn, aside))
}

/// Copies a checked project of format `version` and migrates it. If that fails or is cancelled, and the
/// file is certainly as it was, the copy is removed: nothing differs from it, and retries would add more.
fn upgrade(
    own: &OwnFile,
    conn: &mut Connection,
    migrations: &[&str],
    version: u32,
    progress: &Arc<dyn Progress>,
) -> Result<()> {
    let (file, shown) = (own.file(), own.shown());
    let newest = migrate::newest(migrations);
    let copy = match migrate::back_up(conn, file, shown, &format!("v{newest}"), progress.as_ref()) {
        Err(StoreError::CopyCancelled(path)) => return Err(StoreError::UpgradeCancelled(path)),
        copied => copied?,
    };
    let mark = own.mark_of_migration(conn);
    let doing = format!("upgrading {} from format {version} to {newest}", migrate::name(shown));
    let Err(e) = migrate::apply_as(conn, migrations, version, None, &mark, (progress, &doing)) else {
        return Ok(());
    };
    let failed = |e| StoreError::explain(shown, "bringing the project up to date", e);
    if !is_rolled_back(conn, &e) {
        return Err(failed(e));
    }
    // If another file has this name by now, the copy may be all that is left of this one.
    own.must_have_its_name()?;
    if let Err(e) = std::fs::remove_file(&copy) {
        tracing::warn!(kind = %e.kind(), "the copy of an upgrade that did not happen is left");
    }
    Err(if is_interrupted(&e) { StoreError::UpgradeCancelled(shown.to_owned()) } else { failed(e) })
}

/// Whether nothing of a migration that ended with this error is in the file. After an I/O error it is
/// unknown what was written.
fn is_rolled_back(conn: &Connection, error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as C;
    conn.is_autocommit()
        && !matches!(error.sqlite_error_code(), Some(C::SystemIoFailure | C::DatabaseCorrupt))
}

/// For callers that neither show progress nor cancel.
fn unwatched() -> Arc<dyn Progress> {
    Arc::new(Silent)
}

/// Whether the file without its journal is a sound project.
fn is_sound_alone(file: &Path, shown: &Path, migrations: &[&str], records: &CheckRecords) -> bool {
    let check = || -> Result<()> {
        let conn = connect(file, Access::Immutable)
            .map_err(|e| StoreError::explain(shown, "opening the project", e))?;
        check_whole(&conn, shown, migrations, records)
    };
    check().is_ok()
}

/// Checks that the database visible to `conn` is a project.
fn check_whole(conn: &Connection, shown: &Path, migrations: &[&str], records: &CheckRecords) -> Result<()> {
    let version = check::version(conn, shown, migrations)?;
    check::contents(conn, shown, migrations, version, Depth::Contents(records.whole()))
}

/// Opens a connection for writing to a file that passed the check, and returns its version. The
/// check uses the same connection, which evaluates the CHECK constraints; until it passes, nothing
/// can be written through it.
fn checked(
    own: &OwnFile,
    migrations: &[&str],
    records: &CheckRecords,
) -> std::result::Result<(Connection, u32), (StoreError, Belongs)> {
    let (file, shown) = (own.file(), own.shown());
    let unknown = |e| (e, Belongs::Unknown);
    let explain = |e| unknown(StoreError::explain(shown, "opening the project", e));
    let depth = depth_for(file, records);
    let left_open = has_journal(file);
    let conn = connect(file, Access::Write).map_err(explain)?;
    // The project consists of file and journal together. If they do not match, closing must leave
    // both unchanged.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, left_open).map_err(explain)?;
    own.must_have_its_name().map_err(unknown)?;
    conn.pragma_update(None, "query_only", true).map_err(explain)?;
    let belongs = if left_open { journal::by_marks(file, &conn) } else { Belongs::Unknown };
    // A file that is not sound by itself was partially written, for example because of a power cut
    // in a checkpoint, and is not conclusive.
    if belongs == Belongs::No && is_sound_alone(file, shown, migrations, records) {
        return Err((StoreError::ForeignJournal(shown.to_owned()), belongs));
    }
    let version = check::version(&conn, shown, migrations).map_err(|e| (e, belongs))?;
    check::contents(&conn, shown, migrations, version, depth).map_err(|e| (e, belongs))?;
    conn.pragma_update(None, "query_only", false).map_err(explain)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(explain)?;
    Ok((conn, version))
}

/// The first way of reading the file that works: with its journal, or as an immutable file.
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
    // A connection that can write would roll the file back if the program that writes to it crashed
    // at this moment.
    let first = if rollback::is_next_to(file) { Access::ReadOnly } else { Access::Read };
    match attempt(first) {
        Err(e) if cannot_write(&e) => {}
        done => return done.map_err(explain),
    }
    // Without a journal nobody has the file open, and using one would leave side files that we may
    // not be able to remove.
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
    use dissensus_files::with_suffix;

    fn add(store: &Store, name: &str, bytes: usize) -> Result<()> {
        let (external_id, body) = (name.to_owned(), "x".repeat(bytes));
        store.write(move |tx| tx.add_text(&NewText { external_id, body, ..NewText::default() }).map(|_| ()))
    }

    /// The migrations of a future version of the program.
    fn later() -> Vec<&'static str> {
        [MIGRATIONS, &["ALTER TABLE texts ADD COLUMN language TEXT; CREATE TABLE more (a TEXT) STRICT;"]]
            .concat()
    }

    #[test]
    fn older_project_is_copied_and_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        add(&store, "t1", 10).unwrap();
        store.close().unwrap();
        assert_eq!(
            Store::open_reader_with(&path, &later(), &CheckRecords::default()).unwrap_err().code(),
            "project-older"
        );
        let store = Store::open_with(&path, &later(), &CheckRecords::default(), &unwatched()).unwrap();
        assert_eq!(store.counts().unwrap().texts, 1);
        store.close().unwrap();
        assert_eq!(Store::open(&path).unwrap_err().code(), "project-newer");
        Store::open_with(&path, &later(), &CheckRecords::default(), &unwatched()).unwrap().close().unwrap();
        let copy = Store::open(with_suffix(&path, &format!(".before-v{}", MIGRATIONS.len() + 1))).unwrap();
        assert_eq!(copy.counts().unwrap().texts, 1);
        copy.close().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn failed_migration_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        let store = Store::create(&path).unwrap();
        add(&store, "t1", 10).unwrap();
        store.close().unwrap();
        let broken =
            [MIGRATIONS, &["CREATE TABLE more (a TEXT) STRICT; SELECT nothing FROM nowhere;"]].concat();
        for _ in 0..3 {
            assert!(Store::open_with(&path, &broken, &CheckRecords::default(), &unwatched()).is_err());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no copy is left");
        let store = Store::open(&path).unwrap();
        assert_eq!(store.counts().unwrap().texts, 1);
    }

    #[test]
    fn opening_writes_only_if_needed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        Store::create(&path).unwrap().close().unwrap();
        let before = std::fs::read(&path).unwrap();
        let store = Store::open(&path).unwrap();
        store.close().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before);
        let store = Store::open(&path).unwrap();
        let job = NewJob {
            kind: dissensus_domain::JobKind::Encode,
            title: "all".into(),
            total: None,
            started_ms: 0,
        };
        store.start_job(&job).unwrap();
    }
}
