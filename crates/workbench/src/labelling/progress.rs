//! How far an annotator is.

use super::Labelling;
use super::annotations::{Annotations, SharedAnnotations};
use crate::clock::today_ms;
use crate::error::WorkbenchError;
use crate::sync::lock;
use crate::view::Progress;
use dissensus_domain::{AnnotatorId, QuestionId};

impl Labelling {
    /// How far an annotator is with a question.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn progress(&self, annotator: AnnotatorId, question: QuestionId) -> Result<Progress, WorkbenchError> {
        let annotations = self.annotations_of(annotator, question)?;
        let progress = self.progress_of(&lock(&annotations));
        Ok(progress)
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

    /// The annotations that follow the events now: an import beside may have made those at hand stale. Where the project cannot be read
    /// those must do, since what was appended is on disk.
    pub(super) fn newest_annotations(
        &self,
        at_hand: SharedAnnotations,
        annotator: AnnotatorId,
        question: QuestionId,
    ) -> SharedAnnotations {
        self.annotations.get(&self.context.store, annotator, question).unwrap_or(at_hand)
    }

    /// What the annotations say of it.
    pub(super) fn progress_of(&self, annotations: &Annotations) -> Progress {
        annotations.progress(today_ms(), self.context.index().texts().len())
    }
}
