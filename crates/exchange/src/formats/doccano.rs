//! doccano: a ZIP archive with a file for each annotator, or one such file. The name of a file identifies the
//! annotator of its lines.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{
    Division, GivenAnswer, Item, Items, Part, Unfold, checked_spans, plain, strings, text_of,
};
use dissensus_domain::{NamedSpan, OffsetUnit};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The keys of an example in a file made for an import.
pub(crate) const KEYS: [&str; 9] =
    ["id", "text", "label", "labels", "entities", "relations", "cats", "meta", "Comments"];
/// The file that a shared project is exported to.
pub(crate) const ALL: &str = "all";
/// The question that labels of whole texts answer.
pub(crate) const LABEL: &str = "label";
/// The question of spans that are written instead of labels.
pub(crate) const SPANS: &str = "spans";

#[derive(Debug)]
pub(super) struct Doccano;

impl Format for Doccano {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "doccano", title: "doccano JSONL or ZIP", endings: &["zip", "jsonl", "json"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let jsonl = |name: &String| name.to_lowercase().ends_with(".jsonl");
        if !look.files.is_empty() && look.files.iter().all(jsonl) && !look.is_folder {
            let people = Arc::new(Examples { by_person: true });
            return Some(Reading::Annotations(Division::EntryLines(look.files.clone()), people));
        }
        let objects = look.objects();
        let is_example = |example: &Map<String, Value>| {
            let list = |key: &str| example.get(key).is_some_and(Value::is_array);
            let text = example.get("text").is_none_or(Value::is_string);
            text && (list("label")
                || list("labels")
                || (list("entities") && (list("relations") || list("cats"))))
        };
        if objects.is_empty() || !objects.iter().all(is_example) {
            return None;
        }
        // An export has comments and ids; files made for an import have no annotator.
        let export =
            |example: &Map<String, Value>| example.contains_key("id") && example.contains_key("Comments");
        let by_person = look.named || objects.iter().all(export);
        // Other tables have lists of labels, too, and columns of their own.
        let known = |example: &Map<String, Value>| example.keys().all(|key| KEYS.contains(&key.as_str()));
        if !by_person && !objects.iter().all(known) {
            return None;
        }
        let division = if look.elements.is_empty() { Division::Lines } else { Division::Elements };
        Some(Reading::Annotations(division, Arc::new(Examples { by_person })))
    }
}

#[derive(Debug)]
struct Examples {
    /// The name of the file identifies an annotator.
    by_person: bool,
}

impl Unfold for Examples {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let Some(example) = part.json().as_object() else {
            return items.fault("", None, "this is not an object");
        };
        let file = part.name.rsplit('/').next().unwrap_or_default();
        let person = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        if person == ALL && self.by_person {
            items.met(
                "merged",
                "Examples of a shared project",
                "doccano has merged everybody's labels in them, and does not record whose they are",
            );
        }
        if example.is_empty() {
            return items.fault(file, None, "an empty object: there is neither a text nor a label");
        }
        let mut item = Item {
            place: file.to_owned(),
            text_id: text_of(example.get("id")),
            annotator: (self.by_person && person != ALL).then(|| person.to_owned()),
            ..Item::default()
        };
        let labels = ["label", "labels", "entities", "relations", "cats", "Comments", "id"];
        let data = example.iter().filter(|(key, _)| !labels.contains(&key.as_str()));
        item.data = data.map(|(key, value)| (key.clone(), plain(value))).collect();
        for comment in example.get("Comments").and_then(strings).unwrap_or_default() {
            item.note(&comment);
        }
        let text = text_of(example.get("text")).unwrap_or_default();
        if let Err((key, why)) = read(example, &text, &mut item, items) {
            return items.fault(file, Some(key), why);
        }
        if item.answers.is_empty() {
            // An item without an answer or a note has no annotator.
            item.annotator = item.annotator.filter(|_| !item.note.is_empty());
        }
        items.push(item);
    }

    fn without_annotator(&self) -> &'static str {
        match self.by_person {
            true => {
                "it is the export of a shared project, in which labels of all people are merged: export it as one file a person \
                 (the project must not be shared for that)"
            }
            false => "its lines do not say who labelled, and the name of the file need not be a person's",
        }
    }
}

type Wrong = (&'static str, String);

fn read(example: &Map<String, Value>, text: &str, item: &mut Item, items: &mut Items) -> Result<(), Wrong> {
    let list = |key: &str| example.get(key).and_then(Value::as_array).map(Vec::as_slice);
    let relations = list("relations").map_or(0, <[Value]>::len);
    items.add_findings(relations, "not-read", "Relations", "Left out: no label can hold them");
    let (key, labels) = match (list("label"), list("labels")) {
        (Some(labels), _) => ("label", Some(labels)),
        (None, Some(labels)) => ("labels", Some(labels)),
        (None, None) => ("label", None),
    };
    match labels {
        Some([]) => empty(items),
        Some(labels) if labels.iter().all(Value::is_array) => {
            let found = labels.iter().map(triple).collect::<Option<Vec<_>>>();
            let why = "a span is written as [start, end, \"type\"]";
            let message = spans(text, found.ok_or_else(|| (key, why.to_owned()))?);
            item.answer(SPANS, message.map_err(|why| (key, why))?);
        }
        Some(labels) => {
            let options = strings(&Value::from(labels.to_vec()));
            let options =
                options.ok_or_else(|| (key, "neither names nor spans are listed here".to_owned()))?;
            item.answer(LABEL, GivenAnswer::Several(options));
        }
        None => {}
    }
    if let Some(options) = example.get("cats").and_then(strings).filter(|options| !options.is_empty()) {
        item.answer("cats", GivenAnswer::Several(options));
    }
    match list("entities") {
        None => {}
        Some([]) => empty(items),
        Some(entities) => {
            let found = entities.iter().map(|entity| triple(entity).or_else(|| object(entity)));
            let why = "a span wants \"start_offset\", \"end_offset\" and \"label\"".to_owned();
            let found = found.collect::<Option<Vec<_>>>().ok_or(("entities", why))?;
            item.answer("entities", spans(text, found).map_err(|why| ("entities", why))?);
        }
    }
    Ok(())
}

fn empty(items: &mut Items) {
    items.met(
        "ambiguous",
        "Examples with an empty list of labels",
        "Taken without an answer: doccano does not say whether nothing fitted or nobody has looked; export \"only approved\" ones to be sure",
    );
}

fn spans(text: &str, spans: Vec<NamedSpan>) -> Result<GivenAnswer, String> {
    let spans = spans.into_iter().map(|span| (span, None)).collect();
    checked_spans(text, spans, &[OffsetUnit::Characters]).map(GivenAnswer::Spans)
}

fn triple(value: &Value) -> Option<NamedSpan> {
    let [start, end, label] = value.as_array()?.as_slice() else { return None };
    let offset = |value: &Value| u32::try_from(value.as_u64()?).ok();
    Some(NamedSpan { start: offset(start)?, end: offset(end)?, label: text_of(Some(label))? })
}

fn object(value: &Value) -> Option<NamedSpan> {
    let offset = |key: &str| u32::try_from(value.get(key)?.as_u64()?).ok();
    let label = text_of(value.get("label"))?;
    Some(NamedSpan { start: offset("start_offset")?, end: offset("end_offset")?, label })
}
