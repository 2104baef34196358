//! The statements of migrations, and an estimate of the work in each.

use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;

/// Instructions of SQLite's virtual machine for a row that a statement inserts, as measured on the
/// migration to one log.
const INSERTED: u64 = 80;
/// Those for a row that another statement goes through, such as one that makes an index.
const READ: u64 = 20;

/// The statements of a migration. Each ends at the end of a line; that of a trigger at `END;`.
pub(crate) fn statements(sql: &str) -> Vec<&str> {
    let (mut all, mut start, mut end) = (Vec::new(), 0, 0);
    for line in sql.split_inclusive('\n') {
        end += line.len();
        let text = line.trim_end();
        let whole = match words(&sql[start..end]).next() {
            Some("CREATE") if words(&sql[start..end]).nth(1) == Some("TRIGGER") => text == "END;",
            Some(_) => text.ends_with(';'),
            None => false,
        };
        if whole {
            all.push(&sql[start..end]);
            start = end;
        }
    }
    if words(&sql[start..]).next().is_some() {
        all.push(&sql[start..]);
    }
    all
}

/// The instructions of SQLite's virtual machine that each statement takes, estimated from the rows that
/// tables have before the first one. At least 1, so that every statement counts.
pub(crate) fn estimate(conn: &Connection, statements: &[&str]) -> rusqlite::Result<Vec<u64>> {
    let mut sizes = Sizes { conn, known: HashMap::new() };
    statements.iter().map(|statement| Ok(sizes.instructions(statement)?.max(1))).collect()
}

/// The rows of tables, counted when a statement first names them.
struct Sizes<'a> {
    conn: &'a Connection,
    known: HashMap<String, Option<u64>>,
}

impl Sizes<'_> {
    /// The instructions of a statement: an INSERT goes through the rows of the largest table that it
    /// reads, others through those of the table that they change.
    fn instructions(&mut self, statement: &str) -> rusqlite::Result<u64> {
        let mut words = words(statement);
        let kind = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match kind {
            ("INSERT", _) => {
                let target = words.next().unwrap_or_default();
                let mut rows = 0;
                for word in words {
                    rows = rows.max(self.of(word)?.unwrap_or(0));
                }
                let before = self.of(target)?.unwrap_or(0);
                self.known.insert(target.to_owned(), Some(before + rows));
                Ok(rows * INSERTED)
            }
            ("UPDATE", table) => Ok(self.of(table)?.unwrap_or(0) * READ),
            ("DELETE" | "ALTER", _) | ("CREATE", "INDEX" | "UNIQUE") => {
                for word in words {
                    if let Some(rows) = self.of(word)? {
                        return Ok(rows * READ);
                    }
                }
                Ok(0)
            }
            _ => Ok(0),
        }
    }

    /// The number of rows of a table; `None` for a word that is not the name of one.
    fn of(&mut self, word: &str) -> rusqlite::Result<Option<u64>> {
        if let Some(known) = self.known.get(word) {
            return Ok(*known);
        }
        let there = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let name: Option<String> = self.conn.query_row(there, [word], |r| r.get(0)).optional()?;
        let rows = match name {
            Some(name) => {
                let count = format!("SELECT count(*) FROM \"{name}\"");
                Some(self.conn.query_row(&count, [], |r| r.get::<_, i64>(0))?.unsigned_abs())
            }
            None => None,
        };
        self.known.insert(word.to_owned(), rows);
        Ok(rows)
    }
}

/// The words of a statement outside of comments.
fn words(sql: &str) -> impl Iterator<Item = &str> {
    sql.lines()
        .map(|line| line.split("--").next().unwrap_or_default())
        .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::MIGRATIONS;

    #[test]
    fn every_part_of_a_migration_is_one_statement() {
        let conn = Connection::open_in_memory().unwrap();
        for sql in MIGRATIONS {
            for statement in statements(sql) {
                // Refuses a second statement.
                conn.execute(statement, []).unwrap_or_else(|e| panic!("{e}: {statement}"));
            }
            assert_eq!(statements(sql).concat(), *sql);
        }
        let two = conn.execute("CREATE TABLE a (a); CREATE TABLE b (b);", []);
        assert!(two.is_err(), "the test sees a second statement");
    }

    #[test]
    fn statement_cost_counts_rows() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(
            "CREATE TABLE small (a); INSERT INTO small VALUES (1), (2);
             CREATE TABLE large (a); INSERT INTO large SELECT value FROM json_each('[1,2,3,4,5]');",
        )
        .unwrap();
        let statements = [
            "-- large\nCREATE TABLE new (a) STRICT;\n",
            "INSERT INTO new SELECT a FROM small JOIN large;\n",
            "INSERT INTO small (a) SELECT a FROM large;\n",
            "CREATE UNIQUE INDEX i ON new (a);\n",
            "UPDATE small SET a = (SELECT max(a) FROM large);\n",
            "DROP TABLE large;\n",
        ];
        assert_eq!(
            estimate(&conn, &statements).unwrap(),
            [1, 5 * INSERTED, 5 * INSERTED, 5 * READ, 7 * READ, 1]
        );
    }
}
