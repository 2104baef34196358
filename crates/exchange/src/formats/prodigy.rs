//! Prodigy's `db-out`: one line an annotation.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{
    Division, GivenAnswer, Item, Items, Part, Unfold, checked_spans, plain, strings, text_of,
};
use dissensus_domain::{NamedSpan, OffsetUnit, ScaleKind};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The id of a text in files of our writer: Prodigy's own are numbers.
pub(crate) const TEXT_ID: &str = "_text_id";
/// The question that spans answer in files of our writer: Prodigy's views have no name for one.
pub(crate) const QUESTION: &str = "_question";

/// Keys of a task that are not data of its text.
pub(crate) const OWN: [&str; 24] = [
    TEXT_ID,
    QUESTION,
    "_input_hash",
    "_task_hash",
    "_view_id",
    "_session_id",
    "_annotator_id",
    "_timestamp",
    "_is_binary",
    "answer",
    "label",
    "options",
    "accept",
    "spans",
    "tokens",
    "relations",
    "priority",
    "score",
    "config",
    "versions",
    "view_id",
    "sessions",
    "flagged",
    "user_input",
];

#[derive(Debug)]
pub(super) struct Prodigy;

impl Format for Prodigy {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "prodigy", title: "Prodigy JSONL", endings: &["jsonl", "ndjson"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let is_answer = |task: &Map<String, Value>| {
            let answer = task.get("answer").and_then(Value::as_str);
            answer.is_some_and(|answer| ["accept", "reject", "ignore"].contains(&answer))
                && (look.named
                    || ["_input_hash", "_task_hash", "_view_id"].iter().any(|key| task.contains_key(*key)))
        };
        let division = match () {
            () if look.lines.iter().any(is_answer) => Division::Lines,
            () if look.elements.iter().any(is_answer) => Division::Elements,
            () => return None,
        };
        Some(Reading::Annotations(division, Arc::new(Answers)))
    }
}

#[derive(Debug)]
struct Answers;

/// What an annotator did with a task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Did {
    Accept,
    Reject,
}

impl Unfold for Answers {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let Some(task) = part.json().as_object() else {
            return items.fault("", None, "this is not an object");
        };
        let view = text_of(task.get("_view_id")).unwrap_or_default();
        let Some(text) = text_of(task.get("text")) else {
            let what = format!("Tasks without a text{}", in_view(&view));
            return items.met("not-read", what, "Left out: there is nothing that a label could be about");
        };
        let mut item = Item {
            text_id: text_of(task.get(TEXT_ID)).or_else(|| text_of(task.get("_input_hash"))),
            annotator: text_of(task.get("_annotator_id")).or_else(|| text_of(task.get("_session_id"))),
            at: text_of(task.get("_timestamp")),
            flagged: task.get("flagged").and_then(Value::as_bool).unwrap_or_default(),
            ..Item::default()
        };
        if let Some(note) = text_of(task.get("user_input")) {
            item.note(&note);
            items.met("notes", "Free texts", "Kept as notes");
        }
        let versions = task.get("versions").and_then(Value::as_array).map_or(0, Vec::len);
        items.add_findings(
            versions,
            "versions",
            "Versions of reviewed tasks",
            "Left out: export the datasets that were reviewed, which have everybody's answers",
        );
        item.data.push(("text".to_owned(), text.clone()));
        item.data.extend(
            task.iter()
                .filter(|(key, _)| *key != "text" && !OWN.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), plain(value))),
        );
        let did = match task.get("answer").and_then(Value::as_str) {
            Some("accept") => Some(Did::Accept),
            Some("reject") => Some(Did::Reject),
            Some("ignore") => None,
            other => {
                let why = format!("\"{}\" is no answer: accept, reject or ignore", other.unwrap_or_default());
                return items.fault("", Some("answer"), why);
            }
        };
        match read(task, &view, &text, did, &mut item, items) {
            Ok(true) => items.push(item),
            Ok(false) => {}
            Err(why) => items.fault("", Some("spans"), why),
        }
    }

    fn without_annotator(&self) -> &'static str {
        "its tasks have neither \"_annotator_id\" nor \"_session_id\", as in exports of old versions"
    }
}

fn in_view(view: &str) -> String {
    if view.is_empty() { String::new() } else { format!(" ({view})") }
}

/// Reads the answers of a task; returns false if it has none that labels can represent.
fn read(
    task: &Map<String, Value>,
    view: &str,
    text: &str,
    did: Option<Did>,
    item: &mut Item,
    items: &mut Items,
) -> Result<bool, String> {
    let label = text_of(task.get("label"));
    let spans = task.get("spans").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let by_hand = view.ends_with("_manual") || view == "relations";
    let blocks = view == "blocks" || view.is_empty();
    let relations = task.get("relations").and_then(Value::as_array).map_or(0, Vec::len);
    items.add_findings(relations, "not-read", "Relations", "Left out: no label can hold them");
    let mut questions = Vec::new();
    if let Some(options) = task.get("options").and_then(Value::as_array) {
        let question = label.clone().unwrap_or_else(|| "choice".to_owned());
        let ids = options.iter().filter_map(|option| text_of(option.get("id"))).collect();
        let style = task.get("config").and_then(|config| config.get("choice_style")).and_then(Value::as_str);
        let multiple = style == Some("multiple");
        let kind = if multiple { ScaleKind::MultiLabel } else { ScaleKind::Choice };
        if multiple || options.len() > 2 {
            items.declare(&question, kind, ids);
        }
        let chosen = task.get("accept").and_then(strings).unwrap_or_default();
        // An annotator who may choose one option and chose none has not answered.
        let answer = (!chosen.is_empty() || multiple).then_some(GivenAnswer::Several(chosen));
        questions.push((question, answer));
    }
    if by_hand || (blocks && label.is_none() && task.contains_key("spans")) {
        let named = text_of(task.get(QUESTION));
        let question = named.as_deref().unwrap_or(if view.is_empty() || blocks { "spans" } else { view });
        let found = spans.iter().map(span).collect::<Option<Vec<_>>>();
        let found = found.ok_or("a span wants whole numbers \"start\" and \"end\" and a \"label\"")?;
        let found = checked_spans(text, found, &[OffsetUnit::Characters])?;
        questions.push((question.to_owned(), Some(GivenAnswer::Spans(found))));
    } else if !spans.is_empty() && ["ner", "spans", "dep"].contains(&view) {
        items.met(
            "not-read",
            format!("Answers to a marked span{}", in_view(view)),
            "Left out: they say yes or no to a span that was suggested, not to the text",
        );
        return Ok(false);
    }
    if questions.is_empty() {
        let question = label.unwrap_or_else(|| "accept".to_owned());
        items.declare(&question, ScaleKind::Binary, ["no", "yes"].map(str::to_owned).to_vec());
        let answer = match did {
            Some(Did::Accept) => GivenAnswer::One("yes".to_owned()),
            Some(Did::Reject) => GivenAnswer::One("no".to_owned()),
            None => GivenAnswer::Skipped,
        };
        item.answer(question, answer);
        return Ok(true);
    }
    for (question, answer) in questions {
        match (did, answer) {
            (Some(Did::Accept), Some(answer)) => item.answer(question, answer),
            (None, _) => item.answer(question, GivenAnswer::Skipped),
            (Some(Did::Accept), None) => {}
            (Some(Did::Reject), _) => {
                // The task as a whole was rejected, which is not a choice among its options.
                item.flagged = true;
                items.met(
                    "rejected",
                    "Tasks that were rejected as a whole",
                    "Kept as flags: they have no answer",
                );
            }
        }
    }
    Ok(true)
}

fn span(value: &Value) -> Option<(NamedSpan, Option<String>)> {
    let offset = |key: &str| u32::try_from(value.get(key)?.as_u64()?).ok();
    let label = text_of(value.get("label"))?;
    Some((NamedSpan { start: offset("start")?, end: offset("end")?, label }, text_of(value.get("text"))))
}
