//! Encoder versions. Only embeddings of the same version are comparable.

use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use rusqlite::{Connection, Row};

/// An encoder with everything that its embeddings depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncoderVersion {
    /// Unique key, such as `all-MiniLM-L6-v2/53aa51172d14/mean/256`.
    pub key: String,
    pub name: String,
    /// SHA-256 of the weights, in hexadecimal.
    pub weights_sha256: String,
    /// Pooling of token states into one vector: `mean`, `cls`, ...
    pub pooling: String,
    /// Maximum number of tokens per text.
    pub max_tokens: u32,
    /// Dimension of an embedding.
    pub dim: u32,
    /// Precision of the computation: `fp32`, ...
    pub precision: String,
}

const COLUMNS: &str = "key, name, weights_sha256, pooling, max_tokens, dim, precision";

fn version(row: &Row<'_>) -> rusqlite::Result<EncoderVersion> {
    Ok(EncoderVersion {
        key: row.get(0)?,
        name: row.get(1)?,
        weights_sha256: row.get(2)?,
        pooling: row.get(3)?,
        max_tokens: row.get(4)?,
        dim: row.get(5)?,
        precision: row.get(6)?,
    })
}

/// Row id and dimension of a version, by key.
pub(crate) fn row_and_dim(conn: &Connection, key: &str) -> rusqlite::Result<Option<(u32, u32)>> {
    first(conn, "SELECT id, dim FROM encoder_versions WHERE key = ?1", [key], |r| Ok((r.get(0)?, r.get(1)?)))
}

pub(crate) fn unknown(key: &str) -> StoreError {
    StoreError::Unknown { what: "encoder version", name: format!("\"{key}\"") }
}

impl WriteTx<'_> {
    /// Adds an encoder version; does nothing if the same version exists.
    ///
    /// # Errors
    /// The key is taken by a version that differs.
    pub fn add_encoder_version(&mut self, new: &EncoderVersion) -> Result<()> {
        let sql = format!("SELECT {COLUMNS} FROM encoder_versions WHERE key = ?1");
        match self.first(&sql, [&new.key], version)? {
            Some(old) if old == *new => return Ok(()),
            Some(_) => {
                return Err(StoreError::Duplicate { what: "encoder version", name: new.key.clone() });
            }
            None => {}
        }
        self.run(
            "INSERT INTO encoder_versions (key, name, weights_sha256, pooling, max_tokens, dim, precision)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (&new.key, &new.name, &new.weights_sha256, &new.pooling, new.max_tokens, new.dim, &new.precision),
        )
        .map(|_| ())
        .map_err(|e| self.explain("adding an encoder version", e))
    }
}

impl Store {
    /// All encoder versions ever used in this project, oldest first.
    pub fn encoder_versions(&self) -> Result<Vec<EncoderVersion>> {
        self.read("reading the encoder versions", |c| {
            all(c, &format!("SELECT {COLUMNS} FROM encoder_versions ORDER BY id"), [], version)
        })
    }

    /// Adds an encoder version. See [`WriteTx::add_encoder_version`].
    pub fn add_encoder_version(&self, new: &EncoderVersion) -> Result<()> {
        let new = new.clone();
        self.write(move |tx| tx.add_encoder_version(&new))
    }
}
