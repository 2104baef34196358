//! Potato: the folder of states that its server writes (`USER/user_state.json`), and its exports
//! `annotations.jsonl` and CSV. None of them has the texts, only their ids: the texts have to be imported
//! first, from the source file of the study.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{Content, Division, GivenAnswer, Item, Items, Part, Unfold, text_of};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

const STATE: &str = "user_state.json";
/// Values that mean that an option was chosen.
const CHOSEN: [&str; 3] = ["true", "on", "checked"];

/// The server's own files.
#[derive(Debug)]
pub(super) struct PotatoState;

impl Format for PotatoState {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "potato-state", title: "Potato state folder", endings: &["json", "zip"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let is_state = |name: &&String| name.rsplit('/').next() == Some(STATE);
        let states: Vec<String> = look.files.iter().filter(is_state).cloned().collect();
        if !states.is_empty() {
            return Some(Reading::Annotations(Division::Entries(states), Arc::new(States)));
        }
        let has = |key: &str| look.members.iter().any(|(name, _)| name == key);
        let single = has("instance_id_to_label_to_value") || (has("user_id") && has("instance_id_ordering"));
        single.then(|| Reading::Annotations(Division::Whole, Arc::new(States)))
    }
}

/// The files that its `export` writes.
#[derive(Debug)]
pub(super) struct Potato;

impl Format for Potato {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "potato",
            title: "Potato annotations (JSONL or CSV)",
            endings: &["jsonl", "csv", "tsv"],
        }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let is_answer = |record: &Map<String, Value>| {
            ["instance_id", "user_id"].iter().all(|key| record.contains_key(*key))
                && record.get("labels").is_some_and(Value::is_object)
        };
        if look.lines.iter().any(is_answer) {
            return Some(Reading::Annotations(Division::Lines, Arc::new(Export)));
        }
        let table = look.table.clone().filter(|_| look.has_columns(&["instance_id", "user_id"]))?;
        let plain = ["text", "label", "labels", "annotation"];
        let of_schema = look.columns().iter().any(|column| column.contains('.'))
            && !look.columns().iter().any(|column| plain.contains(&column.as_str()));
        of_schema.then(|| Reading::Annotations(Division::Rows(table), Arc::new(Export)))
    }
}

#[derive(Debug)]
struct States;

#[derive(Debug)]
struct Export;

/// The values of each schema, by the name of its option.
type Schemas = BTreeMap<String, BTreeMap<String, String>>;

impl Unfold for States {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let read = match &part.content {
            Content::Text(text) => {
                serde_json::from_str::<Map<String, Value>>(text).map_err(|e| e.to_string())
            }
            Content::Json(value) => value.as_object().cloned().ok_or_else(|| "no object".to_owned()),
        };
        let state = match read {
            Ok(state) => state,
            Err(why) => return items.fault(&part.name, None, format!("this is no state in JSON: {why}")),
        };
        let folder = part.name.rsplit('/').nth(1);
        let person = text_of(state.get("user_id")).or_else(|| folder.map(str::to_owned));
        let map = |key: &str| state.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
        let (labels, spans) = (map("instance_id_to_label_to_value"), map("instance_id_to_span_to_value"));
        let behaviour = map("instance_id_to_behavioral_data");
        let phases = map("phase_to_page_to_label_to_value");
        let asked =
            phases.values().filter(|pages| pages.as_object().is_some_and(|pages| !pages.is_empty())).count();
        items.add_findings(
            asked,
            "not-labels",
            "Surveys before and after the texts",
            "Left out: they say nothing of a text",
        );
        let mut ids: Vec<&String> = labels.keys().chain(spans.keys()).collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let place = format!("{}, text {id}", part.name);
            let schemas = match labels.get(id).map(pairs).transpose() {
                Ok(schemas) => schemas.unwrap_or_default(),
                Err(why) => {
                    items.fault(place, None, why);
                    continue;
                }
            };
            let mut item =
                Item { place, text_id: Some(id.clone()), annotator: person.clone(), ..Item::default() };
            if let Some(about) = behaviour.get(id) {
                item.at = last_change(about);
                item.duration_ms = text_of(about.get("total_time_ms")).filter(|ms| ms != "0");
            }
            answer(schemas, &mut item, items);
            let spans = spans.get(id).map(state_spans).unwrap_or_default();
            mark(spans, &mut item, items);
            items.push(item);
        }
    }

    fn without_annotator(&self) -> &'static str {
        "the states name no user"
    }
}

impl Unfold for Export {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let Some(record) = part.json().as_object() else {
            return items.fault("", None, "this is not an object");
        };
        let mut item = Item {
            text_id: text_of(record.get("instance_id")),
            annotator: text_of(record.get("user_id")),
            ..Item::default()
        };
        let (schemas, spans) = match record.get("labels").and_then(Value::as_object) {
            Some(labels) => (nested(labels), record.get("spans").map(nested_spans).unwrap_or_default()),
            None => columns(record),
        };
        let links = record.get("links").and_then(Value::as_object).map_or(0, Map::len);
        items.add_findings(links, "not-read", "Links between spans", "Left out: no label can hold them");
        answer(schemas, &mut item, items);
        mark(spans, &mut item, items);
        items.push(item);
    }

    fn without_annotator(&self) -> &'static str {
        "its column \"user_id\" is empty"
    }
}

/// Returns the time of the answer: its last change, else when the page was left or opened.
fn last_change(about: &Value) -> Option<String> {
    let seconds = |value: Option<&Value>| value.and_then(Value::as_f64).filter(|at| *at > 0.0);
    let changes = about.get("annotation_changes").and_then(Value::as_array);
    let changes = changes.into_iter().flatten().filter_map(|change| seconds(change.get("timestamp")));
    let last = changes.max_by(f64::total_cmp);
    let at =
        last.or_else(|| seconds(about.get("session_end"))).or_else(|| seconds(about.get("session_start")))?;
    Some(at.to_string())
}

/// The labels of a state: a list of pairs, each of a schema with an option's name and of a value.
fn pairs(list: &Value) -> Result<Schemas, String> {
    let mut schemas = Schemas::new();
    if let Some(by_schema) = list.as_object() {
        return Ok(nested(by_schema));
    }
    let list = list.as_array().ok_or("the labels of a text are no list")?;
    for pair in list {
        let named = pair.get(0).and_then(|label| Some((text_of(label.get("schema"))?, label.get("name"))));
        let (Some((schema, name)), Some(value)) = (named, pair.get(1)) else {
            return Err("a label is written as [{\"schema\", \"name\"}, value]".to_owned());
        };
        let name = text_of(name).unwrap_or_default();
        schemas.entry(schema).or_default().insert(name, text_of(Some(value)).unwrap_or_default());
    }
    Ok(schemas)
}

fn nested(labels: &Map<String, Value>) -> Schemas {
    let mut schemas = Schemas::new();
    for (schema, values) in labels {
        let of_schema = schemas.entry(schema.clone()).or_default();
        match values.as_object() {
            Some(values) => of_schema.extend(
                values.iter().map(|(name, value)| (name.clone(), text_of(Some(value)).unwrap_or_default())),
            ),
            None => drop(of_schema.insert(String::new(), text_of(Some(values)).unwrap_or_default())),
        }
    }
    schemas
}

/// Reads a row of a table: columns `SCHEMA.OPTION`, or just `SCHEMA`; spans as JSON in `SCHEMA._spans`.
fn columns(record: &Map<String, Value>) -> (Schemas, Vec<(String, Value)>) {
    let (mut schemas, mut spans) = (Schemas::new(), Vec::new());
    for (column, value) in
        record.iter().filter(|(key, _)| !["instance_id", "user_id"].contains(&key.as_str()))
    {
        let Some(value) = text_of(Some(value)) else { continue };
        match column.rsplit_once('.') {
            Some((schema, "_spans")) => {
                let list = serde_json::from_str(&value).unwrap_or(Value::Null);
                spans.push((schema.to_owned(), list));
            }
            Some((_, name)) if name.starts_with('_') => {}
            Some((schema, name)) => {
                schemas.entry(schema.to_owned()).or_default().insert(name.to_owned(), value);
            }
            // If there are columns of options too, this is the answer that counts.
            None => drop(schemas.insert(column.clone(), BTreeMap::from([(String::new(), value)]))),
        }
    }
    (schemas, spans)
}

/// Returns the answers to each schema: the options that were chosen, or the one value of a scale. A schema
/// with several values is several questions.
fn answer(schemas: Schemas, item: &mut Item, items: &mut Items) {
    for (schema, values) in schemas {
        let values: Vec<(String, String)> =
            values.into_iter().filter(|(_, value)| !value.trim().is_empty()).collect();
        let chosen = |value: &str| CHOSEN.contains(&value.trim().to_lowercase().as_str());
        match values.as_slice() {
            [] => {}
            all if all.iter().all(|(name, value)| chosen(value) && !name.is_empty()) => {
                item.answer(schema, GivenAnswer::Several(values.into_iter().map(|(name, _)| name).collect()));
            }
            [(name, value)] if ["text_box", "free_response", "bad_text"].contains(&name.as_str()) => {
                item.note(&format!("{schema}: {value}"));
                items.met("notes", format!("Free texts (\"{schema}\")"), "Kept as notes");
            }
            [(_, value)] => item.answer(schema, GivenAnswer::One(value.clone())),
            several => {
                for (name, value) in several {
                    item.answer(format!("{schema}: {name}"), GivenAnswer::One(value.clone()));
                }
            }
        }
    }
}

/// The spans of a state: pairs of a span and a value, or an object by schema.
fn state_spans(list: &Value) -> Vec<(String, Value)> {
    let mut by_schema: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for pair in list.as_array().into_iter().flatten() {
        let span = pair.get(0).unwrap_or(pair);
        if let Some(schema) = text_of(span.get("schema")) {
            by_schema.entry(schema).or_default().push(span.clone());
        }
    }
    by_schema.into_iter().map(|(schema, spans)| (schema, Value::from(spans))).collect()
}

fn nested_spans(spans: &Value) -> Vec<(String, Value)> {
    let spans = spans.as_object().into_iter().flatten();
    spans.map(|(schema, list)| (schema.clone(), list.clone())).collect()
}

/// Adds spans. The texts are not in the file, so the import checks that the spans are within them.
fn mark(spans: Vec<(String, Value)>, item: &mut Item, items: &mut Items) {
    for (schema, list) in spans {
        let span = |entry: &Value| {
            let offset = |key: &str| u32::try_from(entry.get(key)?.as_u64()?).ok();
            let kind = text_of(entry.get("name")).or_else(|| text_of(entry.get("label")))?;
            Some((offset("start")?, offset("end")?, kind)).filter(|(start, end, _)| start < end)
        };
        match list.as_array().map(|list| list.iter().map(span).collect::<Option<Vec<_>>>()) {
            Some(Some(found)) if !found.is_empty() => item.answer(schema, GivenAnswer::Spans(found)),
            Some(Some(_)) => {}
            _ => items.fault(
                item.place.clone(),
                Some(&schema),
                "a span wants whole numbers \"start\" and \"end\", the end behind the start, and a \"name\"",
            ),
        }
    }
}
