//! Label Studio's JSON: a list of tasks, each with the annotations of all annotators. One control of the page
//! (`from_name`) is one question.
//!
//! An annotator's answers to a text are one annotation, as in the tool. If there are several questions, or a
//! text was skipped, the annotation lists in [`GIVEN`] which of them the annotator answered, when, and how
//! long it took: Label Studio has one time for all, and reads an unanswered question on spans as one without
//! spans. It ignores that key.

use super::labels::{Named, ToolAnswer, ToolLabels};
use super::scales::UsedNames;
use super::{LossReason, Writer, id_value, report_progress};
use crate::annotations::STANDARD;
use crate::formats::label_studio::{GIVEN, LEAD_TIME, QUESTION};
use crate::time::format_ms;
use dissensus_domain::{Progress, Scale, ScaleKind};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

#[derive(Debug)]
pub(super) struct LabelStudio;

impl Writer for LabelStudio {
    fn title(&self) -> &'static str {
        "Label Studio JSON"
    }

    fn ending(&self) -> &'static str {
        "json"
    }

    fn holds(&self) -> &'static [LossReason] {
        use LossReason::{
            Bodies, Durations, EmptySets, EmptySpans, LaterAnswers, Metadata, OtherQuestions, Sets, Skips,
            Spans, Times,
        };
        &[
            OtherQuestions,
            Spans,
            EmptySpans,
            Sets,
            EmptySets,
            LaterAnswers,
            Skips,
            Times,
            Durations,
            Bodies,
            Metadata,
        ]
    }

    fn holds_skips_of_answered(&self) -> bool {
        false
    }

    fn can_hold_key(&self, key: &str, _people: &[&str]) -> bool {
        !STANDARD.contains(&key)
    }

    fn derived_scale(&self, scale: &Scale, used: &UsedNames) -> Option<(ScaleKind, Vec<String>)> {
        if is_rating(scale) { used.guess_of(ScaleKind::Ordinal) } else { used.guess() }
    }

    fn write(&self, kept: &ToolLabels, out: &mut dyn Write, progress: &dyn Progress) -> io::Result<()> {
        let listed = kept.questions.len() > 1;
        let mut number = 0;
        out.write_all(b"[")?;
        for (nth, (text, answers)) in kept.texts.iter().zip(kept.by_text()).enumerate() {
            report_progress(progress, nth, kept.texts.len())?;
            let mut annotations: Vec<Value> = Vec::new();
            // One annotation for each annotator and round.
            for of_person in
                answers.chunk_by(|one, next| (one.occasion, one.person) == (next.occasion, next.person))
            {
                number += 1;
                annotations.push(annotation(kept, of_person, number, listed));
            }
            let cancelled = annotations.iter().filter(|one| one["was_cancelled"] == true).count();
            let mut data: Map<String, Value> =
                text.metadata.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
            data.insert("text".to_owned(), text.body.as_str().into());
            let task = json!({
                "id": id_value(&text.id),
                "data": data,
                // Label Studio renumbers tasks on import, and retains this.
                "meta": { "text_id": text.id },
                "total_annotations": annotations.len() - cancelled,
                "cancelled_annotations": cancelled,
                "drafts": [],
                "predictions": [],
                "annotations": annotations,
            });
            out.write_all(if nth == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, &task)?;
        }
        out.write_all(b"\n]\n")
    }
}

/// Builds the annotation of one annotator for a text in one annotation round.
fn annotation(kept: &ToolLabels, answers: &[&ToolAnswer], number: u64, listed: bool) -> Value {
    let cancelled = answers.iter().all(|answer| answer.skipped);
    let mut results: Vec<Value> = Vec::new();
    for answer in answers {
        add_results(kept, answer, &mut results);
    }
    let times = || answers.iter().filter_map(|answer| answer.at_ms);
    let took: u64 = answers.iter().filter_map(|answer| answer.duration_ms).map(u64::from).sum();
    let timed = answers.iter().any(|answer| answer.duration_ms.is_some());
    let person = answers.first().map_or("", |answer| kept.people[answer.person].id.as_str());
    let mut annotation = json!({
        "id": number,
        "completed_by": match id_value(person) {
            Value::String(email) => json!({ "email": email }),
            number => number,
        },
        "was_cancelled": cancelled,
        "ground_truth": false,
        "lead_time": timed.then(|| seconds(took)),
        "result_count": results.len(),
        "result": results,
    });
    // Label Studio's own reader sorts by time, and treats a missing time as an early one only if the key is
    // missing.
    if let (Some(first), Some(last)) = (times().min(), times().max()) {
        (annotation["created_at"], annotation["updated_at"]) =
            (format_ms(first).into(), format_ms(last).into());
    }
    if listed || cancelled {
        let given = answers.iter().map(|answer| {
            json!({
                QUESTION: kept.questions[answer.question].name,
                "created_at": answer.at_ms.map(format_ms),
                LEAD_TIME: answer.duration_ms.map(|ms| seconds(ms.into())),
            })
        });
        annotation[GIVEN] = given.collect();
    }
    annotation
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

/// A control of stars has the steps 1, 2, 3 and so on.
fn is_rating(scale: &Scale) -> bool {
    let steps = (1..).map(|step: u32| step.to_string());
    scale.target().has_distances() && scale.levels().iter().zip(steps).all(|(level, step)| *level == step)
}

fn add_results(kept: &ToolLabels, answer: &ToolAnswer, results: &mut Vec<Value>) {
    let question = &kept.questions[answer.question];
    let mut add = |kind: &str, value: Value| {
        results.push(json!({
            "id": format!("r{}", results.len() + 1),
            "from_name": question.name,
            "to_name": "text",
            "type": kind,
            "origin": "manual",
            "value": value,
        }));
    };
    match kept.named(answer) {
        Some(Named::Level(level)) if is_rating(&question.scale) => {
            add("rating", json!({ "rating": id_value(level) }))
        }
        Some(Named::Level(level)) => add("choices", json!({ "choices": [level] })),
        Some(Named::Options(options)) => add("choices", json!({ "choices": options })),
        Some(Named::Spans(spans)) => {
            let body = &kept.texts[answer.text].body;
            for (start, end, kind) in spans {
                // Label Studio counts characters (code points), like Python.
                let words: String = body.chars().skip(start as usize).take((end - start) as usize).collect();
                let mut value = json!({ "start": start, "end": end, "labels": [kind] });
                // Some versions write a line end as \n in the words, so words with these two characters are
                // ambiguous.
                if !words.contains("\\n") {
                    value["text"] = words.into();
                }
                add("labels", value);
            }
        }
        None => {}
    }
}
