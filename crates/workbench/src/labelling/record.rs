//! The way of one label: on disk first, then learned, then told.

use super::sheet::{SharedSheet, Sheet};
use crate::clock::{now_ms, today_ms};
use crate::core::Core;
use crate::error::WorkbenchError;
use crate::levels::level_of;
use crate::session::Session;
use crate::sync::lock;
use crate::view::{LabelReceipt, LabelTask, NewLabel, Progress, Reveal, Undone};
use dissensus_domain::{AnnotatorId, Answer, LabelSource, MarkKind, QuestionId, TextId};
use dissensus_store::NewMark;
use std::time::Duration;

/// A label that is on disk and learned.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What the annotator is shown.
    pub receipt: LabelReceipt,
    /// The disk's own part: the time of the commit that waits for it.
    pub sync: Duration,
}

impl Session {
    /// Records a label: when this returns, it is on disk and, where a model is live, learned.
    ///
    /// # Errors
    /// No such question, text or annotator, an answer off the scale, or what the disk says. Nothing is kept or learned then.
    pub fn record_label(&self, new: &NewLabel) -> Result<LabelReceipt, WorkbenchError> {
        self.record(new, LabelSource::Window).map(|recorded| recorded.receipt)
    }

    /// As [`Session::record_label`], with where it came from and what the disk took.
    ///
    /// # Errors
    /// As there.
    pub fn record(&self, new: &NewLabel, source: LabelSource) -> Result<Recorded, WorkbenchError> {
        let core = &self.core;
        core.check_answer(new)?;
        let sheet = core.sheets.get(&core.store, new.annotator, new.question)?;
        let reveal =
            if core.settings().reveal { core.reveal(new.question, new.text, new.annotator) } else { None };
        let at_ms = now_ms();
        let appended = core.store.append_label(&dissensus_store::NewLabel {
            question: new.question,
            text: new.text,
            annotator: new.annotator,
            answer: new.answer.clone(),
            at_ms,
            duration_ms: new.duration_ms,
            source,
        })?;
        // The label is on disk: from here on nothing may say that it failed.
        let followed = core.follow_events();
        let sheet = core.newest_sheet(sheet, new.annotator, new.question);
        if followed.is_err() {
            lock(&sheet).note_answer(new.text, &new.answer, at_ms);
            core.learn(new.question, new.text, new.annotator, level_of(&new.answer));
        }
        let progress = core.progress(&lock(&sheet));
        self.refit_when_due(new.question);
        Ok(Recorded { receipt: LabelReceipt { progress, reveal }, sync: appended.sync })
    }

    /// Takes back the newest answer that this annotator gave in the window or by the command and that stands, also where labels
    /// were imported since; `None` where there is none. Imported and simulated labels stay.
    ///
    /// # Errors
    /// What the disk says. Nothing is taken back then.
    pub fn undo_label(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        source: LabelSource,
    ) -> Result<Option<Undone>, WorkbenchError> {
        let core = &self.core;
        let sheet = core.sheets.get(&core.store, annotator, question)?;
        let Some(newest) = core.store.newest_given(question, annotator)? else { return Ok(None) };
        let Some(answer) = newest.answer().cloned() else { return Ok(None) };
        core.store.retract(newest.id, now_ms(), source)?;
        if core.follow_events().is_err() {
            // It was taken back all the same. What follows events is read anew when it is next asked for.
            core.sheets.clear();
            core.live.forget_all();
        }
        let sheet = core.newest_sheet(sheet, annotator, question);
        let sheet = lock(&sheet);
        let now = sheet.answers.get(&newest.text).cloned();
        Ok(Some(Undone { text: newest.text, answer, now, progress: core.progress(&sheet) }))
    }

    /// Skips a text: it comes again when all others are done.
    ///
    /// # Errors
    /// No such text, question or annotator, or what the disk says.
    pub fn skip_text(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
    ) -> Result<Progress, WorkbenchError> {
        self.mark(annotator, question, text, MarkKind::Skip)
    }

    /// Flags a text, or takes the flag off.
    ///
    /// # Errors
    /// As [`Session::skip_text`].
    pub fn flag_text(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        on: bool,
    ) -> Result<Progress, WorkbenchError> {
        self.mark(annotator, question, text, if on { MarkKind::Flag } else { MarkKind::Unflag })
    }

    fn mark(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        kind: MarkKind,
    ) -> Result<Progress, WorkbenchError> {
        let core = &self.core;
        let sheet = core.sheets.get(&core.store, annotator, question)?;
        let source = LabelSource::Window;
        core.store.mark(&NewMark { annotator, question, text, kind, at_ms: now_ms(), source, note: None })?;
        if core.follow_events().is_err() {
            core.sheets.clear(); // the mark is on disk; it is read when the sheet is next asked for
        }
        let sheet = core.newest_sheet(sheet, annotator, question);
        let progress = core.progress(&lock(&sheet));
        Ok(progress)
    }

    /// How far an annotator is with a question.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn progress(&self, annotator: AnnotatorId, question: QuestionId) -> Result<Progress, WorkbenchError> {
        let sheet = self.core.sheets.get(&self.core.store, annotator, question)?;
        let progress = self.core.progress(&lock(&sheet));
        Ok(progress)
    }

    /// One text as the annotator sees it; what models say is there only after an answer.
    ///
    /// # Errors
    /// There is no such text, or the file cannot be read.
    pub fn label_task(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
    ) -> Result<LabelTask, WorkbenchError> {
        let core = &self.core;
        let body = core.store.text(text)?.ok_or_else(|| WorkbenchError::NoSuchText(text.0.to_string()))?;
        let sheet = core.sheets.get(&core.store, annotator, question)?;
        let sheet = lock(&sheet);
        let answer = sheet.answers.get(&text).cloned();
        let show = answer.is_some() && core.settings().reveal;
        Ok(LabelTask {
            text,
            external_id: body.external_id,
            body: body.body,
            group: body.group,
            answer,
            flagged: sheet.flagged.contains(&text),
            skipped: sheet.skipped.contains(&text),
            random: false,
            reveal: if show { core.reveal(question, text, annotator) } else { None },
        })
    }

    /// Records a label by names, as the command does: an annotator who is not known yet is added.
    ///
    /// # Errors
    /// No such text, question or level, or what the disk says.
    pub fn label_by_name(
        &self,
        annotator: &str,
        text: &str,
        value: &str,
        question: Option<&str>,
    ) -> Result<NamedLabel, WorkbenchError> {
        let question = self.question(question)?;
        let answer = question.scale.answer_named(value).ok_or_else(|| off_scale(value, &question))?;
        let store = &self.core.store;
        let text_id =
            store.text_by_external(text)?.ok_or_else(|| WorkbenchError::NoSuchText(text.to_owned()))?.id;
        let known = self.core.index().annotator_named(annotator).map(|a| (a.id, a.external_id.clone()));
        let new_annotator = known.is_none();
        let (annotator, annotator_name) = match known {
            Some(known) => known,
            None => {
                let added = self.add_annotator(annotator, &Default::default())?;
                (added.id, added.external_id)
            }
        };
        let new = NewLabel { question: question.id, annotator, text: text_id, answer, duration_ms: None };
        let progress = self.record(&new, LabelSource::Command)?.receipt.progress;
        Ok(NamedLabel {
            annotator: annotator_name,
            text_id: text.to_owned(),
            question: question.name,
            value: value.trim().to_owned(),
            new_annotator,
            progress,
        })
    }
}

/// A label on disk, by names.
#[derive(Clone, Debug, serde::Serialize)]
pub struct NamedLabel {
    /// External id of the annotator.
    pub annotator: String,
    /// External id of the text.
    pub text_id: String,
    /// Name of the question.
    pub question: String,
    /// Name of the level.
    pub value: String,
    /// True where the annotator was added with this label.
    pub new_annotator: bool,
    /// How far the annotator is now.
    pub progress: Progress,
}

fn off_scale(value: &str, question: &dissensus_domain::Question) -> WorkbenchError {
    WorkbenchError::NotOnScale {
        value: value.to_owned(),
        question: question.name.clone(),
        levels: question.scale.options().join(", "),
    }
}

impl Core {
    fn check_answer(&self, new: &NewLabel) -> Result<(), WorkbenchError> {
        let index = self.index();
        let question = index.question(new.question).ok_or(WorkbenchError::NoQuestion)?;
        match (new.answer.check(&question.scale), &new.answer) {
            (Ok(()), _) => Ok(()),
            (Err(_), Answer::Level(level)) => Err(off_scale(&format!("level {level}"), question)),
            (Err(error), _) => Err(off_scale(&error.to_string(), question)),
        }
    }

    /// The sheet that follows the events now: an import beside may have made the one at hand stale. Where the project cannot be read
    /// that one must do, since what was appended is on disk.
    fn newest_sheet(
        &self,
        at_hand: SharedSheet,
        annotator: AnnotatorId,
        question: QuestionId,
    ) -> SharedSheet {
        self.sheets.get(&self.store, annotator, question).unwrap_or(at_hand)
    }

    fn progress(&self, sheet: &Sheet) -> Progress {
        sheet.progress(today_ms(), self.index().texts().len())
    }

    /// How the models see a text, before this annotator's answer is learned. `None` while no model is live.
    pub(crate) fn reveal(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Option<Reveal> {
        let (row, who) = {
            let index = self.index();
            (index.text_row(text)?, index.annotator_row(annotator)?)
        };
        let mut reveal = self.live.with(question, |fitted| fitted.reveal(row, who))??;
        let labels = self.store.current_labels_on(text, question).ok()?;
        let mut counts = vec![0.0_f32; reveal.others.len()];
        labels.iter().filter(|label| label.annotator != annotator).for_each(|label| {
            let level = level_of(&label.answer).map(usize::from);
            if let Some(count) = level.and_then(|level| counts.get_mut(level)) {
                *count += 1.0;
            }
        });
        let all: f32 = counts.iter().sum();
        reveal.observed = (all > 0.0).then(|| counts.iter().map(|count| count / all).collect());
        Some(reveal)
    }
}
