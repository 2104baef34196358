//! Recording a label: commit, update the live model, notify listeners.

use super::Labelling;
use super::revealed::Revealed;
use crate::error::LabellingError;
use crate::feed;
use crate::notes;
use crate::progress;
use crate::question_set;
use crate::revealed;
use dissensus_api::{LabelDetails, LabelReceipt, NewLabel};
use dissensus_domain::{Answer, LabelSource};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::log::go_on;
use dissensus_store::AnswerDetails;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Recorded {
    /// The receipt for the annotator.
    pub receipt: LabelReceipt,
    /// Time of the commit that waits for the disk.
    pub sync: Duration,
}

/// A label to record.
#[derive(Clone, Debug)]
pub struct RecordLabel {
    pub label: NewLabel,
    pub details: LabelDetails,
    pub source: LabelSource,
}

impl RecordLabel {
    /// A label without a note.
    pub fn new(label: &NewLabel, source: LabelSource) -> Self {
        Self { label: label.clone(), details: LabelDetails::default(), source }
    }
}

/// A label that the window records, without a note.
impl From<&NewLabel> for RecordLabel {
    fn from(label: &NewLabel) -> Self {
        Self::new(label, LabelSource::Window)
    }
}

/// Records a label: when this returns, it is on disk and, where a model is live, learned.
///
/// # Errors
/// No such question, text or annotator, an answer off the scale, an invalid note, or an I/O error. Nothing is
/// recorded or learned then.
pub fn record_label(cx: &Labelling, request: impl Into<RecordLabel>) -> Result<Recorded, ProjectError> {
    let RecordLabel { label: new, details, source } = request.into();
    let new = &new;
    let context = &cx.context;
    context.may_answer(new.annotator)?;
    cx.practice.may_label(new.annotator)?;
    cx.practice.is_asked(new.text)?;
    // The window always submits the whole note: an empty one there is intended.
    let details =
        AnswerDetails { removes_note: source == LabelSource::Window, ..notes::answer_details(&details)? };
    let sheet = question_set::open(cx, new.annotator, &[new.question])?;
    check_answer(cx, new)?;
    // The command reveals nothing after a label.
    let reveals = source == LabelSource::Window && context.reveals_now();
    let predicted = reveals.then(|| cx.live.predictions_on(new.question, new.text, new.annotator)).flatten();
    let at_ms = now_ms();
    let label = dissensus_store::NewLabel {
        question: new.question,
        text: new.text,
        annotator: new.annotator,
        answer: new.answer.clone(),
        at_ms,
        duration_ms: new.duration_ms,
        source,
    };
    let appended = context.store.append_label_with(&label, &details)?;
    // The label is on disk: from here on nothing may report it as failed.
    let followed = feed::follow(cx);
    let sheet = progress::newest_question_set(cx, sheet, new.annotator, &[new.question]);
    if followed.is_err() {
        sheet.note_answer(new.question, new.text, &new.answer, at_ms);
        cx.live.learn(new.question, new.text, new.annotator, Some(&new.answer));
    }
    let progress = progress::progress_on(cx, &sheet);
    cx.live.refit_when_due(new.question);
    // Others' answers can be read again later, but the label must not be reported as failed.
    let revealed = match reveals {
        true => {
            go_on("telling how others see a text", revealed::reveal(cx, new, predicted)).unwrap_or_default()
        }
        false => Revealed::default(),
    };
    let receipt = LabelReceipt { progress, reveal: revealed.predictions, spans: revealed.spans };
    Ok(Recorded { receipt, sync: appended.sync })
}

pub(super) fn check_answer(cx: &Labelling, new: &NewLabel) -> Result<(), ProjectError> {
    let index = cx.context.index();
    let question = index.question(new.question).ok_or(ProjectError::NoQuestion)?;
    if new.answer == Answer::CannotSay && !question.cannot_say {
        return Err(LabellingError::CannotSayNotOffered(question.name.clone()).into());
    }
    new.answer.check(&question.scale).map_err(|error| ProjectError::unfit_answer(&error, question))
}
