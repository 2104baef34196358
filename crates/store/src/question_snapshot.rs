//! Everything that models of a question learn from, as of one moment.

use crate::{Result, Store, StoreError};
use dissensus_domain::{Annotator, CurrentLabel, QuestionId, TextId};

/// A text without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// Its row.
    pub id: TextId,
    /// The document or thread it belongs to.
    pub group: Option<String>,
    /// Its part of the official split.
    pub split: Option<String>,
}

/// Labels, texts and annotators as of one moment: what is imported meanwhile is in all of them or in none.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionSnapshot {
    /// The current labels, by text, then annotator.
    pub labels: Vec<CurrentLabel>,
    /// Every text, by row.
    pub texts: Vec<TextPlace>,
    /// Every annotator, by row.
    pub annotators: Vec<Annotator>,
}

impl Store {
    /// What models of a question learn from, read in one transaction.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn question_snapshot(&self, question: QuestionId) -> Result<QuestionSnapshot> {
        self.read_with(|c, explain| -> Result<QuestionSnapshot> {
            // Dropped without a commit: nothing was written.
            let snapshot = c.unchecked_transaction().map_err(explain)?;
            let labels = crate::labels::current_in(&snapshot, question).map_err(explain)?;
            let texts =
                crate::tx::all(&snapshot, "SELECT id, \"group\", split FROM texts ORDER BY id", [], |r| {
                    Ok(TextPlace { id: TextId(r.get(0)?), group: r.get(1)?, split: r.get(2)? })
                })
                .map_err(explain)?;
            let annotators = crate::annotators::all_in(&snapshot).map_err(explain)?;
            Ok::<_, StoreError>(QuestionSnapshot { labels, texts, annotators })
        })
    }
}
