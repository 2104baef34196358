//! Measures a migration while it runs, and stops it at a request.

use crate::migration_steps::estimate;
use crate::reannotations_of_18::{OCCASION_FORMAT, STATEMENTS, WORK};
use dissensus_domain::Progress;
use rusqlite::{Connection, ErrorCode, ffi};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Instructions of SQLite's virtual machine between two looks at whether to stop, less than a millisecond.
const BETWEEN_LOOKS: u32 = 10_000;

/// Reports how many percent of the estimated instructions are done. In a statement that takes more than
/// estimated the share stays where it ends.
pub(crate) struct Meter(Arc<Watched>);

struct Watched {
    progress: Arc<dyn Progress>,
    doing: String,
    /// The estimated instructions of each statement.
    estimates: Vec<u64>,
    total: u64,
    /// How many statements are done.
    statement: AtomicUsize,
    /// The estimated instructions of these statements.
    done: AtomicU64,
    /// Instructions in the current statement.
    inside: AtomicU64,
}

impl Meter {
    /// Estimates the work and reports from now on.
    pub(crate) fn start(
        conn: &mut Connection,
        pending: &[(usize, Vec<&str>)],
        progress: &Arc<dyn Progress>,
        doing: &str,
    ) -> rusqlite::Result<Self> {
        let mut statements: Vec<&str> = Vec::new();
        for (format, of_format) in pending {
            statements.extend(of_format);
            statements.extend((*format == OCCASION_FORMAT).then_some(WORK));
        }
        let mut estimates = estimate(conn, &statements)?;
        for (_, work) in statements.iter().zip(&mut estimates).filter(|(statement, _)| **statement == WORK) {
            *work *= STATEMENTS;
        }
        let watched = Arc::new(Watched {
            progress: Arc::clone(progress),
            doing: doing.to_owned(),
            total: estimates.iter().sum::<u64>().max(1),
            estimates,
            statement: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            inside: AtomicU64::new(0),
        });
        let inside = Arc::clone(&watched);
        conn.progress_handler(
            BETWEEN_LOOKS.cast_signed(),
            Some(move || {
                inside.inside.fetch_add(u64::from(BETWEEN_LOOKS), Ordering::Relaxed);
                inside.report();
                inside.progress.cancelled()
            }),
        )?;
        Ok(Self(watched))
    }

    /// Notes that a statement is done.
    ///
    /// # Errors
    /// As if the next statement was interrupted, after cancellation.
    pub(crate) fn advance(&self) -> rusqlite::Result<()> {
        let watched = &self.0;
        watched.done.fetch_add(watched.estimate(), Ordering::Relaxed);
        watched.statement.fetch_add(1, Ordering::Relaxed);
        watched.inside.store(0, Ordering::Relaxed);
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
    /// The estimate of the current statement; 0 after the last one.
    fn estimate(&self) -> u64 {
        self.estimates.get(self.statement.load(Ordering::Relaxed)).copied().unwrap_or(0)
    }

    fn report(&self) {
        let inside = self.inside.load(Ordering::Relaxed).min(self.estimate());
        let done = self.done.load(Ordering::Relaxed) + inside;
        self.progress.report(done * 100 / self.total, Some(100), &self.doing);
    }
}

/// Whether a statement was interrupted by cancellation.
pub(crate) fn is_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}
