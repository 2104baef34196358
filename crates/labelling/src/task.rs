//! Tasks: one text as shown to an annotator.

use super::Labelling;
use super::revealed::Revealed;
use crate::drafts;
use crate::notes;
use crate::question_set;
use crate::reannotated;
use crate::revealed;
use dissensus_api::LabelTask;
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use dissensus_project::error::ProjectError;

/// One text as the annotator sees it; predictions are included only after an answer. From `occasion` 2 on,
/// as in that annotation round: as if the text came for the first time.
pub fn read(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    occasion: u16,
) -> Result<LabelTask, ProjectError> {
    let context = &cx.context;
    let body = context.store.text(text)?.ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?;
    let again = (occasion > 1).then(|| reannotated::reannotated(cx, annotator, occasion)).transpose()?;
    let sheet = question_set::open(cx, annotator, &[question])?;
    let (asked, answer, flagged, skipped) = {
        let answers = sheet.read();
        let annotations = answers.annotations(question).ok_or(ProjectError::NoQuestion)?;
        let (asked, answer) = match &again {
            None => (answers.asks(question, text), annotations.answers.get(&text).cloned()),
            Some(again) => (again.asks(question, text), again.answer(question, text).cloned()),
        };
        (asked, answer, annotations.flagged.contains(&text), annotations.skipped.contains(&text))
    };
    let note = match &again {
        None => notes::read(cx, annotator, question, text)?,
        Some(again) => again.current_note(question, text).cloned().unwrap_or_default(),
    };
    let draft = drafts::draft_of(cx, annotator, question, &body.external_id, occasion, &note)?;
    let revealed = match occasion == 1 && answer.is_some() && context.reveals()? {
        true => {
            let predicted = cx.live.predictions_on(question, text, annotator);
            revealed::reveal_on(cx, annotator, question, text, predicted)?
        }
        false => Revealed::default(),
    };
    Ok(LabelTask {
        text,
        external_id: body.external_id,
        body: body.body,
        group: body.group,
        occasion,
        asked,
        answer,
        note,
        draft,
        // A flag would reveal that the text had come before.
        flagged: occasion == 1 && flagged,
        skipped: occasion == 1 && skipped,
        random: false,
        reveal: revealed.predictions,
        spans: revealed.spans,
    })
}

/// Whether a question is asked about a text in an annotation round, given the annotator's answers.
/// Reveals nothing.
pub(super) fn is_asked(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    occasion: u16,
) -> Result<bool, ProjectError> {
    if occasion > 1 {
        return Ok(reannotated::reannotated(cx, annotator, occasion)?.asks(question, text));
    }
    Ok(question_set::open(cx, annotator, &[question])?.read().asks(question, text))
}
