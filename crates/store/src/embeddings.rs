//! Embeddings, cached by text and encoder version.

use crate::encoders::{row_and_dim, unknown};
use crate::error::is_constraint;
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::TextId;

/// All embeddings of one encoder version.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    /// The texts that have an embedding, by row id.
    pub texts: Vec<TextId>,
    /// Dimension of an embedding.
    pub dim: usize,
    /// The embeddings, concatenated in the order of `texts`: `texts.len() * dim` numbers.
    pub values: Vec<f32>,
}

impl WriteTx<'_> {
    /// Stores the embedding of a text, replacing one of the same version.
    ///
    /// # Errors
    /// There is no such version or text, the dimension differs from the version's, or a value is
    /// not finite.
    pub fn put_embedding(&mut self, version: &str, text: TextId, values: &[f32]) -> Result<()> {
        let (row, dim) = row_and_dim(self.conn, version)
            .map_err(|e| self.explain("reading an encoder version", e))?
            .ok_or_else(|| unknown(version))?;
        let invalid = |why| StoreError::Invalid { what: format!("embedding of text {}", text.0), why };
        if values.len() != dim as usize {
            return Err(invalid(format!("it has {} numbers and not {dim}", values.len())));
        }
        if values.iter().any(|v| !v.is_finite()) {
            return Err(invalid("a number in it is not finite".to_owned()));
        }
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.run(
            "INSERT INTO embeddings (version, text, vector) VALUES (?1, ?2, ?3)
             ON CONFLICT (version, text) DO UPDATE SET vector = excluded.vector",
            (row, text.0, bytes),
        )
        .map(|_| ())
        .map_err(|e| match is_constraint(&e) {
            true => StoreError::Unknown { what: "text", name: text.0.to_string() },
            false => self.explain("keeping an embedding", e),
        })
    }
}

impl Store {
    /// Stores a batch of embeddings in one transaction.
    ///
    /// # Errors
    /// Like [`WriteTx::put_embedding`].
    pub fn put_embeddings(&self, version: &str, batch: &[(TextId, Vec<f32>)]) -> Result<()> {
        let (version, batch) = (version.to_owned(), batch.to_vec());
        self.write(move |tx| {
            batch.iter().try_for_each(|(text, values)| tx.put_embedding(&version, *text, values))
        })
    }

    /// All embeddings of a version.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] for a version that was never used in this project.
    pub fn embeddings(&self, version: &str) -> Result<Embeddings> {
        self.read_with(|c, explain: &dyn Fn(_) -> StoreError| {
            let (row, dim) = row_and_dim(c, version).map_err(explain)?.ok_or_else(|| unknown(version))?;
            let mut found = Embeddings { texts: Vec::new(), dim: dim as usize, values: Vec::new() };
            let mut statement = c
                .prepare_cached("SELECT text, vector FROM embeddings WHERE version = ?1 ORDER BY text")
                .map_err(explain)?;
            let mut rows = statement.query([row]).map_err(explain)?;
            while let Some(row) = rows.next().map_err(explain)? {
                found.texts.push(TextId(row.get(0).map_err(explain)?));
                push_floats(row, found.dim, &mut found.values).map_err(explain)?;
            }
            Ok(found)
        })
    }

    /// How many texts have an embedding of this version; 0 if the version was never used in this
    /// project.
    pub fn embedding_count(&self, version: &str) -> Result<u32> {
        self.read("counting embeddings", |c| {
            let sql = "SELECT count(*) FROM embeddings
                       WHERE version = (SELECT id FROM encoder_versions WHERE key = ?1)";
            Ok(first(c, sql, [version], |r| r.get(0))?.unwrap_or(0))
        })
    }

    /// The first `limit` texts after `after`, by row id, without an embedding of this version, with
    /// their bodies. `None` starts from the first text.
    pub fn texts_without_embedding(
        &self,
        version: &str,
        after: Option<TextId>,
        limit: u32,
    ) -> Result<Vec<(TextId, String)>> {
        self.read("looking for texts to encode", |c| {
            let sql = "SELECT id, body FROM texts AS t WHERE id > ?2 AND NOT EXISTS (
                           SELECT 1 FROM embeddings AS e
                           WHERE e.version = (SELECT id FROM encoder_versions WHERE key = ?1) AND e.text = t.id
                       ) ORDER BY id LIMIT ?3";
            // Row ids start at 1.
            all(c, sql, (version, after.map_or(0, |text| text.0), limit), |r| Ok((TextId(r.get(0)?), r.get(1)?)))
        })
    }
}

fn push_floats(row: &rusqlite::Row<'_>, dim: usize, into: &mut Vec<f32>) -> rusqlite::Result<()> {
    let bytes = row.get_ref(1)?.as_blob().map_err(|e| crate::row::bad(1, e))?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    if numbers.len() != dim || !rest.is_empty() {
        return Err(crate::row::bad(1, format!("an embedding of {} bytes, not {}", bytes.len(), dim * 4)));
    }
    into.extend(numbers.iter().map(|n| f32::from_le_bytes(*n)));
    Ok(())
}
