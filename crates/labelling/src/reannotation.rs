//! Re-annotation: texts that a task packet asks again; answers of a later annotation round are stored
//! separately from the first.

use super::Labelling;
use super::left_out::LeftOut;
use super::question_set::{Answers, Left, QuestionSet};
use crate::error::LabellingError;
use crate::progress;
use crate::question_set;
use crate::record;
use crate::remarks;
use dissensus_api::{Beside, LabelReceipt, NewLabel, Progress};
use dissensus_domain::{
    AnnotatorId, Answer, Assignment, Condition, LabelSource, Packet, QuestionId, Remark, TextId, is_asked,
};
use dissensus_project::clock::{now_ms, today_ms};
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::log::go_on;
use dissensus_store::{AnswerDetails, Repeat, StoreError};
use std::collections::HashMap;

/// The answers of one annotator in one later annotation round.
pub(super) struct Reannotated {
    conditions: HashMap<QuestionId, Condition>,
    answers: HashMap<(QuestionId, TextId), Repeat>,
}

impl Reannotated {
    /// The note that came with the answer.
    pub(super) fn remark(&self, question: QuestionId, text: TextId) -> Option<&Remark> {
        self.answers.get(&(question, text)).map(|repeat| &repeat.details.remark)
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
}

/// Records an answer of a later annotation round: when this returns, it is on disk. No model learns
/// from it, and nothing is revealed after it.
///
/// # Errors
/// No such question, text or annotator, an answer off the scale, a round below 2, or an I/O error.
/// Nothing is recorded then, nor with an invalid note.
pub fn record(
    cx: &Labelling,
    new: &NewLabel,
    beside: &Beside,
    occasion: u16,
    source: LabelSource,
) -> Result<LabelReceipt, ProjectError> {
    cx.context.may_answer(new.annotator)?;
    cx.practice.may_label(new.annotator)?;
    let mut details = remarks::details(beside)?;
    let sheet = question_set::open(cx, new.annotator, &asked_together(cx, new.question))?;
    record::check_answer(cx, new)?;
    if occasion < 2 {
        return Err(ProjectError::Setting {
            name: "occasion",
            value: occasion.to_string(),
            allowed: "2 or more: the first occasion is the label itself".to_owned(),
        });
    }
    if let Some(packet) = &cx.context.packet
        && !packet.assignments.iter().any(|item| (item.text, item.occasion) == (new.text, occasion))
    {
        let text = cx.context.store.text(new.text)?.map_or_else(|| "?".to_owned(), |text| text.external_id);
        return Err(LabellingError::NotAsked { text, occasion }.into());
    }
    let known = reannotated(cx, new.annotator, occasion)?.answers.remove(&(new.question, new.text));
    let known = known.filter(|known| known.answer == new.answer);
    if let Some(known) = &known {
        // The window saves a changed note by giving the same answer again: that is not a new answer.
        let noted = source == LabelSource::Window && known.source.is_given();
        if noted && known.details.remark != details.remark {
            let details = AnswerDetails { guideline: known.details.guideline, ..details };
            let known = known.clone();
            cx.context.store.write(move |tx| tx.add_repeat_note(&known, &details, now_ms()))?;
            cx.context.listeners.send(&Event::Project);
            return Ok(LabelReceipt {
                progress: progress::progress_on(cx, &sheet),
                reveal: None,
                spans: None,
            });
        }
        // The command omits the note where there is nothing new.
        if source != LabelSource::Window && details.remark.is_empty() {
            details.remark = known.details.remark.clone();
        }
    }
    let NewLabel { question, text, annotator, answer, .. } = new.clone();
    let repeat = Repeat {
        question,
        text,
        annotator,
        occasion,
        answer,
        at_ms: now_ms(),
        source,
        details,
        wording: None,
    };
    cx.context.store.write(move |tx| tx.give_repeat(&repeat))?;
    cx.context.listeners.send(&Event::Project);
    Ok(LabelReceipt { progress: progress::progress_on(cx, &sheet), reveal: None, spans: None })
}

/// The questions that are asked together with this one: all questions of a task packet, so that
/// progress counts finished texts.
fn asked_together(cx: &Labelling, question: QuestionId) -> Vec<QuestionId> {
    match &cx.context.packet {
        Some(packet) if packet.questions.contains(&question) => packet.questions.clone(),
        _ => vec![question],
    }
}

/// Takes back this annotator's latest answer of a later annotation round, if it was given after the
/// latest first-round answer.
pub(super) fn undo_reannotation(
    cx: &Labelling,
    annotator: AnnotatorId,
    questions: &[QuestionId],
) -> Result<Option<Repeat>, ProjectError> {
    let asked = questions.to_vec();
    let store = &cx.context.store;
    let mut first = None;
    for question in questions {
        first = first.max(store.newest_given(*question, annotator)?.map(|event| event.at_ms));
    }
    Ok(store.write(move |tx| -> Result<Option<Repeat>, StoreError> {
        let mut newest: Option<Repeat> = None;
        for question in asked {
            let found = tx.newest_repeat(question, annotator)?;
            newest = newest.into_iter().chain(found).max_by_key(|repeat| repeat.at_ms);
        }
        match newest.filter(|repeat| first.is_none_or(|first| repeat.at_ms > first)) {
            Some(repeat) if tx.take_back_repeat(&repeat, now_ms())? => Ok(Some(repeat)),
            _ => Ok(None),
        }
    })?)
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
    let apart = least_apart(&packet.assignments);
    let left = |item: &Assignment| match (answers.left(item.text), item.occasion) {
        (left, 1) => left,
        (None, _) if again.done(sheet.shown(), item.text) => None,
        // Not before the planned number of others: an annotator who postponed the first answer would
        // answer from memory.
        (None, _) if again.others_since(&answers, item.text) < apart => None,
        (None, _) if answers.is_put_off(item.text) => Some(Left::Skipped),
        (None, _) => Some(Left::Open),
        _ => None,
    };
    let open = |wanted: Left| -> Vec<(usize, &Assignment)> {
        let offered = |item: &Assignment| Some(item.text) != after && !left_out.contains(item.text);
        let others = packet.assignments.iter().enumerate().filter(|(_, item)| offered(item));
        others.filter(|(_, item)| left(item) == Some(wanted)).collect()
    };
    let mut open_now = open(Left::Open);
    if open_now.is_empty() {
        open_now = open(Left::Skipped);
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
    let apart = least_apart(&packet.assignments);
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
fn least_apart(assignments: &[Assignment]) -> usize {
    let again = assignments.iter().enumerate().filter(|(_, item)| item.occasion > 1);
    let apart = again.filter_map(|(place, item)| {
        let first = assignments.iter().position(|other| (other.text, other.occasion) == (item.text, 1))?;
        Some(place.saturating_sub(first + 1))
    });
    apart.min().unwrap_or(0)
}

impl Reannotated {
    /// Whether something was answered and nothing that is asked is left: a text without any question to ask
    /// is not done before it comes again.
    fn is_done_again(&self, questions: &[QuestionId], text: TextId) -> bool {
        questions.iter().any(|question| self.answer(*question, text).is_some()) && self.done(questions, text)
    }
}
