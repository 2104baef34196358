//! Drafts of notes, reasons and confidence: stored on this computer until they are submitted.

use super::Labelling;
use crate::care_file;
use crate::notes;
use crate::reannotated;
use dissensus_domain::{AnnotatorId, Note, QuestionId, TextId};
use dissensus_project::drafts_file::{DraftsFile, place_key};
use dissensus_project::error::ProjectError;

/// Stores what a person has typed next to an answer before submitting it, or after one, so that it is
/// there when the text is opened again, also after a crash. `None` deletes the draft once it is
/// submitted.
///
/// # Errors
/// No such annotator, question or text, another annotator's packet, the project is read-only, or the local
/// file cannot be written.
pub fn save(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    occasion: u16,
    typed: Option<&Note>,
) -> Result<(), ProjectError> {
    cx.context.may_answer(annotator)?;
    let found = cx.context.store.text(text)?;
    let external_id = found.ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?.external_id;
    let given = stored_note(cx, annotator, question, text, occasion)?;
    let place = place(cx, question, &external_id, occasion)?;
    drafts_file(cx, annotator)?.save(&place, typed, &given)
}

/// A person's draft on a text, if it differs from what was submitted.
pub(super) fn draft_of(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    external_id: &str,
    occasion: u16,
    given: &Note,
) -> Result<Option<Note>, ProjectError> {
    let place = place(cx, question, external_id, occasion)?;
    Ok(drafts_file(cx, annotator)?.at(&place, given))
}

/// A person's note on a text in an annotation round, as it is on disk.
pub(super) fn stored_note(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    occasion: u16,
) -> Result<Note, ProjectError> {
    if occasion > 1 {
        let again = reannotated::reannotated(cx, annotator, occasion)?;
        return Ok(again.current_note(question, text).cloned().unwrap_or_default());
    }
    notes::read(cx, annotator, question, text)
}

fn place(cx: &Labelling, question: QuestionId, text: &str, occasion: u16) -> Result<String, ProjectError> {
    let index = cx.context.index();
    let found = index.questions().iter().find(|one| one.id == question);
    Ok(place_key(&found.ok_or(ProjectError::NoQuestion)?.name, text, occasion))
}

fn drafts_file(cx: &Labelling, annotator: AnnotatorId) -> Result<DraftsFile<'_>, ProjectError> {
    let person = care_file::id_of(cx, annotator)?;
    Ok(DraftsFile::new(&cx.context.home, cx.context.store.project_id()?, &person))
}
