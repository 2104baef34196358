//! Opens connections, all with the same defensive settings.

use dissensus_files::with_suffix;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// How long a statement waits for another program that has locked the file.
const BUSY: Duration = Duration::from_secs(5);

/// A journal longer than this is checkpointed at the next opportunity, even during continuous
/// writing.
pub(crate) const LONG_JOURNAL: u32 = 4 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    /// Read. The connection can write its own side files, so that it can use and clean up the
    /// journal.
    Read,
    /// Read a file that cannot be written, together with its journal.
    ReadOnly,
    /// Read only the main file, assuming that nothing changes it: takes no lock and creates no side
    /// files.
    Immutable,
}

/// Whether the file has a journal, in which case the file without it may be incomplete.
pub(crate) fn has_journal(file: &Path) -> bool {
    ["-wal", "-journal"]
        .iter()
        .any(|ending| std::fs::metadata(with_suffix(file, ending)).is_ok_and(|about| about.len() > 0))
}

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

/// Settings that touch no page of the file. They come first, since the file may be untrusted.
pub(crate) fn harden(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY)?;
    conn.set_prepared_statement_cache_capacity(128);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // One plan per statement: otherwise SQLite plans again for each new value that it compares with
    // a partial index.
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
    // Otherwise INSERT OR REPLACE would delete rows without firing the triggers that forbid it.
    conn.pragma_update(None, "recursive_triggers", true)
}

/// Prepares the writer's connection: WAL journal, and a sync for every commit. Writes to the file.
pub(crate) fn start_journal(conn: &Connection) -> rusqlite::Result<()> {
    let mode: String = conn.pragma_update_and_check(None, "journal_mode", "WAL", |r| r.get(0))?;
    if mode != "wal" {
        // Some network file systems have no shared memory. The rollback journal is as safe, but
        // readers wait more.
        conn.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    }
    conn.pragma_update(None, "synchronous", "FULL")?;
    // macOS: fsync leaves data in the drive's cache; only F_FULLFSYNC writes it to the medium.
    conn.pragma_update(None, "fullfsync", true)?;
    conn.pragma_update(None, "checkpoint_fullfsync", true)?;
    conn.pragma_update(None, "cache_size", -32_768)?; // KiB
    // A journal that grew during an import shrinks after the next checkpoint. Checkpoints are run
    // by the writer only, after it has checked the file.
    conn.pragma_update_and_check(None, "journal_size_limit", LONG_JOURNAL, |_| Ok(()))?;
    conn.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
    // Ends the transaction in which SQLite changed the journal mode; until then a checkpoint would
    // find the file locked.
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

/// The file as a URI that declares it immutable.
fn immutable_uri(path: &Path) -> rusqlite::Result<String> {
    let invalid = || rusqlite::Error::InvalidPath(path.to_owned());
    let full = std::path::absolute(path).map_err(|_| invalid())?;
    let bytes = path_bytes(&full).ok_or_else(invalid)?;
    let uri = if cfg!(windows) { windows_uri(bytes) } else { format!("file:{}", escaped(bytes)) };
    Ok(uri + "?immutable=1")
}

/// The `file:` URI of an absolute Windows path. The prefix `\\?\` is for system calls only: SQLite
/// would treat it as a part of the name. Two slashes before a server's name are part of the path,
/// not the URI's authority.
fn windows_uri(path: &[u8]) -> String {
    let plain: Vec<u8> = match path.strip_prefix(br"\\?\UNC\") {
        Some(share) => [br"\\", share].concat(),
        None => path.strip_prefix(br"\\?\").unwrap_or(path).to_vec(),
    };
    let slashes: Vec<u8> = plain.iter().map(|&b| if b == b'\\' { b'/' } else { b }).collect();
    let drive = slashes.get(1) == Some(&b':');
    let (letter, rest) = slashes.split_at(if drive { 2 } else { 0 });
    let root = if drive { "///" } else { "//" };
    format!("file:{root}{}{}", String::from_utf8_lossy(letter), escaped(rest))
}

/// Percent-encodes everything that is not allowed in the path of a URI.
fn escaped(path: &[u8]) -> String {
    let mut out = String::with_capacity(path.len());
    for &byte in path {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b if b.is_ascii_alphanumeric() => out.push(char::from(b)),
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
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

/// Closes a connection without checkpointing the journal.
pub(crate) fn leave_alone(conn: Connection) {
    if conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).is_err() {
        tracing::warn!("a connection may bring the journal into the file");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_paths_become_sqlite_uris() {
        for (path, uri) in [
            (r"C:\data\p.dissensus", "file:///C:/data/p.dissensus"),
            (r"\\?\C:\data\p.dissensus", "file:///C:/data/p.dissensus"),
            (r"\\?\D:\a b\50% ?#ü.dissensus", "file:///D:/a%20b/50%25%20%3F%23%C3%BC.dissensus"),
            (r"\\server\share\p", "file:////server/share/p"),
            (r"\\?\UNC\server\share\p", "file:////server/share/p"),
            (r"C:\odd:name", "file:///C:/odd%3Aname"),
        ] {
            assert_eq!(windows_uri(path.as_bytes()), uri, "{path}");
        }
    }

    #[test]
    fn write_connections_sync_every_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.dissensus");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE here (a)").unwrap();
        let conn = connect(&path, Access::Write).unwrap();
        start_journal(&conn).unwrap();
        let text = |pragma| conn.pragma_query_value(None, pragma, |r| r.get::<_, String>(0)).unwrap();
        let number = |pragma| conn.pragma_query_value(None, pragma, |r| r.get::<_, i64>(0)).unwrap();
        assert_eq!(text("journal_mode"), "wal");
        assert_eq!(number("synchronous"), 2, "2 is FULL");
        assert_eq!((number("fullfsync"), number("checkpoint_fullfsync")), (1, 1));
    }

    #[test]
    fn unusual_names_round_trip_in_uris() {
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
