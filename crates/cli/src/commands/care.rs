//! `people reveal` and `people care`: what annotators see of others' answers, and their protection from
//! harmful texts.

use super::{count, open, open_to_read};
use crate::args::{Care, Reveal};
use crate::output;
use anyhow::{Context as _, Result};
use dissensus_api::{HarmfulFrom, StudyCare};
use dissensus_app::session::Session;
use dissensus_editing::care;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::reveal;
use schemars::JsonSchema;
use serde::Serialize;

/// What `reveal --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct RevealState {
    /// Labels by annotators who had already been shown something of others' answers to the text.
    labels_after_shown: u32,
    /// Whether an annotator who has answered a text is shown how others see it.
    reveals: bool,
}

/// What `care --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct CareState {
    /// Whether texts and pictures are shown without colour.
    greyscale: bool,
    /// From which levels on a text is harmful.
    harmful: Vec<HarmfulLevel>,
    /// Harmful texts a day.
    limit: Option<u32>,
    /// Whether nobody goes on beyond the limit.
    strict: bool,
}

/// A level from which on a text is harmful.
#[derive(Serialize, JsonSchema)]
struct HarmfulLevel {
    /// Its name.
    level: String,
    /// The question.
    question: String,
}

pub(crate) fn reveal(args: &Reveal) -> Result<()> {
    let session = match args.to {
        None => open_to_read(&args.project.path)?,
        Some(to) => {
            let session = open(&args.project.path)?;
            reveal::set(&session.project, to)?;
            session
        }
    };
    let info = info::read(&session.project)?;
    session.close();
    if args.output.json {
        return output::json(&RevealState {
            labels_after_shown: info.labels_after_shown,
            reveals: info.reveals,
        });
    }
    output::line(match info.reveals {
        true => "After an answer, how others see the text is shown",
        false => "After an answer the next text comes; how others see it is not shown",
    })?;
    match info.labels_after_shown {
        0 => Ok(()),
        n => output::line(&after_shown(n)),
    }
}

/// Describes how many labels were given after something was shown.
pub(super) fn after_shown(labels: u32) -> String {
    format!(
        "{} given by people who had been shown something of others about the text before",
        count(u64::from(labels), "label")
    )
}

pub(crate) fn care(args: &Care) -> Result<()> {
    let changes = args.limit.is_some()
        || args.no_limit
        || args.strict.is_some()
        || args.greyscale.is_some()
        || args.level.is_some()
        || args.no_level;
    let session = match changes {
        false => open_to_read(&args.project.path)?,
        true => open(&args.project.path)?,
    };
    if changes {
        let care = changed(&session, args)?;
        care::set(&session.project, &care)?;
    }
    let info = info::read(&session.project)?;
    session.close();
    let named = |one: &HarmfulFrom| {
        let question = info.questions.iter().find(|question| question.id == one.question)?;
        Some((
            question.name.clone(),
            question.scale.kind().name(),
            question.scale.name_of(one.level)?.to_owned(),
        ))
    };
    let harmful: Vec<_> = info.care.harmful.iter().filter_map(named).collect();
    if args.output.json {
        let harmful =
            harmful.into_iter().map(|(question, _, level)| HarmfulLevel { level, question }).collect();
        let StudyCare { limit, strict, greyscale, .. } = info.care;
        return output::json(&CareState { greyscale, harmful, limit, strict });
    }
    output::line(&match (info.care.limit, info.care.strict) {
        (None, _) => "No daily limit of harmful texts".to_owned(),
        (Some(limit), false) => {
            format!("{} a day; people may go on", count(u64::from(limit), "harmful text"))
        }
        (Some(limit), true) => {
            format!("{} a day, and nobody goes on", count(u64::from(limit), "harmful text"))
        }
    })?;
    for (question, kind, level) in &harmful {
        let above = if *kind == "ordinal" { " or above" } else { "" };
        output::line(&format!("Harmful: {question} = {level}{above}"))?;
    }
    if harmful.is_empty() {
        output::line(
            "No level is named from which on a text is harmful: flags count, and what people choose",
        )?;
    }
    match info.care.greyscale {
        true => output::line("Texts and pictures are shown without colour"),
        false => Ok(()),
    }
}

/// Current settings with the requested changes.
fn changed(session: &Session, args: &Care) -> Result<StudyCare> {
    let mut care = care::read(&session.project)?;
    care.limit = args.limit.or(care.limit).filter(|_| !args.no_limit);
    care.strict = args.strict.unwrap_or(care.strict);
    care.greyscale = args.greyscale.unwrap_or(care.greyscale);
    if args.level.is_none() && !args.no_level {
        return Ok(care);
    }
    let question = questions::find(&session.project, args.question.as_deref())?;
    care.harmful.retain(|one| one.question != question.id);
    if let Some(level) = &args.level {
        let names = question.scale.levels().join(", ");
        let found = question.scale.id_named(level.trim());
        let level = found.with_context(|| format!("{} has no level \"{level}\": {names}", question.name))?;
        care.harmful.push(HarmfulFrom { question: question.id, level });
    }
    Ok(care)
}
