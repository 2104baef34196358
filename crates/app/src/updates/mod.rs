//! Newer versions: whether there is one, by a signed description of the newest release. Nothing is downloaded
//! to be installed, and a request says nothing about the computer or its user.

pub mod error;
mod fetch;
mod known;
mod managed;
mod metadata;
mod source;
#[cfg(test)]
mod tests;

use crate::Application;
use dissensus_api::{CheckedDownload, NewVersion, UpdateState};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::Progress;
use dissensus_project::log::go_on;
use error::UpdateError;
use known::Known;
use managed::Installed;
use metadata::{Release, version_from};
use semver::Version;
use sha2::{Digest as _, Sha256};
use source::Source;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

/// Time between two checks that nobody asked for.
const WEEK_MS: i64 = 7 * 24 * 3600 * 1000;
/// Bytes of a downloaded file that are read at once.
const CHUNK: usize = 1 << 18;

impl Application {
    /// What the last check found.
    pub fn update_state(&self) -> UpdateState {
        state(&Known::read(self.home()), &Source::of_build(), &Installed::here(), now_ms())
    }

    /// Checks that a downloaded file is whole and that of the newest release.
    ///
    /// # Errors
    /// See [`check`] and [`check_download`].
    pub fn check_download(
        &self,
        file: &Path,
        progress: &dyn Progress,
    ) -> Result<CheckedDownload, ProjectError> {
        check_download(self.home(), &Source::of_build(), file, progress)
    }

    /// Looks for a newer version, unless a store installed this program.
    ///
    /// # Errors
    /// See [`check`].
    pub fn check_updates(&self, progress: &dyn Progress) -> Result<UpdateState, ProjectError> {
        check(self.home(), &Source::of_build(), &Installed::here(), now_ms(), progress)
    }
}

/// Looks for a newer version, and remembers what was found.
///
/// # Errors
/// No answer, or one that is not a signed description of a release that is as new as the one seen before; or
/// cancellation. What was known before stays.
pub(crate) fn check(
    home: &Home,
    source: &Source,
    installed: &Installed,
    now: i64,
    progress: &dyn Progress,
) -> Result<UpdateState, ProjectError> {
    if installed.instead().is_some() {
        return Ok(state(&Known::read(home), source, installed, now));
    }
    let release = newest(home, source, now, progress)?;
    let newer = version_from(&release.version).is_some_and(|newest| is_newer(&newest));
    let found = Known { checked_at: Some(now), newest: newer.then(|| release.clone()), ..Known::read(home) };
    let known = found.seen(&release);
    // A disk that cannot be written costs the memory of the result, not the result.
    go_on("remembering the check for updates", known.write(home));
    Ok(state(&known, source, installed, now))
}

/// Checks that a downloaded file is whole and that of the newest release.
///
/// # Errors
/// The release has no file of this name, or this one is cut off or differs.
pub(crate) fn check_download(
    home: &Home,
    source: &Source,
    file: &Path,
    progress: &dyn Progress,
) -> Result<CheckedDownload, ProjectError> {
    let release = newest(home, source, now_ms(), progress)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(listed) = release.files.iter().find(|listed| listed.name == name) else {
        return Err(UpdateError::NotInRelease { name, version: release.version }.into());
    };
    let fail = |source| ProjectError::Io { path: file.to_owned(), doing: "reading", source };
    let mut open = std::fs::File::open(file).map_err(fail)?;
    let bytes = open.metadata().map_err(fail)?.len();
    if bytes < listed.bytes {
        return Err(UpdateError::DownloadCutOff { name, bytes, whole: listed.bytes }.into());
    }
    let (mut sum, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        match open.read(&mut chunk).map_err(fail)? {
            0 => break,
            read => sum.update(&chunk[..read]),
        }
    }
    let sha256 = hexadecimal(&sum.finalize());
    if bytes != listed.bytes || !sha256.eq_ignore_ascii_case(&listed.sha256) {
        return Err(UpdateError::DownloadDiffers { name, version: release.version }.into());
    }
    Ok(CheckedDownload { version: release.version, file: name, sha256 })
}

/// The signed description of the newest release, which must be no older than the one seen before.
fn newest(home: &Home, source: &Source, now: i64, progress: &dyn Progress) -> Result<Release, ProjectError> {
    let key = source.key().ok_or(UpdateError::NoSource)?;
    let (description, signature) = fetch::both(source, progress)?;
    let release = metadata::read(&description, &signature, &key)?;
    metadata::must_be_past(&release, now)?;
    Known::read(home).must_not_be_after(&release)?;
    Ok(release)
}

fn state(known: &Known, source: &Source, installed: &Installed, now: i64) -> UpdateState {
    let managed = installed.instead().map(str::to_owned);
    // This program may have been updated since the check.
    let is_news = |release: &&Release| version_from(&release.version).is_some_and(|found| is_newer(&found));
    let newer = known.newest.as_ref().filter(is_news).map(|release| NewVersion {
        version: release.version.clone(),
        date: release.date.clone(),
        notes: release.notes.clone(),
        page: source.page(&release.version),
    });
    // A check in the future was made with a wrong clock.
    let recent = known.checked_at.is_some_and(|at| (now - WEEK_MS..=now).contains(&at));
    let checks = managed.is_none() && source.key().is_some();
    UpdateState {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        checked_at: known.checked_at.map(|at| at as f64),
        newer: newer.filter(|_| managed.is_none()),
        due: checks && !recent,
        managed,
    }
}

/// Whether a version is newer than this program.
fn is_newer(found: &Version) -> bool {
    version_from(env!("CARGO_PKG_VERSION")).is_some_and(|own| found.cmp_precedence(&own).is_gt())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
