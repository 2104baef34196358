//! Drafts of notes, reasons and confidence: stored on this computer until they are submitted.

use super::Labelling;
use dissensus_domain::{AnnotatorId, QuestionId, Remark, TextId};
use dissensus_project::drafts_file::{DraftsFile, place_key};
use dissensus_project::error::ProjectError;

impl Labelling {
    /// Stores what a person has typed next to an answer before submitting it, or after one, so that it is
    /// there when the text is opened again, also after a crash. `None` deletes the draft once it is
    /// submitted.
    ///
    /// # Errors
    /// No such annotator, question or text, the project is read-only, or the local file cannot be written.
    pub fn keep_draft(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        occasion: u16,
        typed: Option<&Remark>,
    ) -> Result<(), ProjectError> {
        if typed.is_some() {
            self.context.may_answer(annotator)?;
        }
        let found = self.context.store.text(text)?;
        let external_id = found.ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?.external_id;
        let given = self.given_remark(annotator, question, text, occasion)?;
        let place = self.place(question, &external_id, occasion)?;
        self.drafts_file(annotator)?.keep(&place, typed, &given)
    }

    /// A person's draft on a text, if it differs from what was submitted.
    pub(super) fn draft_of(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        external_id: &str,
        occasion: u16,
        given: &Remark,
    ) -> Result<Option<Remark>, ProjectError> {
        let place = self.place(question, external_id, occasion)?;
        Ok(self.drafts_file(annotator)?.at(&place, given))
    }

    /// A person's note on a text in an annotation round, as it is on disk.
    pub(super) fn given_remark(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        occasion: u16,
    ) -> Result<Remark, ProjectError> {
        if occasion > 1 {
            let again = self.answered_again(annotator, occasion)?;
            return Ok(again.remark(question, text).cloned().unwrap_or_default());
        }
        self.remark_of(annotator, question, text)
    }

    fn place(&self, question: QuestionId, text: &str, occasion: u16) -> Result<String, ProjectError> {
        let index = self.context.index();
        let found = index.questions().iter().find(|one| one.id == question);
        Ok(place_key(&found.ok_or(ProjectError::NoQuestion)?.name, text, occasion))
    }

    fn drafts_file(&self, annotator: AnnotatorId) -> Result<DraftsFile<'_>, ProjectError> {
        let person = self.external_id(annotator)?;
        Ok(DraftsFile::new(&self.context.home, self.context.store.project_id()?, &person))
    }
}
