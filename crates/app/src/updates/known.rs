//! What earlier checks found, in a file of the configuration.

use super::error::UpdateError;
use super::metadata::{Release, day_of, version_from};
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use serde::{Deserialize, Serialize};

const NAME: &str = "updates.json";
const LOCK: &str = "updates.lock";

/// What earlier checks found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// When the last check with a result was, in milliseconds since 1970.
    pub(crate) checked_at: Option<i64>,
    /// The release that was newer than this program.
    pub(crate) newest: Option<Release>,
    /// The newest release ever seen, which no later description may precede.
    pub(crate) seen: Option<Release>,
}

impl Known {
    pub(crate) fn read(home: &Home) -> Self {
        home.read_json(NAME).unwrap_or_default()
    }

    /// Stores it. What another program has seen meanwhile is kept.
    pub(crate) fn write(&self, home: &Home) -> Result<(), ProjectError> {
        let _locked = home.lock_config(LOCK)?;
        let stored = Self::read(home).seen;
        let known = match stored {
            Some(stored) => self.clone().seen(&stored),
            None => self.clone(),
        };
        home.write_json(NAME, &known)
    }

    /// Adds a release that was seen; the newest one is kept, without notes and files.
    pub(crate) fn seen(self, release: &Release) -> Self {
        let is_newest = self.must_not_be_after(release).is_ok();
        let short = || Release { notes: String::new(), files: Vec::new(), ..release.clone() };
        Self { seen: if is_newest { Some(short()) } else { self.seen }, ..self }
    }

    /// Fails if a release is older than the newest one seen.
    pub(crate) fn must_not_be_after(&self, release: &Release) -> Result<(), UpdateError> {
        let Some(seen) = &self.seen else { return Ok(()) };
        let versions = (version_from(&release.version), version_from(&seen.version));
        let earlier = matches!(versions, (Some(now), Some(seen)) if now.cmp_precedence(&seen).is_lt());
        let dated_earlier = matches!((day_of(release), day_of(seen)), (Some(now), Some(seen)) if now < seen);
        match earlier || dated_earlier {
            true => Err(UpdateError::Older {
                version: release.version.clone(),
                date: release.date.clone(),
                seen: seen.version.clone(),
                seen_date: seen.date.clone(),
            }),
            false => Ok(()),
        }
    }
}
