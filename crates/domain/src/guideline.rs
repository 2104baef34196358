//! Guidelines: instructions for annotators, in versions that are appended and never changed.

use std::fmt;
use uuid::Uuid;

/// The identity of a version of the guideline in all copies of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuidelineId(pub Uuid);

impl fmt::Display for GuidelineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A version of the guideline. Versions are numbered from 1 by time, then identity; the last one is
/// in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guideline {
    pub id: GuidelineId,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// The text in Markdown. Pictures are referenced as `picture:NAME` with the name of a
    /// [`Picture`].
    pub body: String,
    /// Summary of the change, written by its author.
    pub change: String,
    pub by: String,
}

/// A picture used in guidelines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The first 16 hexadecimal digits of the SHA-256 of its bytes.
    pub name: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    pub bytes: Vec<u8>,
}
