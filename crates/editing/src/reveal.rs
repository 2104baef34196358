//! Whether the study shows how others see a text once a person has answered it.

use super::Project;
use dissensus_project::clock::now_ms;
use dissensus_project::error::WorkbenchError;
use dissensus_project::event::Event;

impl Project {
    /// Whether how others see a text is shown to a person who has answered it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn reveals(&self) -> Result<bool, WorkbenchError> {
        self.context.reveals()
    }

    /// Current labels of people to whom something of others had been shown about the text before.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn labels_after_shown(&self) -> Result<u32, WorkbenchError> {
        let mut labels = 0;
        for question in self.context.index().questions() {
            labels += self.context.store.labels_after_shown(question.id)?;
        }
        Ok(labels)
    }

    /// Shows how others see a text to whoever has answered it, or not, from here on and in every copy that hears of it. What was shown before
    /// stays recorded.
    ///
    /// # Errors
    /// The open project is a packet, where there is nothing of others, or what the disk says.
    pub fn set_reveal(&self, on: bool) -> Result<(), WorkbenchError> {
        self.context.whole_project()?;
        if self.context.reveals()? != on {
            self.context.store.write(move |tx| tx.set_reveal(on, now_ms()))?;
            self.context.listeners.send(&Event::Project);
        }
        Ok(())
    }
}
