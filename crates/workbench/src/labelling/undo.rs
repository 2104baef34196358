//! Undo.

use super::Labelling;
use crate::clock::now_ms;
use crate::error::WorkbenchError;
use crate::sync::lock;
use crate::view::Undone;
use dissensus_domain::{AnnotatorId, LabelSource, QuestionId};

impl Labelling {
    /// Takes back the newest answer that this annotator gave in the window or by the command and that stands, also where labels
    /// were imported since; `None` where there is none. Imported and simulated labels stay.
    ///
    /// # Errors
    /// What the disk says. Nothing is taken back then.
    pub fn undo(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        source: LabelSource,
    ) -> Result<Option<Undone>, WorkbenchError> {
        let context = &self.context;
        let annotations = self.annotations.get(&context.store, annotator, question)?;
        let Some(newest) = context.store.newest_given(question, annotator)? else { return Ok(None) };
        let Some(answer) = newest.answer().cloned() else { return Ok(None) };
        context.store.retract(newest.id, now_ms(), source)?;
        if self.follow_events().is_err() {
            // It was taken back all the same. What follows events is read anew when it is next asked for.
            self.annotations.clear();
            self.live.invalidate_all();
        }
        let annotations = self.newest_annotations(annotations, annotator, question);
        let annotations = lock(&annotations);
        let now = annotations.answers.get(&newest.text).cloned();
        Ok(Some(Undone { text: newest.text, answer, now, progress: self.progress_of(&annotations) }))
    }
}
