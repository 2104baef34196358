//! The only way for annotations, live models and listeners to learn of changes to labels: the events of the
//! project, including our own writes.

use super::Labelling;
use dissensus_domain::{EventKind, current_answer};
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::sync::lock;
use std::collections::BTreeSet;

/// With more events than this at once, everything derived from events is read again as a whole.
const AT_ONCE: u32 = 2_000;

/// Brings annotations and live models up to date with the events that were appended since the last
/// call, and notifies the listeners. When this returns, everything that was on disk when it was called
/// is applied.
///
/// Current values are always read from the project, never taken from the event itself: so neither the
/// order in which threads arrive matters, nor whether a model fitted meanwhile has seen an event
/// already.
///
/// # Errors
/// The project cannot be read. The events are then processed with the next call.
pub fn follow(cx: &Labelling) -> Result<(), ProjectError> {
    let mut seen = lock(&cx.followed);
    let events = cx.context.store.events_since(*seen, AT_ONCE)?;
    let Some(last) = events.last() else { return Ok(()) };
    if events.len() == AT_ONCE as usize {
        *seen = cx.context.store.last_event()?;
        cx.annotations.clear();
        cx.live.invalidate_all();
        cx.context.listeners.send(&Event::Project);
        return Ok(());
    }
    let changed: BTreeSet<_> = events.iter().map(|e| (e.question, e.text, e.annotator)).collect();
    for &(question, text, annotator) in &changed {
        let history = cx.context.store.events(question, text, annotator)?;
        if let Some(annotations) = cx.annotations.known(annotator, question) {
            lock(&annotations).set(&history);
        }
        let answered = |e: &&dissensus_domain::Event| {
            (e.question, e.text, e.annotator) == (question, text, annotator)
                && !matches!(e.kind, EventKind::Mark(_))
        };
        if events.iter().any(|e| answered(&e)) {
            let answer = current_answer(&history).and_then(dissensus_domain::Event::answer);
            let revision = cx.live.learn(question, text, annotator, answer);
            cx.context.listeners.send(&Event::Labels { question, text, annotator, revision });
        }
    }
    *seen = last.id;
    Ok(())
}

/// Clears everything derived from events, so that it is read again: after an import, which has too many
/// labels to process one by one.
pub fn skip(cx: &Labelling) -> Result<(), ProjectError> {
    let mut seen = lock(&cx.followed);
    *seen = cx.context.store.last_event()?;
    cx.annotations.clear();
    cx.live.invalidate_all();
    Ok(())
}
