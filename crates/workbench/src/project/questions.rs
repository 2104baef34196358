//! What is asked of every text.

use super::Project;
use super::info::question_info;
use crate::clock::now_ms;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::names::checked_name;
use crate::view::QuestionInfo;
use dissensus_domain::{Answer, Condition, Question, QuestionId, RemarkForm, Scale, ScaleKind};
use dissensus_store::{NewQuestion, StoreError};

impl Project {
    /// The answer of this name to a question: a level, options joined by `;`, or spans as a JSON list.
    ///
    /// # Errors
    /// There is no such answer to it.
    pub fn answer_named(&self, question: &Question, value: &str) -> Result<Answer, WorkbenchError> {
        match question.scale.kind() {
            ScaleKind::Spans => {
                Ok(Answer::Spans(question.scale.spans_named(value).map_err(WorkbenchError::Spans)?))
            }
            _ => question.scale.answer_named(value).ok_or_else(|| WorkbenchError::off_scale(value, question)),
        }
    }

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
        self.add_question_only_if(name, prompt, scale, None)
    }

    /// As [`Project::add_question`], to be asked only where another question was answered so.
    ///
    /// # Errors
    /// As there, or the condition names no question or no level of it. Nothing is added then.
    pub fn add_question_only_if(
        &self,
        name: &str,
        prompt: &str,
        scale: Scale,
        only_if: Option<Condition>,
    ) -> Result<QuestionInfo, WorkbenchError> {
        self.context.whole_project()?;
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
        let asked = only_if.clone();
        let id = self.context.store.write(move |tx| -> Result<QuestionId, StoreError> {
            let id = tx.add_question(&new)?;
            tx.set_condition(id, asked.as_ref(), now_ms())?;
            Ok(id)
        })?;
        // The question is on disk: from here on nothing may say that it failed.
        self.context.keep_whole();
        self.changed();
        self.live.fit_where_wanted(id);
        let remarks = RemarkForm::default();
        Ok(question_info(&Question { id, name, prompt, scale, only_if, remarks }, (0, 0)))
    }

    /// Sets where a question is asked, or with `None` that it always is. Labels stay, those too that were given where it is not asked now.
    ///
    /// # Errors
    /// There is no such question or level, or the question would wait for itself. Nothing is changed then.
    pub fn set_condition(
        &self,
        question: QuestionId,
        only_if: Option<Condition>,
    ) -> Result<(), WorkbenchError> {
        self.context.whole_project()?;
        self.change_question(question, None, Some(only_if), None)
    }

    /// Renames levels as [`Project::rename_levels`], sets the condition as [`Project::set_condition`], and what can be said beside an answer
    /// as [`Project::set_remark_form`], where they are given: all or none.
    ///
    /// # Errors
    /// As there. Nothing is changed then.
    pub fn change_question(
        &self,
        question: QuestionId,
        names: Option<&[String]>,
        only_if: Option<Option<Condition>>,
        form: Option<&RemarkForm>,
    ) -> Result<(), WorkbenchError> {
        self.context.whole_project()?;
        let form = form.map(|form| RemarkForm {
            reasons: form.reasons.iter().map(|reason| reason.trim().to_owned()).collect(),
            confidence: form.confidence,
        });
        form.as_ref().map_or(Ok(()), RemarkForm::check)?;
        let names = {
            let index = self.context.index();
            let asked = index.whole(question)?;
            if let Some(Some(only_if)) = &only_if {
                index.whole(only_if.question)?;
            }
            let checked = |names: &[String]| -> Result<Vec<String>, WorkbenchError> {
                let names: Vec<String> =
                    names.iter().map(|name| checked_name("level", name)).collect::<Result<_, _>>()?;
                index.check_options(&asked.name, &Scale::new(asked.scale.kind(), &names)?)?;
                Ok(names)
            };
            names.map(checked).transpose()?
        };
        self.context.store.write(move |tx| {
            if let Some(names) = &names {
                tx.rename_levels(question, names, now_ms())?;
            }
            if let Some(form) = &form {
                tx.set_remark_form(question, form, now_ms())?;
            }
            match &only_if {
                Some(only_if) => tx.set_condition(question, only_if.as_ref(), now_ms()),
                None => Ok(()),
            }
        })?;
        self.changed();
        Ok(())
    }

    /// Renames the levels, options or types of spans of a question: `names` are all of them, in their order. Labels stay as they are.
    ///
    /// # Errors
    /// There is no such question, or these are no names for as many levels. Nothing is changed then.
    pub fn rename_levels(&self, question: QuestionId, names: &[String]) -> Result<(), WorkbenchError> {
        self.context.whole_project()?;
        self.change_question(question, Some(names), None, None)
    }

    /// Sets what can be said beside an answer to a question: reasons to choose from, and how sure one is. What was said stays.
    ///
    /// # Errors
    /// There is no such question, or these are no reasons. Nothing is changed then.
    pub fn set_remark_form(&self, question: QuestionId, form: &RemarkForm) -> Result<(), WorkbenchError> {
        self.change_question(question, None, None, Some(form))
    }

    fn changed(&self) {
        self.context.reload();
        self.context.listeners.send(&Event::Project);
    }

    /// The condition that `QUESTION=LEVEL,LEVEL` says: of a multi-label question and of spans that the answer holds one of these.
    ///
    /// # Errors
    /// There is no such question or level.
    pub fn condition_named(&self, words: &str) -> Result<Condition, WorkbenchError> {
        let refused = |why| WorkbenchError::Words { what: "a condition", given: words.to_owned(), why };
        let index = self.context.index();
        let parts = halves(words).find_map(|(name, levels)| {
            Some((index.questions().iter().find(|question| question.name == name)?, levels))
        });
        let Some((question, levels)) = parts else {
            let known: Vec<&str> = index.questions().iter().map(|q| q.name.as_str()).collect();
            return Err(refused(format!(
                "write QUESTION=LEVEL,LEVEL; the questions are {}",
                known.join(", ")
            )));
        };
        let level = |name: &str| question.scale.index_of(name);
        // A name may hold a comma.
        let levels =
            level(levels).map(|level| vec![level]).or_else(|| levels.split(',').map(level).collect());
        let levels = levels.ok_or_else(|| {
            refused(format!("{} has {}", question.name, question.scale.levels().join(", ")))
        })?;
        Ok(Condition::new(question.id, levels))
    }

    /// All names of the levels of `question` after these changes, each as `OLD=NEW`, made at once.
    ///
    /// # Errors
    /// There is no such level.
    pub fn names_after(
        &self,
        question: &Question,
        changes: &[String],
    ) -> Result<Vec<String>, WorkbenchError> {
        let mut names = question.scale.levels().to_vec();
        for change in changes {
            let found = halves(change).find_map(|(old, new)| Some((question.scale.index_of(old)?, new)));
            let Some((level, new)) = found else {
                let why =
                    format!("write OLD=NEW; {} has {}", question.name, question.scale.levels().join(", "));
                return Err(WorkbenchError::Words { what: "a new name", given: change.clone(), why });
            };
            new.clone_into(&mut names[usize::from(level)]);
        }
        Ok(names)
    }

    /// The question with this name, or the only one.
    ///
    /// # Errors
    /// There is none of that name, none at all, or several and none was named.
    pub fn question(&self, name: Option<&str>) -> Result<Question, WorkbenchError> {
        self.context.index().question_asked_for(name).cloned()
    }
}

/// What stands before and behind each `=`: names may hold one too.
fn halves(words: &str) -> impl Iterator<Item = (&str, &str)> {
    words.match_indices('=').map(|(at, _)| (words[..at].trim(), words[at + 1..].trim()))
}
