//! Label Studio's export `JSON`: a list of tasks, each with the annotations of all annotators. One control of
//! the page (`from_name`) is one question.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{
    Content, Division, GivenAnswer, Item, Items, Part, SpanOf, Unfold, checked_spans, plain, strings, text_of,
};
use dissensus_domain::{NamedSpan, OffsetUnit};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The key that our writer adds to an annotation, and Label Studio ignores: for each question that the
/// annotator answered, or skipped, its name, when and how long. The tool has one time for all of them.
pub(crate) const GIVEN: &str = "dissensus";
/// The name of a question in it.
pub(crate) const QUESTION: &str = "question";
/// How long an answer took, in seconds.
pub(crate) const LEAD_TIME: &str = "lead_time";

/// A span, and the words expected at its position.
type SpanWithWords = (NamedSpan, Option<String>);
/// The spans of a control: its question, the name of the text that it annotates, the spans.
type Marked = (String, String, Vec<SpanWithWords>);

#[derive(Debug)]
pub(super) struct LabelStudio;

impl Format for LabelStudio {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "label-studio", title: "Label Studio JSON", endings: &["json"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let is_task = |task: &Map<String, Value>| {
            task.get("data").is_some_and(Value::is_object)
                && ["annotations", "completions"]
                    .iter()
                    .any(|key| task.get(*key).is_some_and(Value::is_array))
        };
        let whole: Map<String, Value> = look.members.iter().cloned().collect();
        let division = match () {
            () if look.elements.iter().any(is_task) => Division::Elements,
            () if is_task(&whole) => Division::Whole,
            () if look.lines.iter().any(is_task) => Division::Lines,
            () => return None,
        };
        Some(Reading::Annotations(division, Arc::new(Tasks)))
    }
}

#[derive(Debug)]
struct Tasks;

impl Unfold for Tasks {
    fn unfold(&self, part: &Part, items: &mut Items) {
        match &part.content {
            Content::Json(Value::Object(task)) => unfold_task(task, items),
            Content::Text(text) => match serde_json::from_str::<Map<String, Value>>(text) {
                Ok(task) => unfold_task(&task, items),
                Err(error) => items.fault("", None, format!("this is no task in JSON: {error}")),
            },
            Content::Json(_) => items.fault("", None, "this is not a task, which is an object with \"data\""),
        }
    }

    fn without_annotator(&self) -> &'static str {
        "none of its annotations has \"completed_by\""
    }
}

fn unfold_task(task: &Map<String, Value>, items: &mut Items) {
    let id = text_of(task.get("id"));
    let place = id.as_ref().map_or_else(|| "task".to_owned(), |id| format!("task {id}"));
    let Some(data) = task.get("data").and_then(Value::as_object) else {
        return items.fault(place, Some("data"), "the task has no \"data\" with its text");
    };
    let list = |key: &str| task.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.add_findings(list("drafts").len(), "drafts", "Drafts", "Left out: nobody has submitted them");
    items.add_findings(
        list("predictions").len(),
        "predictions",
        "Predictions of models",
        "Left out: they are nobody's answers",
    );
    let data: Vec<(String, String)> = data.iter().map(|(key, value)| (key.clone(), plain(value))).collect();
    let annotations =
        if task.contains_key("annotations") { list("annotations") } else { list("completions") };
    let mut any = false;
    for (nth, annotation) in (1..).zip(annotations) {
        let named = text_of(annotation.get("id"));
        let place = format!("{place}, annotation {}", named.unwrap_or_else(|| format!("number {nth}")));
        let before = items.found.len();
        unfold_annotation(annotation, &place, id.as_ref(), &data, items);
        any |= items.found.len() > before;
    }
    if !any && annotations.is_empty() {
        items.push(Item { place, text_id: id, data, ..Item::default() });
    }
}

fn unfold_annotation(
    annotation: &Value,
    place: &str,
    text_id: Option<&String>,
    data: &[(String, String)],
    items: &mut Items,
) {
    let set = |key: &str| annotation.get(key).and_then(Value::as_bool).unwrap_or_default();
    let mut item = Item {
        place: place.to_owned(),
        text_id: text_id.cloned(),
        data: data.to_vec(),
        annotator: person(annotation.get("completed_by")),
        at: text_of(annotation.get("created_at")),
        duration_ms: lead_time(annotation.get(LEAD_TIME)),
        ..Item::default()
    };
    if set("ground_truth") {
        items.met(
            "gold",
            "Annotations marked as ground truth",
            "Stored as the answers of those who gave them; that they are right answers is not stored",
        );
    }
    let reviews = annotation.get("reviews").and_then(Value::as_array).map_or(0, Vec::len);
    items.add_findings(reviews, "reviews", "Reviews", "Left out: they say nothing of the text");
    let given = annotation.get(GIVEN).and_then(Value::as_array);
    if set("was_cancelled") {
        match given {
            Some(given) => {
                for (question, mut item) in one_by_one(given, &item) {
                    item.answer(question, GivenAnswer::Skipped);
                    items.push(item);
                }
            }
            None => {
                item.answers.push((None, GivenAnswer::Skipped));
                items.push(item);
            }
        }
        return;
    }
    let Some(results) = annotation.get("result").and_then(Value::as_array) else {
        return items.fault(place, Some("result"), "the annotation has no list \"result\"");
    };
    let mut marked: Vec<Marked> = Vec::new();
    let left_out =
        results.iter().filter(|result| !read_result(result, &mut item, &mut marked, items)).count();
    for (question, about, spans) in marked {
        match in_text(&about, spans, data) {
            Ok((key, spans)) => {
                items.bodies.push(key);
                item.answer(question, GivenAnswer::Spans(spans));
            }
            Err(why) => return items.fault(place, Some(&question), why),
        }
    }
    if let Some(given) = given {
        let answers = std::mem::take(&mut item.answers);
        let mut answers: Vec<(String, GivenAnswer)> =
            answers.into_iter().filter_map(|(question, answer)| Some((question?, answer))).collect();
        for (question, mut item) in one_by_one(given, &item) {
            let found = answers.iter().position(|(name, _)| *name == question);
            // A listed question without a result was answered with no span.
            let answer =
                found.map_or_else(|| GivenAnswer::Spans(Vec::new()), |nth| answers.swap_remove(nth).1);
            item.answer(question, answer);
            items.push(item);
        }
        item.answers = answers.into_iter().map(|(question, answer)| (Some(question), answer)).collect();
        if !item.answers.is_empty() {
            items.push(item);
        }
        return;
    }
    item.whole = left_out == 0;
    // An annotation without a readable answer does not introduce its text.
    if left_out == 0 || !item.answers.is_empty() {
        items.push(item);
    }
}

/// Returns the questions that an annotation of our writer lists, each with an item of its own time.
fn one_by_one(given: &[Value], common: &Item) -> Vec<(String, Item)> {
    let one = |entry: &Value| {
        let item = Item {
            at: text_of(entry.get("created_at")),
            duration_ms: lead_time(entry.get(LEAD_TIME)),
            ..common.clone()
        };
        Some((text_of(entry.get(QUESTION))?, item))
    };
    given.iter().filter_map(one).collect()
}

/// Reads one result into the item; returns false for a kind that labels cannot represent.
fn read_result(result: &Value, item: &mut Item, marked: &mut Vec<Marked>, items: &mut Items) -> bool {
    let kind = result.get("type").and_then(Value::as_str).unwrap_or_default();
    let question = text_of(result.get("from_name")).unwrap_or_else(|| kind.to_owned());
    let about = text_of(result.get("to_name")).unwrap_or_default().trim_start_matches('$').to_owned();
    let null = Value::Null;
    let value = result.get("value").unwrap_or(&null);
    let of_part = value.get("start").is_some() || value.get("x").is_some();
    let answer = match kind {
        "labels" => match marked_span(value) {
            Some(spans) => {
                match marked.iter_mut().find(|(name, ..)| *name == question) {
                    Some((.., known)) => known.extend(spans),
                    None => marked.push((question, about, spans)),
                }
                return true;
            }
            None => None,
        },
        _ if of_part => None,
        "choices" => value.get("choices").and_then(strings).map(GivenAnswer::Several),
        "rating" => text_of(value.get("rating")).map(GivenAnswer::Rating),
        "number" => text_of(value.get("number")).map(GivenAnswer::One),
        "pairwise" => text_of(value.get("selected")).map(GivenAnswer::One),
        "taxonomy" => value.get("taxonomy").and_then(paths).map(GivenAnswer::Several),
        "textarea" => match value.get("text").and_then(strings) {
            Some(texts) => {
                texts.iter().for_each(|text| item.note(&format!("{question}: {text}")));
                items.met("notes", format!("Free texts (\"{question}\")"), "Kept as notes");
                return true;
            }
            None => None,
        },
        _ => None,
    };
    match answer {
        Some(GivenAnswer::Several(more)) => {
            items.bodies.push(about);
            let known = item.answers.iter_mut().find(|(name, _)| name.as_ref() == Some(&question));
            match known {
                Some((_, GivenAnswer::Several(options))) => options.extend(more),
                _ => item.answer(question, GivenAnswer::Several(more)),
            }
            true
        }
        Some(answer) => {
            items.bodies.push(about);
            item.answer(question, answer);
            true
        }
        None => {
            let what = match (kind, of_part) {
                ("choices" | "rating" | "number" | "textarea" | "taxonomy", true) => {
                    format!("Results of the type \"{kind}\" about a part of the text or picture")
                }
                _ => format!("Results of the type \"{kind}\""),
            };
            items.met("not-read", what, "Left out: no label can hold them");
            false
        }
    }
}

/// The spans of a result, one for each of its labels.
fn marked_span(value: &Value) -> Option<Vec<SpanWithWords>> {
    let offset = |key: &str| value.get(key).and_then(Value::as_u64).and_then(|at| u32::try_from(at).ok());
    let (start, end) = (offset("start")?, offset("end")?);
    let words = text_of(value.get("text"));
    let labels = value.get("labels").and_then(strings)?;
    let span = |label| (NamedSpan { start, end, label }, words.clone());
    Some(labels.into_iter().map(span).collect())
}

/// Finds the text that spans belong to: the one that the control names, or another one that they fit.
fn in_text(
    about: &str,
    spans: Vec<SpanWithWords>,
    data: &[(String, String)],
) -> Result<(String, Vec<SpanOf>), String> {
    let mut keys: Vec<&(String, String)> = data.iter().collect();
    keys.sort_by_key(|(key, _)| (key != about, key != "text"));
    let mut first = None;
    for (key, text) in keys {
        // The page counts UTF-16 units, its Python programs characters.
        match checked_spans(text, spans.clone(), &[OffsetUnit::Characters, OffsetUnit::Utf16]) {
            Ok(found) => return Ok((key.clone(), found)),
            Err(why) => drop(first.get_or_insert(why)),
        }
    }
    Err(first.unwrap_or_else(|| "the task has no text that the span could be of".to_owned()))
}

/// The paths of a taxonomy, each as one option.
fn paths(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|path| Some(strings(path)?.join(" / "))).collect()
}

/// Returns the annotator: an e-mail address if there is one, else an id.
pub(super) fn person(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Object(person) => ["email", "username", "id"].iter().find_map(|key| text_of(person.get(*key))),
        plain => text_of(Some(plain)),
    }
}

/// Converts seconds to milliseconds; an invalid or too large value is dropped.
pub(super) fn lead_time(value: Option<&Value>) -> Option<String> {
    let seconds: f64 = text_of(value)?.parse().ok()?;
    let ms = (seconds * 1000.0).round();
    (0.0..=f64::from(u32::MAX)).contains(&ms).then(|| format!("{ms}"))
}
