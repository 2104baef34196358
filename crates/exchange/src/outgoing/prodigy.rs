//! Prodigy's JSON Lines, as `db-in` reads them: one line for each annotator, text and question.
//!
//! A yes/no question is a text classification (`accept`, `reject`), other levels and options are a choice,
//! spans are `spans_manual`. A skipped text is `ignore`. Prodigy's hashes are numbers: an id of a text that
//! is not a number is written to [`TEXT_ID`] next to them.

use super::labels::{Named, ToolAnswer, ToolLabels, ToolQuestion};
use super::scales::UsedNames;
use super::{LossReason, Writer, report_progress};
use crate::annotations::STANDARD;
use crate::formats::prodigy::{OWN, QUESTION, TEXT_ID};
use dissensus_domain::{AnswerForm, Progress, Scale, ScaleKind};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// Seconds from here on are read as milliseconds.
const MAX_SECONDS: i64 = 100_000_000_000;

#[derive(Debug)]
pub(super) struct Prodigy;

impl Writer for Prodigy {
    fn title(&self) -> &'static str {
        "Prodigy JSONL"
    }

    fn ending(&self) -> &'static str {
        "jsonl"
    }

    fn holds(&self) -> &'static [LossReason] {
        use LossReason::{
            Bodies, EmptySets, EmptySpans, Flags, LaterAnswers, Metadata, Notes, OtherQuestions, Sets, Skips,
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
            Flags,
            Notes,
            Times,
            Bodies,
            Metadata,
        ]
    }

    fn holds_time(&self, at_ms: i64) -> bool {
        (at_ms / 1000).abs() < MAX_SECONDS
    }

    fn can_hold_key(&self, key: &str, _people: &[&str]) -> bool {
        !STANDARD.contains(&key) && !OWN.contains(&key)
    }

    fn derived_scale(&self, scale: &Scale, used: &UsedNames) -> Option<(ScaleKind, Vec<String>)> {
        let all = || scale.levels().to_vec();
        match scale.form() {
            AnswerForm::Level if is_yes_or_no(scale) => Some((ScaleKind::Binary, all())),
            AnswerForm::Level if scale.len() > 2 => Some((ScaleKind::Choice, all())),
            AnswerForm::Options => Some((ScaleKind::MultiLabel, all())),
            AnswerForm::Level | AnswerForm::Spans => used.guess(),
        }
    }

    fn write(&self, kept: &ToolLabels, out: &mut dyn Write, progress: &dyn Progress) -> io::Result<()> {
        for (nth, (text, answers)) in kept.texts.iter().zip(kept.by_text()).enumerate() {
            report_progress(progress, nth, kept.texts.len())?;
            for answer in answers {
                let question = &kept.questions[answer.question];
                let mut task = task(kept, question, answer);
                for (key, value) in &text.metadata {
                    task[key] = value.as_str().into();
                }
                serde_json::to_writer(&mut *out, &task)?;
                out.write_all(b"\n")?;
            }
        }
        Ok(())
    }
}

/// Accepting is yes, and rejecting is no.
fn is_yes_or_no(scale: &Scale) -> bool {
    scale.is_binary() && scale.levels() == ["no", "yes"]
}

/// Returns a number by which Prodigy identifies a task.
fn hash(parts: &[&str]) -> i32 {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest = hasher.finalize();
    i32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]])
}

fn task(kept: &ToolLabels, question: &ToolQuestion, answer: &ToolAnswer) -> Value {
    let (text, person) = (&kept.texts[answer.text], &kept.people[answer.person]);
    let mut task = json!({
        "text": text.body,
        "_input_hash": hash(&[&text.id, &text.body]),
        "_task_hash": hash(&[&text.id, &text.body, &question.name]),
        "answer": if answer.skipped { "ignore" } else { "accept" },
        "_annotator_id": person.id,
        "_session_id": person.id,
    });
    match text.id.parse::<i32>() {
        Ok(number) if number.to_string() == text.id => task["_input_hash"] = number.into(),
        _ => task[TEXT_ID] = text.id.as_str().into(),
    }
    if let Some(at_ms) = answer.at_ms {
        let whole = at_ms % 1000 == 0;
        task["_timestamp"] = if whole { (at_ms / 1000).into() } else { (at_ms as f64 / 1000.0).into() };
    }
    if answer.flagged {
        task["flagged"] = true.into();
    }
    if let Some(note) = &answer.note.note {
        task["user_input"] = note.as_str().into();
    }
    let named = kept.named(answer);
    if question.scale.form().marks_words() {
        let spans = match named {
            Some(Named::Spans(spans)) => spans,
            _ => Vec::new(),
        };
        let span =
            |(start, end, label): (u32, u32, &str)| json!({ "start": start, "end": end, "label": label });
        task["_view_id"] = "spans_manual".into();
        task[QUESTION] = question.name.as_str().into();
        task["spans"] = spans.into_iter().map(span).collect();
        return task;
    }
    task["label"] = question.name.as_str().into();
    if is_yes_or_no(&question.scale) {
        task["_view_id"] = "classification".into();
        if matches!(named, Some(Named::Level("no"))) {
            task["answer"] = "reject".into();
        }
        return task;
    }
    let chosen = match named {
        Some(Named::Level(level)) => vec![level],
        Some(Named::Options(options)) => options,
        _ => Vec::new(),
    };
    let style = if question.scale.form().is_set() { "multiple" } else { "single" };
    task["_view_id"] = "choice".into();
    task["options"] =
        question.scale.levels().iter().map(|level| json!({ "id": level, "text": level })).collect();
    task["config"] = json!({ "choice_style": style });
    task["accept"] = json!(chosen);
    task
}
