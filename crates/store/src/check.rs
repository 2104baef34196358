//! Checks of a file before anything in it is changed.
//!
//! Files are only opened through SQLite: on Unix, closing any other handle of a database file would
//! release the locks that another connection of the same process holds on it.

use crate::connect::{Access, connect, harden, has_journal};
use crate::journal_mark::other_program;
use crate::migrate::{APPLICATION_ID, newest};
use crate::schema::difference;
use crate::{Result, StoreError};
use rusqlite::{Connection, ErrorCode};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Resolves the links in `path` and checks that it is a non-empty regular file.
pub(crate) fn locate(path: &Path) -> Result<PathBuf> {
    let file = dissensus_files::real_path(path).map_err(|e| match e.kind() {
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
        // SQLite treats a file smaller than its smallest page as a new database.
        1..512 => return Err(StoreError::not_sqlite(path.to_owned())),
        _ => {}
    }
    Ok(file)
}

/// Whether the system reports the file as read-only. For the superuser, who can write anyway, the
/// file mode decides.
pub(crate) fn is_read_only(file: &Path, shown: &Path) -> Result<bool> {
    let about =
        std::fs::metadata(file).map_err(|e| StoreError::from_io(shown, "looking at the project", &e))?;
    if about.permissions().readonly() {
        return Ok(true);
    }
    // SQLite falls back to reading if writing is refused, and reports that; opening writes nothing.
    let conn =
        connect(file, Access::Write).map_err(|e| StoreError::explain(shown, "opening the project", e))?;
    conn.is_readonly("main").map_err(|e| StoreError::explain(shown, "opening the project", e))
}

/// Checks, from the first page of the file only, that it is a project and not too new.
pub(crate) fn header(file: &Path, shown: &Path, migrations: &[&str]) -> Result<()> {
    let conn =
        connect(file, Access::Immutable).map_err(|e| StoreError::explain(shown, "opening the project", e))?;
    match version(&conn, shown, migrations) {
        // Without its journal a file can look truncated, for example if the disk was full while the
        // journal was being written back. Whether both together are sound is checked later.
        Err(StoreError::Damaged { .. }) if has_journal(file) => Ok(()),
        found => found.map(|_| ()),
    }
}

/// The format version of an open project, after checking that it is a project and not too new.
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
        Ok(found) if found > known => {
            let path = shown.to_owned();
            Err(match other_program(conn) {
                Some(program) => StoreError::NewerFrom { path, found, known, program },
                None => StoreError::Newer { path, found, known },
            })
        }
        Ok(found) if found > 0 => Ok(found),
        _ => Err(damaged(shown, format!("it has no valid format number ({found})"))),
    }
}

/// How much of a file is checked at opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The schema and the contents; all contents if the file has at most this many bytes.
    Contents(u64),
    /// Only the schema: the file passed the check before and has not been written since.
    Schema,
}

/// Checks that the schema is ours, that the pages are consistent and that the rows satisfy the
/// constraints.
///
/// Readers and writers use the same kind of connection here: SQLite ignores CHECK constraints in a
/// database that it opened read-only. A file that cannot be written is therefore checked as a copy
/// in memory if it is small, and without CHECK constraints otherwise.
pub(crate) fn contents(
    conn: &Connection,
    shown: &Path,
    migrations: &[&str],
    version: u32,
    depth: Depth,
) -> Result<()> {
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
        // If the schema's own rows do not parse, SQLite only reports "error".
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::Unknown) => {
            return Err(damaged(shown, e.to_string()));
        }
        Err(e) => return Err(explain(e)),
    }
    let Depth::Contents(whole) = depth else { return Ok(()) };
    let small = bytes(conn).map_err(explain)? <= whole;
    if small && conn.is_readonly("main").map_err(explain)? {
        return rows_and_pages(&in_memory(conn).map_err(explain)?, shown, true);
    }
    rows_and_pages(conn, shown, small)
}

/// The size of the database, including its journal.
fn bytes(conn: &Connection) -> rusqlite::Result<u64> {
    let number = |pragma| conn.pragma_query_value(None, pragma, |r| r.get::<_, i64>(0));
    let bytes = number("page_count")?.saturating_mul(number("page_size")?);
    Ok(u64::try_from(bytes).unwrap_or(u64::MAX))
}

/// A writable copy in memory, for which SQLite evaluates CHECK constraints.
fn in_memory(conn: &Connection) -> rusqlite::Result<Connection> {
    let mut copy = Connection::open_in_memory()?;
    rusqlite::backup::Backup::new(conn, &mut copy)?.run_to_completion(
        i32::MAX,
        std::time::Duration::ZERO,
        None,
    )?;
    harden(&copy)?;
    Ok(copy)
}

/// Damage inside a value that leaves pages and constraints intact is not detected, since SQLite
/// stores no checksums.
fn rows_and_pages(conn: &Connection, shown: &Path, whole: bool) -> Result<()> {
    if whole {
        walk(conn, shown, "integrity_check", None)?;
        foreign_keys(conn, shown, None)?;
        current_answers(conn, shown)?;
    } else {
        let tables: Vec<String> = conn
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'embeddings'")
            .and_then(|mut s| s.query_map([], |r| r.get(0))?.collect())
            .map_err(|e| StoreError::explain(shown, "checking the project", e))?;
        for table in &tables {
            walk(conn, shown, "quick_check", Some(table))?;
            foreign_keys(conn, shown, Some(table))?;
        }
    }
    words(conn, shown)
}

/// Compares the table of current answers, if the format has one, with the events.
fn current_answers(conn: &Connection, shown: &Path) -> Result<()> {
    let explain = |e| StoreError::explain(shown, "checking the current answers", e);
    let there = "SELECT count(*) FROM sqlite_schema WHERE name = 'current_answers'";
    if conn.query_row(there, [], |r| r.get::<_, u32>(0)).map_err(explain)? == 0 {
        return Ok(());
    }
    crate::current::difference(conn).map_err(explain)?.map_or(Ok(()), |detail| Err(damaged(shown, detail)))
}

/// Checks the pages of a table, or of the whole file.
fn walk(conn: &Connection, shown: &Path, check: &str, table: Option<&str>) -> Result<()> {
    let mut first: Option<String> = None;
    let keep = |r: &rusqlite::Row<'_>| {
        let line: String = r.get(0)?;
        if first.is_none() && line != "ok" {
            first = Some(line.lines().last().unwrap_or_default().to_owned());
        }
        Ok(())
    };
    let walked = match table {
        Some(table) => conn.pragma(None, check, table, keep),
        None => conn.pragma(None, check, 5, keep),
    };
    walked.map_err(|e| StoreError::explain(shown, "checking the pages of the project", e))?;
    first.map_or(Ok(()), |detail| Err(damaged(shown, detail)))
}

/// Checks that every reference between rows resolves.
fn foreign_keys(conn: &Connection, shown: &Path, table: Option<&str>) -> Result<()> {
    let explain = |e| StoreError::explain(shown, "checking what the rows of the project name", e);
    let all = r#"SELECT "table", rowid, parent FROM pragma_foreign_key_check"#;
    let of_one = format!("{all}(?1)");
    let mut statement = conn.prepare(table.map_or(all, |_| &of_one)).map_err(explain)?;
    let mut rows = match table {
        Some(table) => statement.query([table]),
        None => statement.query([]),
    }
    .map_err(explain)?;
    let Some(row) = rows.next().map_err(explain)? else { return Ok(()) };
    let read =
        || -> rusqlite::Result<(String, Option<i64>, String)> { Ok((row.get(0)?, row.get(1)?, row.get(2)?)) };
    let (table, id, parent) = read().map_err(explain)?;
    let id = id.map_or_else(String::new, |id| format!(" {id}"));
    Err(damaged(shown, format!("row{id} of {table} names a row of {parent} that is not there")))
}

/// Checks that the JSON of texts and annotators can be parsed: a file that opens must also export.
fn words(conn: &Connection, shown: &Path) -> Result<()> {
    let explain = |e| StoreError::explain(shown, "checking the texts and annotators of the project", e);
    for (what, sql) in [
        ("text", r#"SELECT external_id, metadata, body, "group", split FROM texts"#),
        ("annotator", "SELECT external_id, attributes, name FROM annotators"),
    ] {
        let mut statement = conn.prepare(sql).map_err(explain)?;
        let columns = statement.column_count();
        let mut rows = statement.query([]).map_err(explain)?;
        while let Some(row) = rows.next().map_err(explain)? {
            let column = |n| row.get_ref(n).map_err(explain)?.as_str_or_null().map_err(|e| explain(e.into()));
            for n in 0..columns {
                column(n)?;
            }
            let object = column(1)?.unwrap_or_default();
            // Most rows are empty, and projects with a million texts are opened often.
            if object != "{}" && serde_json::from_str::<BTreeMap<String, String>>(object).is_err() {
                let name = column(0)?.unwrap_or_default();
                let detail = format!("what {what} \"{name}\" carries is no JSON object of strings");
                return Err(damaged(shown, detail));
            }
        }
    }
    Ok(())
}

fn damaged(shown: &Path, detail: String) -> StoreError {
    StoreError::Damaged { path: shown.to_owned(), detail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::MIGRATIONS;
    use crate::{EncoderVersion, NewText, Store};
    use dissensus_domain::TextId;

    /// A closed project with embeddings, and the byte range of the tree of `table` in the file.
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
    fn large_file_check_skips_embeddings() {
        for (table, whole, sound) in
            [("texts", 0, false), ("embeddings", 0, true), ("embeddings", u64::MAX, false)]
        {
            let folder = tempfile::tempdir().unwrap();
            let (path, page) = project(folder.path(), table);
            let check = || {
                let conn = connect(&path, Access::Immutable).unwrap();
                contents(&conn, &path, MIGRATIONS, newest(MIGRATIONS), Depth::Contents(whole))
            };
            check().unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[page].iter_mut().for_each(|b| *b ^= 0x5A);
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(check().is_ok(), sound, "{table}, {whole}");
            // Damaged embeddings that were not checked are reported when they are read.
            if sound {
                let own = crate::own_file::OwnFile::new(&path, &path).unwrap();
                let lazy =
                    Store::assemble(own, None, Access::Immutable, &crate::CheckRecords::default()).unwrap();
                assert_eq!(lazy.embeddings("mini/1").unwrap_err().code(), "project-damaged");
            }
        }
    }
}
