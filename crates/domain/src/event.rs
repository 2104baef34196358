//! Events: everything that people did to a text, appended and never changed.

use crate::{AnnotatorId, Answer, EventId, GuidelineId, LabelSource, QuestionId, Remark, TextId, WordingId};
use std::fmt;
use uuid::Uuid;

/// A project, wherever its file lies and whatever it is called. All copies of it share this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectId(pub Uuid);

/// One stretch of work on one copy of a project: from opening it to write until it is closed.
///
/// A new one is made each time, because nothing that lies in a file can tell that the file was copied by hand, restored
/// from a backup or put back over itself: two copies that went on with one id would give different events the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyId(pub Uuid);

/// The identity of an event in all copies of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    /// Where it was appended first.
    pub copy: CopyId,
    /// Counted from 1 within that copy.
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

/// Something that an annotator did to a text, beside answering.
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
    /// The annotator skipped the text; it comes again when all others are done.
    Skip,
    /// The skip no longer holds.
    Unskip,
    /// The annotator flagged the text for somebody to look at.
    Flag,
    /// The flag no longer holds.
    Unflag,
    /// The annotator said something about the answer and nothing else: a note, reasons, how sure they are. It holds in place of what was
    /// said before.
    Note,
}

impl MarkKind {
    /// The name used in SQL and in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What an event is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An answer to the question on the text.
    Answer {
        /// The answer.
        answer: Answer,
        /// How long the annotator looked at the text, in milliseconds, where it is known.
        duration_ms: Option<u32>,
        /// The answer that this one replaces, where the copy knew one.
        replaces: Option<EventId>,
    },
    /// An answer of the same annotator to the same question on the same text was taken back.
    Retraction {
        /// The answer that no longer stands.
        of: EventId,
    },
    /// A skip, a flag, a note.
    Mark(MarkKind),
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its row in this file: later appended or taken in, larger. It means nothing outside this file.
    pub id: EventId,
    /// Its identity in all copies.
    pub key: EventKey,
    /// The question.
    pub question: QuestionId,
    /// The text.
    pub text: TextId,
    /// Who did it.
    pub annotator: AnnotatorId,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Where it came from.
    pub source: LabelSource,
    /// What was done.
    pub kind: EventKind,
    /// What the annotator said beside it.
    pub remark: Remark,
    /// The version of the guideline that the annotator had on screen.
    pub guideline: Option<GuidelineId>,
    /// The wording of the question that the annotator had on screen, where it is known.
    pub wording: Option<WordingId>,
}

impl Event {
    /// The answer, where this is one.
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

    /// The answer that this event takes back.
    pub fn retracts(&self) -> Option<EventId> {
        match self.kind {
            EventKind::Retraction { of } => Some(of),
            _ => None,
        }
    }

    /// How long the annotator looked at the text, in milliseconds, where it is known.
    pub fn duration_ms(&self) -> Option<u32> {
        match self.kind {
            EventKind::Answer { duration_ms, .. } => duration_ms,
            _ => None,
        }
    }

    /// The order of events that no `replaces` puts in order: by time, then copy, then sequence. It is the same in every copy.
    pub fn order(&self) -> (i64, EventKey) {
        (self.at_ms, self.key)
    }
}
