//! `annotator` and `withdraw`: what is known of one person, and erasing it.

use super::{count, note, open, open_to_read};
use crate::args::{Annotator, Withdraw};
use crate::output;
use anyhow::{Result, bail};
use dissensus_workbench::view::{AnnotatorInfo, Traces, Withdrawn};

pub(crate) fn annotator(args: &Annotator) -> Result<()> {
    let changes = args.name.is_some() || !args.set.is_empty() || !args.unset.is_empty();
    let session = if changes { open(&args.project)? } else { open_to_read(&args.project)? };
    let id = session.project.annotator(&args.annotator)?.id;
    if changes {
        session.project.change_annotator(id, args.name.as_deref(), &args.set, &args.unset)?;
    }
    let Some(person) = session.project.annotators()?.into_iter().find(|person| person.id == id) else {
        bail!("\"{}\" is not in the project any more", args.annotator);
    };
    match args.json {
        true => output::json(&person),
        false => tell(&person),
    }
}

fn tell(person: &AnnotatorInfo) -> Result<()> {
    let name = if person.name == person.external_id { String::new() } else { format!(" ({})", person.name) };
    output::line(&format!("{}{name}: {}", person.external_id, count(person.labels.into(), "label")))?;
    for (attribute, value) in &person.attributes {
        output::line(&format!("  {attribute}: {value}"))?;
    }
    Ok(())
}

pub(crate) fn withdraw(args: &Withdraw) -> Result<()> {
    let session = if args.yes { open(&args.project)? } else { open_to_read(&args.project)? };
    let person = session.project.annotator(&args.annotator)?;
    let traces = session.project.traces(person.id)?;
    if !args.yes {
        return match args.json {
            true => output::json(&traces),
            false => would_go(&traces),
        };
    }
    let gone = session.project.withdraw(person.id)?;
    match args.json {
        true => output::json(&gone)?,
        false => output::line(&format!("Erased: {}", parts(gone.answers, gone.packets, gone.runs)))?,
    }
    tell_rest(&gone);
    Ok(())
}

fn parts(answers: u32, packets: u32, runs: u32) -> String {
    format!(
        "{} (notes and marks among them), {}, {} and everything known of the person",
        count(answers.into(), "answer"),
        count(packets.into(), "packet"),
        count(runs.into(), "training run")
    )
}

fn would_go(traces: &Traces) -> Result<()> {
    output::line(&format!(
        "If \"{}\" withdraws, this goes for good: {}",
        traces.external_id,
        parts(traces.answers, traces.packets, traces.runs)
    ))?;
    if let Some(stay) = stay(traces.nameless) {
        output::line(&stay)?;
    }
    for copy in &traces.copies {
        output::line(&format!("Not erased there: {copy}"))?;
    }
    output::line("Nothing was erased: --yes erases it for good")
}

fn tell_rest(gone: &Withdrawn) {
    if let Some(stay) = stay(gone.nameless) {
        note(&stay);
    }
    if gone.encoder_changed {
        note("the encoder in use had learned from them and is gone: another one is used now (`encode`)");
    }
    for copy in &gone.copies {
        note(&format!("{copy} still has them: delete it, or open it and merge this project into it"));
    }
    if !gone.cleaned {
        note(
            "bytes of theirs may still be in the file: it is cleaned when it is opened the next time to write, and nobody else reads it then",
        );
    }
    note("exports, bundles, packets and backups elsewhere still have them: delete these");
}

fn stay(nameless: u32) -> Option<String> {
    match nameless {
        0 => None,
        1 => Some("1 decision or version of the guideline that they wrote stays, without a name".to_owned()),
        n => Some(format!("{n} decisions or versions of the guideline that they wrote stay, without a name")),
    }
}
