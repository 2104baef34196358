//! Texts set aside, and flagged.

use super::Labelling;
use crate::clock::now_ms;
use crate::error::WorkbenchError;
use crate::sync::lock;
use crate::view::Progress;
use dissensus_domain::{AnnotatorId, LabelSource, MarkKind, QuestionId, TextId};
use dissensus_store::NewMark;

impl Labelling {
    /// Skips a text: it comes again when all others are done.
    ///
    /// # Errors
    /// No such text, question or annotator, or what the disk says.
    pub fn skip(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
    ) -> Result<Progress, WorkbenchError> {
        self.mark(annotator, question, text, MarkKind::Skip)
    }

    /// Flags a text, or takes the flag off.
    ///
    /// # Errors
    /// As [`Labelling::skip`].
    pub fn flag(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        on: bool,
    ) -> Result<Progress, WorkbenchError> {
        self.mark(annotator, question, text, if on { MarkKind::Flag } else { MarkKind::Unflag })
    }

    fn mark(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        kind: MarkKind,
    ) -> Result<Progress, WorkbenchError> {
        let context = &self.context;
        let annotations = self.annotations_of(annotator, question)?;
        let source = LabelSource::Window;
        context.store.mark(&NewMark {
            annotator,
            question,
            text,
            kind,
            at_ms: now_ms(),
            source,
            note: None,
        })?;
        if self.follow_events().is_err() {
            self.annotations.clear(); // the mark is on disk; it is read when they are next asked for
        }
        let annotations = self.newest_annotations(annotations, annotator, question);
        let progress = self.progress_of(&lock(&annotations));
        Ok(progress)
    }
}
