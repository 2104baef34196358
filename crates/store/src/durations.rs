//! How long annotators viewed the texts that they labelled.

use crate::labels::IS_LABEL;
use crate::tx::all;
use crate::{Result, Store};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};

/// A current label with a known duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedAnswer {
    pub text: TextId,
    pub annotator: AnnotatorId,
    /// Length of the text in characters.
    pub characters: u32,
    /// How long the annotator viewed the text, in milliseconds.
    pub duration_ms: u32,
}

impl Store {
    /// The current labels of a question with a known duration, in the order in which they were
    /// appended.
    pub fn timed_answers(&self, question: QuestionId) -> Result<Vec<TimedAnswer>> {
        self.read("reading how long labels took", |c| {
            // Events come first in the join: most files have no durations, and then nothing else is
            // read.
            let sql = format!("SELECT e.text, e.annotator, length(t.body), e.duration_ms
                       FROM events AS e
                       CROSS JOIN current_answers AS a
                       ON a.question = e.question AND a.text = e.text AND a.annotator = e.annotator AND a.occasion = 1 AND a.event = e.id
                       CROSS JOIN texts AS t ON t.id = e.text
                       WHERE e.duration_ms IS NOT NULL AND e.question = ?1 AND a.{IS_LABEL} ORDER BY e.id");
            all(c, &sql, [question.row().0], |row| {
                Ok(TimedAnswer {
                    text: TextId(row.get(0)?),
                    annotator: AnnotatorId(row.get(1)?),
                    characters: row.get(2)?,
                    duration_ms: row.get(3)?,
                })
            })
        })
    }
}
