//! An annotator's notes: with an answer, or after it.

use super::Labelling;
use crate::feed;
use dissensus_api::LabelDetails;
use dissensus_domain::{
    AnnotatorId, GuidelineId, LabelSource, MarkKind, Note, QuestionId, TextId, current_note,
};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_store::{AnswerDetails, NewMark};

/// Records only a note on a text. It replaces this person's earlier note; an empty one removes it.
///
/// # Errors
/// No such question, text or annotator, an invalid note, or an I/O error. Nothing is recorded then.
pub fn write(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    details: &LabelDetails,
    source: LabelSource,
) -> Result<(), ProjectError> {
    cx.context.may_answer(annotator)?;
    let AnswerDetails { note, guideline, .. } = answer_details(details)?;
    if read(cx, annotator, question, text)? == note {
        return Ok(());
    }
    let kind = MarkKind::Note;
    let new = NewMark { annotator, question, text, kind, at_ms: now_ms(), source, note, guideline };
    cx.context.store.mark(&new)?;
    if feed::follow(cx).is_err() {
        cx.annotations.clear(); // it is on disk, and is read at the next request
    }
    cx.context.listeners.send(&Event::Project);
    Ok(())
}

/// This person's current note on a text.
pub fn read(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
) -> Result<Note, ProjectError> {
    let events = cx.context.store.events(question, text, annotator)?;
    Ok(current_note(&events).cloned().unwrap_or_default())
}

/// Validates the details that come with an answer and converts them for storage.
///
/// # Errors
/// An invalid note, or an invalid id of a guideline.
pub(super) fn answer_details(details: &LabelDetails) -> Result<AnswerDetails, ProjectError> {
    let note = details.note.trimmed();
    note.check()?;
    let guideline = match &details.guideline {
        None => None,
        Some(id) => {
            let id = id.parse().map_err(|_| ProjectError::internal(&"no id of a guideline"))?;
            Some(GuidelineId(id))
        }
    };
    Ok(AnswerDetails { note, guideline, removes_note: false })
}
