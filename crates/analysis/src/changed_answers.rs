//! Answers that changed since an event, which a model in memory follows.

use super::Analysis;
use dissensus_domain::{AnnotatorId, EventId, EventKind, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use std::collections::BTreeSet;

/// Number of events that are read together.
const AT_ONCE: u32 = 2_000;
/// Maximum number of changed answers to follow; beyond it the model is fitted anew.
const CHANGED_ANSWERS: usize = 5_000;

/// Changed answers, by text and annotator, and the last event.
pub(super) type Changed = (BTreeSet<(TextId, AnnotatorId)>, EventId);

/// Answers to a question that changed since an event; `None` if there are too many to follow.
pub(super) fn changed_since(
    cx: &Analysis,
    question: QuestionId,
    event: EventId,
) -> Result<Option<Changed>, ProjectError> {
    let mut changed: BTreeSet<(TextId, AnnotatorId)> = BTreeSet::new();
    let mut followed = event;
    loop {
        let events = cx.context.store.events_since(followed, AT_ONCE)?;
        let Some(last) = events.last() else { return Ok(Some((changed, followed))) };
        followed = last.id;
        changed.extend(
            events
                .iter()
                .filter(|event| event.question == question && !matches!(event.kind, EventKind::Mark(_)))
                .map(|event| (event.text, event.annotator)),
        );
        if changed.len() > CHANGED_ANSWERS {
            return Ok(None);
        }
    }
}
