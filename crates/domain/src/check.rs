//! Attention checks: texts whose right answer is known, hidden among the others.

use crate::{Answer, QuestionId, TextId};

/// That a question about a text has a right answer, by which one sees whether people read on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttentionCheck {
    /// The question.
    pub question: QuestionId,
    /// The text.
    pub text: TextId,
    /// When it was set, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// The right answer; none where the text is no check any more.
    pub answer: Option<Answer>,
    /// Why it is the right one.
    pub reason: String,
}
