//! An answer of the same person to the same text on a second or later occasion, as a row.

use crate::labels::AnswerDetails;
use crate::row::{json, source};
use dissensus_domain::{AnnotatorId, Answer, LabelSource, QuestionId, TextId, WordingId};
use rusqlite::Row;

/// The first occasion that is a repeat; answers of the first occasion are labels.
pub const FIRST_REPEAT: u16 = 2;

/// An answer of a later occasion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The question answered.
    pub question: QuestionId,
    /// The text judged.
    pub text: TextId,
    /// Who judged.
    pub annotator: AnnotatorId,
    /// Which occasion, from [`FIRST_REPEAT`].
    pub occasion: u16,
    /// The answer.
    pub answer: Answer,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Where it came from.
    pub source: LabelSource,
    /// What came with it.
    pub details: AnswerDetails,
    /// The wording of the question that was on screen, where it is known.
    pub wording: Option<WordingId>,
}

/// Source and wording of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) source: LabelSource,
    pub(crate) wording: Option<WordingId>,
}

impl Origin {
    /// What holds where both are noted of one answer, in whichever order they came.
    pub(crate) fn with(self, other: Self) -> Self {
        let rank = |source: LabelSource| (source.is_given(), source.name());
        let source = std::cmp::max_by_key(self.source, other.source, |source| rank(*source));
        Self { source, wording: self.wording.max(other.wording) }
    }
}

impl Repeat {
    /// With what is noted of where it came from, if anything is.
    pub(crate) fn with_origin(mut self, noted: Option<Origin>) -> Self {
        if let Some(noted) = noted {
            let own = Origin { source: self.source, wording: self.wording };
            Origin { source: self.source, wording: self.wording } = own.with(noted);
        }
        self
    }
}

/// Of `repeats` as `r`.
pub(crate) const REPEAT_COLUMNS: &str =
    "r.question, r.text, r.annotator, r.occasion, r.at_ms, r.answer, r.source";

/// A row of [`REPEAT_COLUMNS`].
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
