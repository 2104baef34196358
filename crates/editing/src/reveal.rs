//! Whether the study shows how others see a text once a person has answered it.

use super::Project;
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;

/// Number of current labels by people who had been shown others' views of the text before.
pub fn labels_after_shown(cx: &Project) -> Result<u32, ProjectError> {
    let mut labels = 0;
    for question in cx.context.index().questions() {
        labels += cx.context.store.labels_after_shown(question.id)?;
    }
    Ok(labels)
}

/// Sets whether a person who has answered is shown how others see a text, from here on and in every
/// merged copy. What was shown before remains recorded.
///
/// # Errors
/// The open project is a task packet, which has no data of others, or an I/O error.
pub fn set(cx: &Project, on: bool) -> Result<(), ProjectError> {
    cx.context.whole_project()?;
    if cx.context.reveals()? != on {
        cx.context.store.write(move |tx| tx.set_reveal(on, now_ms()))?;
        cx.context.listeners.send(&Event::Project);
    }
    Ok(())
}
