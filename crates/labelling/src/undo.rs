//! Undo of the last answer.

use super::Labelling;
use crate::error::LabellingError;
use crate::feed;
use crate::progress;
use crate::question_set;
use crate::reannotated;
use dissensus_api::Undone;
use dissensus_domain::{AnnotatorId, Event, FIRST_OCCASION, LabelSource, QuestionId};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_store::Undo;

/// Takes back this annotator's latest answer to one of these questions from the window or the command, in
/// any annotation round and even if labels were imported since; `None` where there is none. Imported and
/// simulated labels are unaffected.
///
/// # Errors
/// That answer is no longer current ([`LabellingError::LabelReplaced`]), another annotator's packet, or an
/// I/O error. Nothing is taken back then.
pub fn undo(
    cx: &Labelling,
    annotator: AnnotatorId,
    questions: impl AsRef<[QuestionId]>,
    source: LabelSource,
) -> Result<Option<Undone>, ProjectError> {
    let (context, questions) = (&cx.context, questions.as_ref());
    context.may_answer(annotator)?;
    let sheet = question_set::open(cx, annotator, questions)?;
    let asked = questions.to_vec();
    let undone = context.store.write(move |tx| tx.undo(asked, annotator, now_ms(), source))?;
    let event = match undone {
        Undo::Nothing => return Ok(None),
        Undo::Replaced { given, current } => return Err(replaced(cx, &given, &current)?),
        Undo::TakenBack(event) => event,
    };
    let Some(answer) = event.answer().cloned() else { return Ok(None) };
    let Event { question, text, occasion, note, .. } = event;
    if occasion > FIRST_OCCASION {
        let now = reannotated::reannotated(cx, annotator, occasion)?.answer(question, text).cloned();
        let progress = progress::progress_on(cx, &sheet);
        return Ok(Some(Undone { question, text, occasion, answer, note, now, progress }));
    }
    if feed::follow(cx).is_err() {
        // It was taken back all the same. Derived data is read again at the next request.
        cx.annotations.clear();
        cx.live.invalidate_all();
    }
    let sheet = progress::newest_question_set(cx, sheet, annotator, questions);
    let now = sheet.read().annotations(question).and_then(|known| known.answers.get(&text).cloned());
    let progress = progress::progress_on(cx, &sheet);
    Ok(Some(Undone { question, text, occasion, answer, note, now, progress }))
}

/// Explains why `given` is not taken back, by names.
fn replaced(cx: &Labelling, given: &Event, current: &Event) -> Result<ProjectError, ProjectError> {
    let index = cx.context.index();
    let name = |event: &Event| {
        let scale = index.question(event.question).map(|question| &question.scale);
        let name = scale.zip(event.answer()).and_then(|(scale, answer)| scale.name_of_answer(answer));
        name.map_or_else(|| "?".to_owned(), std::borrow::Cow::into_owned)
    };
    let row = index.annotator_row(given.annotator).and_then(|row| index.annotators().get(row as usize));
    Ok(ProjectError::from(LabellingError::LabelReplaced {
        annotator: row.map_or_else(|| "?".to_owned(), |annotator| annotator.external_id.clone()),
        text: cx.context.store.text(given.text)?.map_or_else(|| "?".to_owned(), |text| text.external_id),
        given: name(given),
        current: name(current),
        by: match current.source {
            LabelSource::Import => "an import",
            LabelSource::Simulated => "a simulation",
            LabelSource::Window | LabelSource::Command => "another copy of the project",
        },
    }))
}
