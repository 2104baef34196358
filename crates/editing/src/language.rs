//! The language in which the study's annotators use the desk.

use super::Project;
use dissensus_domain::Language;
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;

/// Sets the language of the desk in packets and pages that are written from here on, and in every merged
/// copy; `None` leaves it to each person's system.
///
/// # Errors
/// The open project is a task packet, or an I/O error.
pub fn set(cx: &Project, language: Option<Language>) -> Result<(), ProjectError> {
    cx.context.whole_project()?;
    if cx.context.store.language()? != language {
        cx.context.store.write(move |tx| tx.set_language(language, now_ms()))?;
        cx.context.listeners.send(&Event::Project);
    }
    Ok(())
}
