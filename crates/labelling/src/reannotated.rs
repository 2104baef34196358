//! Answers of later annotation rounds: what a task packet asks again, and how far its holder is.

use super::Labelling;
use super::left_out_texts::LeftOut;
use super::question_set::{Answers, QuestionSet, Unanswered};
use dissensus_api::Progress;
use dissensus_domain::{
    AnnotatorId, Answer, Assignment, Condition, Note, Packet, QuestionId, TextId, is_asked,
};
use dissensus_project::clock::today_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::log::go_on;
use dissensus_store::Repeat;
use std::collections::HashMap;

/// The answers of one annotator in one later annotation round.
pub(super) struct Reannotated {
    conditions: HashMap<QuestionId, Condition>,
    pub(super) answers: HashMap<(QuestionId, TextId), Repeat>,
}

impl Reannotated {
    /// The note that came with the answer.
    pub(super) fn current_note(&self, question: QuestionId, text: TextId) -> Option<&Note> {
        self.answers.get(&(question, text)).map(|repeat| &repeat.details.note)
    }

    pub(super) fn answer(&self, question: QuestionId, text: TextId) -> Option<&Answer> {
        self.answers.get(&(question, text)).map(|repeat| &repeat.answer)
    }

    /// Whether a question is asked about a text, given the answers of this round.
    pub(super) fn asks(&self, question: QuestionId, text: TextId) -> bool {
        is_asked(question, |id| self.conditions.get(&id), |id| self.answer(id, text))
    }

    /// Number of texts that were answered after the first answer to this one, including re-annotations.
    fn others_since(&self, first: &Answers<'_>, text: TextId) -> usize {
        let Some(at_ms) = first.given_at(text) else { return usize::MAX };
        let mut again: HashMap<TextId, i64> = HashMap::new();
        for repeat in self.answers.values() {
            let last = again.entry(repeat.text).or_insert(repeat.at_ms);
            *last = (*last).max(repeat.at_ms);
        }
        first.given_after(at_ms) + again.values().filter(|last| **last > at_ms).count()
    }

    fn done(&self, questions: &[QuestionId], text: TextId) -> bool {
        questions.iter().all(|question| !self.asks(*question, text) || self.answer(*question, text).is_some())
    }

    /// Whether something was answered and nothing that is asked is left: a text without any question to ask
    /// is not done before it comes again.
    fn is_done_again(&self, questions: &[QuestionId], text: TextId) -> bool {
        questions.iter().any(|question| self.answer(*question, text).is_some()) && self.done(questions, text)
    }
}

/// The answers of an annotator in one later annotation round.
pub(super) fn reannotated(
    cx: &Labelling,
    annotator: AnnotatorId,
    occasion: u16,
) -> Result<Reannotated, ProjectError> {
    let index = cx.context.index();
    let mut found = Reannotated { conditions: HashMap::new(), answers: HashMap::new() };
    for question in index.questions() {
        found.conditions.extend(question.only_if.clone().map(|only_if| (question.id, only_if)));
        for repeat in cx.context.store.repeats(question.id)? {
            if repeat.annotator == annotator && repeat.occasion == occasion {
                found.answers.insert((question.id, repeat.text), repeat);
            }
        }
    }
    Ok(found)
}

/// The next text of a task packet, in its order: after `after` while that is open, otherwise from the
/// beginning. A text to re-annotate comes once its first answers and the planned number of other
/// answers are given; skipped ones only when nothing else is left.
pub(super) fn next_assigned(
    cx: &Labelling,
    packet: &Packet,
    sheet: &QuestionSet,
    left_out: &LeftOut,
    after: Option<TextId>,
) -> Result<Option<Assignment>, ProjectError> {
    let again = reannotated(cx, sheet.annotator, 2)?;
    let answers = sheet.read();
    let apart = smallest_distance(&packet.assignments);
    let left = |item: &Assignment| match (answers.left(item.text), item.occasion) {
        (left, 1) => left,
        (None, _) if again.done(sheet.shown(), item.text) => None,
        // Not before the planned number of others: an annotator who postponed the first answer would
        // answer from memory.
        (None, _) if again.others_since(&answers, item.text) < apart => None,
        (None, _) if answers.is_put_off(item.text) => Some(Unanswered::Skipped),
        (None, _) => Some(Unanswered::Open),
        _ => None,
    };
    let open = |wanted: Unanswered| -> Vec<(usize, &Assignment)> {
        let offered = |item: &Assignment| Some(item.text) != after && !left_out.contains(item.text);
        let others = packet.assignments.iter().enumerate().filter(|(_, item)| offered(item));
        others.filter(|(_, item)| left(item) == Some(wanted)).collect()
    };
    let mut open_now = open(Unanswered::Open);
    if open_now.is_empty() {
        open_now = open(Unanswered::Skipped);
    }
    // For a text that was skipped; an answered one that comes again later is not the current one there.
    let passed_by =
        |item: &Assignment| Some(item.text) == after && item.occasion == 1 && left(item).is_some();
    let at_hand = packet.assignments.iter().position(passed_by);
    let behind = at_hand.and_then(|at| open_now.iter().find(|(place, _)| *place > at));
    Ok(behind.or(open_now.first()).map(|(_, item)| **item))
}

/// Progress in a packet: its first answers together with re-annotations.
pub(super) fn with_again(
    cx: &Labelling,
    first: Progress,
    packet: &Packet,
    answers: &Answers<'_>,
    left_out: &LeftOut,
    questions: &[QuestionId],
) -> Progress {
    // Falls back to the progress of the first round where the file cannot be read now.
    let read = reannotated(cx, packet.annotator, 2);
    let Some(answered) = go_on("reading what was answered again", read) else { return first };
    // Excluded texts are not asked again; those answered before count.
    let asked = |item: &&Assignment| {
        item.occasion > 1 && (!left_out.contains(item.text) || answered.is_done_again(questions, item.text))
    };
    let again = packet.assignments.iter().filter(asked);
    let done = again.clone().filter(|item| answered.is_done_again(questions, item.text));
    // Once everything else is answered, too few other texts remain to come before these: they are not
    // asked again.
    let apart = smallest_distance(&packet.assignments);
    let too_late = |item: &&Assignment| {
        first.done == first.total
            && !answered.is_done_again(questions, item.text)
            && answered.others_since(answers, item.text) < apart
    };
    let left_out = again.clone().filter(too_late).count();
    let today = today_ms();
    let given_today = |item: &&Assignment| {
        let times = questions.iter().filter_map(|q| answered.answers.get(&(*q, item.text)));
        times.map(|repeat| repeat.at_ms).max().is_some_and(|at_ms| at_ms >= today)
    };
    Progress {
        today: first.today + done.clone().filter(given_today).count() as u32,
        done: first.done + done.count() as u32,
        total: first.total + (again.count() - left_out) as u32,
        ..first
    }
}

/// The smallest number of other texts between the two rounds of a text in a task packet.
fn smallest_distance(assignments: &[Assignment]) -> usize {
    let again = assignments.iter().enumerate().filter(|(_, item)| item.occasion > 1);
    let apart = again.filter_map(|(place, item)| {
        let first = assignments.iter().position(|other| (other.text, other.occasion) == (item.text, 1))?;
        Some(place.saturating_sub(first + 1))
    });
    apart.min().unwrap_or(0)
}
