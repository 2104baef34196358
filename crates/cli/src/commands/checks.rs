//! `checks`: texts whose right answer is known.

use super::{open, open_to_read};
use crate::args::Checks;
use crate::output;
use anyhow::{Result, bail};
use dissensus_domain::Question;
use dissensus_workbench::Session;
use dissensus_workbench::view::{AttentionCheckInfo, NewAttentionCheck};

pub(crate) fn checks(args: &Checks) -> Result<()> {
    if args.text_id.is_none() && args.from.is_none() {
        return list(&open_to_read(&args.project)?, args.json);
    }
    let session = open(&args.project)?;
    let question = session.project.question(args.question.as_deref())?;
    let new = match (&args.from, &args.text_id) {
        (Some(file), _) => session.study.checks_from(question.id, file)?,
        (None, Some(text)) => {
            if args.value.is_none() && !args.remove {
                bail!("say the right answer with --value, or take the check back with --remove");
            }
            vec![check(&session, &question, text, args.value.as_deref(), &args.reason)?]
        }
        (None, None) => Vec::new(),
    };
    session.study.set_checks(&new)?;
    list(&session, args.json)
}

fn check(
    session: &Session,
    question: &Question,
    text: &str,
    value: Option<&str>,
    reason: &str,
) -> Result<NewAttentionCheck> {
    let (text, _) = session.project.text_named(text)?;
    let answer = value.map(|value| session.project.answer_named(question, value)).transpose()?;
    Ok(NewAttentionCheck { question: question.id, text, answer, reason: reason.to_owned() })
}

fn list(session: &Session, json: bool) -> Result<()> {
    let found = session.study.checks()?;
    if json {
        return output::json(&found);
    }
    if found.is_empty() {
        return output::line("There are no attention checks");
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
