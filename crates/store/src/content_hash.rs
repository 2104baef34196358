//! Hashes of what a file contains.

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sha2::{Digest as _, Sha256};

/// Adds the rows of a query to a hash, such that no two different results produce the same bytes.
/// Returns the number of rows.
pub(crate) fn feed(conn: &Connection, hash: &mut Sha256, sql: &str) -> rusqlite::Result<usize> {
    let mut statement = conn.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Null => hash.update([0]),
                ValueRef::Integer(n) => {
                    hash.update([1]);
                    hash.update(n.to_le_bytes());
                }
                ValueRef::Real(x) => {
                    hash.update([2]);
                    hash.update(x.to_le_bytes());
                }
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    hash.update([3]);
                    hash.update((bytes.len() as u64).to_le_bytes());
                    hash.update(bytes);
                }
            }
        }
        count += 1;
    }
    Ok(count)
}
