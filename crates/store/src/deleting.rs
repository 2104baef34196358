//! Taking rows out of tables whose rows are otherwise kept by triggers.
//!
//! The triggers are dropped and made again as they were inside the one transaction: whoever looks from outside never sees the file
//! without them.

use crate::tx::all;
use crate::{Result, StoreError, WriteTx};

/// The row that a table reached, where rows at its end were taken out: none is used again, since models and files know texts, questions
/// and people by their rows, and whoever follows a project asks for events behind the last one known.
pub(crate) const HIGHEST: [(&str, &str); 4] = [
    ("annotators", "highest_annotator_row"),
    ("events", "highest_event_row"),
    ("questions", "highest_question_row"),
    ("texts", "highest_text_row"),
];

impl WriteTx<'_> {
    /// Runs `delete` while the triggers of `tables` are off.
    pub(crate) fn deleting_from<T>(
        &mut self,
        tables: &[&str],
        delete: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let explain = |tx: &Self, e| StoreError::explain(tx.path, "taking rows out", e);
        let triggers = self.without_triggers(tables).map_err(|e| explain(self, e))?;
        let deleted = delete(self)?;
        for sql in triggers {
            self.conn.execute_batch(&sql).map_err(|e| explain(self, e))?;
        }
        Ok(deleted)
    }

    /// Drops the triggers of `tables` and returns how they are made again.
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

    /// Notes how far the rows of annotators, events, questions and texts have come, before some of them are taken out.
    pub(crate) fn keep_highest_rows(&self) -> rusqlite::Result<()> {
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

/// SQL for the next free row of `table`: none that was ever used.
pub(crate) fn next_row(table: &str) -> String {
    let key = HIGHEST.iter().find(|(of, _)| *of == table).map_or("", |(_, key)| key);
    format!(
        "max(coalesce((SELECT max(id) FROM {table}), 0), \
         coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE key = '{key}'), 0)) + 1"
    )
}
