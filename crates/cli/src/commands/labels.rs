//! `label record` and `label undo`.

use super::open_in;
use crate::args::{Record, Undo};
use crate::output;
use anyhow::Result;
use dissensus_domain::{Answer, LabelSource, Note};
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_labelling::LabelByName;
use dissensus_labelling::NamedAnnotator;
use dissensus_labelling::by_name;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// The label that `undo --json` removed.
#[derive(Serialize, JsonSchema)]
pub(super) struct LabelTakenBack {
    /// Id of its annotator.
    annotator: String,
    /// The current answer after the removal; null if there is none.
    now: Option<String>,
    /// The annotation round; 1 is the original label.
    occasion: u16,
    /// The question.
    question: String,
    /// Id of the text.
    text_id: String,
    /// The answer that was removed.
    value: String,
}

pub(crate) fn record(args: &Record) -> Result<()> {
    let session = open_in(&args.project.path, Duration::from_secs(args.wait.seconds))?;
    if args.practice {
        return super::practice::answer(&session, args);
    }
    let (note, reasons, confidence) = (args.note.clone(), args.reason.clone(), args.confidence);
    let request = LabelByName {
        annotator: NamedAnnotator { name: &args.annotator, new: args.new_annotator },
        text: &args.text_id,
        value: &args.value,
        question: args.question.name.as_deref(),
        occasion: args.occasion,
        note: Note { note, reasons, confidence },
    };
    let recorded = by_name::record(&session.labelling, &request)?;
    if args.output.json {
        return output::json(&recorded);
    }
    let new = if recorded.new_annotator { " (a new annotator)" } else { "" };
    let asked = match recorded.asked {
        true => "",
        false => " (stored, though it is not asked here: its condition is not met)",
    };
    output::line(&format!(
        "{}{new} labelled {}: {} = {}{asked}{}",
        recorded.annotator,
        recorded.text_id,
        recorded.question,
        recorded.value,
        if recorded.occasion > 1 { format!(" (round {})", recorded.occasion) } else { String::new() }
    ))
}

pub(crate) fn undo(args: &Undo) -> Result<()> {
    let session = open_in(&args.project.path, Duration::from_secs(args.wait.seconds))?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    let annotator = annotators::find(&session.project, &args.annotator)?;
    let undone = undo::undo(&session.labelling, annotator.id, question.id, LabelSource::Command)?;
    let name = |answer: Answer| super::answer_name(&question, &answer);
    let Some(undone) = undone else {
        if args.output.json {
            return output::json(&None::<LabelTakenBack>);
        }
        return output::line(&format!("{} has given no label that can be taken back", annotator.external_id));
    };
    let text_id = task::read(&session.labelling, annotator.id, question.id, undone.text, 1)?.external_id;
    let now = undone.now.map(name);
    if args.output.json {
        return output::json(&Some(LabelTakenBack {
            annotator: annotator.external_id,
            now,
            occasion: undone.occasion,
            value: name(undone.answer),
            question: question.name,
            text_id,
        }));
    }
    let now = now.map_or_else(String::new, |now| format!("; it is {now} again"));
    let again = if undone.occasion > 1 { format!(" (round {})", undone.occasion) } else { String::new() };
    output::line(&format!("Took back {} of {text_id}{again}{now}", name(undone.answer)))
}
