//! Argilla 2 records: flat (`to_datasets`, three lists for each question) or nested (`to_json`), as lines or
//! as a list; and the layout of Argilla 1 in data sets.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{
    Division, GivenAnswer, Item, Items, Part, Unfold, checked_spans, plain, strings, text_of,
};
use dissensus_domain::{NamedSpan, OffsetUnit};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The suffix of the key with a question's answers.
const RESPONSES: &str = ".responses";
/// Keys of a record that are not data of its text.
const OWN: [&str; 6] = ["id", "external_id", "_server_id", "status", "inserted_at", "updated_at"];

#[derive(Debug)]
pub(super) struct Argilla;

impl Format for Argilla {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "argilla", title: "Argilla records", endings: &["json", "jsonl"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let is_record = |record: &Map<String, Value>| {
            let nested = record.get("fields").is_some_and(Value::is_object)
                && record.get("responses").is_some_and(|r| r.is_object() || r.is_array() || r.is_null());
            nested
                || record.keys().any(|key| key.ends_with(".responses.users"))
                || old_questions(record).next().is_some()
        };
        if !look.objects().iter().any(is_record) {
            return None;
        }
        let division = if look.elements.is_empty() { Division::Lines } else { Division::Elements };
        Some(Reading::Annotations(division, Arc::new(Records)))
    }
}

#[derive(Debug)]
struct Records;

/// One annotator's answer to one question.
struct Response {
    question: String,
    person: Option<String>,
    status: Option<String>,
    value: Value,
}

/// The questions of Argilla 1: objects of three lists.
fn old_questions(record: &Map<String, Value>) -> impl Iterator<Item = (&String, &Map<String, Value>)> {
    record.iter().filter_map(|(key, value)| {
        let lists = value.as_object()?;
        ["user_id", "value", "status"]
            .iter()
            .all(|key| lists.get(*key).is_some_and(Value::is_array))
            .then_some((key, lists))
    })
}

impl Unfold for Records {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let Some(record) = part.json().as_object() else {
            return items.fault("", None, "this is not an object");
        };
        let id = text_of(record.get("id")).or_else(|| text_of(record.get("_server_id")));
        let place = id.as_ref().map_or_else(|| "record".to_owned(), |id| format!("record {id}"));
        let nested = record.get("fields").and_then(Value::as_object);
        let responses = match nested {
            Some(_) => nested_responses(record),
            None => flat_responses(record),
        };
        let responses = match responses {
            Ok(responses) => responses,
            Err((question, why)) => return items.fault(place, Some(&question), why),
        };
        let data = match nested {
            Some(fields) => {
                let metadata = record.get("metadata").and_then(Value::as_object);
                let pairs = fields.iter().chain(metadata.into_iter().flatten());
                pairs.map(|(key, value)| (key.clone(), plain(value))).collect()
            }
            None => flat_data(record),
        };
        count_suggestions(record, items);
        let common = Item { text_id: id, data, ..Item::default() };
        let mut people: BTreeMap<Option<String>, Item> = BTreeMap::new();
        let empty = responses.is_empty();
        for response in responses {
            let Response { question, person, status, value } = response;
            match status.as_deref() {
                None => items.met(
                    "without-status",
                    "Responses without a status",
                    "Taken as answers: drafts and discarded ones look the same in this shape; export with to_datasets, which distinguishes them",
                ),
                Some("submitted" | "discarded") => {}
                Some("draft" | "pending") => {
                    items.met("drafts", "Drafts", "Left out: nobody has submitted them");
                    continue;
                }
                Some(other) => {
                    let why = format!("\"{other}\" is no status: submitted, discarded or draft");
                    return items.fault(place, Some(&question), why);
                }
            }
            let item = people.entry(person.clone()).or_insert_with(|| {
                let who = person.clone().unwrap_or_default();
                Item { place: format!("{place}, {who}"), annotator: person, ..common.clone() }
            });
            if status.as_deref() == Some("discarded") {
                item.answer(question, GivenAnswer::Skipped);
                continue;
            }
            match given_answer(&value, &common.data) {
                Ok(Some(answer)) => item.answer(question, answer),
                Ok(None) => items.met(
                    "not-read",
                    format!("Rankings (\"{question}\")"),
                    "Left out: no label can hold them",
                ),
                Err(why) => return items.fault(place, Some(&question), why),
            }
        }
        if people.is_empty() && (empty || !common.data.is_empty()) {
            items.push(Item { place, ..common });
            return;
        }
        people.into_values().for_each(|item| items.push(item));
    }

    fn without_annotator(&self) -> &'static str {
        "its responses name no users"
    }
}

type Wrong = (String, String);

/// `Q.responses`, `Q.responses.users` and `Q.responses.status` in the same order; or the lists of Argilla 1.
fn flat_responses(record: &Map<String, Value>) -> Result<Vec<Response>, Wrong> {
    let mut found = Vec::new();
    let mut add = |question: &str, values: &Value, users: Option<&Value>, status: Option<&Value>| {
        let Some(values) = values.as_array() else { return Ok(()) };
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
        let (users, status) = (list(users), list(status));
        let lengths = [users.as_ref().map(Vec::len), status.as_ref().map(Vec::len)];
        if let Some(other) = lengths.into_iter().flatten().find(|length| *length != values.len()) {
            let why = format!("{} responses and a list of {other}: which is whose?", values.len());
            return Err((question.to_owned(), why));
        }
        for (nth, value) in values.iter().enumerate() {
            let of = |list: &Option<Vec<Value>>| text_of(list.as_ref().and_then(|list| list.get(nth)));
            let (person, status) = (of(&users), of(&status));
            let (question, value) = (question.to_owned(), value.clone());
            found.push(Response { question, person, status, value });
        }
        Ok(())
    };
    for (key, values) in record {
        if let Some(question) = key.strip_suffix(RESPONSES) {
            let users = record.get(&format!("{key}.users"));
            add(question, values, users, record.get(&format!("{key}.status")))?;
        }
    }
    for (question, lists) in old_questions(record) {
        add(question, &lists["value"], lists.get("user_id"), lists.get("status"))?;
    }
    Ok(found)
}

/// Reads `responses: {question: [{value, user_id}]}`, without a status; or a list of those with
/// `question_name` or `values`.
fn nested_responses(record: &Map<String, Value>) -> Result<Vec<Response>, Wrong> {
    let Some(responses) = record.get("responses").and_then(Value::as_object) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for (question, list) in responses {
        let Some(list) = list.as_array() else {
            return Err((question.clone(), "a list of responses belongs here".to_owned()));
        };
        for response in list {
            found.push(Response {
                question: question.clone(),
                person: text_of(response.get("user_id")),
                status: text_of(response.get("status")),
                value: response.get("value").cloned().unwrap_or_default(),
            });
        }
    }
    Ok(found)
}

fn flat_data(record: &Map<String, Value>) -> Vec<(String, String)> {
    let questions: BTreeSet<&str> = record.keys().filter_map(|key| key.strip_suffix(RESPONSES)).collect();
    let old: BTreeSet<&String> = old_questions(record).map(|(key, _)| key).collect();
    let of_question = |key: &str| {
        questions.iter().any(|question| {
            key.strip_prefix(question)
                .is_some_and(|rest| rest.starts_with(RESPONSES) || rest.starts_with(".suggestion"))
        }) || key.ends_with("-suggestion")
            || key.contains("-suggestion-metadata")
    };
    let is_data = |key: &String| !OWN.contains(&key.as_str()) && !of_question(key) && !old.contains(key);
    let data = record.iter().filter(|(key, _)| is_data(key));
    data.map(|(key, value)| (key.clone(), plain(value))).collect()
}

fn count_suggestions(record: &Map<String, Value>, items: &mut Items) {
    let flat = record.iter().filter(|(key, value)| key.ends_with(".suggestion") && !value.is_null()).count();
    let nested = record.get("suggestions").and_then(Value::as_object).map_or(0, Map::len);
    items.add_findings(
        flat + nested,
        "predictions",
        "Suggestions of models",
        "Left out: they are nobody's answers",
    );
}

/// Returns the answer in a value; `None` for a ranking.
fn given_answer(value: &Value, data: &[(String, String)]) -> Result<Option<GivenAnswer>, String> {
    let Some(list) = value.as_array() else {
        let level = text_of(Some(value)).ok_or("the response has no value")?;
        return Ok(Some(if value.is_number() {
            GivenAnswer::Rating(level)
        } else {
            GivenAnswer::One(level)
        }));
    };
    if list.iter().any(|entry| entry.get("rank").is_some()) {
        return Ok(None);
    }
    if list.iter().any(Value::is_object) {
        let span = |entry: &Value| {
            let offset = |key: &str| u32::try_from(entry.get(key)?.as_u64()?).ok();
            let label = text_of(entry.get("label"))?;
            Some((NamedSpan { start: offset("start")?, end: offset("end")?, label }, None))
        };
        let spans = list.iter().map(span).collect::<Option<Vec<_>>>();
        let spans = spans.ok_or("a span wants whole numbers \"start\" and \"end\" and a \"label\"")?;
        let fitting =
            data.iter().map(|(_, text)| checked_spans(text, spans.clone(), &[OffsetUnit::Characters]));
        let mut first = None;
        for read in fitting {
            match read {
                Ok(spans) => return Ok(Some(GivenAnswer::Spans(spans))),
                Err(why) => drop(first.get_or_insert(why)),
            }
        }
        return Err(first.unwrap_or_else(|| "there is no text that its spans could be of".to_owned()));
    }
    strings(value)
        .map(|options| Some(GivenAnswer::Several(options)))
        .ok_or_else(|| "a list that is no set of labels".to_owned())
}
