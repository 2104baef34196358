//! `new`, `sample`, `question` and `info`.

use super::{annotators, count, home, open, open_to_read};
use crate::args::{New, Question, Reading};
use crate::output;
use anyhow::{Context as _, Result, bail};
use dissensus_domain::{RemarkForm, Scale, ScaleKind};
use dissensus_workbench::view::{Estimation, QuestionInfo};
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
    if args.levels.is_empty() {
        return change_question(&args);
    }
    // The levels stand in their order; only their kind is guessed, and what is wrong with them is told by `Scale::new`.
    let guess = || Scale::guess(&args.levels).map_or(ScaleKind::Choice, |scale| scale.kind());
    let scale = Scale::new(args.scale.unwrap_or_else(guess), &args.levels)?;
    let session = open(&args.project)?;
    let only_if = args.only_if.as_ref().map(|words| session.project.condition_named(words)).transpose()?;
    let prompt = args.prompt.as_deref().unwrap_or_default();
    let form = RemarkForm { reasons: args.reason.clone(), confidence: args.confidence.unwrap_or(false) };
    form.check()?;
    let made = session.project.add_question_only_if(&args.name, prompt, scale, only_if)?;
    session.project.set_remark_form(made.id, &form)?;
    told(&session, &made.name, "Added the question", args.json)
}

fn change_question(args: &Question) -> Result<()> {
    if args.prompt.is_some() || args.scale.is_some() {
        bail!(
            "only the names of levels and the condition of a question can be changed: for a new question give --levels"
        );
    }
    let session = open(&args.project)?;
    let project = &session.project;
    let question = project.question(Some(&args.name))?;
    if args.no_reasons || !args.reason.is_empty() || args.confidence.is_some() {
        let before = question.remarks.clone();
        let reasons = match args.no_reasons || !args.reason.is_empty() {
            true => args.reason.clone(),
            false => before.reasons,
        };
        let confidence = args.confidence.unwrap_or(before.confidence);
        project.set_remark_form(question.id, &RemarkForm { reasons, confidence })?;
    } else if args.rename.is_empty() {
        let only_if = args.only_if.as_ref().map(|words| project.condition_named(words)).transpose()?;
        project.set_condition(question.id, only_if)?;
    } else {
        project.rename_levels(question.id, &project.names_after(&question, &args.rename)?)?;
    }
    told(&session, &question.name, "Changed the question", args.json)
}

/// Says what a question is now, and closes the project.
fn told(session: &Session, name: &str, what: &str, json: bool) -> Result<()> {
    let info = session.project.info()?;
    session.close();
    let made =
        info.questions.iter().find(|question| question.name == name).context("the question is gone")?;
    if json {
        return output::json(made);
    }
    output::line(&format!(
        "{what} {}: \"{}\", {}{}",
        made.name,
        made.prompt,
        scale_words(&made.scale),
        condition_words(made, &info.questions)
    ))
}

/// ", asked only if rude is 4 or 5".
fn condition_words(question: &QuestionInfo, all: &[QuestionInfo]) -> String {
    let Some(only_if) = &question.only_if else { return String::new() };
    let Some(other) = all.iter().find(|other| other.id == only_if.question) else { return String::new() };
    let names: Vec<&str> = only_if.levels.iter().filter_map(|level| other.scale.name_of(*level)).collect();
    let verb = if other.scale.has_options() { "has" } else { "is" };
    format!(", asked only if {} {verb} {}", other.name, names.join(" or "))
}

fn scale_words(scale: &Scale) -> String {
    format!("{} ({})", scale.kind(), scale.levels().join(", "))
}

/// What the model of a question estimated, and what it cannot.
fn estimation_words(found: Option<&Estimation>) -> String {
    let Some(found) = found else {
        return "no model is fitted yet (dissensus train)".to_owned();
    };
    let severities = found.annotator_sd.map(|sd| format!(", of severities {sd:.2}")).unwrap_or_default();
    let settled = if found.converged { "" } else { ", not settled" };
    let rounds = count(u64::from(found.rounds), "round");
    let mut words = format!(
        "model: standard deviation of texts beside their embeddings {:.2}{severities} (logits), log-likelihood {:.1}, {rounds}{settled}",
        found.text_sd, found.log_likelihood
    );
    for limit in found.limit_texts.iter().chain(&found.group_slopes) {
        words.push_str("\n  ");
        words.push_str(limit);
    }
    words
}

pub(crate) fn info(args: &Reading) -> Result<()> {
    let session = open_to_read(&args.project)?;
    let info = session.project.info()?;
    let estimated = info.questions.iter().map(|question| session.live.estimation(question.id));
    let estimated: Vec<Option<Estimation>> = estimated.collect::<Result<_, _>>()?;
    let mut fitted_options = Vec::new();
    for question in &info.questions {
        let mut fitted = 0;
        for option in &question.options {
            fitted += usize::from(session.live.estimation(option.id)?.is_some());
        }
        fitted_options.push(fitted);
    }
    if args.json {
        let mut info = serde_json::to_value(&info)?;
        for (at, estimation) in estimated.iter().enumerate() {
            info["questions"][at]["estimation"] = serde_json::to_value(estimation)?;
        }
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
    for ((question, estimation), fitted) in info.questions.iter().zip(&estimated).zip(&fitted_options) {
        let scale = scale_words(&question.scale);
        let labels = count(u64::from(question.labels), "label");
        let by = count(u64::from(question.annotators_with_labels), "annotator");
        output::line(&format!(
            "question {}: \"{}\", {scale}{}, {labels} by {by}",
            question.name,
            question.prompt,
            condition_words(question, &info.questions)
        ))?;
        match question.options.len() {
            0 => output::line(&format!("  {}", estimation_words(estimation.as_ref())))?,
            options => output::line(&format!("  a model is fitted for {fitted} of {options} options"))?,
        }
    }
    for attribute in &info.attributes {
        output::line(&format!("attribute {}: {}", attribute.name, attribute.values.join(", ")))?;
    }
    let encoding = &info.encoding;
    let encoder = encoding.version.as_deref().unwrap_or("none yet");
    output::line(&format!("embeddings: {} of {} ({encoder})", encoding.encoded, encoding.total))
}
