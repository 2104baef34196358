//! Practice from the point of view of the study's author: the practice texts, the pass marks, and the
//! results.

use super::Study;
use super::checks::right_answer;
use crate::study::checks;
use crate::study::error::StudyError;
use dissensus_api::{
    CheckRuleInfo, NewPracticeRule, NewPracticeText, PracticePerson, PracticeRoundInfo, PracticeSetup,
    PracticeStep, PracticeTextInfo,
};
use dissensus_domain::{AnnotatorId, CheckRule, PracticeRounds, PracticeRule, QuestionId, TextId};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::sync::lock;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Sets practice texts, all of them or none; without an answer a text is no longer one. Labels do not
/// change.
///
/// # Errors
/// No such question or text, an answer off the scale, a reason that is too long, a text that was handed
/// out or is an attention check, or a disk error. Nothing is set then.
pub fn set_practice(cx: &Study, new: &[NewPracticeText]) -> Result<(), ProjectError> {
    cx.whole_project()?;
    // No plan may be drawn meanwhile.
    let _planning = lock(&cx.planning);
    let (index, store) = (cx.context.index(), &cx.context.store);
    let mut people: HashMap<TextId, HashSet<AnnotatorId>> = HashMap::new();
    for (packet, _) in store.packets()? {
        for item in &packet.assignments {
            people.entry(item.text).or_default().insert(packet.annotator);
        }
    }
    let checks: HashSet<TextId> = store.attention_checks()?.iter().map(|check| check.text).collect();
    for NewPracticeText { question, text, answer, reason } in new {
        right_answer(&index, *question, answer.as_ref(), reason)?;
        let why = match (people.get(text), checks.contains(text)) {
                _ if answer.is_none() => continue,
                (Some(people), _) => {
                    let handed = match people.len() {
                        1 => "it was handed out to 1 person".to_owned(),
                        n => format!("it was handed out to {n} people"),
                    };
                    format!("{handed}, and what is practised on is asked of nobody else. Choose another text")
                }
                (None, true) => "it is an attention check, which is hidden among the real texts. Choose another text, or take the check back".to_owned(),
                (None, false) => continue,
            };
        let text = store.text(*text)?.map_or_else(|| "?".to_owned(), |text| text.external_id);
        return Err(StudyError::CannotPractise { text, why }.into());
    }
    let new = new.to_vec();
    store.write(move |tx| {
        new.iter().try_for_each(|one| {
            let reason = one.reason.trim();
            tx.set_practice_text(one.question, one.text, one.answer.as_ref(), reason, now_ms())
        })
    })?;
    cx.context.listeners.send(&Event::Project);
    Ok(())
}

/// Reads practice texts from a CSV file with the columns `text_id` and `label`, and optionally `reason`;
/// nothing is set.
///
/// # Errors
/// The file cannot be read, lacks a column, or names an unknown text or answer, reported with the row.
pub fn practice_from(
    cx: &Study,
    question: QuestionId,
    file: &Path,
) -> Result<Vec<NewPracticeText>, ProjectError> {
    let one = |(text, answer, reason)| NewPracticeText { question, text, answer: Some(answer), reason };
    Ok(checks::right_answers_from(cx, question, file)?.into_iter().map(one).collect())
}

/// Sets the pass mark of practice and the consequence of failing it; fields that are not set do not
/// change.
///
/// # Errors
/// An invalid share, or a disk error.
pub fn set_practice_rule(cx: &Study, new: &NewPracticeRule) -> Result<PracticeRule, ProjectError> {
    cx.whole_project()?;
    let now = cx.practice.book()?.rule;
    let rule = PracticeRule {
        pass: share(new.pass.unwrap_or(now.pass))?,
        within: new.within.unwrap_or(now.within),
        then: new.then.unwrap_or(now.then),
    };
    cx.context.store.write(move |tx| tx.set_practice_rule(&rule, now_ms()))?;
    cx.context.listeners.send(&Event::Project);
    Ok(rule)
}

/// Sets or removes the pass mark of attention checks.
///
/// # Errors
/// An invalid share, or a disk error.
pub fn set_check_rule(cx: &Study, rule: Option<CheckRule>) -> Result<CheckRuleInfo, ProjectError> {
    cx.whole_project()?;
    if let Some(rule) = rule {
        share(rule.pass)?;
    }
    cx.context.store.write(move |tx| tx.set_check_rule(rule.as_ref(), now_ms()))?;
    cx.context.listeners.send(&Event::Project);
    Ok(CheckRuleInfo { rule })
}

/// Returns the pass mark of attention checks.
pub fn check_rule(cx: &Study) -> Result<CheckRuleInfo, ProjectError> {
    Ok(CheckRuleInfo { rule: cx.practice.book()?.check_rule })
}

/// Returns the practice texts, the pass mark, and the results.
///
/// # Errors
/// A packet is open, which must not reveal a right answer before its annotator has answered, or the file
/// cannot be read.
pub fn practice(cx: &Study) -> Result<PracticeSetup, ProjectError> {
    cx.whole_project()?;
    let (index, book) = (cx.context.index(), cx.practice.book()?);
    let mut texts = Vec::with_capacity(book.texts.len());
    for one in &book.texts {
        let (Some(question), Some(text)) = (index.question(one.question), cx.context.store.text(one.text)?)
        else {
            continue;
        };
        let first = |rounds: &PracticeRounds| {
            let given = rounds.0.first()?.answers.get(&(one.text, one.question))?.clone();
            Some(book.is_right(one, &given))
        };
        let given: Vec<bool> = book.people().filter_map(|(_, rounds)| first(rounds)).collect();
        let name = question.scale.name_of_answer(&one.answer).map(std::borrow::Cow::into_owned);
        texts.push(PracticeTextInfo {
            question: one.question,
            question_name: question.name.clone(),
            text: one.text,
            text_id: text.external_id,
            body: text.body,
            answer: one.answer.clone(),
            answer_name: name.unwrap_or_default(),
            reason: one.reason.clone(),
            given: given.len() as u32,
            right: given.iter().filter(|right| **right).count() as u32,
        });
    }
    let person = |(who, rounds): (AnnotatorId, &PracticeRounds)| {
        let person = &index.annotators()[index.annotator_row(who)? as usize];
        let round = |round| {
            let (right, of) = book.score(round);
            PracticeRoundInfo { right, of, finished: round.left(&book.texts).next().is_none() }
        };
        Some(PracticePerson {
            annotator: person.external_id.clone(),
            name: person.name.clone(),
            result: book.result(who)?,
            rounds: rounds.0.iter().map(round).collect(),
        })
    };
    Ok(PracticeSetup { rule: book.rule, texts, people: book.people().filter_map(person).collect() })
}

/// Rejects a plan for annotators who are no longer asked, and returns who has to practise again because
/// of attention checks, and from which round.
pub(super) fn practise_again(
    cx: &Study,
    people: &[AnnotatorId],
) -> Result<Vec<(AnnotatorId, u32)>, ProjectError> {
    let index = cx.context.index();
    let (mut stopped, mut again) = (Vec::new(), Vec::new());
    for who in people {
        let gate = cx.practice.gate(*who)?;
        match gate.step {
            PracticeStep::Stopped => {
                let row = index.annotator_row(*who).map(|row| &index.annotators()[row as usize]);
                stopped.push(row.map_or_else(String::new, |person| person.external_id.clone()));
            }
            PracticeStep::Practise if gate.by_checks => again.push((*who, gate.round)),
            PracticeStep::Practise | PracticeStep::Label => {}
        }
    }
    match stopped.is_empty() {
        true => Ok(again),
        false => Err(StudyError::Stopped(stopped.join(", ")).into()),
    }
}

fn share(pass: f64) -> Result<f64, StudyError> {
    match (0.0..=1.0).contains(&pass) {
        true => Ok(pass),
        false => Err(StudyError::Range {
            what: "the share that must be right",
            value: pass.to_string(),
            allowed: "a number from 0 to 1",
        }),
    }
}
