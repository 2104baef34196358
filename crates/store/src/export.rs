//! Iterates over labels with their texts, annotators and questions, for export to other tools.

use crate::order::{ANNOTATORS, TEXTS};
use crate::row::{EVENT_COLUMNS, EVENT_TABLES};
use crate::{Store, StoreError};
use dissensus_domain::{Annotator, Event, Question, QuestionId, Text};

/// Which events to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportScope {
    /// Only current labels, by text, then annotator.
    Current,
    /// Every answer and retraction, by text, then in the order in which they were appended or
    /// merged.
    History,
}

/// An event with its question, text and annotator.
#[derive(Clone, Copy, Debug)]
pub struct ExportRow<'a> {
    pub event: &'a Event,
    pub question: &'a Question,
    pub text: &'a Text,
    pub annotator: &'a Annotator,
    /// Name of the answer; `None` for a retraction.
    pub level: Option<&'a str>,
}

impl Store {
    /// Calls `f` with every label event of a question, from a consistent snapshot. To read more
    /// from the same snapshot, use [`Store::snapshot`].
    pub fn for_each_label<E: From<StoreError>>(
        &self,
        question: QuestionId,
        scope: ExportScope,
        f: impl FnMut(ExportRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.snapshot(|snapshot| snapshot.for_each_label(question, scope, f))
    }
}

/// The query in the order of [`Order`](crate::Order). If `of_rows` is set, this is the order of row
/// ids, and nothing has to be sorted.
pub(crate) fn events_in(scope: ExportScope, of_rows: bool) -> String {
    if !of_rows {
        return match scope {
            ExportScope::Current => format!(
                "SELECT {EVENT_COLUMNS} FROM current_answers AS n CROSS JOIN {EVENT_TABLES} CROSS JOIN texts AS t ON t.id = e.text
                 CROSS JOIN annotators AS a ON a.id = e.annotator WHERE n.question = ?1 AND n.occasion = 1 AND e.id = n.event ORDER BY {TEXTS}, {ANNOTATORS}"
            ),
            ExportScope::History => format!(
                "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} CROSS JOIN texts AS t ON t.id = e.text
                 WHERE e.question = ?1 AND e.occasion = 1 AND (e.kind = 'answer' OR e.kind = 'retraction') ORDER BY {TEXTS}, e.at_ms, c.uid, e.sequence"
            ),
        };
    }
    match scope {
        // A current answer without its event is damage, which shows in the number of rows.
        ExportScope::Current => format!(
            "SELECT {EVENT_COLUMNS} FROM current_answers AS a CROSS JOIN {EVENT_TABLES}
             WHERE a.question = ?1 AND a.occasion = 1 AND e.id = a.event ORDER BY a.text, a.annotator"
        ),
        ExportScope::History => format!(
            "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES}
             WHERE e.question = ?1 AND e.occasion = 1 AND (e.kind = 'answer' OR e.kind = 'retraction') ORDER BY e.text, e.id"
        ),
    }
}
