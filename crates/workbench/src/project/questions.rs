//! What is asked of every text.

use super::Project;
use super::info::question_info;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::names::checked_name;
use crate::view::QuestionInfo;
use dissensus_domain::{Question, Scale};
use dissensus_store::NewQuestion;

impl Project {
    /// Adds a question to be asked of every text. Without a prompt, its name is asked.
    ///
    /// # Errors
    /// The name is blank, too long or taken, or the levels make no scale (one that came as JSON was not looked at yet).
    pub fn add_question(
        &self,
        name: &str,
        prompt: &str,
        scale: Scale,
    ) -> Result<QuestionInfo, WorkbenchError> {
        let name = checked_name("question", name)?;
        for level in scale.levels() {
            checked_name("level", level)?;
        }
        if self.context.index().is_taken(&name) {
            return Err(WorkbenchError::Name { what: "question", name, why: "is taken: choose another" });
        }
        let scale = Scale::new(scale.kind(), scale.levels())?;
        self.context.index().check_options(&name, &scale)?;
        let prompt = if prompt.trim().is_empty() { name.clone() } else { prompt.trim().to_owned() };
        let new = NewQuestion { name: name.clone(), prompt: prompt.clone(), scale: scale.clone() };
        let id = self.context.store.write(move |tx| tx.add_question(&new))?;
        // The question is on disk: from here on nothing may say that it failed.
        self.context.keep_whole();
        self.context.reload();
        self.context.listeners.send(&Event::Project);
        self.live.fit_where_wanted(id);
        Ok(question_info(&Question { id, name, prompt, scale }, (0, 0)))
    }

    /// The question with this name, or the only one.
    ///
    /// # Errors
    /// There is none of that name, none at all, or several and none was named.
    pub fn question(&self, name: Option<&str>) -> Result<Question, WorkbenchError> {
        self.context.index().question_asked_for(name).cloned()
    }
}
