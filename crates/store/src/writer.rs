//! The thread that owns the writing connection, and writes the journal back to the file when
//! writing pauses.
//!
//! SQLite appends changes to a journal (the write-ahead log) next to the file. Copying, mailing or
//! backing up only the file would miss them. The journal is therefore written back to the file if
//! nothing was written for [`PAUSE`], at the latest [`MAX_DELAY`] after the first write that is not
//! in the file, on [`Writer::checkpoint`], and at the end.

use crate::own_file::{AtClosing, OwnFile};
use crate::sync::lock;
use crate::{Result, StoreError};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, ThreadId};
use std::time::{Duration, Instant};

/// The pause in writing after which the journal is written back. The promise to users is two
/// seconds, including the work.
const PAUSE: Duration = Duration::from_millis(1000);

/// Maximum delay before a write is written back to the file if writing never pauses.
const MAX_DELAY: Duration = Duration::from_secs(15);

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// Runs work on the writing thread, in the order of submission.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    own: Arc<OwnFile>,
    thread: ThreadId,
    work: Mutex<Option<Sender<Work>>>,
    running: Mutex<Option<JoinHandle<rusqlite::Result<()>>>>,
}

impl Writer {
    /// Starts the thread with a connection to the file `own`.
    pub(crate) fn start(conn: Connection, own: Arc<OwnFile>) -> Result<Self> {
        let path = own.shown().to_owned();
        let (work, queue) = channel::<Work>();
        let of_thread = Arc::clone(&own);
        let running = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || serve(conn, &queue, &of_thread))
            .map_err(|e| StoreError::from_io(&path, "starting the writer", &e))?;
        Ok(Self {
            path,
            own,
            thread: running.thread().id(),
            work: Mutex::new(Some(work)),
            running: Mutex::new(Some(running)),
        })
    }

    /// Runs `work` on the writing thread and waits for its result. A panic is propagated to the
    /// caller.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<T> {
        if std::thread::current().id() == self.thread {
            return Err(StoreError::WriteInsideWrite);
        }
        let closed = || StoreError::Closed(self.path.clone());
        let (answer, answered) = sync_channel(1);
        let job: Work = Box::new(move |conn| {
            let done = catch_unwind(AssertUnwindSafe(|| work(conn)));
            // The caller waits for it, so this only fails if the caller's thread has died.
            if answer.send(done).is_err() {
                tracing::warn!("nobody waits for a write that was done");
            }
        });
        lock(&self.work).as_ref().ok_or_else(closed)?.send(job).map_err(|_| closed())?;
        match answered.recv() {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(closed()),
        }
    }

    /// Writes the journal back to the file. Returns false if an older reader still needs a part of
    /// the journal; that is written back once the reader has ended.
    pub(crate) fn checkpoint(&self) -> Result<bool> {
        let own = Arc::clone(&self.own);
        let done = self.run(move |conn| {
            own.must_be_written_in_place()?;
            Ok::<_, StoreError>(write_back(conn, &own))
        })??;
        done.map_err(|e| StoreError::explain(&self.path, "bringing the journal into the file", e))
    }

    /// Finishes pending work, writes the journal back to the file and ends the thread.
    pub(crate) fn stop(&self) -> Result<()> {
        drop(lock(&self.work).take());
        let Some(running) = lock(&self.running).take() else { return Ok(()) };
        if std::thread::current().id() == self.thread {
            return Ok(()); // the last handle was dropped inside a write, after which the thread ends by itself
        }
        match running.join() {
            Ok(ended) => ended.map_err(|e| StoreError::explain(&self.path, "closing the project", e)),
            Err(panic) => resume_unwind(panic),
        }
    }
}

fn serve(mut conn: Connection, queue: &Receiver<Work>, own: &OwnFile) -> rusqlite::Result<()> {
    // Time of the first write that may not be in the file, and of the last write.
    let mut waiting: Option<(Instant, Instant)> = None;
    loop {
        let work = match waiting {
            None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some((first, last)) => {
                let due = (last + PAUSE).min(first + MAX_DELAY);
                queue.recv_timeout(due.saturating_duration_since(Instant::now()))
            }
        };
        let now = match work {
            Ok(work) => {
                work(&mut conn);
                Instant::now()
            }
            Err(RecvTimeoutError::Timeout) => {
                let whole = try_write_back(&conn, own);
                let now = Instant::now();
                waiting = (!whole).then_some((now, now));
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let first = waiting.map_or(now, |(first, _)| first);
        waiting = Some((first, now));
        if now >= first + MAX_DELAY || own.journal_is_long() {
            let whole = try_write_back(&conn, own);
            let now = Instant::now();
            waiting = (!whole).then_some((now, now));
        }
    }
    conn.flush_prepared_statement_cache();
    let in_place = own.must_be_written_in_place().is_ok();
    // SQLite deletes the journal by name, which may be that of another file by now.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !in_place)?;
    if own.at_closing() != AtClosing::BringIn {
        tracing::warn!("the journal of a project that was moved or replaced is not brought into it");
        return conn.close().map_err(|(_, e)| e);
    }
    // Closing would do this too, but would not report a failure. Only for this file: a migration
    // may leave the temporary database open, which cannot be written back and would be reported as
    // busy.
    let written = conn.query_row("PRAGMA main.wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    conn.close().map_err(|(_, e)| e)?;
    written
}

/// Writes the journal back to the file as far as no reader still needs the older pages, without
/// waiting. Returns whether all of it is in the file.
fn write_back(conn: &Connection, own: &OwnFile) -> rusqlite::Result<bool> {
    // Not TRUNCATE, which would wait for readers and block other writes meanwhile. The next write
    // reuses a journal that was completely written back from its beginning all the same.
    let done = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (busy, frames, in_file): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(!busy && frames == in_file) // both are -1 for a rollback journal, which has nothing to write back
    });
    own.journal_written();
    done
}

/// Like [`write_back`], without a caller. An I/O error is not reported: what was confirmed is
/// safe in the journal, and the next attempt, or closing, will report it.
fn try_write_back(conn: &Connection, own: &OwnFile) -> bool {
    if let Err(e) = own.must_be_written_in_place() {
        tracing::debug!(code = e.code(), "the journal is not brought into a file that was moved or replaced");
        return false;
    }
    write_back(conn, own).unwrap_or_else(|e| {
        tracing::warn!(sqlite = ?e.sqlite_error_code(), "the journal was not brought into the file; it is tried again");
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    /// Collects log events, one line each.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<(Level, String)>>>);

    impl Subscriber for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            struct Words(String);
            impl Visit for Words {
                fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                    self.0.push_str(&format!("{field}={value:?} "));
                }
            }
            let mut words = Words(String::new());
            event.record(&mut words);
            lock(&self.0).push((*event.metadata().level(), words.0));
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn failed_checkpoint_is_logged_and_retried() {
        let folder = tempfile::tempdir().unwrap();
        let path = dissensus_files::real_path(folder.path()).unwrap().join("p.db");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(
            "PRAGMA journal_mode = WAL; CREATE TABLE t (body TEXT); CREATE TABLE settings (key TEXT, value TEXT)",
        )
        .unwrap();
        let own = OwnFile::new(&path, &path).unwrap();
        own.begin_to_write(&conn).unwrap();
        let log = Lines::default();
        let attempt = || tracing::subscriber::with_default(log.clone(), || try_write_back(&conn, &own));
        // SQLite refuses a checkpoint on a connection in the middle of a write.
        conn.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES ('a secret')").unwrap();
        assert!(!attempt());
        {
            let lines = lock(&log.0);
            let [(level, line)] = lines.as_slice() else { panic!("{lines:?}") };
            assert_eq!(*level, Level::WARN);
            assert!(
                line.contains("was not brought into the file") && line.contains("DatabaseLocked"),
                "{line}"
            );
            assert!(!line.contains("secret"), "{line}");
        }
        conn.execute_batch("COMMIT").unwrap();
        assert!(attempt());
        assert_eq!(lock(&log.0).len(), 1, "nothing to tell of one that succeeds");
    }
}
