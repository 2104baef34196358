//! Connections that read, lent out one at a time.

use crate::connect::{Access, connect};
use crate::writer::lock;
use crate::{Result, StoreError};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

/// How many idle connections are kept. More are opened when more are needed at once.
const KEPT: usize = 4;

/// Lends connections.
#[derive(Debug)]
pub(crate) struct Readers {
    file: PathBuf,
    shown: PathBuf,
    access: Access,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Connection>,
    lent: usize,
    closed: bool,
}

impl Readers {
    pub(crate) fn new(file: PathBuf, shown: PathBuf, access: Access) -> Self {
        Self { file, shown, access, state: Mutex::default(), returned: Condvar::new() }
    }

    /// Runs `f` with a connection. A second read inside the first one gets a connection of its own.
    pub(crate) fn with<T>(&self, f: impl FnOnce(&Connection) -> T) -> Result<T> {
        let loan = self.lend()?;
        Ok(match &loan.conn {
            Some(conn) => f(conn),
            None => return Err(StoreError::Closed(self.shown.clone())),
        })
    }

    fn lend(&self) -> Result<Loan<'_>> {
        let idle = {
            let mut state = lock(&self.state);
            if state.closed {
                return Err(StoreError::Closed(self.shown.clone()));
            }
            state.lent += 1;
            state.idle.pop()
        };
        // From here on the loan gives back its place, whatever happens.
        let mut loan = Loan { readers: self, conn: idle };
        if loan.conn.is_none() {
            loan.conn = Some(
                connect(&self.file, self.access)
                    .map_err(|e| StoreError::explain(&self.shown, "opening the project to read", e))?,
            );
        }
        Ok(loan)
    }

    /// Waits for the reads under way, then closes all connections; later reads fail.
    pub(crate) fn stop(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        while state.lent > 0 {
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.idle.clear();
    }
}

struct Loan<'a> {
    readers: &'a Readers,
    conn: Option<Connection>,
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.readers.state);
        state.lent -= 1;
        if let Some(conn) = self.conn.take()
            && !state.closed
            && state.idle.len() < KEPT
        {
            state.idle.push(conn);
        }
        drop(state);
        self.readers.returned.notify_all();
    }
}
