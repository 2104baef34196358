//! Answers to the attribute form: a fact per annotator, from which their attributes are derived.

use super::{Kind, SETTING, select};
use crate::packets::PACKET_TIMES;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, AttributeForm, Fact, FactKind, FormAnswers};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(super) const KIND: Kind = Kind { added: know_by_form, ..SETTING };

/// Updates the attributes of the annotator from a fact.
fn know_by_form(tx: &mut WriteTx<'_>, fact: &Fact) -> Result<()> {
    let Some(annotator) = fact.annotator else { return Ok(()) };
    for (attribute, FormValue { value, at_ms }) in FormValues::new(Some(fact.clone())).0 {
        tx.record_attribute(annotator, &attribute, &value.unwrap_or_default(), at_ms)?;
    }
    tx.refresh_annotator(annotator)
}

/// The value of the fact: every attribute that the annotator was asked for, with the time of the
/// answer, so that the result is the same wherever and however often the fact is merged.
#[derive(Default, Serialize, Deserialize)]
#[serde(transparent)]
struct FormValues(BTreeMap<String, FormValue>);

#[derive(Serialize, Deserialize)]
struct FormValue {
    /// `None` if the annotator preferred not to say.
    value: Option<String>,
    at_ms: i64,
}

impl FormValues {
    /// Merges answers given in separate copies: the latest answer to each attribute, preferring a
    /// value if times are equal.
    fn joined(facts: Vec<Fact>) -> Self {
        let mut joined = Self::default();
        for (attribute, new) in facts.into_iter().flat_map(|fact| Self::new(Some(fact)).0) {
            let later = |known: &FormValue| (new.at_ms, &new.value) > (known.at_ms, &known.value);
            if joined.0.get(&attribute).is_none_or(later) {
                joined.0.insert(attribute, new);
            }
        }
        joined
    }

    /// Empty if the fact was written in another format by another version of the program.
    fn new(fact: Option<Fact>) -> Self {
        fact.and_then(|fact| serde_json::from_value(fact.value).ok()).unwrap_or_default()
    }
}

/// Checks that a value, which comes from a submission, contains only attributes and values that one
/// of these forms offered, with a valid time.
pub(crate) fn check_given(
    value: &serde_json::Value,
    forms: &[AttributeForm],
) -> std::result::Result<(), String> {
    let given: FormValues = serde_json::from_value(value.clone()).map_err(|e| e.to_string())?;
    for (name, FormValue { value, at_ms }) in given.0 {
        let mut asked =
            forms.iter().flat_map(|form| &form.attributes).filter(|one| one.name == name).peekable();
        if asked.peek().is_none() {
            return Err(format!(
                "the form that was handed out does not ask for {name:?}: ask for the packet as it was handed out"
            ));
        }
        if let Some(value) = value.filter(|value| !asked.any(|one| one.values.contains(value))) {
            return Err(format!(
                "the form that was handed out does not offer {value:?} for {name:?}: ask for the packet as it was handed out"
            ));
        }
        if !PACKET_TIMES.contains(&at_ms) {
            return Err(format!("{name:?} was answered before the year 1900 or after 9998"));
        }
    }
    Ok(())
}

impl WriteTx<'_> {
    /// All versions of the study's attribute form.
    pub(crate) fn attribute_forms_ever(&self) -> Result<Vec<AttributeForm>> {
        let facts = select(self.conn, "WHERE kind = ?1", [FactKind::AttributeForm.name()]);
        let facts = facts.map_err(|e| self.explain("reading facts", e))?;
        Ok(facts.into_iter().filter_map(|fact| serde_json::from_value(fact.value).ok()).collect())
    }

    /// Records answers and updates the annotator's attributes; earlier answers to other attributes
    /// are unchanged. An attribute that the annotator preferred not to disclose is removed.
    ///
    /// # Errors
    /// There is no such annotator.
    pub fn answer_form(&mut self, annotator: AnnotatorId, answers: &FormAnswers, now_ms: i64) -> Result<()> {
        let value = serde_json::Value::Null;
        let mut fact =
            Fact { annotator: Some(annotator), ..Fact::of_project(FactKind::FormAnswers, now_ms, value) };
        let mut given = FormValues::joined(self.facts_about(&fact)?);
        for (attribute, value) in &answers.0 {
            let at_ms = self.time_of_attribute(annotator, attribute, now_ms)?;
            given.0.insert(attribute.clone(), FormValue { value: value.clone(), at_ms });
        }
        fact.value = serde_json::to_value(&given)
            .map_err(|e| StoreError::Invalid { what: "answers to a form".to_owned(), why: e.to_string() })?;
        self.set_fact(&fact).map(drop)
    }
}

impl Store {
    /// The annotator's answers to the attribute form so far.
    pub fn form_answers(&self, annotator: AnnotatorId) -> Result<FormAnswers> {
        let all = self.all_facts(FactKind::FormAnswers)?;
        let given =
            FormValues::joined(all.into_iter().filter(|fact| fact.annotator == Some(annotator)).collect());
        Ok(FormAnswers(given.0.into_iter().map(|(attribute, given)| (attribute, given.value)).collect()))
    }
}
