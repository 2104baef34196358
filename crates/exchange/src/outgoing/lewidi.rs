//! The JSON of the shared task on learning with disagreements, as of 2025: an object of texts by id, each
//! with the answers of all annotators to one question.

use super::labels::{Named, ToolAnswer, ToolLabels};
use super::scales::UsedNames;
use super::{LossReason, Writer, report_progress};
use crate::annotations::STANDARD;
use crate::formats::lewidi_2023_2025::{EXPLANATIONS, OTHER_INFO, declared};
use dissensus_domain::{Progress, Scale, ScaleKind};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Debug)]
pub(super) struct Lewidi;

impl Writer for Lewidi {
    fn title(&self) -> &'static str {
        "Le-Wi-Di 2025 JSON"
    }

    fn ending(&self) -> &'static str {
        "json"
    }

    fn holds(&self) -> &'static [LossReason] {
        use LossReason::{Bodies, Metadata, Notes, Sets, Splits};
        &[Sets, Notes, Bodies, Splits, Metadata]
    }

    fn person<'a>(&self, id: &'a str) -> Cow<'a, str> {
        // Commas separate annotators.
        if id.contains(',') { id.replace(',', ";").into() } else { id.into() }
    }

    fn can_hold_key(&self, key: &str, people: &[&str]) -> bool {
        // The key of an annotator's id holds information about them.
        !STANDARD.contains(&key) && key != EXPLANATIONS && !people.contains(&key)
    }

    fn derived_scale(&self, scale: &Scale, _used: &UsedNames) -> Option<(ScaleKind, Vec<String>)> {
        Some(declared(scale.levels().to_vec(), scale.form().is_set()))
    }

    fn write(&self, kept: &ToolLabels, out: &mut dyn Write, progress: &dyn Progress) -> io::Result<()> {
        out.write_all(b"{")?;
        for (nth, (text, answers)) in kept.texts.iter().zip(kept.by_text()).enumerate() {
            report_progress(progress, nth, kept.texts.len())?;
            let people: Vec<&str> =
                answers.iter().map(|answer| kept.people[answer.person].id.as_str()).collect();
            let given: Map<String, Value> = people
                .iter()
                .zip(&answers)
                .map(|(person, answer)| ((*person).to_owned(), levels(kept, answer)))
                .collect();
            let mut info: Map<String, Value> =
                text.metadata.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
            if answers.iter().any(|answer| answer.note.note.is_some()) {
                let notes = answers.iter().map(|answer| json!(answer.note.note));
                info.insert(EXPLANATIONS.to_owned(), notes.collect());
            }
            let question = answers.first().map(|answer| &kept.questions[answer.question]);
            let mut entry = json!({
                "annotation task": question.map(|question| question.name.as_str()),
                // A text may have several named parts; here it is one part, so that a text in braces is not
                // parsed as parts.
                "text": { "text": text.body },
                "annotators": people.join(","),
                "number of annotations": answers.len(),
                "annotations": given,
                "soft_label": question.map(|question| soft_label(kept, &question.scale, &answers)),
                OTHER_INFO: info,
            });
            if let Some(split) = &text.split {
                entry["split"] = split.as_str().into();
            }
            out.write_all(if nth == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, &text.id)?;
            out.write_all(b": ")?;
            serde_json::to_writer(&mut *out, &entry)?;
        }
        out.write_all(b"\n}\n")
    }
}

/// A level, or options with commas between them; names that have commas themselves are a list.
fn levels(kept: &ToolLabels, answer: &ToolAnswer) -> Value {
    let names = match kept.named(answer) {
        Some(Named::Level(level)) => vec![level],
        Some(Named::Options(options)) => options,
        _ => Vec::new(),
    };
    if names.iter().any(|name| name.contains(',')) { json!(names) } else { names.join(",").into() }
}

/// Returns the share of answers for each level; for options, the shares with and without each of them.
fn soft_label(kept: &ToolLabels, scale: &Scale, answers: &[&ToolAnswer]) -> Value {
    let mut chosen: BTreeMap<&str, u32> = scale.levels().iter().map(|level| (level.as_str(), 0)).collect();
    for answer in answers {
        let names = match kept.named(answer) {
            Some(Named::Level(level)) => vec![level],
            Some(Named::Options(options)) => options,
            _ => Vec::new(),
        };
        for name in names {
            *chosen.entry(name).or_default() += 1;
        }
    }
    let share = |count: u32| f64::from(count) / answers.len().max(1) as f64;
    let shares = chosen.into_iter().map(|(level, count)| {
        let of = match scale.form().is_set() {
            true => json!({ "0": share(answers.len() as u32 - count), "1": share(count) }),
            false => share(count).into(),
        };
        (level.to_owned(), of)
    });
    Value::Object(shares.collect())
}
