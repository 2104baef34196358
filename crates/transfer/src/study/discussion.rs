//! Discussion of a text: all answers, and the decision.

use super::Study;
use crate::study::error::StudyError;
use dissensus_api::{DecisionInfo, GivenAnswerInfo, NewDecision, TextTalk};
use dissensus_domain::{
    AnnotatorId, Answer, Decision, Note, Outcome, Question, QuestionId, TextId, current_answer, marks,
};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use std::collections::BTreeMap;

/// The longest comment, in characters.
const LONGEST_COMMENT: usize = 10_000;

/// Returns all answers to a text, including re-annotations, with their notes, and the decisions.
///
/// # Errors
/// No such question or text, or the file cannot be read.
pub fn discussion(cx: &Study, question: QuestionId, text: TextId) -> Result<TextTalk, ProjectError> {
    let (store, index) = (&cx.context.store, cx.context.index());
    let question = index.question(question.row()).ok_or(ProjectError::NoQuestion)?;
    index.text_row(text).ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?;
    let masked = store.masked_for(text)?;
    let mut people: BTreeMap<AnnotatorId, GivenAnswerInfo> = BTreeMap::new();
    let person = |annotator: AnnotatorId| {
        let row = index.annotator_row(annotator).map(|row| &index.annotators()[row as usize]);
        GivenAnswerInfo {
            annotator,
            name: row.map_or_else(String::new, |person| person.name.clone()),
            answer: None,
            before: Vec::new(),
            again: None,
            note: Note::default(),
            note_again: Note::default(),
            guideline: None,
            consent_version: None,
            flagged: false,
            masked: masked.contains(&annotator),
        }
    };
    let (numbers, consents) = (store.guideline_numbers()?, store.consents()?);
    for events in store.events_on_text(question.id, text)?.chunk_by(|a, b| a.annotator == b.annotator) {
        let Some(first) = events.first() else { continue };
        let current = current_answer(events);
        let marks = marks(events);
        let before = events.iter().filter(|e| Some(e.id) != current.map(|c| c.id)).filter_map(|e| e.answer());
        let info = GivenAnswerInfo {
            answer: current.and_then(|event| event.answer().cloned()),
            before: before.cloned().collect(),
            note: marks.note,
            guideline: current.and_then(|event| numbers.get(&event.guideline?).copied()),
            consent_version: current.and_then(|event| consents.number_of(event)),
            flagged: marks.flagged,
            ..person(first.annotator)
        };
        people.insert(first.annotator, info);
    }
    for repeat in store.repeats_on_text(question.id, text)? {
        let info = people.entry(repeat.annotator).or_insert_with(|| person(repeat.annotator));
        info.again = Some(repeat.answer);
        info.note_again = repeat.details.note;
    }
    let mut answers: Vec<GivenAnswerInfo> = people.into_values().collect();
    answers.retain(|one| one.answer.is_some() || one.again.is_some() || !one.note.is_empty() || one.flagged);
    let decisions = decisions_of_text(&store.decisions_on_text(question.id, text)?, question);
    Ok(TextTalk { question: question.id, text, answers, decisions })
}

/// Records a decision on a text, in addition to its labels, which do not change.
///
/// # Errors
/// No such question or text, an answer off the scale, a comment that is too long, or a disk error.
pub fn decide(cx: &Study, new: &NewDecision) -> Result<TextTalk, ProjectError> {
    cx.whole_project()?;
    let index = cx.context.index();
    let question = index.whole(new.question)?;
    if let Some(answer) = &new.answer
        && let Err(error) = answer.check(&question.scale)
    {
        return Err(ProjectError::unfit_answer(&error, question));
    }
    let length = new.comment.chars().count();
    if length > LONGEST_COMMENT {
        let value = format!("{length} characters long");
        return Err(
            StudyError::Range { what: "a comment", value, allowed: "10,000 characters at most" }.into()
        );
    }
    let decision = Decision {
        question: new.question,
        text: new.text,
        at_ms: now_ms(),
        outcome: new.outcome,
        answer: new.answer.clone(),
        comment: new.comment.trim().to_owned(),
        by: new.by.trim().to_owned(),
    };
    cx.context.store.write(move |tx| tx.decide(&decision))?;
    cx.context.listeners.send(&Event::Project);
    discussion(cx, new.question, new.text)
}

/// States what is left out of a question without slips.
pub fn slips_note(cx: &Study, question: QuestionId) -> Result<String, ProjectError> {
    cx.context.slips_note(question)
}

/// Returns the valid decisions, by question and text.
pub fn list_decisions(cx: &Study) -> Result<Vec<DecisionInfo>, ProjectError> {
    let mut all = all_decisions(cx)?;
    all.retain(|decision| decision.holds);
    Ok(all)
}

/// Returns every decision that was ever made, by question and text, the latest of each first.
pub fn all_decisions(cx: &Study) -> Result<Vec<DecisionInfo>, ProjectError> {
    let index = cx.context.index();
    let mut all = Vec::new();
    for question in index.questions() {
        let decisions = cx.context.store.decisions(question.id)?;
        for of_text in decisions.chunk_by(|a, b| a.text == b.text) {
            let Some(last) = of_text.last() else { continue };
            let text_id = cx.context.store.text(last.text)?.map(|text| text.external_id);
            let found = decisions_of_text(of_text, question).into_iter();
            all.extend(found.map(|one| DecisionInfo { text_id: text_id.clone(), ..one }));
        }
    }
    Ok(all)
}

/// Returns the decisions on one text, the latest first: only that one is valid, unless it reopens the text.
fn decisions_of_text(of_text: &[Decision], question: &Question) -> Vec<DecisionInfo> {
    let last = of_text.len().saturating_sub(1);
    let one = |(at, decision): (usize, &Decision)| DecisionInfo {
        holds: at == last && decision.outcome != Outcome::Reopened,
        ..info(decision, question)
    };
    of_text.iter().enumerate().rev().map(one).collect()
}

fn info(decision: &Decision, question: &Question) -> DecisionInfo {
    let name = |answer: &Answer| question.scale.name_of_answer(answer).map(std::borrow::Cow::into_owned);
    DecisionInfo {
        question: question.id,
        question_name: question.name.clone(),
        text: decision.text,
        text_id: None,
        outcome: decision.outcome,
        answer: decision.answer.clone(),
        answer_name: decision.answer.as_ref().and_then(name),
        comment: decision.comment.clone(),
        by: decision.by.clone(),
        at: decision.at_ms as f64,
        holds: false,
    }
}
