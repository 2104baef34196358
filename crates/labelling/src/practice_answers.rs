//! Practice: one text after the other, each with its right answer and the reason after the person's own
//! answer.
//!
//! Practice answers are stored separately: they are not labels, and no model, count or export of labels
//! includes them.

use super::Labelling;
use super::by_name::NamedAnnotator;
use crate::by_name;
use crate::error::LabellingError;
use crate::practice::{Gate, PracticeBook};
use crate::record;
use dissensus_api::{
    NewLabel, NewPracticeAnswer, PracticeFeedback, PracticeItem, PracticeState, PracticeStep, PracticeTask,
};
use dissensus_domain::{AnnotatorId, PassStatus, PracticeAnswer, PracticeText, TextId};
use dissensus_editing::questions;
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::sync::lock;

/// A recorded answer in practice, with names.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedPractice {
    pub annotator: String,
    pub text_id: String,
    pub question: String,
    /// The answer as given.
    pub value: String,
    /// True if the annotator was added with this answer.
    pub new_annotator: bool,
    /// The feedback on the answer.
    #[serde(flatten)]
    pub feedback: PracticeFeedback,
}

/// A person's progress in practice, and the allowed next step; `None` where there are no practice texts
/// and no pass mark.
pub fn state_of(cx: &Labelling, annotator: AnnotatorId) -> Result<Option<PracticeState>, ProjectError> {
    let gate = cx.practice.gate(annotator)?;
    let book = cx.practice.book()?;
    let there = book.is_there() || gate.step != PracticeStep::Label;
    Ok(there.then(|| state(&book, annotator, gate)))
}

/// The next text to practise on; `None` where the round is finished or there is no practice.
pub fn next(cx: &Labelling, annotator: AnnotatorId) -> Result<Option<PracticeTask>, ProjectError> {
    let gate = cx.practice.gate(annotator)?;
    if gate.step != PracticeStep::Practise {
        return Ok(None);
    }
    let book = cx.practice.book()?;
    let left = book.left(annotator, gate.round);
    let Some(PracticeText { question, text, .. }) = left.first() else { return Ok(None) };
    let found = cx.context.store.text(*text)?;
    let found = found.ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?;
    let (external_id, body) = (found.external_id, found.body);
    Ok(Some(PracticeTask { question: *question, text: *text, external_id, body, round: gate.round }))
}

/// The texts of the person's current round, in its order, and whether the answers were right.
pub fn list(cx: &Labelling, annotator: AnnotatorId) -> Result<Vec<PracticeItem>, ProjectError> {
    let (gate, book, index) = (cx.practice.gate(annotator)?, cx.practice.book()?, cx.context.index());
    let mut items = Vec::with_capacity(book.texts.len());
    for one in book.in_order(annotator, gate.round) {
        let round = book.round(annotator, gate.round);
        let given = round.and_then(|round| round.answers.get(&(one.text, one.question)));
        let (Some(text), Some(question)) = (cx.context.store.text(one.text)?, index.question(one.question))
        else {
            continue;
        };
        items.push(PracticeItem {
            text_id: text.external_id,
            question: question.name.clone(),
            text: text.body,
            right: given.map(|given| book.is_right(one, given)),
        });
    }
    Ok(items)
}

/// Records an answer in practice and returns whether it was right: when this returns, it is on disk.
/// The first answer of a round counts.
///
/// # Errors
/// The text is not a practice text, was answered in this round, or practice is not due; an answer off
/// the scale, another annotator's packet, or an I/O error. Nothing is recorded then.
pub fn record(cx: &Labelling, new: &NewPracticeAnswer) -> Result<PracticeFeedback, ProjectError> {
    cx.context.may_answer(new.annotator)?;
    let NewPracticeAnswer { annotator, question, text, answer } = new.clone();
    record::check_answer(
        cx,
        &NewLabel { question, annotator, text, answer: answer.clone(), duration_ms: None },
    )?;
    let _answering = lock(&cx.practice.answering);
    let (gate, book) = (cx.practice.gate(annotator)?, cx.practice.book()?);
    let name = || name_of(cx, text);
    let Some(one) = book.text(question, text) else {
        return Err(LabellingError::NotPractice(name()?).into());
    };
    if gate.step != PracticeStep::Practise {
        return Err(LabellingError::NoPractice.into());
    }
    let left = book.left(annotator, gate.round);
    if !left.iter().any(|other| (other.question, other.text) == (question, text)) {
        return Err(LabellingError::Practised(name()?).into());
    }
    let finishes = left.len() == 1;
    let given = PracticeAnswer {
        question,
        text,
        annotator,
        round: gate.round,
        answer: answer.clone(),
        at_ms: now_ms(),
    };
    cx.context.store.write(move |tx| tx.add_practice_answer(&given, finishes))?;
    let right = book.is_right(one, &answer);
    let index = cx.context.index();
    let named = index.question(question).and_then(|asked| asked.scale.name_of_answer(&one.answer));
    let answer_name = named.map_or_else(String::new, std::borrow::Cow::into_owned);
    // It is on disk: an error from here on does not undo it.
    let book = cx.practice.book().unwrap_or(book.clone());
    let now = cx.practice.gate(annotator).unwrap_or(gate);
    cx.context.listeners.send(&Event::Project);
    Ok(PracticeFeedback {
        right,
        answer: one.answer.clone(),
        answer_name,
        reason: one.reason.clone(),
        state: state(&book, annotator, now),
    })
}

/// Like [`record`], by names: an unknown annotator is added.
///
/// # Errors
/// Those of [`record`], or no such text, question or answer.
pub fn record_by_name(
    cx: &Labelling,
    annotator: NamedAnnotator<'_>,
    text: &str,
    value: &str,
    question: Option<&str>,
) -> Result<NamedPractice, ProjectError> {
    let question = questions::find(&cx.project, question)?;
    let answer = questions::answer_named(&question, value)?;
    let found = cx.context.store.text_by_external(text)?;
    let found = found.ok_or_else(|| ProjectError::NoSuchText(text.to_owned()))?.id;
    if cx.practice.book()?.text(question.id, found).is_none() {
        return Err(LabellingError::NotPractice(text.to_owned()).into());
    }
    let (annotator, name, new_annotator) = by_name::annotator_named_or_new(cx, annotator)?;
    let new = NewPracticeAnswer { annotator, question: question.id, text: found, answer };
    let feedback = record(cx, &new)?;
    let (text_id, value) = (text.to_owned(), value.trim().to_owned());
    Ok(NamedPractice { annotator: name, text_id, question: question.name, value, new_annotator, feedback })
}

fn name_of(cx: &Labelling, text: TextId) -> Result<String, ProjectError> {
    Ok(cx.context.store.text(text)?.map_or_else(|| "?".to_owned(), |text| text.external_id))
}

fn state(book: &PracticeBook, annotator: AnnotatorId, gate: Gate) -> PracticeState {
    let total = book.texts.len() as u32;
    let left = match gate.step {
        PracticeStep::Practise => book.left(annotator, gate.round).len() as u32,
        PracticeStep::Label | PracticeStep::Stopped => 0,
    };
    PracticeState {
        step: gate.step,
        by_checks: gate.by_checks,
        round: gate.round,
        done: total - left,
        total,
        result: book.result(annotator).filter(|result| result.status != PassStatus::Unfinished),
        rule: book.rule,
    }
}
