//! The last choices in the project, and application settings.

use super::Project;
use dissensus_api::{AppSettings, ProjectChoices};
use dissensus_project::error::ProjectError;

/// Key of the setting with the choices.
pub(super) const KEY: &str = "choices";

/// Stores the last choices, so that the project opens as it was left. Ignored for a read-only project.
pub fn save(cx: &Project, choices: &ProjectChoices) -> Result<(), ProjectError> {
    if cx.is_reader() {
        return Ok(());
    }
    Ok(cx.context.store.set_setting(KEY, choices)?)
}

/// Applies the application's settings.
pub fn apply_settings(cx: &Project, settings: &AppSettings) {
    cx.context.settings.set(settings.clone());
}
