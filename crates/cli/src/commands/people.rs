//! `people show`, `people form` and `people withdraw`.

use super::{count, note, open, open_to_read};
use crate::args::{Form, Show, Withdraw};
use crate::output;
use anyhow::{Result, bail};
use dissensus_api::{AnnotatorInfo, Traces, Withdrawn};
use dissensus_domain::{AttributeForm, FormAnswers, FormAttribute};
use dissensus_editing::annotators;
use dissensus_editing::attribute_form;
use dissensus_editing::withdraw;

pub(crate) fn show(args: &Show) -> Result<()> {
    let changes = args.name.is_some() || !args.set.is_empty() || !args.unset.is_empty();
    let session = if changes { open(&args.project.path)? } else { open_to_read(&args.project.path)? };
    let id = annotators::find(&session.project, &args.annotator)?.id;
    if changes {
        annotators::change(&session.project, id, args.name.as_deref(), &args.set, &args.unset)?;
    }
    let Some(person) = annotators::list(&session.project)?.into_iter().find(|person| person.id == id) else {
        bail!("\"{}\" is not in the project any more", args.annotator);
    };
    match args.output.json {
        true => output::json(&person),
        false => print_person(&person),
    }
}

fn print_person(person: &AnnotatorInfo) -> Result<()> {
    let name = if person.name == person.external_id { String::new() } else { format!(" ({})", person.name) };
    output::line(&format!("{}{name}: {}", person.external_id, count(person.labels.into(), "label")))?;
    for (attribute, value) in &person.attributes {
        output::text(&format!("  {attribute}: {value}"))?;
    }
    Ok(())
}

pub(crate) fn form(args: &Form) -> Result<()> {
    if let Some(name) = &args.annotator {
        return form_of(args, name);
    }
    if !args.nothing && args.ask.is_empty() {
        let form = attribute_form::form(&open_to_read(&args.project.path)?.project)?;
        return print_form(args, &form, "People are asked nothing about themselves");
    }
    let asked = |name: &String| args.ask.iter().any(|(asked, _)| asked == name);
    let named = args.prompt.iter().map(|(name, _)| name).chain(&args.optional);
    if let Some(name) = named.into_iter().find(|name| !asked(name)) {
        bail!("--ask does not name \"{name}\"");
    }
    let attribute = |(name, values): &(String, Vec<String>)| FormAttribute {
        name: name.clone(),
        prompt: args
            .prompt
            .iter()
            .find(|(of, _)| of == name)
            .map(|(_, words)| words.clone())
            .unwrap_or_default(),
        values: values.clone(),
        optional: args.optional.contains(name),
    };
    let form = AttributeForm { attributes: args.ask.iter().map(attribute).collect() };
    let session = open(&args.project.path)?;
    let form = attribute_form::set(&session.project, &form)?;
    session.close();
    print_form(args, &form, "People are asked nothing about themselves from now on")
}

/// Records the answers given on the command line and prints what the form still asks of the annotator.
fn form_of(args: &Form, name: &str) -> Result<()> {
    let answers: FormAnswers = FormAnswers(
        (args.answer.iter().map(|(attribute, value)| (attribute.clone(), Some(value.clone()))))
            .chain(args.withheld.iter().map(|attribute| (attribute.clone(), None)))
            .collect(),
    );
    let answered = !answers.0.is_empty();
    let session = if answered { open(&args.project.path)? } else { open_to_read(&args.project.path)? };
    let person = annotators::find(&session.project, name)?;
    if answered {
        attribute_form::answer(&session.project, person.id, &answers)?;
    }
    let left = attribute_form::left_to_answer(&session.project, person.id)?;
    session.close();
    print_form(args, &left, "Nothing is left to be asked")
}

fn print_form(args: &Form, form: &AttributeForm, none: &str) -> Result<()> {
    if args.output.json {
        return output::json(form);
    }
    if form.attributes.is_empty() {
        return output::line(none);
    }
    for FormAttribute { name, prompt, values, optional } in &form.attributes {
        let prompt = if prompt.is_empty() { String::new() } else { format!(" \"{prompt}\"") };
        let optional = if *optional { " (can be passed over)" } else { "" };
        output::line(&format!("{name}{prompt}: {}, prefer not to say{optional}", values.join(", ")))?;
    }
    Ok(())
}

pub(crate) fn withdraw(args: &Withdraw) -> Result<()> {
    let session = if args.yes { open(&args.project.path)? } else { open_to_read(&args.project.path)? };
    let person = annotators::find(&session.project, &args.annotator)?;
    let traces = withdraw::traces(&session.project, person.id)?;
    if !args.yes {
        return match args.output.json {
            true => output::json(&traces),
            false => would_go(&traces),
        };
    }
    let gone = withdraw::withdraw(&session.project, person.id)?;
    match args.output.json {
        true => output::json(&gone)?,
        false => output::line(&format!("Erased: {}", parts(gone.answers, gone.packets, gone.runs)))?,
    }
    print_rest(&gone);
    for name in &traces.look_alikes {
        note(&look_alike(name));
    }
    Ok(())
}

/// Warns about an annotator who may be the same person under another spelling.
fn look_alike(name: &str) -> String {
    format!("\"{name}\" looks alike and stays: if that is the same person, withdraw it too")
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
    if let Some(lack) = lack(traces.texts) {
        output::line(&lack)?;
    }
    for copy in &traces.copies {
        output::line(&format!("Not erased there: {copy}"))?;
    }
    for name in &traces.look_alikes {
        output::line(&look_alike(name))?;
    }
    output::line("Nothing was erased: --yes erases it for good")
}

fn print_rest(gone: &Withdrawn) {
    if let Some(stay) = stay(gone.nameless) {
        note(&stay);
    }
    if let Some(lack) = lack(gone.texts) {
        note(&lack);
    }
    if gone.encoder_changed {
        note(
            "the encoder in use had learned from them and is gone: another one is used now (`dissensus models encode`)",
        );
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

/// Describes the texts that now have fewer annotators than planned.
fn lack(texts: u32) -> Option<String> {
    (texts > 0).then(|| {
        format!(
            "{} that they were handed out: each has one person fewer than planned. `dissensus study assign` with the same --per-text hands them out to others",
            count(texts.into(), "text")
        )
    })
}

fn stay(nameless: u32) -> Option<String> {
    match nameless {
        0 => None,
        1 => Some("1 decision or version of the guideline that they wrote stays, without a name".to_owned()),
        n => Some(format!("{n} decisions or versions of the guideline that they wrote stay, without a name")),
    }
}
