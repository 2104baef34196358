//! The contents of a UIMA CAS, in any serialisation: one document of one annotator. Annotations with a
//! position are spans, those without one are answers about the document; each of their features is a
//! question.

use crate::annotations::{GivenAnswer, Item, Items, SpanOf};
use dissensus_domain::OffsetUnit;
use std::collections::BTreeMap;

/// Types that annotators do not create.
const PLAIN_TYPES: [&str; 9] = [
    "Token",
    "Sentence",
    "Paragraph",
    "DocumentMetaData",
    "DocumentAnnotation",
    "TagsetDescription",
    "TagDescription",
    "CASMetadata",
    "XMI",
];
/// Features that annotators do not set.
const PLAIN_FEATURES: [&str; 2] = ["order", "i7n_uiOrder"];

/// One document.
#[derive(Debug, Default)]
pub(super) struct Cas {
    /// The text, with the id by which annotations name it.
    pub(super) text: Option<(String, String)>,
    pub(super) annotations: Vec<Annotation>,
}

#[derive(Debug)]
pub(super) struct Annotation {
    /// Its type, without the part before the last dot.
    pub(super) kind: String,
    /// The text that it annotates.
    pub(super) sofa: String,
    /// Its position in UTF-16 units.
    pub(super) place: Option<(u32, u32)>,
    /// Features with their values; those without a value are left out.
    pub(super) features: Vec<(String, String)>,
    /// Features that refer to other annotations.
    pub(super) references: Vec<String>,
}

impl Annotation {
    /// Whether annotations of a type are created by annotators.
    pub(super) fn is_of_annotators(kind: &str) -> bool {
        !PLAIN_TYPES.contains(&kind)
    }

    /// Whether a feature has a value and is set by annotators.
    pub(super) fn is_feature(name: &str, value: &str) -> bool {
        !PLAIN_FEATURES.contains(&name) && !value.trim().is_empty()
    }

    fn has(&self, name: &str) -> bool {
        self.references.iter().chain(self.features.iter().map(|(name, _)| name)).any(|one| one == name)
    }

    fn is_relation(&self) -> bool {
        (self.has("Governor") && self.has("Dependent")) || self.has("first") || self.has("next")
    }
}

/// Adds the contents of a document to `item`, and the item to `items`.
pub(super) fn add(cas: Cas, mut item: Item, items: &mut Items) {
    let Some((sofa, text)) = cas.text else {
        return items.fault(item.place, None, "the file has no text (no Sofa with a sofaString)");
    };
    let mut spans: BTreeMap<String, Vec<SpanOf>> = BTreeMap::new();
    for annotation in cas.annotations.into_iter().filter(|annotation| annotation.sofa == sofa) {
        if annotation.is_relation() {
            let what = format!("Relations and chains ({})", annotation.kind);
            items.met("not-read", what, "Left out: no label can hold them");
            continue;
        }
        let Annotation { kind, place, features, references, .. } = annotation;
        if !references.is_empty() {
            let what = format!("Features that name other annotations ({kind}.{})", references.join(", "));
            items.met("not-read", what, "Left out: no label can hold them");
        }
        let Some((start, end)) = place else {
            for (feature, value) in features {
                item.answer(format!("{kind}.{feature}"), GivenAnswer::One(value));
            }
            continue;
        };
        let character = |at| OffsetUnit::Utf16.to_characters(&text, at);
        let (start, end) = match (character(start), character(end)) {
            (Ok(start), Ok(end)) => (start, end),
            (Err(why), _) | (_, Err(why)) => {
                return items.fault(item.place, Some(&kind), why.to_string());
            }
        };
        if start >= end {
            continue; // a place between two characters, which no span can be
        }
        let mut add =
            |question: String, label: String| spans.entry(question).or_default().push((start, end, label));
        if features.is_empty() {
            add(kind.clone(), kind);
        } else {
            features.into_iter().for_each(|(feature, value)| add(format!("{kind}.{feature}"), value));
        }
    }
    for (question, spans) in spans {
        item.answer(question, GivenAnswer::Spans(spans));
    }
    item.data.insert(0, ("text".to_owned(), text));
    item.whole = true;
    items.push(item);
}
