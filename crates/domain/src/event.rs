//! Events: everything that annotators did to a text. Events are appended and never changed.

use crate::{AnnotatorId, Answer, EventId, GuidelineId, LabelSource, Note, QuestionId, TextId, WordingId};
use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

/// The identity of a project, shared by all of its copies and independent of file name and
/// location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectId(pub Uuid);

/// One write session on one copy of a project: from opening it for writing until it is closed.
///
/// A new id is created for each session, because nothing stored in a file reveals that the file was
/// copied by hand, restored from a backup or overwritten with an older version. Two copies that
/// continued with the same id would assign the same key to different events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CopyId(pub Uuid);

/// The identity of an event in all copies of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventKey {
    /// The session in which the event was first appended.
    pub copy: CopyId,
    /// Counted from 1 within that session.
    pub sequence: u32,
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for CopyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.copy, self.sequence)
    }
}

/// The first annotation round, whose answers are labels.
pub const FIRST_OCCASION: u16 = 1;

/// An action of an annotator on a text other than answering.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum MarkKind {
    /// The annotator skipped the text; it is shown again after all others.
    Skip,
    /// Cancels the skip.
    Unskip,
    /// The annotator flagged the text for review.
    Flag,
    /// Cancels the flag.
    Unflag,
    /// The annotator added a note, reasons or a confidence without changing the answer. It replaces
    /// the previous note.
    Note,
}

impl MarkKind {
    /// The name used in SQL and in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An answer to the question on the text.
    Answer {
        answer: Answer,
        /// How long the annotator viewed the text, in milliseconds, if known.
        duration_ms: Option<u32>,
        /// The answer that this one replaces, if the copy had one.
        replaces: Option<EventId>,
    },
    /// Retracts an answer of the same annotator to the same question on the same text.
    Retraction {
        /// The retracted answer.
        of: EventId,
    },
    Mark(MarkKind),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Row id in this file; events that are appended or merged later have larger ids. It has no
    /// meaning outside this file.
    pub id: EventId,
    /// Identity in all copies.
    pub key: EventKey,
    pub question: QuestionId,
    pub text: TextId,
    pub annotator: AnnotatorId,
    /// The annotation round: 1, or later for re-annotations.
    pub occasion: u16,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub source: LabelSource,
    pub kind: EventKind,
    /// The note given with the event.
    pub note: Note,
    /// The version of the guideline that the annotator had on screen.
    pub guideline: Option<GuidelineId>,
    /// The wording of the question that the annotator had on screen, if known.
    pub wording: Option<WordingId>,
}

impl Event {
    /// The answer, if the event is one.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.kind {
            EventKind::Answer { answer, .. } => Some(answer),
            _ => None,
        }
    }

    /// The answer that this one replaces.
    pub fn replaces(&self) -> Option<EventId> {
        match &self.kind {
            EventKind::Answer { replaces, .. } => *replaces,
            _ => None,
        }
    }

    /// The answer that this event retracts.
    pub fn retracts(&self) -> Option<EventId> {
        match self.kind {
            EventKind::Retraction { of } => Some(of),
            _ => None,
        }
    }

    /// How long the annotator viewed the text, in milliseconds, if known.
    pub fn duration_ms(&self) -> Option<u32> {
        match self.kind {
            EventKind::Answer { duration_ms, .. } => duration_ms,
            _ => None,
        }
    }

    /// Sort key for events not ordered by `replaces`: time, copy, sequence. It is the same in every
    /// copy.
    pub fn order(&self) -> (i64, EventKey) {
        (self.at_ms, self.key)
    }
}
