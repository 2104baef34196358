//! The signed description of a release, `latest.json`, as `cargo xtask release` writes it.

use super::error::UpdateError;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use minisign_verify::{PublicKey, Signature};
use semver::Version;
use serde::{Deserialize, Serialize};

/// The version of the form that this program reads.
const FORMAT: u32 = 1;
/// Days by which clocks and time zones may differ.
const TOLERANCE: i32 = 2;

/// A release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Release {
    /// The version of the form; a later one is not read.
    pub(crate) format: u32,
    /// Version of the program.
    pub(crate) version: String,
    /// The day of the release, such as `2026-03-01`.
    pub(crate) date: String,
    /// What is new, as plain text.
    pub(crate) notes: String,
    /// The files of the release.
    pub(crate) files: Vec<ReleaseFile>,
}

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReleaseFile {
    /// Its name.
    pub(crate) name: String,
    /// Its size.
    pub(crate) bytes: u64,
    /// Its SHA-256 in hexadecimal digits.
    pub(crate) sha256: String,
}

/// Reads a description, after checking its signature.
pub(crate) fn read(description: &[u8], signature: &[u8], key: &PublicKey) -> Result<Release, UpdateError> {
    let signature = std::str::from_utf8(signature).ok().and_then(|text| Signature::decode(text).ok());
    let signed = signature.is_some_and(|signature| key.verify(description, &signature, false).is_ok());
    if !signed {
        return Err(UpdateError::Signature);
    }
    let broken = |what: String| UpdateError::Metadata(what);
    // The form first: a later one may have other fields.
    let value: serde_json::Value =
        serde_json::from_slice(description).map_err(|error| broken(error.to_string()))?;
    let format = value.get("format").and_then(serde_json::Value::as_u64);
    if format != Some(u64::from(FORMAT)) {
        return Err(broken(format!("its format is not {FORMAT}")));
    }
    let release: Release = serde_json::from_value(value).map_err(|error| broken(error.to_string()))?;
    if version_from(&release.version).is_none() {
        return Err(broken("its version is no version number".to_owned()));
    }
    if day_of(&release).is_none() {
        return Err(broken("its date is no day".to_owned()));
    }
    Ok(release)
}

/// The version in a text.
pub(crate) fn version_from(text: &str) -> Option<Version> {
    Version::parse(text).ok()
}

/// The day of a release.
pub(crate) fn day_of(release: &Release) -> Option<Date> {
    release.date.parse().ok()
}

/// Fails if a release is dated after today, by more than clocks and time zones may differ.
pub(crate) fn must_be_past(release: &Release, now_ms: i64) -> Result<(), UpdateError> {
    let today = Timestamp::from_millisecond(now_ms).ok().map(|now| now.to_zoned(TimeZone::UTC).date());
    match (day_of(release), today) {
        (Some(day), Some(today)) if day.since(today).is_ok_and(|ahead| ahead.get_days() > TOLERANCE) => {
            Err(UpdateError::Clock {
                version: release.version.clone(),
                date: release.date.clone(),
                today: today.to_string(),
            })
        }
        _ => Ok(()),
    }
}
