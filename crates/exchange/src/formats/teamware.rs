//! GATE Teamware 2: documents with a set of annotations for each annotator, as lines or as a list. Answers
//! are the features of annotations of whole documents.

use super::{Format, Look, Reading};
use crate::annotations::{Division, GivenAnswer, Item, Items, Part, Unfold, plain, text_of};
use crate::format_info::FormatInfo;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The annotations by annotator.
const SETS: &str = "annotation_sets";
/// Annotators who did not annotate a document.
const STATUS: &str = "teamware_status";
/// Before version 2.2 answers were nested one level deeper.
const OLD: &str = "label";
/// Keys of a document that are not data of its text.
const OWN: [&str; 2] = [SETS, STATUS];
/// Other data of the document, in one form of export.
const FEATURES: &str = "features";

#[derive(Debug)]
pub(super) struct Teamware;

impl Format for Teamware {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "gate-teamware", title: "GATE Teamware JSON", endings: &["json", "jsonl"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let is_document = |document: &Map<String, Value>| document.get(SETS).is_some_and(Value::is_object);
        if look.objects().is_empty() || !look.objects().iter().all(is_document) {
            return None;
        }
        let division = if look.elements.is_empty() { Division::Lines } else { Division::Elements };
        Some(Reading::Annotations(division, Arc::new(Documents)))
    }
}

#[derive(Debug)]
struct Documents;

impl Unfold for Documents {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let Some(document) = part.json().as_object() else {
            return items.fault("", None, "this is not a document");
        };
        let named =
            ["id", "_id", "name"].into_iter().find_map(|key| Some((key, text_of(document.get(key))?)));
        let (id_key, id) = named.unzip();
        let place = id.as_ref().map_or_else(|| "document".to_owned(), |id| format!("document {id}"));
        let features = document.get(FEATURES).and_then(Value::as_object);
        let own =
            |key: &str| OWN.contains(&key) || Some(key) == id_key || (key == FEATURES && features.is_some());
        let keys = document.iter().filter(|(key, _)| !own(key)).chain(features.into_iter().flatten());
        let data = keys.filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), plain(value)));
        let data = data.collect();
        let common = Item { text_id: id, data, ..Item::default() };
        let Some(sets) = document.get(SETS).and_then(Value::as_object) else {
            return items.fault(place, Some(SETS), "no people's annotations stand here");
        };
        let mut nobody = true;
        for (person, set) in sets {
            let place = format!("{place}, {person}");
            let mut item = Item { place: place.clone(), annotator: Some(person.clone()), ..common.clone() };
            let annotations = set.get("annotations").and_then(Value::as_array).into_iter().flatten();
            let mut answered = false;
            for annotation in annotations {
                let features = match annotation.get("features").and_then(Value::as_object) {
                    Some(features) => features.get(OLD).and_then(Value::as_object).unwrap_or(features),
                    None => return items.fault(place, Some("features"), "an annotation has no features"),
                };
                for (question, value) in features.iter().filter(|(_, value)| !value.is_null()) {
                    match given_answer(value) {
                        Some(answer) => item.answer(question.clone(), answer),
                        None => {
                            return items.fault(
                                place,
                                Some(question),
                                "neither an answer nor a list of them",
                            );
                        }
                    }
                    answered = true;
                }
            }
            if answered {
                items.push(item);
                nobody = false;
            }
        }
        for person in rejected(document) {
            let mut item = Item { place: place.clone(), annotator: Some(person), ..common.clone() };
            item.answers.push((None, GivenAnswer::Skipped));
            items.push(item);
            nobody = false;
        }
        unfinished(document, items);
        if nobody {
            items.push(Item { place, ..common });
        }
    }
}

fn given_answer(value: &Value) -> Option<GivenAnswer> {
    match value {
        Value::Array(list) => {
            list.iter().map(|option| text_of(Some(option))).collect::<Option<_>>().map(GivenAnswer::Several)
        }
        Value::Object(_) => None,
        one => text_of(Some(one)).map(GivenAnswer::One),
    }
}

/// Returns the annotators who skipped the document.
fn rejected(document: &Map<String, Value>) -> Vec<String> {
    people(document, "rejected_by")
}

fn people(document: &Map<String, Value>, status: &str) -> Vec<String> {
    let list = document.get(STATUS).and_then(|about| about.get(status)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|person| text_of(Some(person))).collect()
}

/// Counts annotators who began and gave no answer.
fn unfinished(document: &Map<String, Value>, items: &mut Items) {
    let count = people(document, "timed_out").len() + people(document, "aborted").len();
    let became = "Left out: they ran out of time, or were broken off";
    items.add_findings(count, "without-answer", "Documents that somebody began and did not answer", became);
}
