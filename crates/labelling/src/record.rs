//! Recording a label: commit, update the live model, notify listeners.

use super::Labelling;
use super::told::Told;
use crate::error::LabellingError;
use dissensus_api::{Beside, LabelReceipt, NewLabel};
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

impl Labelling {
    /// Records a label: when this returns, it is on disk and, where a model is live, learned.
    ///
    /// # Errors
    /// No such question, text or annotator, an answer off the scale, or an I/O error. Nothing is recorded
    /// or learned then.
    pub fn record_label(&self, new: &NewLabel) -> Result<LabelReceipt, ProjectError> {
        self.record(new, LabelSource::Window).map(|recorded| recorded.receipt)
    }

    /// Like [`Labelling::record_label`], with its source and the time of the disk write.
    pub fn record(&self, new: &NewLabel, source: LabelSource) -> Result<Recorded, ProjectError> {
        self.record_with(new, &Beside::default(), source)
    }

    /// Like [`Labelling::record`], with the details that come with the answer.
    ///
    /// # Errors
    /// Those of [`Labelling::record_label`], and an invalid note.
    pub fn record_with(
        &self,
        new: &NewLabel,
        beside: &Beside,
        source: LabelSource,
    ) -> Result<Recorded, ProjectError> {
        let context = &self.context;
        context.may_answer(new.annotator)?;
        self.practice.may_label(new.annotator)?;
        self.practice.is_asked(new.text)?;
        // The window always submits the whole note: an empty one there is intended.
        let details = AnswerDetails { takes_back: source == LabelSource::Window, ..self.details(beside)? };
        let sheet = self.sheet(new.annotator, &[new.question])?;
        self.check_answer(new)?;
        // The command reveals nothing after a label.
        let reveals = source == LabelSource::Window && context.reveals_now();
        let predicted =
            reveals.then(|| self.live.predictions_on(new.question, new.text, new.annotator)).flatten();
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
        let followed = self.follow_events();
        let sheet = self.newest_sheet(sheet, new.annotator, &[new.question]);
        if followed.is_err() {
            sheet.note_answer(new.question, new.text, &new.answer, at_ms);
            self.live.learn(new.question, new.text, new.annotator, Some(&new.answer));
        }
        let progress = self.progress_on(&sheet);
        self.live.refit_when_due(new.question);
        // Others' answers can be read again later, but the label must not be reported as failed.
        let told = match reveals {
            true => go_on("telling how others see a text", self.told(new, predicted)).unwrap_or_default(),
            false => Told::default(),
        };
        let receipt = LabelReceipt { progress, reveal: told.predictions, spans: told.spans };
        Ok(Recorded { receipt, sync: appended.sync })
    }

    pub(super) fn check_answer(&self, new: &NewLabel) -> Result<(), ProjectError> {
        let index = self.context.index();
        let question = index.question(new.question).ok_or(ProjectError::NoQuestion)?;
        if new.answer == Answer::CannotSay && !question.cannot_say {
            return Err(LabellingError::CannotSayNotOffered(question.name.clone()).into());
        }
        match (new.answer.check(&question.scale), &new.answer) {
            (Ok(()), _) => Ok(()),
            (Err(_), Answer::Level(level)) => {
                Err(ProjectError::off_scale(&format!("level {level}"), question))
            }
            (Err(error), _) => Err(ProjectError::off_scale(&error.to_string(), question)),
        }
    }
}
