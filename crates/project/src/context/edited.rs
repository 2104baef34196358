//! Labels from before an edit of their question.

use super::Context;
use crate::clock::local_time;
use crate::error::ProjectError;
use crate::words::counted;
use dissensus_domain::QuestionId;

impl Context {
    /// A note for readers of figures if labels were given both before and after the last edit of the
    /// question: they may answer something else.
    pub fn edited_note(&self, question: QuestionId) -> Result<Option<String>, ProjectError> {
        let store = &self.store;
        let versions = store.question_versions(question.row())?;
        let Some(last) = versions.last() else { return Ok(None) };
        let before = store.labels_before(question.row(), last.at_ms)?;
        let all = store.labels_before(question.row(), i64::MAX)?;
        Ok((before > 0 && before < all).then(|| {
            format!(
                "{before} of {} were given before the question was last edited ({}): they answer the wording of that time.",
                counted(u64::from(all), "label"),
                local_time(last.at_ms as f64)
            )
        }))
    }
}
