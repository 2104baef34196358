//! Recognizes whole copies. Each write session leaves a secret in the file, which merges do not
//! transfer. A project stores a hash of the newest secret of every copy that it merged. A file that
//! was copied from the project has the hashes but not the secrets, so it cannot pass as a copy that
//! took part.

use crate::row::{json, to_json};
use crate::settings::put;
use crate::tx::all;
use crate::{Result, Store, WriteTx};
use dissensus_domain::ProjectId;
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// The settings with the secrets of this file: this name and a number, in lists of [`LIST`], so
/// that the cost of adding one is constant.
const OWN: &str = "work-secrets";
/// The setting with hashes of the secrets of merged copies.
const KNOWN: &str = "known-copies";

/// Number of secrets per setting.
const LIST: usize = 100;

/// All secrets of a file, in order.
fn secrets(c: &Connection) -> rusqlite::Result<Vec<String>> {
    let rows = all(
        c,
        "SELECT value FROM settings WHERE key = ?1 OR key GLOB ?1 || '-[0-9]*' ORDER BY length(key), key",
        [OWN],
        |r| json::<serde_json::Value>(r, 0),
    )?;
    // A setting that is not a list contains no secrets.
    Ok(rows.into_iter().filter_map(|it| serde_json::from_value::<Vec<String>>(it).ok()).flatten().collect())
}

fn hash(project: ProjectId, secret: &str) -> String {
    let digest = Sha256::new_with_prefix(b"dissensus known copy\0")
        .chain_update(project.0.as_bytes())
        .chain_update(secret)
        .finalize();
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

impl WriteTx<'_> {
    /// Adds a secret to this file, for a write session.
    pub(crate) fn add_work_secret(&self) -> Result<()> {
        let last: Option<String> = self.first(
            "SELECT key FROM settings WHERE key = ?1 OR key GLOB ?1 || '-[0-9]*' ORDER BY length(key) DESC, key DESC LIMIT 1",
            [OWN],
            |r| r.get(0),
        )?;
        let last = last.unwrap_or_else(|| OWN.to_owned());
        let mut secrets: Vec<String> = self.setting(&last)?.unwrap_or_default();
        let key = if secrets.len() < LIST {
            last
        } else {
            secrets.clear();
            let number: usize = last[OWN.len()..].trim_start_matches('-').parse().unwrap_or(0);
            format!("{OWN}-{}", number + 1)
        };
        secrets.extend(self.first("SELECT hex(randomblob(16))", [], |r| r.get::<_, String>(0))?);
        put(self, &key, &to_json("setting", &secrets)?)
    }

    /// Recognizes another copy from now on, by its newest secret. Ignores copies without a secret
    /// that this file does not have itself.
    pub(crate) fn know_copy(&self, other: &Store) -> Result<()> {
        let theirs = other.read("reading which copies are known", secrets)?;
        let ours = secrets(self.conn).map_err(|e| self.explain("reading which copies are known", e))?;
        let Some(newest) = theirs.last().filter(|secret| !ours.contains(secret)) else { return Ok(()) };
        let mut known: BTreeSet<String> = self.setting(KNOWN)?.unwrap_or_default();
        if known.insert(hash(self.project_id()?, newest)) {
            put(self, KNOWN, &to_json("setting", &known)?)?;
        }
        Ok(())
    }
}

impl Store {
    /// Whether `other` continues a file that was merged into this one as a whole copy. Does not
    /// rely on what `other` states about other copies.
    pub fn knows_copy(&self, other: &Store) -> Result<bool> {
        let known: BTreeSet<String> = self.setting(KNOWN)?.unwrap_or_default();
        let theirs = other.read("reading which copies are known", secrets)?;
        let project = self.project_id()?;
        Ok(theirs.iter().any(|secret| known.contains(&hash(project, secret))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn work(file: &Path, value: usize) -> Store {
        let store = Store::open(file).unwrap();
        store.set_setting("anything", &value).unwrap();
        store.set_setting("anything", &(value + 1)).unwrap();
        store
    }

    #[test]
    fn copy_is_known_after_later_openings() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let ours = Store::create(at("ours")).unwrap();
        ours.checkpoint().unwrap();
        std::fs::copy(at("ours"), at("theirs")).unwrap();
        let theirs = work(&at("theirs"), 0);
        assert!(!ours.knows_copy(&theirs).unwrap());
        let other = theirs.clone();
        ours.write(move |tx| tx.know_copy(&other)).unwrap();
        assert!(ours.knows_copy(&theirs).unwrap());
        theirs.close().unwrap();
        std::fs::copy(at("theirs"), at("theirs-then")).unwrap();
        for opening in 1..=2 * LIST + 7 {
            work(&at("theirs"), opening).close().unwrap();
        }
        let theirs = Store::open(at("theirs")).unwrap();
        assert!(ours.knows_copy(&theirs).unwrap());
        let left = theirs.read("", secrets).unwrap();
        assert_eq!(left.len(), 2 * LIST + 8, "one an opening");
        assert_eq!(left.iter().collect::<BTreeSet<_>>().len(), left.len());
        let lists = theirs.read("", |c| {
            all(c, "SELECT value FROM settings WHERE key GLOB 'work-secrets*'", [], |r| r.get::<_, String>(0))
        });
        assert!(
            lists.unwrap().iter().all(|list| list.len() < 40 * LIST),
            "an opening does not write all of them again"
        );
        // A copy that was opened but not written to is unchanged.
        theirs.close().unwrap();
        let theirs = Store::open(at("theirs")).unwrap();
        assert_eq!(theirs.read("", secrets).unwrap(), left);
    }
}
