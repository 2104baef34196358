//! All data that models of a question are trained on, from a consistent snapshot.

use crate::{Result, Store, StoreError};
use dissensus_domain::{Annotator, CurrentLabel, QuestionId, TextId};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// A text without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPlace {
    pub id: TextId,
    /// The document or thread that the text is part of.
    pub group: Option<String>,
    /// Its part of the official split.
    pub split: Option<String>,
    /// Index of the first text with the same body, ignoring white space and case; the text's own
    /// index, from 0, if there is none before it or it has no words.
    pub first_with_body: u32,
}

/// Labels, texts and annotators from one snapshot: a concurrent import is included in all of them
/// or in none.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionSnapshot {
    /// The current labels, by text, then annotator.
    pub labels: Vec<CurrentLabel>,
    /// All texts, by row id.
    pub texts: Vec<TextPlace>,
    /// All annotators, by row id.
    pub annotators: Vec<Annotator>,
}

impl Store {
    /// The data that models of a question are trained on, read in one transaction.
    pub fn question_snapshot(&self, question: QuestionId) -> Result<QuestionSnapshot> {
        self.read_with(|c, explain| -> Result<QuestionSnapshot> {
            // Dropped without a commit, since nothing was written.
            let snapshot = c.unchecked_transaction().map_err(explain)?;
            let labels = crate::labels::current_in(&snapshot, question).map_err(explain)?;
            let mut first: HashMap<[u8; 32], u32> = HashMap::new();
            let sql = "SELECT id, \"group\", split, body FROM texts ORDER BY id";
            let mut place = 0;
            let texts = crate::tx::all(&snapshot, sql, [], |r| {
                let body = r.get_ref(3)?.as_str().map_err(|e| crate::row::bad(3, e))?;
                let first_with_body =
                    body_hash(body).map_or(place, |hash| *first.entry(hash).or_insert(place));
                place += 1;
                Ok(TextPlace { id: TextId(r.get(0)?), group: r.get(1)?, split: r.get(2)?, first_with_body })
            })
            .map_err(explain)?;
            let annotators = crate::annotators::all_in(&snapshot).map_err(explain)?;
            Ok::<_, StoreError>(QuestionSnapshot { labels, texts, annotators })
        })
    }
}

/// SHA-256 of a body's words in lower case, separated by single spaces. It is equal for the same
/// text in this or another project. `None` for bodies without words, which are not considered
/// equal.
pub fn body_hash(body: &str) -> Option<[u8; 32]> {
    body.split_whitespace().next()?;
    let mut hash = Sha256::new();
    for word in body.split_whitespace() {
        hash.update(word.to_lowercase());
        hash.update(" ");
    }
    Some(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::body_hash;

    #[test]
    fn whitespace_and_case_do_not_change_a_body() {
        assert_eq!(body_hash("  Go\taway\n"), body_hash("go AWAY"));
        assert_ne!(body_hash("go away"), body_hash("goaway"));
        assert_ne!(body_hash("go away"), body_hash("go away!"));
        assert_eq!((body_hash(""), body_hash(" \n")), (None, None), "these are texts of their own");
        assert!(body_hash("go").is_some());
    }
}
