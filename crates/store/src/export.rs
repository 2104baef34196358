//! Labels with everything that belongs to them, one after another, for files of other tools.

use crate::order::{ANNOTATORS, TEXTS};
use crate::row::{EVENT_COLUMNS, EVENT_TABLES};
use crate::{Store, StoreError};
use dissensus_domain::{Annotator, Event, Question, QuestionId, Text};

/// Which events to hand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportScope {
    /// Current labels only, by text, then annotator.
    Current,
    /// Every answer and every retraction, by text, then as they were appended or taken in.
    History,
}

/// One event with everything that belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct ExportRow<'a> {
    /// The event itself.
    pub event: &'a Event,
    /// The question answered.
    pub question: &'a Question,
    /// The text judged.
    pub text: &'a Text,
    /// Who judged.
    pub annotator: &'a Annotator,
    /// Name of the answer; none for a retraction.
    pub level: Option<&'a str>,
}

impl Store {
    /// Hands every label event of a question to `f`, as they are at one moment. To read more at the same moment, take a snapshot.
    ///
    /// # Errors
    /// As [`Snapshot::for_each_label`](crate::Snapshot::for_each_label).
    pub fn for_each_label<E: From<StoreError>>(
        &self,
        question: QuestionId,
        scope: ExportScope,
        f: impl FnMut(ExportRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.snapshot(|snapshot| snapshot.for_each_label(question, scope, f))
    }
}

/// In the order of [`Order`](crate::Order), which is that of rows where `of_rows` says so: then nothing has to be sorted.
pub(crate) fn events_in(scope: ExportScope, of_rows: bool) -> String {
    if !of_rows {
        return match scope {
            ExportScope::Current => format!(
                "SELECT {EVENT_COLUMNS} FROM current_answers AS n CROSS JOIN {EVENT_TABLES} CROSS JOIN texts AS t ON t.id = e.text
                 CROSS JOIN annotators AS a ON a.id = e.annotator WHERE n.question = ?1 AND e.id = n.event ORDER BY {TEXTS}, {ANNOTATORS}"
            ),
            ExportScope::History => format!(
                "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} CROSS JOIN texts AS t ON t.id = e.text
                 WHERE e.question = ?1 AND (e.kind = 'answer' OR e.kind = 'retraction') ORDER BY {TEXTS}, e.at_ms, c.uid, e.sequence"
            ),
        };
    }
    match scope {
        // A current answer without its event is damage, which the number of rows tells.
        ExportScope::Current => format!(
            "SELECT {EVENT_COLUMNS} FROM current_answers AS a CROSS JOIN {EVENT_TABLES}
             WHERE a.question = ?1 AND e.id = a.event ORDER BY a.text, a.annotator"
        ),
        ExportScope::History => format!(
            "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES}
             WHERE e.question = ?1 AND (e.kind = 'answer' OR e.kind = 'retraction') ORDER BY e.text, e.id"
        ),
    }
}
