//! Settings of the project: any JSON value by key.

use crate::row::{json, to_json};
use crate::tx::first;
use crate::{Result, Store, StoreError, WriteTx};
use serde::Serialize;
use serde::de::DeserializeOwned;

impl WriteTx<'_> {
    /// As [`Store::setting`], inside a transaction: nobody changes the setting before it ends.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn setting<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let value: Option<serde_json::Value> =
            self.first("SELECT value FROM settings WHERE key = ?1", [key], |r| json(r, 0))?;
        Ok(value.and_then(|v| serde_json::from_value(v).ok()))
    }

    /// As [`Store::set_setting`], inside a transaction.
    ///
    /// # Errors
    /// The key is empty, or the value has no JSON form.
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
    /// The value kept under `key`; none where there is none, or where it is not a `T`, as after an update of the
    /// program: a choice that can no longer be read is no choice.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn setting<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let value: Option<serde_json::Value> = self.read("reading a setting", |c| {
            first(c, "SELECT value FROM settings WHERE key = ?1", [key], |r| json(r, 0))
        })?;
        Ok(value.and_then(|v| serde_json::from_value(v).ok()))
    }

    /// Keeps `value` under `key`, in place of what was there.
    ///
    /// # Errors
    /// The key is empty, or the value has no JSON form.
    pub fn set_setting<T: Serialize + ?Sized>(&self, key: &str, value: &T) -> Result<()> {
        checked(key)?;
        let (key, value) = (key.to_owned(), to_json("setting", value)?);
        self.write(move |tx| put(tx, &key, &value))
    }
}
