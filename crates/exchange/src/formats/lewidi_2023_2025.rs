//! The JSON of the shared tasks on learning with disagreements (Le-Wi-Di 2023 and 2025): an object of texts
//! by id, each with the answers of all annotators.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{Division, GivenAnswer, Item, Items, Part, SpanOf, Unfold, plain, strings, text_of};
use dissensus_domain::{ScaleKind, reads_as_spans, spans_named};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Other data about a text.
pub(crate) const OTHER_INFO: &str = "other_info";
/// Explanations of answers, in the order of the list of annotators.
pub(crate) const EXPLANATIONS: &str = "explanations";

/// Keys that are not data of the text.
const OWN: [&str; 9] = [
    "text",
    "annotators",
    "annotations",
    "number of annotations",
    "number of annotators",
    "soft_label",
    "hard_label",
    "split",
    "annotation task",
];

#[derive(Debug)]
pub(super) struct Lewidi;

impl Format for Lewidi {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "lewidi", title: "Le-Wi-Di JSON", endings: &["json"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let is_text = |(_, value): &(String, Value)| {
            value.get("text").is_some()
                && value.get("annotations").is_some()
                && value.get("annotators").is_some()
        };
        look.members.iter().any(is_text).then(|| Reading::Annotations(Division::Members, Arc::new(Texts)))
    }
}

#[derive(Debug)]
struct Texts;

impl Unfold for Texts {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let place = format!("text {}", part.name);
        let Some(entry) = part.json().as_object() else {
            return items.fault(place, None, "this is not an object with \"text\" and \"annotations\"");
        };
        let given = match answers(entry) {
            Ok(given) => given,
            Err((key, why)) => return items.fault(place, Some(key), why),
        };
        let question = text_of(entry.get("annotation task")).unwrap_or_else(|| "label".to_owned());
        declare(&question, entry.get("soft_label"), items);
        let common = Item {
            text_id: Some(part.name.clone()),
            data: data(entry, &given, part),
            split: text_of(entry.get("split")),
            ..Item::default()
        };
        let info = entry.get(OTHER_INFO).and_then(Value::as_object);
        if given.is_empty() {
            return items.push(Item { place, ..common });
        }
        for (person, answer) in given {
            let mut item = Item { place: format!("{place}, {person}"), ..common.clone() };
            // In some sets `other_info` has a value for each annotator.
            if let Some(about) = info.and_then(|info| text_of(info.get(&person))) {
                item.attributes.push(("other_info".to_owned(), about));
            }
            answer.notes.iter().for_each(|note| item.note(note));
            item.annotator = Some(person);
            if !answer.levels.is_empty() {
                let answer =
                    spans_of(&answer.levels).map_or(GivenAnswer::Several(answer.levels), GivenAnswer::Spans);
                item.answer(question.clone(), answer);
            }
            items.push(item);
        }
    }

    fn without_annotator(&self) -> &'static str {
        "its texts name no annotators"
    }
}

/// The answers of an annotator, and their explanations.
#[derive(Debug, Default)]
struct AnnotatorAnswers {
    levels: Vec<String>,
    notes: Vec<String>,
}

/// Reads the answers of all annotators: in 2023 two comma-separated lists in the same order, in 2025 an
/// object by annotator, which may have several for each.
fn answers(entry: &Map<String, Value>) -> Result<BTreeMap<String, AnnotatorAnswers>, (&'static str, String)> {
    let list = |value: &Value| -> Option<Vec<String>> {
        match value {
            Value::String(text) if text.trim().is_empty() => Some(Vec::new()),
            Value::String(text) if is_list_of_spans(text) => Some(vec![text.clone()]),
            Value::String(text) => Some(text.split(',').map(|part| part.trim().to_owned()).collect()),
            other => strings(other),
        }
    };
    let null = Value::Null;
    let people = list(entry.get("annotators").unwrap_or(&null))
        .ok_or_else(|| ("annotators", "names with commas between them belong here".to_owned()))?;
    let mut given: BTreeMap<String, AnnotatorAnswers> = BTreeMap::new();
    match entry.get("annotations").unwrap_or(&null) {
        Value::Object(by_person) => {
            for (person, levels) in by_person {
                let levels = list(levels).ok_or_else(|| {
                    ("annotations", format!("the answer of {person} is neither a word nor a list"))
                })?;
                given.entry(person.clone()).or_default().levels =
                    levels.into_iter().filter(|l| !l.is_empty()).collect();
            }
        }
        other => {
            let levels = list(other)
                .ok_or_else(|| ("annotations", "answers with commas between them belong here".to_owned()))?;
            if levels.len() != people.len() {
                let why = format!("{} answers of {} annotators: which is whose?", levels.len(), people.len());
                return Err(("annotations", why));
            }
            for (person, level) in people.iter().zip(levels).filter(|(_, level)| !level.is_empty()) {
                given.entry(person.clone()).or_default().levels.push(level);
            }
        }
    }
    // Explanations are in the order of the list of annotators, which has an annotator once for each
    // explanation.
    let explained = entry.get(OTHER_INFO).and_then(|info| info.get(EXPLANATIONS)).and_then(Value::as_array);
    if let Some(explained) = explained.filter(|explained| explained.len() == people.len()) {
        for (person, why) in people.iter().zip(explained) {
            if let (Some(given), Some(why)) = (given.get_mut(person), text_of(Some(why))) {
                given.notes.push(why);
            }
        }
    }
    Ok(given)
}

/// Whether a level is a list of spans, the notation for answers in versions before 0.1; `[]` may be one.
fn is_list_of_spans(level: &str) -> bool {
    reads_as_spans(level) && spans_named(level).is_ok()
}

/// Returns the spans of an answer that is a single list of them; `None` for any other answer.
fn spans_of(levels: &[String]) -> Option<Vec<SpanOf>> {
    let [only] = levels else { return None };
    (is_list_of_spans(only) || only.trim() == "[]")
        .then(|| spans_named(only).ok())?
        .map(|spans| spans.into_iter().map(|span| (span.start, span.end, span.label)).collect())
}

/// Declares the levels, which the soft label contains even if no annotator chose them.
fn declare(question: &str, soft: Option<&Value>, items: &mut Items) {
    let Some(soft) = soft.and_then(Value::as_object) else { return };
    if soft.keys().any(|level| is_list_of_spans(level)) {
        let named = soft.keys().filter_map(|level| spans_named(level).ok()).flatten();
        let types: BTreeSet<String> = named.map(|span| span.label).collect();
        return items.declare(question, ScaleKind::Spans, types.into_iter().collect());
    }
    if soft.len() < 2 {
        return;
    }
    // A share of yes and no for each option.
    let options = soft.values().any(Value::is_object);
    let (kind, levels) = declared(soft.keys().cloned().collect(), options);
    items.declare(question, kind, levels);
}

/// Returns the kind of a question and the order of its levels or options, as they follow from a soft label.
pub(crate) fn declared(mut levels: Vec<String>, options: bool) -> (ScaleKind, Vec<String>) {
    let numbers = levels.iter().all(|level| level.parse::<i64>().is_ok());
    let kind = match numbers {
        _ if options => ScaleKind::MultiLabel,
        _ if levels.len() == 2 => ScaleKind::Binary,
        true => ScaleKind::Ordinal,
        false => ScaleKind::Choice,
    };
    levels.sort_by_key(|level| (level.parse::<i64>().ok(), level.clone()));
    (kind, levels)
}

/// Returns the data of the text: its parts in order, a line each, as the body; the rest unchanged.
fn data(
    entry: &Map<String, Value>,
    given: &BTreeMap<String, AnnotatorAnswers>,
    part: &Part,
) -> Vec<(String, String)> {
    let mut data = vec![("text".to_owned(), body(part))];
    for (key, value) in entry.iter().filter(|(key, _)| !OWN.contains(&key.as_str())) {
        match value.as_object().filter(|_| key == OTHER_INFO) {
            Some(info) => data.extend(
                info.iter()
                    .filter(|(key, _)| *key != EXPLANATIONS && !given.contains_key(*key))
                    .map(|(key, value)| (key.clone(), plain(value))),
            ),
            None => data.push((key.clone(), plain(value))),
        }
    }
    data
}

fn body(part: &Part) -> String {
    let entry = serde_json::from_str::<Entry>(&part.raw);
    let text = entry.map(|entry| entry.text).unwrap_or_default();
    match text {
        Body::Parts(parts) => parts.join("\n"),
        // A conversation may be JSON in a string.
        Body::Plain(text) if text.starts_with('{') => match serde_json::from_str(&text) {
            Ok(Body::Parts(parts)) => parts.join("\n"),
            _ => text,
        },
        Body::Plain(text) => text,
    }
}

/// The parts of a text that make its body.
#[derive(serde::Deserialize)]
struct Entry {
    text: Body,
}

/// A body: one string, or named parts in the order of the file.
enum Body {
    Plain(String),
    Parts(Vec<String>),
}

impl Default for Body {
    fn default() -> Self {
        Self::Plain(String::new())
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Body;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or an object of its parts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Body, E> {
                Ok(Body::Plain(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body, A::Error> {
                let mut parts = Vec::new();
                while let Some((_, value)) = map.next_entry::<String, Value>()? {
                    parts.push(plain(&value));
                }
                Ok(Body::Parts(parts))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}
