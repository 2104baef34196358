//! Deletes rows from tables that triggers otherwise protect.
//!
//! The triggers are dropped and recreated unchanged in the same transaction, so other connections
//! never see the file without them.

use crate::tx::all;
use crate::{Result, StoreError, WriteTx};

/// Settings with the highest row id ever used in a table from which rows at the end were deleted.
/// Row ids are never reused, since models and files refer to texts, questions and annotators by row
/// id, readers poll for events after the last one they know, and imports are recorded as ranges of row
/// ids.
pub(crate) const HIGHEST: [(&str, &str); 5] = [
    ("annotators", "highest_annotator_row"),
    ("events", "highest_event_row"),
    ("facts", "highest_fact_row"),
    ("questions", "highest_question_row"),
    ("texts", "highest_text_row"),
];

impl WriteTx<'_> {
    /// Runs `delete` with the triggers of `tables` disabled.
    pub(crate) fn deleting_from<T>(
        &mut self,
        tables: &[&str],
        delete: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let explain = |tx: &Self, e| StoreError::explain(tx.path, "taking rows out", e);
        self.record_highest_rows().map_err(|e| explain(self, e))?;
        let triggers = self.without_triggers(tables).map_err(|e| explain(self, e))?;
        let deleted = delete(self)?;
        for sql in triggers {
            self.conn.execute_batch(&sql).map_err(|e| explain(self, e))?;
        }
        Ok(deleted)
    }

    /// Drops the triggers of `tables` and returns the SQL that recreates them.
    fn without_triggers(&self, tables: &[&str]) -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name";
        let found = all(self.conn, sql, [], |r| {
            Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?, r.get::<_, String>(2)?))
        })?;
        let mut made_by = Vec::new();
        for (name, _, sql) in found.into_iter().filter(|(_, table, _)| tables.contains(&table.as_str())) {
            self.conn.execute_batch(&format!("DROP TRIGGER \"{name}\""))?;
            made_by.push(sql);
        }
        Ok(made_by)
    }

    /// Records the highest row ids before some rows are deleted.
    fn record_highest_rows(&self) -> rusqlite::Result<()> {
        for (table, key) in HIGHEST {
            let sql = format!(
                "INSERT INTO settings (key, value) SELECT ?1, CAST(max(id) AS TEXT) FROM {table} HAVING max(id) IS NOT NULL
                 ON CONFLICT (key) DO UPDATE SET value = CAST(max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER)) AS TEXT)"
            );
            self.run(&sql, [key])?;
        }
        Ok(())
    }
}

/// SQL for the next row id of `table` that was never used.
pub(crate) fn next_row(table: &str) -> String {
    let key = HIGHEST.iter().find(|(of, _)| *of == table).map_or("", |(_, key)| key);
    format!(
        "max(coalesce((SELECT max(id) FROM {table}), 0), \
         coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE key = '{key}'), 0)) + 1"
    )
}
