//! The attribute form: what a study asks annotators about themselves, and their answers.

use crate::Attributes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of attributes on a form.
pub const MAX_FORM_ATTRIBUTES: usize = 12;
/// Maximum number of values per attribute.
const MAX_VALUES: usize = 40;
/// Maximum length of a name, value or prompt, in characters.
const LONGEST: usize = 200;
/// An answer that is always offered, so a form cannot define it as a value.
pub const PREFER_NOT_TO_SAY: &str = "prefer not to say";

/// The questions that annotators answer about themselves, once. *Prefer not to say* is always an
/// answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttributeForm {
    /// In the order in which they are asked; empty if nothing is asked.
    pub attributes: Vec<FormAttribute>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FormAttribute {
    /// The annotator attribute that the answer sets.
    pub name: String,
    /// The prompt shown to annotators; the name if empty.
    #[serde(default)]
    pub prompt: String,
    /// The values to choose from, in display order.
    pub values: Vec<String>,
    /// Whether the attribute can be skipped.
    #[serde(default)]
    pub optional: bool,
}

/// The answers to a form: a value, or `None` if the annotator skipped the attribute or preferred
/// not to say. Attributes that were not asked for are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct FormAnswers(pub BTreeMap<String, Option<String>>);

crate::errors! {
    /// Why a form, or answers to it, are invalid.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum FormError {
        Many(usize) => "a form asks for {MAX_FORM_ATTRIBUTES} attributes at most, and this one for {0}";
        Attribute { name: String, why: &'static str } => "\"{name}\" cannot be asked for: {why}";
        Value { name: String, value: String, why: &'static str } => "\"{value}\" is no value of \"{name}\": {why}";
        NotAsked(String) => "the form does not ask for \"{0}\"";
        Missing(String) => "\"{0}\" is not answered: choose a value, or {PREFER_NOT_TO_SAY}";
    }
}

impl AttributeForm {
    /// Returns the form with surrounding white space removed from names and values.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        let trim = |text: &String| text.trim().to_owned();
        let attribute = |one: &FormAttribute| FormAttribute {
            name: trim(&one.name),
            prompt: trim(&one.prompt),
            values: one.values.iter().map(trim).collect(),
            optional: one.optional,
        };
        Self { attributes: self.attributes.iter().map(attribute).collect() }
    }

    /// Checks the form.
    ///
    /// # Errors
    /// There are too many attributes; a name or value is blank, too long, repeated or contains an
    /// invisible character; an attribute has fewer than two or too many values; or a value is one
    /// that is always offered.
    pub fn check(&self) -> Result<(), FormError> {
        if self.attributes.len() > MAX_FORM_ATTRIBUTES {
            return Err(FormError::Many(self.attributes.len()));
        }
        for (at, attribute) in self.attributes.iter().enumerate() {
            let FormAttribute { name, prompt, values, .. } = attribute;
            let wrong = |why| Err(FormError::Attribute { name: name.clone(), why });
            if let Some(why) = not_a_name(name) {
                return wrong(why);
            }
            if self.attributes[..at].iter().any(|other| other.name == *name) {
                return wrong("it is there twice");
            }
            if prompt.chars().count() > LONGEST || crate::not_allowed_in_names(prompt).is_some() {
                return wrong(
                    "its sentence is longer than 200 characters, or has a character that is not seen",
                );
            }
            match values.len() {
                0 | 1 => return wrong("it needs two values or more"),
                n if n > MAX_VALUES => return wrong("it has more than 40 values"),
                _ => {}
            }
            for (at, value) in values.iter().enumerate() {
                let why = match not_a_name(value) {
                    Some(why) => why,
                    None if values[..at].contains(value) => "it is there twice",
                    None if value.to_lowercase() == PREFER_NOT_TO_SAY => "it can always be answered",
                    None => continue,
                };
                return Err(FormError::Value { name: name.clone(), value: value.clone(), why });
            }
        }
        Ok(())
    }

    /// Returns the part of the form that is not answered yet.
    #[must_use]
    pub fn left(&self, answers: &FormAnswers) -> Self {
        let new = |one: &&FormAttribute| !answers.0.contains_key(&one.name);
        Self { attributes: self.attributes.iter().filter(new).cloned().collect() }
    }

    /// Checks answers against the form.
    ///
    /// # Errors
    /// An attribute is not on the form, a value is not offered, or a required attribute has no
    /// answer.
    pub fn check_answers(&self, answers: &FormAnswers) -> Result<(), FormError> {
        for (name, value) in &answers.0 {
            let asked = self.attributes.iter().find(|one| one.name == *name);
            let asked = asked.ok_or_else(|| FormError::NotAsked(name.clone()))?;
            if let Some(value) = value.as_ref().filter(|value| !asked.values.contains(value)) {
                let (name, value) = (name.clone(), value.clone());
                return Err(FormError::Value { name, value, why: "choose one of those that are offered" });
            }
        }
        let missing = |one: &&FormAttribute| !one.optional && !answers.0.contains_key(&one.name);
        match self.attributes.iter().find(missing) {
            Some(missing) => Err(FormError::Missing(missing.name.clone())),
            None => Ok(()),
        }
    }
}

impl FormAnswers {
    /// The attributes of the annotator that the answers set.
    pub fn attributes(&self) -> Attributes {
        let known = |(name, value): (&String, &Option<String>)| Some((name.clone(), value.clone()?));
        self.0.iter().filter_map(known).collect()
    }
}

fn not_a_name(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("it is blank")
    } else if name.chars().count() > LONGEST {
        Some("it is longer than 200 characters")
    } else if crate::not_allowed_in_names(name).is_some() {
        Some("it has a control character or one that is not seen")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> AttributeForm {
        let of = |name: &str, values: &[&str], optional| FormAttribute {
            name: name.to_owned(),
            prompt: String::new(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            optional,
        };
        AttributeForm {
            attributes: vec![of("gender", &["woman", "man"], false), of("age", &["18-29", "30+"], true)],
        }
    }

    fn answers(given: &[(&str, Option<&str>)]) -> FormAnswers {
        let own = |(name, value): &(&str, Option<&str>)| ((*name).to_owned(), value.map(str::to_owned));
        FormAnswers(given.iter().map(own).collect())
    }

    #[test]
    fn form_errors_are_specific() {
        form().check().unwrap();
        AttributeForm::default().check().unwrap();
        let refused = |change: fn(&mut AttributeForm)| {
            let mut form = form();
            change(&mut form);
            form.check().unwrap_err().to_string()
        };
        assert!(refused(|f| f.attributes[1].name = "gender".into()).contains("twice"));
        assert!(refused(|f| f.attributes[0].values = vec!["woman".into()]).contains("two values"));
        assert!(refused(|f| f.attributes[0].values[1] = "Prefer not to say".into()).contains("always"));
        assert!(refused(|f| f.attributes[0].values[1] = " ".into()).contains("blank"));
        assert!(refused(|f| f.attributes[0].name = "a\u{202e}b".into()).contains("not seen"));
        assert!(refused(|f| f.attributes = vec![f.attributes[0].clone(); 13]).contains("12 attributes"));
    }

    #[test]
    fn only_values_of_the_form_are_accepted() {
        let form = form();
        form.check_answers(&answers(&[("gender", None)])).unwrap();
        form.check_answers(&answers(&[("gender", Some("woman")), ("age", Some("30+"))])).unwrap();
        let refused = |given| form.check_answers(&answers(given)).unwrap_err().to_string();
        assert!(refused(&[("age", Some("30+"))]).contains("\"gender\" is not answered"));
        assert!(refused(&[("gender", Some("other"))]).contains("one of those"));
        assert!(refused(&[("gender", None), ("income", None)]).contains("does not ask"));
        let given = answers(&[("gender", None), ("age", Some("30+"))]);
        assert_eq!(given.attributes(), Attributes::from([("age".to_owned(), "30+".to_owned())]));
        assert!(form.left(&given).attributes.is_empty());
        assert_eq!(form.left(&answers(&[("gender", None)])).attributes[0].name, "age");
    }
}
