//! How far an annotator is.

use super::Labelling;
use super::sheet::{SharedSheet, Sheet};
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
        let sheet = self.sheets.get(&self.context.store, annotator, question)?;
        let progress = self.progress_of(&lock(&sheet));
        Ok(progress)
    }

    /// The sheet that follows the events now: an import beside may have made the one at hand stale. Where the project cannot be read
    /// that one must do, since what was appended is on disk.
    pub(super) fn newest_sheet(
        &self,
        at_hand: SharedSheet,
        annotator: AnnotatorId,
        question: QuestionId,
    ) -> SharedSheet {
        self.sheets.get(&self.context.store, annotator, question).unwrap_or(at_hand)
    }

    /// What a sheet says of it.
    pub(super) fn progress_of(&self, sheet: &Sheet) -> Progress {
        sheet.progress(today_ms(), self.context.index().texts().len())
    }
}
