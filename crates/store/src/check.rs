//! What a file is, found out before anything of it is changed.
//!
//! No file is opened here but through SQLite: on Unix, closing any other handle on a database file would drop the
//! locks that another connection of this very process holds on it.

use crate::connect::{Access, connect};
use crate::lock::beside;
use crate::migrate::{APPLICATION_ID, difference, newest};
use crate::{Result, StoreError};
use rusqlite::{Connection, ErrorCode};
use std::path::{Path, PathBuf};

/// Up to this size of file every page is walked at opening. Beyond it the pages of embeddings are left out, which can
/// be computed again and are by far the most; a page found damaged later is reported as such by whatever reads it.
/// (Walking takes about a quarter of a second for 100 MB.)
const WALK_WHOLE_BYTES: i64 = 256 << 20;

/// The file behind `path`, links resolved, after a look at what the file system says of it.
pub(crate) fn locate(path: &Path) -> Result<PathBuf> {
    let file = std::fs::canonicalize(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotADirectory => StoreError::Missing(path.to_owned()),
        _ => StoreError::from_io(path, "looking for the project", &e),
    })?;
    let about =
        std::fs::metadata(&file).map_err(|e| StoreError::from_io(path, "looking for the project", &e))?;
    if about.is_dir() {
        return Err(StoreError::Directory(path.to_owned()));
    }
    if !about.is_file() {
        return Err(StoreError::NotSqlite(path.to_owned()));
    }
    match about.len() {
        0 => return Err(StoreError::Empty(path.to_owned())),
        // SQLite takes a file without room for its smallest page for a new database.
        1..512 => return Err(StoreError::NotSqlite(path.to_owned())),
        _ => {}
    }
    Ok(file)
}

/// True where the system says the file may not be written. (For the superuser, who may all the same, the mode counts.)
pub(crate) fn is_read_only(file: &Path, shown: &Path) -> Result<bool> {
    let about =
        std::fs::metadata(file).map_err(|e| StoreError::from_io(shown, "looking at the project", &e))?;
    if about.permissions().readonly() {
        return Ok(true);
    }
    // SQLite falls back to reading where writing is refused, and tells; nothing is written by opening.
    let conn =
        connect(file, Access::Write).map_err(|e| StoreError::explain(shown, "opening the project", e))?;
    conn.is_readonly("main").map_err(|e| StoreError::explain(shown, "opening the project", e))
}

/// True where a journal lies beside the file: the file alone may be only a part of the project.
pub(crate) fn has_journal(file: &Path) -> bool {
    ["-wal", "-journal"]
        .iter()
        .any(|ending| std::fs::metadata(beside(file, ending)).is_ok_and(|about| about.len() > 0))
}

/// Makes sure, from the first page of the file alone, that this is a project and not too new.
pub(crate) fn header(file: &Path, shown: &Path, migrations: &[&str]) -> Result<()> {
    let conn =
        connect(file, Access::Immutable).map_err(|e| StoreError::explain(shown, "opening the project", e))?;
    match version(&conn, shown, migrations) {
        // Without its journal a file can look cut short, as when the disk was full while the journal was written
        // back. Whether the two together are sound is found out later.
        Err(StoreError::Damaged { .. }) if has_journal(file) => Ok(()),
        found => found.map(|_| ()),
    }
}

/// The version of an open project, after making sure that it is one and not too new.
pub(crate) fn version(conn: &Connection, shown: &Path, migrations: &[&str]) -> Result<u32> {
    let read = |pragma| {
        conn.pragma_query_value(None, pragma, |r| r.get::<_, i32>(0))
            .map_err(|e| StoreError::explain(shown, "reading what the file is", e))
    };
    let (application, found) = (read("application_id")?, read("user_version")?);
    if application != APPLICATION_ID {
        return Err(StoreError::NotOurs(shown.to_owned()));
    }
    let known = newest(migrations);
    match u32::try_from(found) {
        Ok(found) if found > known => Err(StoreError::Newer { path: shown.to_owned(), found, known }),
        Ok(found) if found > 0 => Ok(found),
        _ => Err(damaged(shown, format!("it has no valid format number ({found})"))),
    }
}

/// Makes sure that the schema is the one we make and that the pages hold together.
pub(crate) fn contents(conn: &Connection, shown: &Path, migrations: &[&str], version: u32) -> Result<()> {
    let explain = |e| StoreError::explain(shown, "checking the project", e);
    let encoding: String = conn.pragma_query_value(None, "encoding", |r| r.get(0)).map_err(explain)?;
    if encoding != "UTF-8" {
        return Err(StoreError::Altered {
            path: shown.to_owned(),
            what: format!("the text encoding ({encoding})"),
        });
    }
    match difference(conn, migrations, version) {
        Ok(None) => {}
        Ok(Some(what)) => return Err(StoreError::Altered { path: shown.to_owned(), what }),
        // Where the schema's own rows do not parse, SQLite has no better word than "error".
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::Unknown) => {
            return Err(damaged(shown, e.to_string()));
        }
        Err(e) => return Err(explain(e)),
    }
    walk(conn, shown, WALK_WHOLE_BYTES)
}

/// Walks the pages of the file: all, or those that matter most where there are more than `whole` bytes.
///
/// Damage inside a value that leaves the page in order cannot be seen, as SQLite keeps no checksums.
fn walk(conn: &Connection, shown: &Path, whole: i64) -> Result<()> {
    let explain = |e| StoreError::explain(shown, "checking the pages of the project", e);
    let number = |pragma| conn.pragma_query_value(None, pragma, |r| r.get::<_, i64>(0)).map_err(explain);
    let bytes = number("page_count")?.saturating_mul(number("page_size")?);
    if bytes <= whole {
        return walk_one(conn, shown, None);
    }
    let tables: Vec<String> = conn
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'embeddings'")
        .and_then(|mut s| s.query_map([], |r| r.get(0))?.collect())
        .map_err(explain)?;
    tables.iter().try_for_each(|table| walk_one(conn, shown, Some(table)))
}

fn walk_one(conn: &Connection, shown: &Path, table: Option<&str>) -> Result<()> {
    let mut first: Option<String> = None;
    let keep = |r: &rusqlite::Row<'_>| {
        let line: String = r.get(0)?;
        if first.is_none() && line != "ok" {
            first = Some(line.lines().last().unwrap_or_default().to_owned());
        }
        Ok(())
    };
    let walked = match table {
        Some(table) => conn.pragma(None, "quick_check", table, keep),
        None => conn.pragma(None, "quick_check", 5, keep),
    };
    walked.map_err(|e| StoreError::explain(shown, "checking the pages of the project", e))?;
    first.map_or(Ok(()), |detail| Err(damaged(shown, detail)))
}

fn damaged(shown: &Path, detail: String) -> StoreError {
    StoreError::Damaged { path: shown.to_owned(), detail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EncoderVersion, NewText, Store};
    use dissensus_domain::TextId;

    /// A closed project with embeddings, and where the tree of `table` begins in the file.
    fn project(folder: &Path, table: &str) -> (PathBuf, std::ops::Range<usize>) {
        let path = folder.join("p.dissensus");
        let store = Store::create(&path).unwrap();
        let text = |name: &str| name.to_owned();
        let version = EncoderVersion {
            key: text("mini/1"),
            name: text("mini"),
            weights_sha256: text("00"),
            pooling: text("mean"),
            max_tokens: 8,
            dim: 300,
            precision: text("fp32"),
        };
        store.add_encoder_version(&version).unwrap();
        for n in 1..=20 {
            let new = NewText { external_id: format!("t{n}"), body: "x".repeat(900), ..NewText::default() };
            store.write(move |tx| tx.add_text(&new).map(|_| ())).unwrap();
            store.put_embeddings("mini/1", &[(TextId(n), vec![0.5; 300])]).unwrap();
        }
        store.close().unwrap();
        let conn = connect(&path, Access::Immutable).unwrap();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let page: usize = conn.query_row(sql, [table], |r| r.get::<_, u32>(0)).unwrap() as usize;
        (path, (page - 1) * 4096..page * 4096)
    }

    #[test]
    fn a_large_file_is_walked_but_for_its_embeddings() {
        for (table, whole, sound) in
            [("texts", 0, false), ("embeddings", 0, true), ("embeddings", i64::MAX, false)]
        {
            let folder = tempfile::tempdir().unwrap();
            let (path, page) = project(folder.path(), table);
            let check = || walk(&connect(&path, Access::Immutable).unwrap(), &path, whole);
            check().unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[page].iter_mut().for_each(|b| *b ^= 0x5A);
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(check().is_ok(), sound, "{table}, {whole}");
            // Embeddings that were not walked are told when they are read.
            if sound {
                let lazy = Store::assemble(&path, &path, None, Access::Immutable).unwrap();
                assert_eq!(lazy.embeddings("mini/1").unwrap_err().code(), "project-damaged");
            }
        }
    }
}
