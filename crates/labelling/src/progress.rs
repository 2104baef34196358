//! Progress of annotators.

use super::Labelling;
use super::question_set::QuestionSet;
use crate::left_out;
use crate::question_set;
use crate::reannotated;
use dissensus_api::Progress;
use dissensus_domain::{AnnotatorId, QuestionId};
use dissensus_project::clock::today_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::log::go_on;

/// An annotator's progress on a question, or on several on one screen.
pub fn count(
    cx: &Labelling,
    annotator: AnnotatorId,
    questions: impl AsRef<[QuestionId]>,
) -> Result<Progress, ProjectError> {
    Ok(progress_on(cx, &question_set::open(cx, annotator, questions.as_ref())?))
}

/// The progress according to a sheet.
pub(super) fn progress_on(cx: &Labelling, sheet: &QuestionSet) -> Progress {
    // If the excluded texts cannot be read, only the number is off.
    let left_out = go_on("reading which texts are left out", left_out::left_out(cx, sheet.annotator));
    let left_out = left_out.unwrap_or_default();
    let answers = sheet.read();
    // If the file cannot be read, practice texts are counted with the others until it can.
    let book = go_on("reading the practice", cx.practice.book());
    let index = cx.context.index();
    let real = book.map_or_else(|| index.texts().to_vec(), |book| book.real(index.texts()));
    let mut first = answers.progress(today_ms(), &real, index.texts().len());
    if !left_out.is_empty() {
        let open = real.iter().filter(|text| left_out.contains(**text));
        first.left_out = open.filter(|text| answers.left(**text).is_some()).count() as u32;
        first.total = first.total.saturating_sub(first.left_out);
    }
    match cx.context.packet.as_ref().filter(|packet| packet.annotator == sheet.annotator) {
        None => first,
        Some(packet) => reannotated::with_again(cx, first, packet, &answers, &left_out, sheet.shown()),
    }
}

/// A sheet that includes the latest events: a concurrent import may have made the current one stale.
/// Falls back to the current one where the project cannot be read, since what was appended is on disk.
pub(super) fn newest_question_set(
    cx: &Labelling,
    at_hand: QuestionSet,
    annotator: AnnotatorId,
    questions: &[QuestionId],
) -> QuestionSet {
    question_set::open(cx, annotator, questions).unwrap_or(at_hand)
}
