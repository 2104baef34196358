//! Packets: what one person is asked, handed out as a file of its own.

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

/// A text that a person is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The text.
    pub text: TextId,
    /// 1 where it is asked first, 2 where it is asked again.
    pub occasion: u16,
    /// Whether everybody is asked about it.
    pub anchor: bool,
}

/// Texts that one person is asked about, handed out together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its identity.
    pub id: PacketId,
    /// Who is asked.
    pub annotator: AnnotatorId,
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    pub made_at_ms: i64,
    /// What drew its texts and their order.
    pub seed: u32,
    /// What is asked of each text, in this order.
    pub questions: Vec<QuestionId>,
    /// The texts, in the order in which they are asked.
    pub assignments: Vec<Assignment>,
}
