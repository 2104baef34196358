//! Edits a project file with another program, to simulate forged entries.

use rusqlite::Connection;
use std::path::Path;

/// Opens a project file as a plain database, drops its triggers, calls `edit`, and restores the triggers,
/// so that the file looks like one that Dissensus wrote.
///
/// # Panics
/// The file cannot be opened or edited.
pub fn forge<T>(file: &Path, edit: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> T {
    let work = || -> rusqlite::Result<T> {
        let conn = Connection::open(file)?;
        let mut triggers = Vec::new();
        {
            let mut all = conn.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")?;
            let mut rows = all.query([])?;
            while let Some(row) = rows.next()? {
                triggers.push((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
            }
        }
        for (name, _) in &triggers {
            conn.execute_batch(&format!("DROP TRIGGER {name}"))?;
        }
        let done = edit(&conn)?;
        for (_, sql) in &triggers {
            conn.execute_batch(sql)?;
        }
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(done)
    };
    match work() {
        Ok(done) => done,
        Err(error) => panic!("cannot forge {}: {error}", file.display()),
    }
}
