//! Skips and flags.

use super::Labelling;
use crate::feed;
use crate::progress;
use crate::question_set;
use dissensus_api::Progress;
use dissensus_domain::{AnnotatorId, LabelSource, MarkKind, Note, QuestionId, TextId};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_store::NewMark;

/// Skips those of these questions that are asked about a text and unanswered, all of them or none: the
/// text comes again when all others are done.
///
/// # Errors
/// No such text, question or annotator, another annotator's packet, an annotator who has to practise first
/// or is blocked, or an I/O error.
pub fn skip(
    cx: &Labelling,
    annotator: AnnotatorId,
    questions: impl AsRef<[QuestionId]>,
    text: TextId,
) -> Result<Progress, ProjectError> {
    cx.context.may_answer(annotator)?;
    cx.practice.may_label(annotator)?;
    cx.practice.is_asked(text)?;
    let sheet = question_set::open(cx, annotator, questions.as_ref())?;
    let open = sheet.read().open(text);
    set_mark(cx, annotator, &open, text, MarkKind::Skip)?;
    Ok(progress::progress_on(cx, &progress::newest_question_set(cx, sheet, annotator, questions.as_ref())))
}

/// Flags a text, or removes the flag.
pub fn flag(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    on: bool,
) -> Result<Progress, ProjectError> {
    cx.context.may_answer(annotator)?;
    cx.practice.may_label(annotator)?;
    cx.practice.is_asked(text)?;
    let sheet = question_set::open(cx, annotator, &[question])?;
    set_mark(cx, annotator, &[question], text, if on { MarkKind::Flag } else { MarkKind::Unflag })?;
    Ok(progress::progress_on(cx, &progress::newest_question_set(cx, sheet, annotator, &[question])))
}

fn set_mark(
    cx: &Labelling,
    annotator: AnnotatorId,
    questions: &[QuestionId],
    text: TextId,
    kind: MarkKind,
) -> Result<(), ProjectError> {
    let (at_ms, source) = (now_ms(), LabelSource::Window);
    let mark = |question: &QuestionId| NewMark {
        annotator,
        question: *question,
        text,
        kind,
        at_ms,
        source,
        note: Note::default(),
        guideline: None,
    };
    let marks: Vec<NewMark> = questions.iter().map(mark).collect();
    cx.context.store.write(move |tx| marks.iter().try_for_each(|new| tx.add_mark(new).map(drop)))?;
    if feed::follow(cx).is_err() {
        cx.annotations.clear(); // the marks are on disk, and are read at the next request
    }
    Ok(())
}
