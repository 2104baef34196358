//! Opening connections: the same careful settings for every one of them.

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// How long a statement waits for another program that holds the file.
const BUSY: Duration = Duration::from_secs(5);

/// What a connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read and write.
    Write,
    /// Read; the connection could write its own side files, so that it can take part in the journal and clean up.
    Read,
    /// Read a file that cannot be written, together with the journal beside it.
    ReadOnly,
    /// Read the file alone, as if nothing could change it: takes no lock and makes no side file.
    Immutable,
}

/// Opens a connection to the existing file `path`.
pub(crate) fn connect(path: &Path, access: Access) -> rusqlite::Result<Connection> {
    let base = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE;
    let conn = match access {
        Access::Write | Access::Read => {
            Connection::open_with_flags(path, base | OpenFlags::SQLITE_OPEN_READ_WRITE)?
        }
        Access::ReadOnly => Connection::open_with_flags(path, base | OpenFlags::SQLITE_OPEN_READ_ONLY)?,
        Access::Immutable => Connection::open_with_flags(
            immutable_uri(path)?,
            base | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        )?,
    };
    harden(&conn)?;
    if access != Access::Write {
        conn.pragma_update(None, "query_only", true)?;
    }
    Ok(conn)
}

/// Settings that touch no page of the file, so they come first: the file may be anybody's.
fn harden(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY)?;
    conn.set_prepared_statement_cache_capacity(128);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // One plan a statement: or SQLite plans again for each new value that it compares with a partial index.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, 512 << 20), // the largest value: heads of very many annotators
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (Limit::SQLITE_LIMIT_COLUMN, 100),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 10),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 10),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 100),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        conn.set_limit(limit, most)?;
    }
    conn.pragma_update(None, "cell_size_check", true)?;
    // Or INSERT OR REPLACE would delete rows without asking the triggers that forbid it.
    conn.pragma_update(None, "recursive_triggers", true)
}

/// Prepares a connection of the writer: journal, and a sync for every commit. Writes to the file.
pub(crate) fn start_journal(conn: &Connection) -> rusqlite::Result<()> {
    let mode: String = conn.pragma_update_and_check(None, "journal_mode", "WAL", |r| r.get(0))?;
    if mode != "wal" {
        // Some network file systems have no shared memory; the old journal is as safe, readers only wait more.
        conn.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    }
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "cache_size", -32_768)?; // KiB
    // A journal grown by an import shrinks again at the next checkpoint.
    conn.pragma_update_and_check(None, "journal_size_limit", 16 << 20, |_| Ok(()))
}

/// The file as a URI that says nothing can change it.
fn immutable_uri(path: &Path) -> rusqlite::Result<String> {
    let invalid = || rusqlite::Error::InvalidPath(path.to_owned());
    let full = std::path::absolute(path).map_err(|_| invalid())?;
    let mut uri = String::from("file:");
    if cfg!(windows) {
        uri.push_str("///");
    }
    for &byte in path_bytes(&full).ok_or_else(invalid)?.iter() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b':' if cfg!(windows) => uri.push(':'),
            b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            b if b.is_ascii_alphanumeric() => uri.push(char::from(b)),
            b => uri.push_str(&format!("%{b:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    Ok(uri)
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Option<&[u8]> {
    use std::os::unix::ffi::OsStrExt;
    Some(path.as_os_str().as_bytes())
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Option<&[u8]> {
    path.to_str().map(str::as_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_survive_the_uri() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a?b#c %25 ü 日本.dissensus");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch("CREATE TABLE here (a)").unwrap();
        conn.close().unwrap();
        let conn = connect(&path, Access::Immutable).unwrap();
        let n: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)).unwrap();
        assert_eq!(n, 1);
    }
}
