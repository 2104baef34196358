//! A pool of read-only connections.

use crate::connect::leave_alone;
use crate::connect::{Access, connect, has_journal};
use crate::own_file::OwnFile;
use crate::sync::lock;
use crate::{Result, StoreError};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of idle connections. More are opened if more are needed at once.
const KEPT: usize = 4;

/// How long a read waits for a connection if no new one can be opened, because the file was moved
/// or replaced.
const WAIT: Duration = Duration::from_secs(5);

/// Lends connections.
#[derive(Debug)]
pub(crate) struct Readers {
    own: Arc<OwnFile>,
    access: Access,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Connection>,
    lent: usize,
    closed: bool,
    /// How often the pool was emptied to open new connections.
    renewed: u64,
}

impl Readers {
    pub(crate) fn new(own: Arc<OwnFile>, access: Access) -> Self {
        Self { own, access, state: Mutex::default(), returned: Condvar::new() }
    }

    /// Runs `f` with a connection. Nested reads get separate connections.
    pub(crate) fn with<T>(&self, f: impl FnOnce(&Connection) -> T) -> Result<T> {
        let loan = self.lend()?;
        Ok(match &loan.conn {
            Some(conn) => f(conn),
            None => return Err(StoreError::Closed(self.own.shown().to_owned())),
        })
    }

    fn lend(&self) -> Result<Loan<'_>> {
        let (idle, renewed) = {
            let mut state = lock(&self.state);
            if state.closed {
                return Err(StoreError::Closed(self.own.shown().to_owned()));
            }
            state.lent += 1;
            (state.idle.pop(), state.renewed)
        };
        // From here on the loan returns its slot on drop, whatever happens.
        let mut loan = Loan { readers: self, conn: idle, renewed };
        if loan.conn.is_none() {
            loan.conn = Some(match self.connect() {
                Err(e @ StoreError::Displaced { .. }) => self.wait_for_one(e)?,
                made => made?,
            });
        }
        Ok(loan)
    }

    /// Waits until another read returns its connection, which refers to the file that is still
    /// open; fails with `error` if none is returned.
    fn wait_for_one(&self, error: StoreError) -> Result<Connection> {
        let state = lock(&self.state);
        let none = |state: &mut State| state.idle.is_empty() && state.lent > 1 && !state.closed;
        let waited = self.returned.wait_timeout_while(state, WAIT, none);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.idle.pop().ok_or(error)
    }

    /// A dedicated connection, to be closed by [`Readers::leave`].
    pub(crate) fn connect(&self) -> Result<Connection> {
        // If a journal has appeared, the file without it is no longer the complete project.
        let access = match self.reads_alone() && has_journal(self.own.file()) {
            true => Access::ReadOnly,
            false => self.access,
        };
        // Another file under the same name would be read with the journal of this one.
        self.own.must_have_its_name()?;
        let conn = connect(self.own.file(), access)
            .map_err(|e| StoreError::explain(self.own.shown(), "opening the project to read", e))?;
        match self.own.must_have_its_name() {
            Ok(()) => Ok(conn),
            Err(e) => {
                leave_alone(conn);
                Err(e)
            }
        }
    }

    /// Whether the file is read as immutable.
    pub(crate) fn reads_alone(&self) -> bool {
        self.access == Access::Immutable
    }

    /// Uses new connections for all later reads.
    pub(crate) fn renew(&self) {
        let mut state = lock(&self.state);
        state.renewed += 1;
        state.idle.clear();
    }

    /// Call this before a connection is closed. The journal of a file that was moved or replaced is
    /// left in place. A journal that another program left is written back by the next program that
    /// writes to the file, not by reading; an empty one is deleted with the last reader.
    pub(crate) fn leave(&self, conn: &Connection) {
        let left = has_journal(self.own.file()) || self.own.must_have_its_name().is_err();
        let left = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, left);
        if let Err(error) = left {
            tracing::warn!(%error, "a connection that reads may bring the journal into the file");
        }
    }

    /// Waits for current reads to end, then closes all connections; later reads fail.
    pub(crate) fn stop(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        while state.lent > 0 {
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        for conn in state.idle.drain(..) {
            self.leave(&conn);
        }
    }
}

struct Loan<'a> {
    readers: &'a Readers,
    conn: Option<Connection>,
    renewed: u64,
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.readers.state);
        state.lent -= 1;
        if let Some(conn) = self.conn.take() {
            if !state.closed && state.idle.len() < KEPT && state.renewed == self.renewed {
                state.idle.push(conn);
            } else {
                self.readers.leave(&conn);
            }
        }
        drop(state);
        self.readers.returned.notify_all();
    }
}
