//! Label Studio's exports `JSON_MIN`, `CSV` and `TSV`: one record an annotation. Columns of the task and of
//! answers are not marked as such: answers have a shape of their own, or differ between annotators of one
//! task.

use super::label_studio::{lead_time, person};
use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{
    Division, GivenAnswer, Item, Items, Part, Parts, Unfold, checked_spans, plain, strings, text_of,
};
use dissensus_domain::{NamedSpan, OffsetUnit};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Keys that Label Studio adds itself.
const OWN: [&str; 7] =
    ["id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"];
/// A column with more different values than this is a property of texts.
const LEVELS: usize = 20;

#[derive(Debug)]
pub(super) struct LabelStudioFlat;

impl Format for LabelStudioFlat {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "label-studio-flat",
            title: "Label Studio JSON_MIN or CSV",
            endings: &["json", "csv", "tsv"],
        }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let own = ["annotation_id", "annotator", "lead_time"];
        let is_record = |record: &Map<String, Value>| own.iter().all(|key| record.contains_key(*key));
        let division = match &look.table {
            _ if look.elements.iter().any(is_record) => Division::Elements,
            Some(table) if look.has_columns(&own) => Division::Rows(table.clone()),
            _ => return None,
        };
        let mut survey = Survey::default();
        let mut parts = Parts::open(&look.path, &division).ok()?;
        while let Some(part) = parts.next_part() {
            if let Ok(part) = part {
                survey.take(part.json());
            }
        }
        Some(Reading::Annotations(division, Arc::new(Records { answers: survey.answers() })))
    }
}

/// Which keys are answers.
#[derive(Debug)]
struct Records {
    answers: BTreeSet<String>,
}

/// Statistics on the values of each key.
#[derive(Debug, Default)]
struct Survey {
    records: usize,
    keys: BTreeMap<String, ColumnValues>,
    tasks: HashMap<String, u32>,
}

#[derive(Debug, Default)]
struct ColumnValues {
    values: BTreeSet<String>,
    count: usize,
    shaped: bool,
    plain: bool,
    by_task: HashMap<String, String>,
    differs: bool,
}

impl Survey {
    fn take(&mut self, record: &Value) {
        let Some(record) = record.as_object() else { return };
        self.records += 1;
        let task = text_of(record.get("id")).unwrap_or_default();
        *self.tasks.entry(task.clone()).or_default() += 1;
        for (key, value) in record.iter().filter(|(key, _)| !OWN.contains(&key.as_str())) {
            let value = unpacked(value);
            let seen = self.keys.entry(key.clone()).or_default();
            if answer_of(&value).is_some() {
                seen.shaped = true;
            } else if let Some(text) = text_of(Some(&value)) {
                seen.plain = true;
                seen.count += 1;
                let known = seen.by_task.entry(task.clone()).or_insert_with(|| text.clone());
                seen.differs |= *known != text;
                if seen.values.len() <= LEVELS {
                    seen.values.insert(text);
                }
            }
        }
    }

    fn answers(self) -> BTreeSet<String> {
        let several = self.tasks.values().any(|annotations| *annotations > 1);
        let is_answer = |seen: &ColumnValues| {
            // With several annotators, answers to one task differ, be they levels or free text; otherwise
            // levels recur.
            let few = seen.values.len() <= LEVELS && seen.values.len() * 2 <= seen.count;
            seen.shaped || (seen.plain && if several { seen.differs } else { few && !links(&seen.values) })
        };
        let keys = self.keys.into_iter();
        keys.filter(|(key, seen)| is_answer(seen) && key != "text").map(|(key, _)| key).collect()
    }
}

fn links(values: &BTreeSet<String>) -> bool {
    values.iter().any(|value| value.contains("://") || value.starts_with("/data/"))
}

/// Parses a CSV value that is JSON.
fn unpacked(value: &Value) -> Value {
    match value.as_str().filter(|text| text.starts_with(['{', '['])) {
        Some(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        None => value.clone(),
    }
}

/// An answer by its shape.
enum Shaped {
    Options(Vec<String>),
    Spans(Vec<(NamedSpan, Option<String>)>),
}

fn answer_of(value: &Value) -> Option<Shaped> {
    match value {
        Value::Object(object) => object.get("choices").and_then(strings).map(Shaped::Options),
        Value::Array(list) if !list.is_empty() => {
            let mut spans = Vec::new();
            for entry in list {
                let offset = |key: &str| u32::try_from(entry.get(key)?.as_u64()?).ok();
                let (start, end) = (offset("start")?, offset("end")?);
                let words = text_of(entry.get("text"));
                for label in entry.get("labels").and_then(strings)? {
                    spans.push((NamedSpan { start, end, label }, words.clone()));
                }
            }
            Some(Shaped::Spans(spans))
        }
        _ => None,
    }
}

impl Unfold for Records {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let Some(record) = part.json().as_object() else {
            return items.fault("", None, "this is not an object");
        };
        let named = text_of(record.get("annotation_id"));
        let place = named.map_or_else(String::new, |id| format!("annotation {id}"));
        if self.answers.is_empty() {
            items.met(
                "not-read",
                "Annotations",
                "Left out: no column differs between annotations as answers do; export JSON, which marks the answers",
            );
            return;
        }
        let is_data = |key: &str| !OWN.contains(&key) && !self.answers.contains(key);
        let mut item = Item {
            place: place.clone(),
            text_id: text_of(record.get("id")),
            data: record
                .iter()
                .filter(|(key, _)| is_data(key))
                .map(|(key, value)| (key.clone(), plain(value)))
                .collect(),
            annotator: person(record.get("annotator")),
            at: text_of(record.get("created_at")),
            duration_ms: lead_time(record.get("lead_time")),
            ..Item::default()
        };
        for key in &self.answers {
            let Some(value) = record.get(key).map(unpacked) else { continue };
            match answer_of(&value) {
                Some(Shaped::Options(options)) => item.answer(key.clone(), GivenAnswer::Several(options)),
                Some(Shaped::Spans(spans)) => {
                    let units = [OffsetUnit::Characters, OffsetUnit::Utf16];
                    let found = item.data.iter().find_map(|(name, text)| {
                        Some((name.clone(), checked_spans(text, spans.clone(), &units).ok()?))
                    });
                    let Some((name, spans)) = found else {
                        let why = "the words of its spans are in no text of the record where the spans say";
                        return items.fault(place, Some(key), why);
                    };
                    items.bodies.push(name);
                    item.answer(key.clone(), GivenAnswer::Spans(spans));
                }
                None => {
                    if let Some(level) = text_of(Some(&value)) {
                        item.answer(key.clone(), GivenAnswer::Several(vec![level]));
                    }
                }
            }
        }
        items.push(item);
    }

    fn without_annotator(&self) -> &'static str {
        "its column \"annotator\" is empty"
    }
}
