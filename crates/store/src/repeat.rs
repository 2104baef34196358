//! Re-annotations: answers of the same annotator to the same text in a later annotation round.

use crate::labels::AnswerDetails;
use crate::row::{json, source};
use dissensus_domain::{AnnotatorId, Answer, LabelSource, QuestionId, TextId, WordingId};
use rusqlite::Row;

/// The first round of re-annotation; answers of the first annotation round are labels.
pub const FIRST_REPEAT: u16 = 2;

/// An answer of a later annotation round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    pub question: QuestionId,
    pub text: TextId,
    pub annotator: AnnotatorId,
    /// Annotation round, from [`FIRST_REPEAT`].
    pub occasion: u16,
    pub answer: Answer,
    /// Time of the answer, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub source: LabelSource,
    /// Note and guideline version.
    pub details: AnswerDetails,
    /// The wording of the question that was on screen, if known.
    pub wording: Option<WordingId>,
}

/// Source and wording of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) source: LabelSource,
    pub(crate) wording: Option<WordingId>,
}

impl Origin {
    /// Combines two records about one answer, independently of their order.
    pub(crate) fn with(self, other: Self) -> Self {
        let rank = |source: LabelSource| (source.is_given(), source.name());
        let source = std::cmp::max_by_key(self.source, other.source, |source| rank(*source));
        Self { source, wording: self.wording.max(other.wording) }
    }
}

impl Repeat {
    /// Adds recorded origin data, if any.
    pub(crate) fn with_origin(mut self, noted: Option<Origin>) -> Self {
        if let Some(noted) = noted {
            let own = Origin { source: self.source, wording: self.wording };
            Origin { source: self.source, wording: self.wording } = own.with(noted);
        }
        self
    }
}

/// Columns of `repeats AS r`.
pub(crate) const REPEAT_COLUMNS: &str =
    "r.question, r.text, r.annotator, r.occasion, r.at_ms, r.answer, r.source";

/// Reads a row of [`REPEAT_COLUMNS`].
pub(crate) fn repeat(row: &Row<'_>) -> rusqlite::Result<Repeat> {
    Ok(Repeat {
        question: QuestionId(row.get(0)?),
        text: TextId(row.get(1)?),
        annotator: AnnotatorId(row.get(2)?),
        occasion: row.get(3)?,
        at_ms: row.get(4)?,
        answer: json(row, 5)?,
        source: source(row, 6)?,
        details: AnswerDetails::default(),
        wording: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn what_holds_does_not_depend_on_the_order() {
        let wording = |n: u128| Some(WordingId(Uuid::from_u128(n)));
        let all = [
            Origin { source: LabelSource::Import, wording: None },
            Origin { source: LabelSource::Command, wording: wording(3) },
            Origin { source: LabelSource::Window, wording: wording(1) },
            Origin { source: LabelSource::Simulated, wording: None },
        ];
        for rotated in 0..all.len() {
            let mut order = all;
            order.rotate_left(rotated);
            let held = order.into_iter().reduce(Origin::with).unwrap();
            assert_eq!(held, Origin { source: LabelSource::Window, wording: wording(3) });
        }
    }
}
