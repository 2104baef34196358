//! Texts by their names.

use super::Project;
use crate::error::WorkbenchError;

impl Project {
    /// The body of a text of the project.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn body(&self, text: &str) -> Result<String, WorkbenchError> {
        let found = self.context.store.text_by_external(text)?;
        Ok(found.ok_or_else(|| WorkbenchError::NoSuchText(text.to_owned()))?.body)
    }
}
