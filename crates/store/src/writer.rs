//! The one thread that owns the connection which writes.

use crate::{Result, StoreError};
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, ThreadId};

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// Hands work to the writing thread, one piece after another in the order it came.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    thread: ThreadId,
    work: Mutex<Option<Sender<Work>>>,
    running: Mutex<Option<JoinHandle<rusqlite::Result<()>>>>,
}

impl Writer {
    /// Starts the thread with its connection; `path` is named in errors.
    pub(crate) fn start(conn: Connection, path: &Path) -> Result<Self> {
        let (work, queue) = channel::<Work>();
        let running = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || serve(conn, &queue))
            .map_err(|e| StoreError::from_io(path, "starting the writer", &e))?;
        Ok(Self {
            path: path.to_owned(),
            thread: running.thread().id(),
            work: Mutex::new(Some(work)),
            running: Mutex::new(Some(running)),
        })
    }

    /// Runs `work` on the writing thread and waits for what it returns. A panic in it goes on in the caller.
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
            // A caller that went away does not need the answer.
            let _ = answer.send(done);
        });
        lock(&self.work).as_ref().ok_or_else(closed)?.send(job).map_err(|_| closed())?;
        match answered.recv() {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(closed()),
        }
    }

    /// Finishes the work handed over so far, writes the journal back into the file and ends the thread.
    pub(crate) fn stop(&self) -> Result<()> {
        drop(lock(&self.work).take());
        let Some(running) = lock(&self.running).take() else { return Ok(()) };
        if std::thread::current().id() == self.thread {
            return Ok(()); // the last handle went away inside a write: the thread ends by itself after it
        }
        match running.join() {
            Ok(ended) => ended.map_err(|e| StoreError::explain(&self.path, "closing the project", e)),
            Err(panic) => resume_unwind(panic),
        }
    }
}

fn serve(mut conn: Connection, queue: &Receiver<Work>) -> rusqlite::Result<()> {
    while let Ok(work) = queue.recv() {
        work(&mut conn);
    }
    conn.flush_prepared_statement_cache();
    // Closing would do it too, but would not say when it fails. Of this file alone: a migration may leave the temporary database
    // open, which cannot be written back and would be reported as busy.
    let written = conn.query_row("PRAGMA main.wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    conn.close().map_err(|(_, e)| e)?;
    written
}

/// A lock whose holder panicked guards nothing that could be half done here.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
