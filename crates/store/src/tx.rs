//! A transaction in progress on the writing thread.

use crate::appending::Appending;
use crate::{Result, StoreError};
use rusqlite::{Connection, Params, Row};
use std::path::Path;

/// Writes in one transaction, given to the closure of [`crate::Store::write`]. Its methods are in
/// the modules of the data that they write: texts, annotators, questions, labels, ... Prepared
/// statements are cached.
#[derive(Debug)]
pub struct WriteTx<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) path: &'a Path,
    pub(crate) appending: &'a Appending,
}

impl WriteTx<'_> {
    /// Runs one statement, prepared and cached.
    pub(crate) fn run(&self, sql: &str, params: impl Params) -> rusqlite::Result<usize> {
        self.conn.prepare_cached(sql)?.execute(params)
    }

    /// Runs an insertion and returns the new row id.
    pub(crate) fn insert(&self, sql: &str, params: impl Params) -> rusqlite::Result<u32> {
        self.run(sql, params)?;
        let row = self.conn.last_insert_rowid();
        u32::try_from(row).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, row))
    }

    /// The first row of a query, if any.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        first(self.conn, sql, params, read).map_err(|e| self.explain("reading", e))
    }

    pub(crate) fn explain(&self, doing: &'static str, error: rusqlite::Error) -> StoreError {
        StoreError::explain(self.path, doing, error)
    }
}

/// The first row of a query, if any.
pub(crate) fn first<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    use rusqlite::OptionalExtension;
    conn.prepare_cached(sql)?.query_row(params, read).optional()
}

pub(crate) fn all<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    conn.prepare_cached(sql)?.query_map(params, read)?.collect()
}
