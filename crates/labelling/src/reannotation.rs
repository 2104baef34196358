//! Re-annotation: texts that a task packet asks again. Answers of a later annotation round are no labels.

use super::Labelling;
use crate::error::LabellingError;
use crate::notes;
use crate::progress;
use crate::question_set;
use crate::reannotated::reannotated;
use crate::record;
use crate::record::RecordLabel;
use dissensus_api::{LabelReceipt, NewLabel};
use dissensus_domain::{LabelSource, MarkKind, QuestionId};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_store::{NewMark, Repeat};

/// Records an answer of a later annotation round: when this returns, it is on disk. No model learns
/// from it, and nothing is revealed after it.
///
/// # Errors
/// No such question, text or annotator, an answer off the scale, a round below 2, or an I/O error.
/// Nothing is recorded then, nor with an invalid note.
pub fn record(cx: &Labelling, request: &RecordLabel, occasion: u16) -> Result<LabelReceipt, ProjectError> {
    let RecordLabel { label: new, details, source } = request;
    let source = *source;
    cx.context.may_answer(new.annotator)?;
    cx.practice.may_label(new.annotator)?;
    let mut details = notes::answer_details(details)?;
    let sheet = question_set::open(cx, new.annotator, &asked_together(cx, new.question))?;
    record::check_answer(cx, new)?;
    if occasion < 2 {
        return Err(ProjectError::Setting {
            name: "occasion",
            value: occasion.to_string(),
            allowed: "2 or more: the first annotation round is the label itself".to_owned(),
        });
    }
    if let Some(packet) = &cx.context.packet
        && !packet.assignments.iter().any(|item| (item.text, item.occasion) == (new.text, occasion))
    {
        let text = cx.context.store.text(new.text)?.map_or_else(|| "?".to_owned(), |text| text.external_id);
        return Err(LabellingError::NotAsked { text, occasion }.into());
    }
    let known = reannotated(cx, new.annotator, occasion)?.answers.remove(&(new.question, new.text));
    let known = known.filter(|known| known.answer == new.answer);
    if let Some(known) = &known {
        // The window saves a changed note by giving the same answer again: that is not a new answer.
        let noted = source == LabelSource::Window && known.source.is_given();
        if noted && known.details.note != details.note {
            let note = NewMark {
                annotator: new.annotator,
                question: new.question,
                text: new.text,
                kind: MarkKind::Note,
                at_ms: now_ms(),
                source,
                note: details.note,
                guideline: known.details.guideline,
            };
            cx.context.store.write(move |tx| tx.add_mark_in(&note, occasion).map(drop))?;
            cx.context.listeners.send(&Event::Project);
            return Ok(LabelReceipt {
                progress: progress::progress_on(cx, &sheet),
                reveal: None,
                spans: None,
            });
        }
        // The command omits the note where there is nothing new.
        if source != LabelSource::Window && details.note.is_empty() {
            details.note = known.details.note.clone();
        }
    }
    let NewLabel { question, text, annotator, answer, .. } = new.clone();
    let repeat = Repeat {
        question,
        text,
        annotator,
        occasion,
        answer,
        at_ms: now_ms(),
        source,
        details,
        wording: None,
    };
    cx.context.store.write(move |tx| tx.give_repeat(&repeat))?;
    cx.context.listeners.send(&Event::Project);
    Ok(LabelReceipt { progress: progress::progress_on(cx, &sheet), reveal: None, spans: None })
}

/// The questions that are asked together with this one: all questions of a task packet, so that
/// progress counts finished texts.
fn asked_together(cx: &Labelling, question: QuestionId) -> Vec<QuestionId> {
    match &cx.context.packet {
        Some(packet) if packet.questions.contains(&question) => packet.questions.clone(),
        _ => vec![question],
    }
}
