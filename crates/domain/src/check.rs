//! Attention checks: texts with a known right answer, hidden among the others.

use crate::{Answer, QuestionId, TextId};

/// An attention check: the right answer to a question about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttentionCheck {
    pub question: QuestionId,
    pub text: TextId,
    /// When it was set, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// The right answer; `None` if the text is no longer a check.
    pub answer: Option<Answer>,
    /// Why this answer is right.
    pub reason: String,
}
