//! Project settings: any JSON value by key.

use crate::row::{json, to_json};
use crate::tx::first;
use crate::{Result, Store, StoreError, WriteTx};
use serde::Serialize;
use serde::de::DeserializeOwned;

impl WriteTx<'_> {
    /// Like [`Store::setting`], within a transaction, so that the setting cannot change before it
    /// ends.
    pub fn setting<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let value: Option<serde_json::Value> =
            self.first("SELECT value FROM settings WHERE key = ?1", [key], |r| json(r, 0))?;
        Ok(value.and_then(|v| serde_json::from_value(v).ok()))
    }

    /// Like [`Store::set_setting`], within a transaction.
    ///
    /// # Errors
    /// The key is empty, or the value cannot be serialized to JSON.
    pub fn set_setting<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<()> {
        checked(key)?;
        let value = to_json("setting", value)?;
        put(self, key, &value)
    }
}

fn checked(key: &str) -> Result<()> {
    if key.is_empty() {
        return Err(StoreError::Invalid {
            what: "setting".to_owned(),
            why: "its key must not be empty".to_owned(),
        });
    }
    Ok(())
}

pub(crate) fn put(tx: &WriteTx<'_>, key: &str, value: &str) -> Result<()> {
    tx.run(
        "INSERT INTO settings (key, value) VALUES (?1, ?2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )
    .map(|_| ())
    .map_err(|e| tx.explain("keeping a setting", e))
}

impl Store {
    /// The value stored under `key`; `None` if there is none or it cannot be parsed as a `T`.
    /// Settings in a format that is no longer readable after an update are treated as not set.
    pub fn setting<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let value: Option<serde_json::Value> = self.read("reading a setting", |c| {
            first(c, "SELECT value FROM settings WHERE key = ?1", [key], |r| json(r, 0))
        })?;
        Ok(value.and_then(|v| serde_json::from_value(v).ok()))
    }

    /// Stores `value` under `key`, replacing an existing value.
    ///
    /// # Errors
    /// The key is empty, or the value cannot be serialized to JSON.
    pub fn set_setting<T: Serialize + ?Sized>(&self, key: &str, value: &T) -> Result<()> {
        checked(key)?;
        let (key, value) = (key.to_owned(), to_json("setting", value)?);
        self.write(move |tx| put(tx, &key, &value))
    }
}
