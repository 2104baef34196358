//! Which whole copies are known: each stretch of work leaves a secret in the file that it was done in, which no merge takes over. A project
//! keeps a hash of the newest secret of every copy that it took in. A file that was copied from the project has the hashes and not the
//! secrets, so it cannot pass for a copy that took part.

use crate::row::to_json;
use crate::settings::put;
use crate::{Result, Store, WriteTx};
use dissensus_domain::ProjectId;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// The setting with the secrets of this file, the newest last.
const OWN: &str = "work-secrets";
/// The setting with hashes of secrets of copies that were taken in.
const KNOWN: &str = "known-copies";

/// How many secrets a file keeps: a copy in which more was done since it was taken in is asked about again.
const KEPT: usize = 500;

fn hash(project: ProjectId, secret: &str) -> String {
    let digest = Sha256::new_with_prefix(b"dissensus known copy\0")
        .chain_update(project.0.as_bytes())
        .chain_update(secret)
        .finalize();
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

impl WriteTx<'_> {
    /// Leaves a secret of a new stretch of work in this file.
    pub(crate) fn add_work_secret(&self) -> Result<()> {
        let mut secrets: Vec<String> = self.setting(OWN)?.unwrap_or_default();
        secrets.extend(self.first("SELECT hex(randomblob(16))", [], |r| r.get::<_, String>(0))?);
        let more = secrets.len().saturating_sub(KEPT);
        secrets.drain(..more);
        put(self, OWN, &to_json("setting", &secrets)?)
    }

    /// Knows another copy from here on, by what was done in it last; not one in which nothing was done that this file has not done itself.
    pub(crate) fn know_copy(&self, other: &Store) -> Result<()> {
        let theirs: Vec<String> = other.setting(OWN)?.unwrap_or_default();
        let ours: Vec<String> = self.setting(OWN)?.unwrap_or_default();
        let Some(newest) = theirs.last().filter(|secret| !ours.contains(secret)) else { return Ok(()) };
        let mut known: BTreeSet<String> = self.setting(KNOWN)?.unwrap_or_default();
        if known.insert(hash(self.project_id()?, newest)) {
            put(self, KNOWN, &to_json("setting", &known)?)?;
        }
        Ok(())
    }
}

impl Store {
    /// Whether `other` went on from a file that was taken in here as a whole copy. Nothing that it says of others is asked.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn knows_copy(&self, other: &Store) -> Result<bool> {
        let known: BTreeSet<String> = self.setting(KNOWN)?.unwrap_or_default();
        let theirs: Vec<String> = other.setting(OWN)?.unwrap_or_default();
        let project = self.project_id()?;
        Ok(theirs.iter().any(|secret| known.contains(&hash(project, secret))))
    }
}
