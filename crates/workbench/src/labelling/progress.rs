//! How far an annotator is.

use super::Labelling;
use super::annotations::SharedAnnotations;
use super::sheet::Sheet;
use crate::clock::today_ms;
use crate::error::WorkbenchError;
use crate::view::Progress;
use dissensus_domain::{AnnotatorId, QuestionId};

impl Labelling {
    /// How far an annotator is with a question, or with several on one screen.
    ///
    /// # Errors
    /// There is no such question, or the file cannot be read.
    pub fn progress(
        &self,
        annotator: AnnotatorId,
        questions: impl AsRef<[QuestionId]>,
    ) -> Result<Progress, WorkbenchError> {
        Ok(self.progress_on(&self.sheet(annotator, questions.as_ref())?))
    }

    /// What a sheet says of it.
    pub(super) fn progress_on(&self, sheet: &Sheet) -> Progress {
        let answers = sheet.read();
        let first = answers.progress(today_ms(), self.context.index().texts());
        match self.context.packet.as_ref().filter(|packet| packet.annotator == sheet.annotator) {
            None => first,
            Some(packet) => self.with_again(first, packet, &answers, sheet.shown()),
        }
    }

    /// A sheet that follows the events now: an import beside may have made the one at hand stale. Where the project cannot be read that
    /// one must do, since what was appended is on disk.
    pub(super) fn newest_sheet(
        &self,
        at_hand: Sheet,
        annotator: AnnotatorId,
        questions: &[QuestionId],
    ) -> Sheet {
        self.sheet(annotator, questions).unwrap_or(at_hand)
    }

    /// What an annotator has done with a question of the project: its options are answered together.
    pub(super) fn annotations_of(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
    ) -> Result<SharedAnnotations, WorkbenchError> {
        self.context.index().whole(question)?;
        self.annotations.get(&self.context.store, annotator, question)
    }
}
