//! Measures a migration while it runs, and stops it at a request.

use crate::migration_steps::estimate;
use dissensus_domain::Progress;
use rusqlite::{Connection, ErrorCode, ffi};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Instructions of SQLite's virtual machine between two reports, some milliseconds.
const BETWEEN_REPORTS: i32 = 100_000;
/// Instructions for a row, as measured on the migrations to one log. Only decides how evenly the share
/// moves inside a statement.
const A_ROW: u64 = 80;

/// The share of the rows that are done. A statement that takes longer than estimated stays at its end.
pub(crate) struct Meter(Arc<Watched>);

struct Watched {
    progress: Arc<dyn Progress>,
    doing: String,
    /// The estimated rows of each statement.
    rows: Vec<u64>,
    total: u64,
    /// How many statements are done.
    statement: AtomicUsize,
    /// The rows of these statements.
    done: AtomicU64,
    /// Instructions in the current statement.
    instructions: AtomicU64,
}

impl Meter {
    /// Estimates the work and reports from now on.
    pub(crate) fn start(
        conn: &mut Connection,
        pending: &[(usize, Vec<&str>)],
        progress: &Arc<dyn Progress>,
        doing: &str,
    ) -> rusqlite::Result<Self> {
        let statements: Vec<&str> = pending.iter().flat_map(|(_, statements)| statements.clone()).collect();
        let rows = estimate(conn, &statements)?;
        let watched = Arc::new(Watched {
            progress: Arc::clone(progress),
            doing: doing.to_owned(),
            total: rows.iter().sum(),
            rows,
            statement: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            instructions: AtomicU64::new(0),
        });
        let inside = Arc::clone(&watched);
        let step = u64::from(BETWEEN_REPORTS.unsigned_abs());
        conn.progress_handler(
            BETWEEN_REPORTS,
            Some(move || {
                inside.instructions.fetch_add(step, Ordering::Relaxed);
                inside.report();
                inside.progress.cancelled()
            }),
        )?;
        Ok(Self(watched))
    }

    /// Notes that a statement is done.
    ///
    /// # Errors
    /// As if the next statement was interrupted, after a cancel.
    pub(crate) fn advance(&self) -> rusqlite::Result<()> {
        let watched = &self.0;
        let statement = watched.statement.fetch_add(1, Ordering::Relaxed);
        watched.done.fetch_add(watched.rows.get(statement).copied().unwrap_or(0), Ordering::Relaxed);
        watched.instructions.store(0, Ordering::Relaxed);
        watched.report();
        match watched.progress.cancelled() {
            true => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), None)),
            false => Ok(()),
        }
    }

    /// Stops watching the connection.
    pub(crate) fn stop(&self, conn: &mut Connection) -> rusqlite::Result<()> {
        conn.progress_handler(0, None::<fn() -> bool>)
    }
}

impl Watched {
    fn report(&self) {
        let rows = self.rows.get(self.statement.load(Ordering::Relaxed)).copied().unwrap_or(0);
        let inside = (self.instructions.load(Ordering::Relaxed) / A_ROW).min(rows);
        self.progress.report(self.done.load(Ordering::Relaxed) + inside, Some(self.total), &self.doing);
    }
}

/// Whether a statement was interrupted by a cancel.
pub(crate) fn is_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}
