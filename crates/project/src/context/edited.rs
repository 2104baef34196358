//! Labels from before their question was edited.

use super::Context;
use crate::clock::local_time;
use crate::error::WorkbenchError;
use crate::words::counted;
use dissensus_domain::QuestionId;

impl Context {
    /// What to know before figures are read where labels were given both before and after the question was last edited: they may answer
    /// something else.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn edited_note(&self, question: QuestionId) -> Result<Option<String>, WorkbenchError> {
        let store = &self.store;
        let versions = store.question_versions(question.row())?;
        let Some(last) = versions.last() else { return Ok(None) };
        let before = store.labels_before(question.row(), last.at_ms)?;
        let all = store.labels_before(question.row(), i64::MAX)?;
        Ok((before > 0 && before < all).then(|| {
            format!(
                "{before} of {} were given before the question was last edited ({}): they answer what it said then.",
                counted(u64::from(all), "label"),
                local_time(last.at_ms as f64)
            )
        }))
    }
}
