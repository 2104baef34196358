//! `data guideline` and `label notes`.

use super::{count, note, open, open_to_read};
use crate::args::{Guideline, Notes};
use crate::output;
use anyhow::{Context, Result};
use dissensus_api::{
    GuidelineAgreement, GuidelineFigures, GuidelineInfo, NewGuideline, NoteInfo, NoteQuery, WordingInfo,
};
use dissensus_editing::annotators;
use dissensus_editing::notes;
use dissensus_editing::questions;
use dissensus_labelling::guideline::OnScreen;
use dissensus_project::clock::local_time;
use std::path::Path;

pub(crate) fn guideline(args: &Guideline) -> Result<()> {
    if let Some(file) = &args.from {
        return write(args, file);
    }
    let session = open_to_read(&args.project.path)?;
    if args.agreement {
        let by = if args.by_wording { OnScreen::Wording } else { OnScreen::Guideline };
        let found = session.guideline.agreement(by)?;
        return if args.output.json { output::json(&found) } else { agreement(&found) };
    }
    if args.wordings {
        let found = session.guideline.wordings()?;
        return if args.output.json { output::json(&found) } else { wordings(&found) };
    }
    if args.versions {
        let versions = session.guideline.versions()?;
        return if args.output.json { output::json(&versions) } else { list(&versions) };
    }
    let version = session.guideline.version(args.version)?;
    if args.output.json {
        return output::json(&version);
    }
    for line in version.body.trim_end().lines() {
        output::text(line)?;
    }
    Ok(())
}

fn write(args: &Guideline, file: &Path) -> Result<()> {
    let body = std::fs::read_to_string(file)
        .with_context(|| format!("reading the guideline {}: it must be text in UTF-8", file.display()))?;
    let session = open(&args.project.path)?;
    let (change, by) = (args.what_changed.clone(), args.by.clone());
    let new = NewGuideline { body, change, by, pictures: Vec::new(), after: None };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = session.guideline.write(&new, Some(folder))?;
    session.close();
    if args.output.json {
        return output::json(&written);
    }
    for notice in &written.notices {
        note(notice);
    }
    output::line(&format!("Wrote version {} of the guideline", written.guideline.number))
}

fn list(versions: &[GuidelineInfo]) -> Result<()> {
    if versions.is_empty() {
        return output::line("There is no guideline yet");
    }
    let row = |version: &GuidelineInfo| {
        vec![
            version.number.to_string(),
            local_time(version.at),
            version.by.clone(),
            version.change.clone(),
            count(version.body.chars().count() as u64, "character"),
        ]
    };
    let rows = versions.iter().map(row).collect();
    output::line(&output::table(&["version", "written", "by", "what changed", "length"], rows, &[0]))
}

fn wordings(found: &[WordingInfo]) -> Result<()> {
    if found.is_empty() {
        return output::line("No answer names the wording of its question: imported answers never do");
    }
    let row = |wording: &WordingInfo| {
        let levels: Vec<String> = (wording.levels.iter())
            .map(|level| match level.definition.as_str() {
                "" => level.name.clone(),
                definition => format!("{} ({definition})", level.name),
            })
            .collect();
        vec![
            wording.question.clone(),
            wording.number.to_string(),
            local_time(wording.since),
            wording.answers.to_string(),
            wording.prompt.clone(),
            levels.join("; "),
        ]
    };
    let header = ["question", "wording", "first answer", "answers", "prompt", "levels"];
    output::line(&output::table(&header, found.iter().map(row).collect(), &[1, 3]))
}

fn agreement(found: &[GuidelineAgreement]) -> Result<()> {
    let row = |of: &GuidelineAgreement, figures: &GuidelineFigures| {
        let alpha = match (figures.alpha, figures.low, figures.high) {
            (Some(alpha), Some(low), Some(high)) => {
                let whose = if figures.like_these { "people like these" } else { "these people" };
                format!("{alpha:.2} (95 % {low:.2} to {high:.2} for {whose})")
            }
            (Some(_), ..) => "1.00 (nobody differs)".to_owned(),
            _ => "too little to tell".to_owned(),
        };
        let number = figures.number.map_or_else(|| "none".to_owned(), |number| number.to_string());
        vec![of.name.clone(), number, figures.labels.to_string(), figures.texts.to_string(), alpha]
    };
    let rows: Vec<_> =
        found.iter().flat_map(|of| of.figures.iter().map(|figures| row(of, figures))).collect();
    if rows.is_empty() {
        return output::line("Nobody has labelled anything yet");
    }
    let header = ["question", "version", "labels", "texts of two", "alpha (95 %)"];
    output::line(&output::table(&header, rows, &[1, 2, 3]))?;
    output::line("Versions were used on other texts: a difference between them is not theirs alone.")
}

pub(crate) fn notes(args: &Notes) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let project = &session.project;
    let query = NoteQuery {
        question: args
            .question
            .as_deref()
            .map(|name| questions::find(project, Some(name)))
            .transpose()?
            .map(|q| q.id),
        annotator: args
            .annotator
            .as_deref()
            .map(|name| annotators::find(project, name))
            .transpose()?
            .map(|a| a.id),
        words: args.search.clone(),
        reason: args.reason.clone(),
        flagged: args.flagged,
    };
    let found = notes::list(project, &query)?;
    if args.output.json {
        return output::json(&found);
    }
    if found.is_empty() {
        return output::line("There are no notes or flags of that kind");
    }
    let row = |one: &NoteInfo| {
        let mut marks = Vec::new();
        marks.extend(one.flagged.then_some("flagged"));
        marks.extend(one.skipped.then_some("skipped"));
        vec![
            one.text_id.clone(),
            one.annotator_name.clone(),
            one.question_name.clone(),
            one.answer.clone().unwrap_or_default(),
            one.note.confidence.map_or_else(String::new, |sure| sure.to_string()),
            one.note.reasons.join(", "),
            one.note.note.as_deref().map_or_else(String::new, |note| output::cut(note, 60)),
            marks.join(", "),
        ]
    };
    let header = ["text", "person", "question", "answer", "sure", "reasons", "note", "marks"];
    output::line(&output::table(&header, found.iter().map(row).collect(), &[4]))
}
