//! `label decide` and `label decisions`.

use super::{answer_name, count, open, open_to_read};
use crate::args::{Decide, Decisions};
use crate::language::translate_word;
use crate::output;
use anyhow::Result;
use dissensus_api::{DecisionInfo, GivenAnswerInfo, NewDecision, TextTalk};
use dissensus_domain::{Answer, Outcome, Question};
use dissensus_editing::questions;
use dissensus_editing::texts;
use dissensus_transfer::study;

pub(crate) fn decide(args: &Decide) -> Result<()> {
    let session =
        if args.outcome.is_some() { open(&args.project.path)? } else { open_to_read(&args.project.path)? };
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    let (text, _) = texts::find(&session.project, &args.text_id)?;
    let discussion = match args.outcome {
        None => study::discussion(&session.study, question.id, text)?,
        Some(outcome) => {
            let answer =
                args.value.as_deref().map(|value| questions::answer_named(&question, value)).transpose()?;
            let (comment, by) = (args.comment.clone(), args.by.clone());
            study::decide(
                &session.study,
                &NewDecision { question: question.id, text, outcome, answer, comment, by },
            )?
        }
    };
    if args.output.json {
        return output::json(&discussion);
    }
    print_text(&question, &args.text_id, &discussion)
}

fn print_text(question: &Question, text: &str, discussion: &TextTalk) -> Result<()> {
    let (people, word) = match discussion.answers.len() {
        1 => (1, "person"),
        n => (n, "people"),
    };
    output::line(&format!("{} of {text}, by {people} {word}", question.name))?;
    let name =
        |answer: &Option<Answer>| answer.as_ref().map_or_else(String::new, |a| answer_name(question, a));
    let masks = discussion.answers.iter().any(|one| one.masked);
    let row = |one: &GivenAnswerInfo| {
        let sure = one.note.confidence.map_or_else(String::new, |sure| sure.to_string());
        let (reasons, note) = (one.note.reasons.join(", "), one.note.note.clone().unwrap_or_default());
        let version = one.guideline.map_or_else(String::new, |number| number.to_string());
        let mut row =
            vec![one.name.clone(), name(&one.answer), name(&one.again), sure, reasons, note, version];
        row.extend(
            masks.then(|| if one.masked { translate_word("masked").into_owned() } else { String::new() }),
        );
        row
    };
    let mut header = vec!["person", "answer", "asked again", "sure", "reasons", "note", "guideline"];
    header.extend(masks.then_some("text"));
    if !discussion.answers.is_empty() {
        let rows = discussion.answers.iter().map(row).collect();
        output::line(&output::table(&header, rows, &[]))?;
    }
    match discussion.decisions.split_first() {
        None => output::line("Nothing was decided yet"),
        Some((holds, earlier)) => {
            output::line(&describe_decision(holds))?;
            if holds.outcome == Outcome::Slip {
                output::line(&slip_effect(holds, discussion))?;
            }
            match earlier.len() {
                0 => Ok(()),
                n => output::line(&format!("after {}", count(n as u64, "earlier decision"))),
            }
        }
    }
}

/// What a slip leaves out of training and evaluation on request.
fn slip_effect(decision: &DecisionInfo, discussion: &TextTalk) -> String {
    let Some(meant) = &decision.answer else {
        return "--without-slips leaves nothing of this text out: give the answer that was meant with --value"
            .to_owned();
    };
    let differs = |one: &&GivenAnswerInfo| one.answer.as_ref().is_some_and(|answer| answer != meant);
    let people: Vec<&str> = discussion.answers.iter().filter(differs).map(|one| one.name.as_str()).collect();
    if people.is_empty() {
        return "--without-slips leaves nothing of this text out: all labels are the decided answer"
            .to_owned();
    }
    format!(
        "--without-slips leaves out {} of this text, all that are not the decided answer: {}",
        count(people.len() as u64, "label"),
        people.join(", ")
    )
}

fn describe_decision(decision: &DecisionInfo) -> String {
    let answer =
        decision.answer_name.as_ref().map_or_else(String::new, |name| format!(", decided answer {name}"));
    let by = if decision.by.is_empty() { String::new() } else { format!(" by {}", decision.by) };
    let why = if decision.comment.is_empty() { String::new() } else { format!(": {}", decision.comment) };
    format!("Decided{by}: {}{answer}{why}", decision.outcome)
}

pub(crate) fn decisions(args: &Decisions) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let all =
        if args.all { study::all_decisions(&session.study)? } else { study::list_decisions(&session.study)? };
    if args.output.json {
        return output::json(&all);
    }
    if all.is_empty() {
        return output::line(
            "No decision holds: see `dissensus label decide`, and `dissensus label decisions --all` for those that hold no more",
        );
    }
    let row = |one: &DecisionInfo| {
        vec![
            one.text_id.clone().unwrap_or_default(),
            one.question_name.clone(),
            one.outcome.to_string(),
            one.answer_name.clone().unwrap_or_default(),
            one.by.clone(),
            one.comment.clone(),
        ]
    };
    let mut header = vec!["text_id", "question", "outcome", "decided", "by", "comment"];
    let mut rows: Vec<Vec<String>> = all.iter().map(row).collect();
    if args.all {
        header.push("holds");
        let holds = |one: &DecisionInfo| if one.holds { "yes" } else { "no more" }.to_owned();
        rows.iter_mut().zip(&all).for_each(|(row, one)| row.push(holds(one)));
    }
    output::line(&output::table(&header, rows, &[]))
}
