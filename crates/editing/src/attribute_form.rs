//! The attribute form: questions of the study about the annotators themselves, asked once.
//!
//! The form is a fact of the project and part of task packets; a person's answers are facts about that
//! person, and come back in their submission. *Prefer not to say* is not a value of the attribute: a group
//! of those who gave no answer would be compared like any other. That they were asked is recorded all the
//! same, so that nobody is asked twice.

use super::Project;
use crate::annotators;
use dissensus_domain::{AnnotatorId, AttributeForm, Fact, FactKind, FormAnswers, FormAttribute};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use serde::de::DeserializeOwned;

/// The form; without attributes where nothing is asked.
pub fn form(cx: &Project) -> Result<AttributeForm, ProjectError> {
    Ok(read(cx.context.store.fact(FactKind::AttributeForm, None, None, None)?))
}

/// Replaces the form. Earlier answers are retained; people are asked only what is new.
///
/// # Errors
/// The open project is a task packet, or the form is invalid. Nothing is changed then.
pub fn set(cx: &Project, form: &AttributeForm) -> Result<AttributeForm, ProjectError> {
    cx.context.whole_project()?;
    let form = form.trimmed();
    form.check()?;
    let value = match form.attributes.is_empty() {
        true => serde_json::Value::Null,
        false => serde_json::to_value(&form).map_err(|e| ProjectError::internal(&e))?,
    };
    let fact = Fact::of_project(FactKind::AttributeForm, now_ms(), value);
    cx.context.store.write(move |tx| tx.set_fact(&fact))?;
    cx.context.listeners.send(&Event::Project);
    Ok(form)
}

/// The part of the form that is left for a person: what is neither answered nor known otherwise. Empty
/// for simulated annotators.
pub fn left_to_answer(cx: &Project, annotator: AnnotatorId) -> Result<AttributeForm, ProjectError> {
    let index = cx.context.index();
    let person = index.annotator_row(annotator).map(|row| &index.annotators()[row as usize]);
    let Some(person) = person.filter(|person| !person.simulated) else {
        return Ok(AttributeForm::default());
    };
    let mut left = form(cx)?.left(&read_answers(cx, annotator)?);
    left.attributes.retain(|one| !person.attributes.contains_key(&one.name));
    Ok(left)
}

/// A person's answers so far.
pub fn read_answers(cx: &Project, annotator: AnnotatorId) -> Result<FormAnswers, ProjectError> {
    Ok(cx.context.store.form_answers(annotator)?)
}

/// Records a person's answers: they become attributes of the person. Optional questions without an
/// answer count as asked; earlier answers are retained.
///
/// # Errors
/// There is no such person, another person's packet is open, or the answers do not match the form.
/// Nothing is recorded then.
pub fn answer(cx: &Project, annotator: AnnotatorId, answers: &FormAnswers) -> Result<(), ProjectError> {
    cx.context.may_answer(annotator)?;
    let (form, left) = (form(cx)?, left_to_answer(cx, annotator)?);
    let now = |one: &&FormAttribute| answers.0.contains_key(&one.name) || left.attributes.contains(one);
    let asked = AttributeForm { attributes: form.attributes.iter().filter(now).cloned().collect() };
    asked.check_answers(answers)?;
    let mut answers = answers.clone();
    for one in asked.attributes {
        answers.0.entry(one.name).or_insert(None);
    }
    cx.context.store.write(move |tx| tx.answer_form(annotator, &answers, now_ms()))?;
    // It is on disk: from here on nothing may report it as failed.
    annotators::announce(cx);
    cx.live.models.note_changed_people();
    cx.context.listeners.send(&Event::Project);
    Ok(())
}

/// The value of a fact; the default where there is none, or where another version of the program wrote
/// something else.
fn read<T: DeserializeOwned + Default>(fact: Option<Fact>) -> T {
    fact.and_then(|fact| serde_json::from_value(fact.value).ok()).unwrap_or_default()
}
