//! Counts of texts, annotators, questions, labels and events.

use crate::labels::IS_LABEL;
use crate::row::source;
use crate::tx::all;
use crate::{Result, Store};
use dissensus_domain::{AnnotatorId, EventId, LabelSource, QuestionId, TextId};
use std::collections::HashMap;

/// Counts of the contents of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub texts: u32,
    pub annotators: u32,
    pub questions: u32,
    /// Current labels of all questions.
    pub labels: u32,
    /// Events of the first annotation round: answers, retractions, skips, flags and notes.
    pub events: u32,
}

/// The number of current labels of an annotator for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnnotatorCount {
    pub question: QuestionId,
    pub annotator: AnnotatorId,
    /// Number of current labels.
    pub labels: u32,
    /// Number of texts with a "cannot say" answer. Annotators without labels or such answers are
    /// omitted.
    pub cannot_say: u32,
}

impl Store {
    /// The texts with a current answer to a question, by row id.
    pub fn labelled_texts(&self, question: QuestionId) -> Result<Vec<TextId>> {
        self.read("reading which texts have labels", |c| {
            let sql = "SELECT DISTINCT text FROM current_answers WHERE question = ?1 AND occasion = 1 ORDER BY text";
            all(c, sql, [question.row().0], |r| Ok(TextId(r.get(0)?)))
        })
    }

    /// The annotators with events after `cursor`, each with the origin of their answers. Scans the events
    /// after `cursor`.
    pub fn people_by_source(&self, cursor: EventId) -> Result<Vec<(AnnotatorId, LabelSource)>> {
        self.read("reading who answered where", |c| {
            let sql = "SELECT DISTINCT annotator, source FROM events WHERE id > ?1";
            all(c, sql, [cursor.0], |r| Ok((AnnotatorId(r.get(0)?), source(r, 1)?)))
        })
    }

    /// Counts everything. Scans the labels: about a third of a second for a million.
    pub fn counts(&self) -> Result<Counts> {
        self.read("counting", |c| {
            let sql = format!(
                "SELECT (SELECT count(*) FROM texts), (SELECT count(*) FROM annotators),
                           (SELECT count(*) FROM questions), (SELECT count(*) FROM current_answers WHERE occasion = 1 AND {IS_LABEL}),
                           (SELECT count(*) FROM events) - (SELECT count(*) FROM events WHERE occasion > 1)"
            );
            c.query_row(&sql, [], |r| {
                Ok(Counts {
                    texts: r.get(0)?,
                    annotators: r.get(1)?,
                    questions: r.get(2)?,
                    labels: r.get(3)?,
                    events: r.get(4)?,
                })
            })
        })
    }

    /// Numbers of current labels by question and annotator. Scans the labels, like
    /// [`Store::counts`].
    pub fn annotator_counts(&self) -> Result<Vec<AnnotatorCount>> {
        self.read("counting the annotators' labels", |c| {
            // Counted here, since GROUP BY would sort all labels first, which takes five times as
            // long.
            let mut counts: HashMap<(u32, u32), (u32, u32)> = HashMap::new();
            let sql =
                format!("SELECT question, annotator, {IS_LABEL} FROM current_answers WHERE occasion = 1");
            let mut statement = c.prepare_cached(&sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (labels, cannot_say) = counts.entry((row.get(0)?, row.get(1)?)).or_default();
                *(if row.get(2)? { labels } else { cannot_say }) += 1;
            }
            let mut counts: Vec<((u32, u32), (u32, u32))> = counts.into_iter().collect();
            counts.sort_unstable();
            let count = |((question, annotator), (labels, cannot_say))| AnnotatorCount {
                question: QuestionId(question),
                annotator: AnnotatorId(annotator),
                labels,
                cannot_say,
            };
            Ok(counts.into_iter().map(count).collect())
        })
    }
}
