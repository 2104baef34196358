//! An annotator's notes: with an answer, or after it.

use super::Labelling;
use dissensus_api::Beside;
use dissensus_domain::{AnnotatorId, GuidelineId, LabelSource, MarkKind, QuestionId, Remark, TextId, remark};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_store::{AnswerDetails, NewMark};

impl Labelling {
    /// Records only a note on a text. It replaces this person's earlier note; an empty one removes it.
    ///
    /// # Errors
    /// No such question, text or annotator, an invalid note, or an I/O error. Nothing is recorded then.
    pub fn remark(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        beside: &Beside,
        source: LabelSource,
    ) -> Result<(), ProjectError> {
        self.context.may_answer(annotator)?;
        let AnswerDetails { remark, guideline, .. } = self.details(beside)?;
        if self.remark_of(annotator, question, text)? == remark {
            return Ok(());
        }
        let kind = MarkKind::Note;
        let new = NewMark { annotator, question, text, kind, at_ms: now_ms(), source, remark, guideline };
        self.context.store.mark(&new)?;
        if self.follow_events().is_err() {
            self.annotations.clear(); // it is on disk, and is read at the next request
        }
        self.context.listeners.send(&Event::Project);
        Ok(())
    }

    /// This person's current note on a text.
    pub fn remark_of(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
    ) -> Result<Remark, ProjectError> {
        let events = self.context.store.events(question, text, annotator)?;
        Ok(remark(&events).cloned().unwrap_or_default())
    }

    /// Validates the details that come with an answer and converts them for storage.
    ///
    /// # Errors
    /// An invalid note, or an invalid id of a guideline.
    pub(super) fn details(&self, beside: &Beside) -> Result<AnswerDetails, ProjectError> {
        let remark = beside.remark.trimmed();
        remark.check()?;
        let guideline = match &beside.guideline {
            None => None,
            Some(id) => {
                let id = id.parse().map_err(|_| ProjectError::internal(&"no id of a guideline"))?;
                Some(GuidelineId(id))
            }
        };
        Ok(AnswerDetails { remark, guideline, takes_back: false })
    }
}
