//! The choice of the next text.

use super::Labelling;
use super::left_out_texts::LeftOut;
use super::question_set::{QuestionSet, Unanswered};
use crate::left_out;
use crate::progress;
use crate::question_set;
use crate::reannotated;
use crate::task;
use dissensus_api::{LabelTask, TextOrder};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_project::mix::mix;
use std::collections::HashSet;

/// Returns the next text for an annotator to label: never `after` (the current one), skipped ones only
/// when nothing else is left. `None` when all is done. Orders that need a model fall back to a random
/// text while none is live. With several questions on one screen a text is offered as long as one of
/// its questions is unanswered, and the first of them determines the order. In a task packet texts come
/// in the packet's order, regardless of `order`.
///
/// # Errors
/// The annotator has to practise first or is blocked, or the file cannot be read.
pub fn choose(
    cx: &Labelling,
    annotator: AnnotatorId,
    questions: impl AsRef<[QuestionId]>,
    order: TextOrder,
    after: Option<TextId>,
) -> Result<Option<LabelTask>, ProjectError> {
    let questions = questions.as_ref();
    let question = *questions.first().ok_or(ProjectError::NoQuestion)?;
    cx.practice.may_label(annotator)?;
    let left_out = left_out::left_out(cx, annotator)?;
    let sheet = question_set::open(cx, annotator, questions)?;
    if let Some(packet) = cx.context.packet.as_ref().filter(|packet| packet.annotator == annotator) {
        let next = reannotated::next_assigned(cx, packet, &sheet, &left_out, after)?;
        return next.map(|item| task::read(cx, annotator, question, item.text, item.occasion)).transpose();
    }
    let open = open_texts(cx, &sheet, &left_out, after)?;
    if open.is_empty() {
        return Ok(None);
    }
    let share = cx.context.settings().random_share;
    let done = progress::progress_on(cx, &sheet).done;
    let (text, random) = match order {
        TextOrder::File => (following(&open, after), false),
        TextOrder::Random => (drawn(&open, annotator), true),
        // The draw depends only on the annotator and the number of answers, so that the same text comes
        // after a restart.
        _ if f64::from(share) > unit(mix(annotator.0, done)) => (drawn(&open, annotator), true),
        TextOrder::Informative => match best(cx, &open, cx.live.bald(question, annotator)) {
            Some(text) => (text, false),
            None => (drawn(&open, annotator), true),
        },
        TextOrder::Disagreement => match best(cx, &open, cx.live.split(question)) {
            Some(text) => (text, false),
            None => (drawn(&open, annotator), true),
        },
    };
    let mut task = task::read(cx, annotator, question, text, 1)?;
    task.random = random;
    Ok(Some(task))
}

/// Returns the text `step` positions after (or before, if negative) `text` in file order, labelled or
/// not, skipping excluded ones; `None` beyond the ends.
///
/// # Errors
/// The annotator has to practise first or is blocked, or the file cannot be read.
pub fn neighbour(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    step: i32,
) -> Result<Option<LabelTask>, ProjectError> {
    cx.practice.may_label(annotator)?;
    let left_out = left_out::left_out(cx, annotator)?;
    let there = {
        let index = cx.context.index();
        let here = index.text_row(text).ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?;
        let book = cx.practice.book()?;
        let there = |row: &i64| usize::try_from(*row).ok().and_then(|row| index.texts().get(row).copied());
        // Skips practice texts and excluded texts in the same direction.
        let passed = |text: TextId| book.is_practice(text) || left_out.contains(text);
        let mut row = i64::from(here) + i64::from(step);
        while step != 0 && there(&row).is_some_and(passed) {
            row += i64::from(step.signum());
        }
        there(&row)
    };
    there.map(|text| task::read(cx, annotator, question, text, 1)).transpose()
}

/// Texts with an unanswered question that are not excluded, in file order; skipped ones only where no
/// other is left.
fn open_texts(
    cx: &Labelling,
    sheet: &QuestionSet,
    left_out: &LeftOut,
    after: Option<TextId>,
) -> Result<Vec<TextId>, ProjectError> {
    let book = cx.practice.book()?;
    let answers = sheet.read();
    let (mut skipped, mut open) = (Vec::new(), Vec::new());
    let asked =
        |text: &&TextId| Some(**text) != after && !book.is_practice(**text) && !left_out.contains(**text);
    for &text in cx.context.index().texts().iter().filter(asked) {
        match answers.left(text) {
            None => {}
            Some(Unanswered::Skipped) => skipped.push(text),
            Some(Unanswered::Open) => open.push(text),
        }
    }
    Ok(if open.is_empty() { skipped } else { open })
}

/// The first open text after `after` in file order, wrapping around.
fn following(open: &[TextId], after: Option<TextId>) -> TextId {
    let behind = after.and_then(|after| open.iter().find(|text| **text > after));
    *behind.unwrap_or(&open[0])
}

/// The open text with the highest score.
fn best(cx: &Labelling, open: &[TextId], scores: Option<Vec<f32>>) -> Option<TextId> {
    let scores = scores?;
    let index = cx.context.index();
    let open: HashSet<TextId> = open.iter().copied().collect();
    let score = |text: &TextId| index.text_row(*text).and_then(|row| scores.get(row as usize)).copied();
    let candidates = index.texts().iter().filter(|text| open.contains(text));
    let scored = candidates.filter_map(|text| Some((*text, score(text)?)));
    scored.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(text, _)| text)
}

/// The first text in this annotator's own random order.
fn drawn(open: &[TextId], annotator: AnnotatorId) -> TextId {
    *open.iter().min_by_key(|text| mix(annotator.0, text.0)).unwrap_or(&open[0])
}

/// Maps a well-mixed number to the range from 0 to 1.
fn unit(mixed: u64) -> f64 {
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_annotator_has_an_order_of_their_own() {
        let open: Vec<TextId> = (1..=100).map(TextId).collect();
        let firsts: HashSet<TextId> = (1..=20).map(|a| drawn(&open, AnnotatorId(a))).collect();
        assert!(firsts.len() > 10, "{firsts:?}");
    }

    #[test]
    fn draws_are_even() {
        let below = (0..1000).filter(|done| unit(mix(7, *done)) < 0.2).count();
        assert!((150..250).contains(&below), "{below}");
    }
}
