//! Attention checks: texts with a known right answer, hidden among those that all annotators are asked about.

use super::Study;
use super::agreement::figure;
use crate::study::error::StudyError;
use dissensus_api::{AttentionCheckInfo, NewAttentionCheck, StudyFigure};
use dissensus_domain::{AnnotatorId, Answer, AttentionCheck, QuestionId, TextId, is_right};
use dissensus_editing::questions;
use dissensus_project::clock::now_ms;
use dissensus_project::context::Index;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The longest reason, in characters.
const LONGEST_REASON: usize = 2_000;

/// Sets right answers, all of them or none; without an answer a text is no longer a check. Labels do not
/// change.
///
/// # Errors
/// No such question or text, an answer off the scale, a reason that is too long, or a disk error. Nothing
/// is set then.
pub fn set_checks(cx: &Study, new: &[NewAttentionCheck]) -> Result<(), ProjectError> {
    cx.whole_project()?;
    let index = cx.context.index();
    let mut checks = Vec::with_capacity(new.len());
    let book = cx.practice.book()?;
    for NewAttentionCheck { question, text, answer, reason } in new {
        right_answer(&index, *question, answer.as_ref(), reason)?;
        if answer.is_some() && book.is_practice(*text) {
            let name = cx.context.store.text(*text)?.map_or_else(|| "?".to_owned(), |text| text.external_id);
            return Err(StudyError::CheckInPractice(name).into());
        }
        checks.push(AttentionCheck {
            question: *question,
            text: *text,
            at_ms: now_ms(),
            answer: answer.clone(),
            reason: reason.trim().to_owned(),
        });
    }
    cx.context.store.write(move |tx| checks.iter().try_for_each(|check| tx.set_attention_check(check)))?;
    cx.context.listeners.send(&Event::Project);
    Ok(())
}

/// Reads right answers from a CSV file with the columns `text_id` and `label`, and optionally `reason`;
/// nothing is set.
///
/// # Errors
/// The file cannot be read, lacks a column, or names an unknown text or answer, reported with the row.
pub fn checks_from(
    cx: &Study,
    question: QuestionId,
    file: &Path,
) -> Result<Vec<NewAttentionCheck>, ProjectError> {
    let check = |(text, answer, reason)| NewAttentionCheck { question, text, answer: Some(answer), reason };
    Ok(right_answers_from(cx, question, file)?.into_iter().map(check).collect())
}

/// Returns the texts of a file of right answers, each with its answer and the reason for it.
pub(super) fn right_answers_from(
    cx: &Study,
    question: QuestionId,
    file: &Path,
) -> Result<Vec<(TextId, Answer, String)>, ProjectError> {
    let index = cx.context.index();
    let asked = index.whole(question)?.clone();
    let wrong =
        |row: Option<(u64, u64)>, why: String| StudyError::CheckFile { file: file.to_owned(), row, why };
    let mut reader = csv::Reader::from_path(file).map_err(|e| wrong(None, e.to_string()))?;
    let headers = reader.headers().map_err(|e| wrong(None, e.to_string()))?.clone();
    let column = |name: &str| headers.iter().position(|header| header.trim() == name);
    let needed = |name: &str| {
        let there: Vec<&str> = headers.iter().collect();
        let why = format!("there is no column {name}; its columns are {}", there.join(", "));
        column(name).ok_or_else(|| wrong(None, why))
    };
    let (text, label, reason) = (needed("text_id")?, needed("label")?, column("reason"));
    let mut found = Vec::new();
    for (row, record) in (1..).zip(reader.records()) {
        let line = |place: Option<&csv::Position>| place.map_or(row + 1, csv::Position::line);
        let record = record.map_err(|e| wrong(Some((row, line(e.position()))), e.to_string()))?;
        let place = Some((row, line(record.position())));
        let cell = |column: usize| record.get(column).unwrap_or_default().trim();
        let known = cx.context.store.text_by_external(cell(text))?;
        let known = known.ok_or_else(|| wrong(place, format!("there is no text \"{}\"", cell(text))))?;
        let answer = questions::answer_named(&asked, cell(label));
        let answer = answer.map_err(|e| wrong(place, e.to_string()))?;
        found.push((known.id, answer, reason.map_or("", cell).to_owned()));
    }
    Ok(found)
}

/// Returns the attention checks, by question and text, with the share of annotators who gave the right
/// answer: a check that many fail is itself in doubt.
pub fn list_checks(cx: &Study) -> Result<Vec<AttentionCheckInfo>, ProjectError> {
    let (store, index) = (&cx.context.store, cx.context.index());
    let answers = checked_answers(cx)?;
    let mut found = Vec::new();
    for check in store.attention_checks()? {
        let Some(question) = index.question(check.question) else { continue };
        let (Some(answer), Some(text)) = (check.answer, store.text(check.text)?) else { continue };
        let given: Vec<bool> = answers
            .iter()
            .filter(|one| (one.question, one.text) == (check.question, check.text))
            .map(|one| one.right)
            .collect();
        let name = question.scale.name_of_answer(&answer).map(std::borrow::Cow::into_owned);
        found.push(AttentionCheckInfo {
            question: question.id,
            question_name: question.name.clone(),
            text: check.text,
            text_id: text.external_id,
            body: text.body,
            answer_name: name.unwrap_or_default(),
            answer,
            reason: check.reason,
            given: given.len() as u32,
            right: given.iter().filter(|right| **right).count() as u32,
        });
    }
    Ok(found)
}

/// Returns how often each annotator gave the right answer, over all questions.
pub(super) fn attention(cx: &Study) -> Result<HashMap<AnnotatorId, StudyFigure>, ProjectError> {
    let mut counts: BTreeMap<AnnotatorId, (u32, u32)> = BTreeMap::new();
    for one in checked_answers(cx)? {
        let count = counts.entry(one.annotator).or_default();
        *count = (count.0 + u32::from(one.right), count.1 + 1);
    }
    let share = |(right, of): (u32, u32)| figure(f64::from(right) / f64::from(of.max(1)), of);
    Ok(counts.into_iter().filter_map(|(who, count)| Some((who, share(count)?))).collect())
}

/// The current answers to questions about texts that are checks.
fn checked_answers(cx: &Study) -> Result<Vec<CheckAnswer>, ProjectError> {
    let checks = cx.context.store.attention_checks()?;
    let mut right: BTreeMap<QuestionId, HashMap<TextId, Answer>> = BTreeMap::new();
    for check in checks {
        right.entry(check.question).or_default().extend(check.answer.map(|answer| (check.text, answer)));
    }
    let within = cx.practice.book()?.check_rule.map_or(0, |rule| rule.within);
    let index = cx.context.index();
    let mut found = Vec::new();
    for (question, answers) in right {
        let Some(scale) = index.question(question).map(|question| &question.scale) else { continue };
        for label in cx.context.store.current_labels(question)? {
            if let Some(answer) = answers.get(&label.text) {
                let (text, annotator) = (label.text, label.annotator);
                let right = is_right(scale, answer, &label.answer, within);
                found.push(CheckAnswer { question, text, annotator, right });
            }
        }
        // "Cannot say" counts as a wrong answer.
        for (text, annotator) in cx.context.store.cannot_say(question)? {
            if answers.contains_key(&text) {
                found.push(CheckAnswer { question, text, annotator, right: false });
            }
        }
    }
    Ok(found)
}

/// Rejects a right answer that is off the scale, and a reason that is too long.
pub(super) fn right_answer(
    index: &Index,
    question: QuestionId,
    answer: Option<&Answer>,
    reason: &str,
) -> Result<(), ProjectError> {
    let asked = index.whole(question)?;
    if let Some(answer) = answer
        && let Err(error) = answer.check(&asked.scale)
    {
        return Err(ProjectError::unfit_answer(&error, asked));
    }
    let length = reason.chars().count();
    if length > LONGEST_REASON {
        let value = format!("{length} characters long");
        return Err(StudyError::Range { what: "a reason", value, allowed: "2,000 characters at most" }.into());
    }
    Ok(())
}

/// An annotator's answer to a check.
struct CheckAnswer {
    question: QuestionId,
    text: TextId,
    annotator: AnnotatorId,
    right: bool,
}
