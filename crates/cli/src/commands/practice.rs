//! `label practice`: practice rounds.

use super::{count, open, open_to_read};
use crate::args::{Practice, Record};
use crate::language::translate_word;
use crate::output;
use anyhow::{Result, bail};
use dissensus_api::{
    NewPracticeRule, NewPracticeText, PracticeItem, PracticePerson, PracticeSetup, PracticeState,
    PracticeStep, PracticeTextInfo,
};
use dissensus_app::session::Session;
use dissensus_domain::{AfterFailing, AnnotatorId, PassStatus};
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::texts;
use dissensus_labelling::NamedAnnotator;
use dissensus_labelling::practice_answers;
use dissensus_transfer::study;
use schemars::JsonSchema;
use serde::Serialize;

/// What `practice --json` prints about a task packet.
#[derive(Serialize, JsonSchema)]
pub(super) struct PacketPractice {
    /// Progress of the packet's annotator; null if there are no practice texts.
    state: Option<PracticeState>,
    /// The practice texts.
    texts: Vec<PracticeItem>,
}

pub(crate) fn practice(args: &Practice) -> Result<()> {
    let rule = NewPracticeRule { pass: args.pass, within: args.within, then: args.then };
    let sets_rule = args.pass.is_some() || args.within.is_some() || args.then.is_some();
    if args.text_id.is_none() && args.from.is_none() && !sets_rule {
        let session = open_to_read(&args.project)?;
        return match info::read(&session.project)?.packet {
            Some(packet) => of_packet(&session, packet.annotator, args.output.json),
            None => list(&session, args),
        };
    }
    let session = open(&args.project)?;
    let new = texts(&session, args)?;
    if !new.is_empty() {
        study::set_practice(&session.study, &new)?;
    }
    if sets_rule {
        study::set_practice_rule(&session.study, &rule)?;
    }
    list(&session, args)
}

fn texts(session: &Session, args: &Practice) -> Result<Vec<NewPracticeText>> {
    if args.from.is_none() && args.text_id.is_none() {
        return Ok(Vec::new());
    }
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    match (&args.from, &args.text_id) {
        (Some(file), _) => Ok(study::practice_from(&session.study, question.id, file)?),
        (None, Some(text)) => {
            if args.value.is_none() && !args.remove {
                bail!("say the right answer with --value, or practise on it no more with --remove");
            }
            let (text, _) = texts::find(&session.project, text)?;
            let value = args.value.as_deref();
            let answer = value.map(|value| questions::answer_named(&question, value)).transpose()?;
            Ok(vec![NewPracticeText { question: question.id, text, answer, reason: args.reason.clone() }])
        }
        (None, None) => Ok(Vec::new()),
    }
}

fn list(session: &Session, args: &Practice) -> Result<()> {
    let setup = study::practice(&session.study)?;
    if args.output.json {
        return output::json(&setup);
    }
    if setup.texts.is_empty() && setup.people.is_empty() {
        return output::line(
            "Nothing is practised on: choose texts with `dissensus label practice P --text-id ID --value LEVEL`",
        );
    }
    output::line(&mark(&setup))?;
    if args.results {
        return results(&setup);
    }
    let row = |one: &PracticeTextInfo| {
        vec![
            one.text_id.clone(),
            one.question_name.clone(),
            one.answer_name.clone(),
            format!("{} of {}", one.right, one.given),
            output::cut(&one.reason, 40),
            output::cut(&one.body, 50),
        ]
    };
    let header = ["text", "question", "right answer", "gave it first", "reason", ""];
    output::line(&output::table(&header, setup.texts.iter().map(row).collect(), &[3]))
}

fn mark(setup: &PracticeSetup) -> String {
    let rule = &setup.rule;
    let within = match rule.within {
        0 => String::new(),
        1 => " (one level away counts as right)".to_owned(),
        n => format!(" ({n} levels away count as right)"),
    };
    let then = match rule.then {
        AfterFailing::GoOn => "go on, and their labels are marked",
        AfterFailing::Practise => "practise again",
        AfterFailing::Stop => "are asked no more",
    };
    format!(
        "{} to practise on; {:.0} % must be right{within}; those who fall short {then}",
        count(setup.texts.len() as u64, "answer"),
        100.0 * rule.pass
    )
}

fn results(setup: &PracticeSetup) -> Result<()> {
    if setup.people.is_empty() {
        return output::line("Nobody has begun yet");
    }
    let row = |person: &PracticePerson| {
        let rounds: Vec<String> = (person.rounds.iter())
            .map(|round| format!("{}/{}{}", round.right, round.of, if round.finished { "" } else { "…" }))
            .collect();
        vec![person.annotator.clone(), person.result.status.to_string(), rounds.join(", ")]
    };
    let header = ["person", "practice", "right, each round"];
    output::line(&output::table(&header, setup.people.iter().map(row).collect(), &[]))
}

fn of_packet(session: &Session, annotator: AnnotatorId, json: bool) -> Result<()> {
    let state = practice_answers::state_of(&session.labelling, annotator)?;
    let texts = practice_answers::list(&session.labelling, annotator)?;
    if json {
        return output::json(&PacketPractice { state, texts });
    }
    let Some(state) = state else { return output::line("There is nothing to practise on") };
    output::line(&describe_practice(&state))?;
    let row = |item: &PracticeItem| {
        let answered = match item.right {
            None => String::new(),
            Some(true) => translate_word("right").into_owned(),
            Some(false) => "not right".to_owned(),
        };
        vec![item.text_id.clone(), item.question.clone(), answered, output::cut(&item.text, 60)]
    };
    output::line(&output::table(
        &["text_id", "question", "answered", ""],
        texts.iter().map(row).collect(),
        &[],
    ))
}

/// Describes an annotator's progress and the decision.
pub(crate) fn describe_practice(state: &PracticeState) -> String {
    let result = state.result.as_ref().map(|result| {
        let (right, of) = (result.right, result.of);
        match result.status {
            PassStatus::Passed => format!("practice passed: {right} of {of} right"),
            PassStatus::Failed | PassStatus::Unfinished => {
                format!(
                    "practice not passed: {right} of {of} right, {:.0} % are needed",
                    100.0 * state.rule.pass
                )
            }
        }
    });
    let now = match (state.step, &state.result) {
        (PracticeStep::Practise, None) => format!("practice: {} of {} answered", state.done, state.total),
        (PracticeStep::Practise, Some(_)) => {
            let why = if state.by_checks { "too few attention checks were right, so " } else { "" };
            let (done, total) = (state.done, state.total);
            format!("{why}round {} is to be practised: {done} of {total} answered", state.round)
        }
        (PracticeStep::Label, Some(result)) if result.status == PassStatus::Failed => {
            "the study's author lets you go on".to_owned()
        }
        (PracticeStep::Label, _) => "the texts can be labelled".to_owned(),
        (PracticeStep::Stopped, _) => {
            let why = if state.by_checks { "too few attention checks were right: " } else { "" };
            format!("{why}the study's author decided that no more texts are asked then")
        }
    };
    result.into_iter().chain([now]).collect::<Vec<_>>().join("; ")
}

/// Answers a practice text, for `label record --practice`.
pub(crate) fn answer(session: &Session, args: &Record) -> Result<()> {
    let given = practice_answers::record_by_name(
        &session.labelling,
        NamedAnnotator { name: &args.annotator, new: args.new_annotator },
        &args.text_id,
        &args.value,
        args.question.name.as_deref(),
    )?;
    if args.output.json {
        return output::json(&given);
    }
    let feedback = &given.feedback;
    let verdict = match feedback.right {
        true => format!("right, {}", feedback.answer_name),
        false => format!("not right, the right answer is {}", feedback.answer_name),
    };
    let reason = if feedback.reason.is_empty() { String::new() } else { format!(": {}", feedback.reason) };
    output::line(&format!("{} of {}: {verdict}{reason}", given.value, given.text_id))?;
    output::line(&describe_practice(&feedback.state))
}
