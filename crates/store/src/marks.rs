//! Texts that an annotator skipped or flagged.

use crate::events::NewEvent;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{
    AnnotatorId, Event, EventId, EventKind, LabelSource, MarkKind, Marks, QuestionId, TextId, marks,
};
use std::collections::BTreeMap;

/// A mark to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMark {
    /// Who marks.
    pub annotator: AnnotatorId,
    /// For which question.
    pub question: QuestionId,
    /// The text marked.
    pub text: TextId,
    /// Skip, flag, ...
    pub kind: MarkKind,
    /// What the clock says, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Where it comes from.
    pub source: LabelSource,
    /// What the annotator notes with it.
    pub note: Option<String>,
}

impl WriteTx<'_> {
    /// Appends a mark.
    ///
    /// # Errors
    /// The question, text or annotator is not in the project.
    pub fn add_mark(&mut self, new: &NewMark) -> Result<EventId> {
        let NewMark { annotator, question, text, kind, at_ms, source, .. } = *new;
        let at_ms = self.time_of_new(at_ms, source, question, text, annotator)?;
        let kind = EventKind::Mark(kind);
        let note = new.note.as_deref();
        self.append_event(&NewEvent { question, text, annotator, at_ms, source, kind: &kind, note })
    }
}

impl Store {
    /// Appends a mark; it is on disk when this returns.
    ///
    /// # Errors
    /// As [`WriteTx::add_mark`], or what the disk says.
    pub fn mark(&self, new: &NewMark) -> Result<EventId> {
        let new = new.clone();
        self.write(move |tx| tx.add_mark(&new))
    }

    /// Every text that the annotator ever marked, and what holds now.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn marks(&self, annotator: AnnotatorId, question: QuestionId) -> Result<BTreeMap<TextId, Marks>> {
        let mut by_text: BTreeMap<TextId, Vec<Event>> = BTreeMap::new();
        for event in self.events_of(annotator, question)? {
            if matches!(event.kind, EventKind::Mark(_)) {
                by_text.entry(event.text).or_default().push(event);
            }
        }
        Ok(by_text.into_iter().map(|(text, events)| (text, marks(&events))).collect())
    }
}
