//! Task packets: the texts and questions assigned to one annotator, as a file.

use crate::{AnnotatorId, QuestionId, TextId};
use std::fmt;
use uuid::Uuid;

/// The identity of a packet in all copies of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub Uuid);

impl fmt::Display for PacketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text assigned to an annotator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub text: TextId,
    /// Annotation round: 1 for the first time, 2 for re-annotation.
    pub occasion: u16,
    /// Whether the text is assigned to every annotator.
    pub anchor: bool,
}

/// Texts assigned to one annotator in one task packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub id: PacketId,
    pub annotator: AnnotatorId,
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    pub made_at_ms: i64,
    /// Seed of the random choice of texts and their order.
    pub seed: u32,
    /// The questions asked about each text, in this order.
    pub questions: Vec<QuestionId>,
    /// The texts, in the order in which they are shown.
    pub assignments: Vec<Assignment>,
}
