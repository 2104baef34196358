//! `label checks`: attention checks.

use super::{open, open_to_read};
use crate::args::Checks;
use crate::output;
use anyhow::{Result, bail};
use dissensus_api::{AttentionCheckInfo, NewAttentionCheck};
use dissensus_app::session::Session;
use dissensus_domain::{AfterFailing, CheckRule, Question};
use dissensus_editing::questions;
use dissensus_editing::texts;
use dissensus_project::words::counted;
use dissensus_transfer::study;

pub(crate) fn checks(args: &Checks) -> Result<()> {
    let sets_rule = args.pass.is_some() || args.within.is_some() || args.then.is_some() || args.no_pass;
    if args.text_id.is_none() && args.from.is_none() && !sets_rule {
        return list(&open_to_read(&args.project.path)?, args.output.json);
    }
    let session = open(&args.project.path)?;
    if args.text_id.is_some() || args.from.is_some() {
        study::set_checks(&session.study, &new(&session, args)?)?;
    }
    if sets_rule {
        set_rule(&session, args)?;
    }
    list(&session, args.output.json)
}

fn new(session: &Session, args: &Checks) -> Result<Vec<NewAttentionCheck>> {
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    Ok(match (&args.from, &args.text_id) {
        (Some(file), _) => study::checks_from(&session.study, question.id, file)?,
        (None, Some(text)) => {
            if args.value.is_none() && !args.remove {
                bail!("say the right answer with --value, or take the check back with --remove");
            }
            vec![check(session, &question, text, args.value.as_deref(), &args.reason)?]
        }
        (None, None) => Vec::new(),
    })
}

fn set_rule(session: &Session, args: &Checks) -> Result<()> {
    let now = study::check_rule(&session.study)?.rule;
    let pass = args.pass.or(now.map(|rule| rule.pass));
    let within = args.within.or(now.map(|rule| rule.within)).unwrap_or_default();
    let then = args.then.or(now.map(|rule| rule.then)).unwrap_or_default();
    match (args.no_pass, pass) {
        (true, _) => study::set_check_rule(&session.study, None)?,
        (false, Some(pass)) => study::set_check_rule(&session.study, Some(CheckRule { pass, within, then }))?,
        (false, None) => bail!("say with --pass which share must be right"),
    };
    Ok(())
}

fn check(
    session: &Session,
    question: &Question,
    text: &str,
    value: Option<&str>,
    reason: &str,
) -> Result<NewAttentionCheck> {
    let (text, _) = texts::find(&session.project, text)?;
    let answer = value.map(|value| questions::answer_named(question, value)).transpose()?;
    Ok(NewAttentionCheck { question: question.id, text, answer, reason: reason.to_owned() })
}

fn list(session: &Session, json: bool) -> Result<()> {
    let found = study::list_checks(&session.study)?;
    if json {
        return output::json(&found);
    }
    if found.is_empty() {
        return output::line("There are no attention checks");
    }
    if let Some(CheckRule { pass, within, then }) = study::check_rule(&session.study)?.rule {
        let then = match then {
            AfterFailing::GoOn => "goes on, and is marked",
            AfterFailing::Practise => "is led back to the practice",
            AfterFailing::Stop => "is asked no more",
        };
        let near = match within {
            0 => String::new(),
            _ => format!(", on ordered levels within {}", counted(within.into(), "level")),
        };
        output::line(&format!("{:.0} % must be right{near}; a person below that {then}", 100.0 * pass))?;
    }
    let row = |one: &AttentionCheckInfo| {
        vec![
            one.text_id.clone(),
            one.question_name.clone(),
            one.answer_name.clone(),
            format!("{} of {}", one.right, one.given),
            output::cut(&one.reason, 40),
            output::cut(&one.body, 50),
        ]
    };
    let header = ["text", "question", "right answer", "gave it", "reason", ""];
    output::line(&output::table(&header, found.iter().map(row).collect(), &[3]))
}
