//! What people are asked about themselves, once, by a form of the study's own.
//!
//! The form is a fact of the project and goes into packets; what somebody answered is a fact of that person, and comes back with what they
//! hand in. *Prefer not to say* is no value of the attribute: a group of those who said nothing would be compared like any other. That
//! they were asked stays known all the same, so that nobody is asked twice.

use super::Project;
use dissensus_domain::{AnnotatorId, AttributeForm, Fact, FactKind, FormAnswers, FormAttribute};
use dissensus_project::clock::now_ms;
use dissensus_project::error::WorkbenchError;
use dissensus_project::event::Event;
use serde::de::DeserializeOwned;

impl Project {
    /// The form; without attributes where nothing is asked.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn attribute_form(&self) -> Result<AttributeForm, WorkbenchError> {
        Ok(read(self.context.store.fact(FactKind::AttributeForm, None, None, None)?))
    }

    /// Asks this from now on. What was answered stays; people are asked what is new in it.
    ///
    /// # Errors
    /// The open project is a packet, or the form cannot be asked. Nothing is changed then.
    pub fn set_attribute_form(&self, form: &AttributeForm) -> Result<AttributeForm, WorkbenchError> {
        self.context.whole_project()?;
        let form = form.trimmed();
        form.check()?;
        let value = match form.attributes.is_empty() {
            true => serde_json::Value::Null,
            false => serde_json::to_value(&form).map_err(|e| WorkbenchError::internal(&e))?,
        };
        let fact = Fact::of_project(FactKind::AttributeForm, now_ms(), value);
        self.context.store.write(move |tx| tx.set_fact(&fact))?;
        self.context.listeners.send(&Event::Project);
        Ok(form)
    }

    /// What is still to be asked of somebody: what they have not answered, and is not known of them either. Nothing of simulated annotators.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn form_left(&self, annotator: AnnotatorId) -> Result<AttributeForm, WorkbenchError> {
        let index = self.context.index();
        let person = index.annotator_row(annotator).map(|row| &index.annotators()[row as usize]);
        let Some(person) = person.filter(|person| !person.simulated) else {
            return Ok(AttributeForm::default());
        };
        let mut left = self.attribute_form()?.left(&self.form_answers(annotator)?);
        left.attributes.retain(|one| !person.attributes.contains_key(&one.name));
        Ok(left)
    }

    /// What somebody answered so far.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn form_answers(&self, annotator: AnnotatorId) -> Result<FormAnswers, WorkbenchError> {
        Ok(self.context.store.form_answers(annotator)?)
    }

    /// Notes what somebody answered: from here on it is known of them like any attribute. What is not answered and can be passed over was
    /// asked; answers that were given before stay.
    ///
    /// # Errors
    /// There is no such person, the packet of somebody else is open, or these are no answers to the form. Nothing is noted then.
    pub fn answer_form(&self, annotator: AnnotatorId, answers: &FormAnswers) -> Result<(), WorkbenchError> {
        self.context.may_answer(annotator)?;
        let (form, left) = (self.attribute_form()?, self.form_left(annotator)?);
        let now = |one: &&FormAttribute| answers.0.contains_key(&one.name) || left.attributes.contains(one);
        let asked = AttributeForm { attributes: form.attributes.iter().filter(now).cloned().collect() };
        asked.check_answers(answers)?;
        let mut answers = answers.clone();
        for one in asked.attributes {
            answers.0.entry(one.name).or_insert(None);
        }
        self.context.store.write(move |tx| tx.answer_form(annotator, &answers, now_ms()))?;
        // It is on disk: from here on nothing may say that it failed.
        self.people_added();
        self.context.listeners.send(&Event::Project);
        Ok(())
    }
}

/// What a fact holds; nothing where there is none, or where another version of the program wrote something else.
fn read<T: DeserializeOwned + Default>(fact: Option<Fact>) -> T {
    fact.and_then(|fact| serde_json::from_value(fact.value).ok()).unwrap_or_default()
}
