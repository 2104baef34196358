//! `new`, `sample`, `question` and `info`.

use super::{annotators, count, home, open, open_to_read};
use crate::args::{New, Question, Reading};
use crate::output;
use anyhow::Result;
use dissensus_domain::{Scale, ScaleKind};
use dissensus_workbench::{Session, sample};
use std::path::Path;

pub(crate) fn new(args: &New) -> Result<()> {
    let session = Session::create(&args.project, &home()?)?;
    session.close();
    made(&args.project, args.json, "Made")
}

pub(crate) fn sample(args: &New) -> Result<()> {
    sample::create(&args.project)?;
    made(&args.project, args.json, "Made the sample project")?;
    if !args.json {
        output::line(sample::NOTICE)?;
    }
    Ok(())
}

fn made(project: &Path, json: bool, what: &str) -> Result<()> {
    if json {
        return output::json(&serde_json::json!({ "project": project }));
    }
    output::line(&format!("{what} {}", project.display()))
}

pub(crate) fn question(args: Question) -> Result<()> {
    // The levels stand in their order; only their kind is guessed, and what is wrong with them is told by `Scale::new`.
    let guess = || Scale::guess(&args.levels).map_or(ScaleKind::Choice, |scale| scale.kind());
    let scale = Scale::new(args.scale.unwrap_or_else(guess), &args.levels)?;
    let session = open(&args.project)?;
    let made = session.project.add_question(&args.name, args.prompt.as_deref().unwrap_or_default(), scale)?;
    session.close();
    if args.json {
        return output::json(&made);
    }
    output::line(&format!(
        "Added the question {}: \"{}\", {}",
        made.name,
        made.prompt,
        scale_words(&made.scale)
    ))
}

fn scale_words(scale: &Scale) -> String {
    format!("{} ({})", scale.kind(), scale.options().join(", "))
}

pub(crate) fn info(args: &Reading) -> Result<()> {
    let info = open_to_read(&args.project)?.project.info()?;
    if args.json {
        return output::json(&info);
    }
    let size = [
        count(u64::from(info.texts), "text"),
        annotators(info.annotators, info.annotators_without_labels),
        count(u64::from(info.labels), "label"),
    ];
    output::line(&format!("{}: {}", info.name, size.join(", ")))?;
    if let Some(notice) = &info.simulated_notice {
        output::line(notice)?;
    }
    for question in &info.questions {
        let scale = scale_words(&question.scale);
        let labels = count(u64::from(question.labels), "label");
        let by = count(u64::from(question.annotators_with_labels), "annotator");
        output::line(&format!(
            "question {}: \"{}\", {scale}, {labels} by {by}",
            question.name, question.prompt
        ))?;
    }
    for attribute in &info.attributes {
        output::line(&format!("attribute {}: {}", attribute.name, attribute.values.join(", ")))?;
    }
    let encoding = &info.encoding;
    let encoder = encoding.version.as_deref().unwrap_or("none yet");
    output::line(&format!("embeddings: {} of {} ({encoder})", encoding.encoded, encoding.total))
}
