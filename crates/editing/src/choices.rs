//! What was chosen last in the project, and settings that hold for every project.

use super::Project;
use dissensus_api::{AppSettings, ProjectChoices};
use dissensus_project::error::WorkbenchError;

/// The setting that holds the choices.
pub(super) const KEY: &str = "choices";

impl Project {
    /// Keeps what was chosen last, so that the project opens as it was left. One that is open to read opens as it did before.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save_choices(&self, choices: &ProjectChoices) -> Result<(), WorkbenchError> {
        if self.is_reader() {
            return Ok(());
        }
        Ok(self.context.store.set_setting(KEY, choices)?)
    }

    /// Takes over settings that hold for every project.
    pub fn apply_settings(&self, settings: &AppSettings) {
        self.context.settings.set(settings.clone());
    }
}
