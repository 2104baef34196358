//! Labels with everything that belongs to them, one after another, for files of other tools.

use crate::row::{EVENT_COLUMNS, EVENT_TABLES, event};
use crate::{Result, Store, StoreError};
use dissensus_domain::{Annotator, AnnotatorId, Event, Question, QuestionId, Text};
use std::collections::HashMap;

/// Which events to hand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportScope {
    /// Current labels only, by text, then annotator.
    Current,
    /// Every answer and every retraction, by text, then as they were appended or taken in.
    History,
}

/// One event with everything that belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct ExportRow<'a> {
    /// The event itself.
    pub event: &'a Event,
    /// The question answered.
    pub question: &'a Question,
    /// The text judged.
    pub text: &'a Text,
    /// Who judged.
    pub annotator: &'a Annotator,
    /// Name of the answer; none for a retraction.
    pub level: Option<&'a str>,
}

/// What the rows of one question have in common.
struct Around {
    question: Question,
    annotators: HashMap<AnnotatorId, Annotator>,
}

impl Store {
    /// Hands every label event of a question to `f`, until it returns an error. The project is seen as it was at the
    /// start, whatever is written meanwhile; one text is held at a time.
    ///
    /// # Errors
    /// What `f` returns, what the disk says, or [`StoreError::Unknown`] where there is no such question.
    pub fn for_each_label<E: From<StoreError>>(
        &self,
        question: QuestionId,
        scope: ExportScope,
        mut f: impl FnMut(ExportRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let question = self
            .questions()?
            .into_iter()
            .find(|q| q.id == question)
            .ok_or_else(|| StoreError::Unknown { what: "question", name: question.0.to_string() })?;
        let annotators = self.annotators()?.into_iter().map(|a| (a.id, a)).collect();
        let mut around = Around { question, annotators };
        let mut text: Option<Text> = None;
        self.read_with(|c, explain| {
            let mut statement = c.prepare_cached(&events_in(scope)).map_err(explain)?;
            let mut rows = statement.query([around.question.id.0]).map_err(explain)?;
            while let Some(row) = rows.next().map_err(explain)? {
                let event = event(row).map_err(explain)?;
                if text.as_ref().is_none_or(|t| t.id != event.text) {
                    text = self.text(event.text)?;
                }
                self.learn_annotator(&mut around, event.annotator)?;
                let damaged = |what: &str| StoreError::Damaged {
                    path: self.path().to_owned(),
                    detail: format!("event {} {what}", event.id.0),
                };
                let text = text.as_ref().ok_or_else(|| damaged("is on a text that is not there"))?;
                let annotator = around
                    .annotators
                    .get(&event.annotator)
                    .ok_or_else(|| damaged("is of an annotator who is not there"))?;
                let name = |answer| around.question.scale.name_of_answer(answer);
                let level = match event.answer() {
                    Some(answer) => {
                        Some(name(answer).ok_or_else(|| damaged("has an answer that is not on the scale"))?)
                    }
                    None => None,
                };
                f(ExportRow { event: &event, question: &around.question, text, annotator, level })?;
            }
            Ok(())
        })
    }

    /// An annotator may have been added between the reading of the annotators and that of the labels.
    fn learn_annotator(&self, around: &mut Around, id: AnnotatorId) -> Result<()> {
        if !around.annotators.contains_key(&id)
            && let Some(annotator) = self.annotator(id)?
        {
            around.annotators.insert(id, annotator);
        }
        Ok(())
    }
}

fn events_in(scope: ExportScope) -> String {
    match scope {
        // An event that is not of the annotator and text that it is current for is left out, and is damage that checking tells.
        ExportScope::Current => format!(
            "SELECT {EVENT_COLUMNS} FROM current_answers AS a CROSS JOIN {EVENT_TABLES}
             WHERE a.question = ?1 AND e.id = a.event ORDER BY a.text, a.annotator"
        ),
        ExportScope::History => format!(
            "SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES}
             WHERE e.question = ?1 AND (e.kind = 'answer' OR e.kind = 'retraction') ORDER BY e.text, e.id"
        ),
    }
}
