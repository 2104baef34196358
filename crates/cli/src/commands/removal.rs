//! `project remove`.

use super::{count, open, open_to_read};
use crate::args::Remove;
use crate::output;
use anyhow::{Result, bail};
use dissensus_api::{Removal, RemovalCounts, RemovalPreview, Removed};
use dissensus_app::session::Session;
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_editing::remove;
use dissensus_editing::texts;

pub(crate) fn remove(args: &Remove) -> Result<()> {
    let session = if args.yes { open(&args.project.path)? } else { open_to_read(&args.project.path)? };
    let what = named(args, &session)?;
    if !args.yes {
        let preview = remove::preview(&session.project, &what)?;
        return match args.output.json {
            true => output::json(&preview),
            false => would_go(&preview),
        };
    }
    let removed = remove::remove(&session.project, &what)?;
    match args.output.json {
        true => output::json(&removed),
        false => print_removed(&removed),
    }
}

fn named(args: &Remove, session: &Session) -> Result<Removal> {
    let what = &args.what;
    if let Some(name) = &what.question {
        let question = questions::find(&session.project, Some(name))?;
        if question.id.option().is_some() {
            bail!("\"{name}\" is an option: options stay, a question is removed as a whole");
        }
        return Ok(Removal::Question(question.id));
    }
    if let Some(name) = &what.text {
        return Ok(Removal::Text(texts::find(&session.project, name)?.0));
    }
    if let Some(name) = &what.annotator {
        return Ok(Removal::Annotator(annotators::find(&session.project, name)?.id));
    }
    if !what.last_import {
        bail!("name what to remove: --question, --text, --annotator or --last-import");
    }
    Ok(Removal::LastImport)
}

fn words(counts: RemovalCounts) -> String {
    let parts = [
        (counts.questions, "question"),
        (counts.texts, "text"),
        (counts.annotators, "annotator"),
        (counts.answers, "answer"),
        (counts.attributes, "attribute"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(u64::from(*n), what)).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

fn would_go(preview: &RemovalPreview) -> Result<()> {
    if let Some(why) = &preview.stays {
        return output::line(&format!("\"{}\" cannot be removed: {why}", preview.name));
    }
    match preview.imported_at {
        Some(_) => output::line(&format!("The import of {} added {}", preview.name, words(preview.counts)))?,
        None => output::line(&format!("Nothing depends on \"{}\": it can be removed", preview.name))?,
    }
    if preview.imported_at.is_some() {
        output::line("What was used, changed or taken back since stays")?;
    }
    output::line("Nothing was removed: --yes removes it")
}

fn print_removed(removed: &Removed) -> Result<()> {
    output::line(&format!("Removed \"{}\": {}", removed.name, words(removed.gone)))?;
    if removed.kept != RemovalCounts::default() {
        output::line(&format!(
            "Stays, because it was used, changed or taken back since: {}",
            words(removed.kept)
        ))?;
    }
    Ok(())
}
