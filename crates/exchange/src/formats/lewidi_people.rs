//! The annotators of a Le-Wi-Di 2025 data set (`SET_annotators_meta.json`): an object of annotators by id
//! with their attributes.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{Division, Item, Items, Part, Unfold, text_of};
use serde_json::Value;
use std::sync::Arc;

/// Codes for a missing value.
const UNKNOWN: [&str; 3] = ["DATA_EXPIRED", "nan", "NaN"];

#[derive(Debug)]
pub(super) struct LewidiPeople;

impl Format for LewidiPeople {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "lewidi-annotators", title: "Le-Wi-Di annotators", endings: &["json"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let plain = |value: &Value| !value.is_array() && !value.is_object();
        let is_person = |(_, value): &(String, Value)| {
            value.as_object().is_some_and(|person| !person.is_empty() && person.values().all(plain))
        };
        let called =
            look.path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("annotators_meta"));
        let people = !look.members.is_empty() && look.members.iter().all(is_person);
        (people && (called || look.named)).then(|| Reading::Annotations(Division::Members, Arc::new(People)))
    }
}

#[derive(Debug)]
struct People;

impl Unfold for People {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let Some(person) = part.json().as_object() else {
            return items.fault(&part.name, None, "this is not an object with attributes");
        };
        let known = |(key, value): (&String, &Value)| {
            let value = text_of(Some(value)).filter(|value| !UNKNOWN.contains(&value.trim()));
            value.map(|value| (key.clone(), value))
        };
        let attributes: Vec<(String, String)> = person.iter().filter_map(known).collect();
        items.add_findings(
            person.len() - attributes.len(),
            "unknown",
            "Attributes that are not known (DATA_EXPIRED, nan)",
            "Left empty",
        );
        items.push(Item {
            place: part.name.clone(),
            annotator: Some(part.name.clone()),
            attributes,
            ..Item::default()
        });
    }
}
