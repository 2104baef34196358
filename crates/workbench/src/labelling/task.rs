//! One text before an annotator.

use super::Labelling;
use crate::error::WorkbenchError;
use crate::view::LabelTask;
use dissensus_domain::{AnnotatorId, QuestionId, TextId};

impl Labelling {
    /// One text as the annotator sees it; what models say is there only after an answer.
    ///
    /// # Errors
    /// There is no such text, or the file cannot be read.
    pub fn task(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
    ) -> Result<LabelTask, WorkbenchError> {
        self.task_on(annotator, question, text, 1)
    }

    /// As [`Labelling::task`], on a later occasion: as if the text came for the first time.
    ///
    /// # Errors
    /// As there.
    pub fn task_on(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        occasion: u16,
    ) -> Result<LabelTask, WorkbenchError> {
        let context = &self.context;
        let body = context.store.text(text)?.ok_or_else(|| WorkbenchError::NoSuchText(text.0.to_string()))?;
        let sheet = self.sheet(annotator, &[question])?;
        let answers = sheet.read();
        let annotations = answers.annotations(question).ok_or(WorkbenchError::NoQuestion)?;
        let again = (occasion > 1).then(|| self.answered_again(annotator, occasion)).transpose()?;
        let (asked, answer) = match &again {
            None => (answers.asks(question, text), annotations.answers.get(&text).cloned()),
            Some(again) => (again.asks(question, text), again.answer(question, text).cloned()),
        };
        let remark = match &again {
            None => self.remark_of(annotator, question, text)?,
            Some(again) => again.remark(question, text).cloned().unwrap_or_default(),
        };
        let show = occasion == 1 && answer.is_some() && context.settings().reveal;
        Ok(LabelTask {
            text,
            external_id: body.external_id,
            body: body.body,
            group: body.group,
            occasion,
            asked,
            answer,
            remark,
            // A flag would say that the text had come before.
            flagged: occasion == 1 && annotations.flagged.contains(&text),
            skipped: occasion == 1 && annotations.skipped.contains(&text),
            random: false,
            reveal: if show { self.live.predictions_on(question, text, annotator) } else { None },
            spans: if show { self.spans_of_others(annotator, question, text)? } else { None },
        })
    }
}
