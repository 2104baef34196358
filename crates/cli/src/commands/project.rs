//! `project new`, `project sample`, `project info` and `data question`.

use super::project_document::ProjectDocument;
use super::{annotators, count, home, note, open, open_to_read};
use crate::args::{New, Question, Reading};
use crate::output;
use anyhow::{Context as _, Result, bail};
use dissensus_api::{Estimation, QuestionInfo, QuestionPart};
use dissensus_app::session::Session;
use dissensus_domain::{LevelEdit, NoteForm, QuestionHelp, Scale, ScaleKind};
use dissensus_editing::QuestionChange;
use dissensus_editing::disk_encryption;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_project::clock::local_time;
use dissensus_project::sample;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// What `new --json` and `sample --json` print.
#[derive(Serialize, JsonSchema)]
pub(super) struct ProjectMade<'a> {
    /// The project file.
    project: &'a Path,
}

pub(crate) fn new(args: &New) -> Result<()> {
    let session = Session::create(&args.project, &home()?)?;
    session.close();
    made(&args.project, args.output.json, &format!("Made {}", args.project.display()))
}

pub(crate) fn sample(args: &New) -> Result<()> {
    sample::create(&args.project)?;
    let what = format!("Made the sample project {}", args.project.display());
    made(&args.project, args.output.json, &what)?;
    if !args.output.json {
        output::line(sample::NOTICE)?;
    }
    Ok(())
}

fn made(project: &Path, json: bool, what: &str) -> Result<()> {
    if json {
        return output::json(&ProjectMade { project });
    }
    output::line(what)
}

pub(crate) fn question(args: Question) -> Result<()> {
    let scale = match (&args.template, args.levels.is_empty()) {
        (Some(template), _) => template.scale.clone(),
        (None, true) => return change_question(&args),
        (None, false) => {
            // The levels are in order. Only their kind is guessed; `Scale::new` reports invalid levels.
            let guess = || Scale::guess(&args.levels).map_or(ScaleKind::Choice, |scale| scale.kind());
            Scale::new(args.scale.unwrap_or_else(guess), &args.levels)?
        }
    };
    let session = open(&args.project.path)?;
    let project = &session.project;
    let only_if =
        args.only_if.as_ref().map(|words| questions::condition_named(project, words)).transpose()?;
    let prompt = args.prompt.clone().unwrap_or_default();
    let note_form = NoteForm { reasons: args.reason.clone(), confidence: args.confidence.unwrap_or(false) };
    let definitions = definitions(&args.name, scale.levels(), &args.define)?;
    let help = help(&args, QuestionHelp::default());
    let (name, cannot_say) = (args.name.clone(), args.cannot_say);
    let request = AddQuestion { name, prompt, scale, only_if, help, definitions, note_form, cannot_say };
    let made = questions::add(project, request)?;
    print_question(&session, &made.name, "Added the question", args.output.json)
}

fn help(args: &Question, before: QuestionHelp) -> QuestionHelp {
    let given = |new: &Option<String>, old: String| new.clone().unwrap_or(old);
    QuestionHelp {
        text: given(&args.help_text, before.text),
        low: given(&args.low, before.low),
        high: given(&args.high, before.high),
    }
}

/// Definitions of the levels of a new question, in order.
fn definitions(name: &str, levels: &[String], defined: &[String]) -> Result<Vec<String>> {
    let levels =
        levels.iter().map(|level| LevelEdit { from: None, name: level.clone(), definition: String::new() });
    let mut levels: Vec<LevelEdit> = levels.collect();
    dissensus_editing::define_levels(name, &mut levels, defined)?;
    Ok(levels.into_iter().map(|level| level.definition).collect())
}

fn change_question(args: &Question) -> Result<()> {
    if args.scale.is_some() {
        bail!(
            "the kind of scale of a question cannot be changed: for a new question give --levels or --template"
        );
    }
    let session = open(&args.project.path)?;
    let project = &session.project;
    let question = questions::find(project, Some(&args.name))?;
    let mut change = QuestionChange { prompt: args.prompt.clone(), ..QuestionChange::default() };
    if args.help_text.is_some() || args.low.is_some() || args.high.is_some() {
        change.help = Some(help(args, question.help.clone()));
    }
    if args.no_reasons || !args.reason.is_empty() || args.confidence.is_some() {
        let before = question.note_form.clone();
        let reasons = match args.no_reasons || !args.reason.is_empty() {
            true => args.reason.clone(),
            false => before.reasons,
        };
        let confidence = args.confidence.unwrap_or(before.confidence);
        change.note_form = Some(NoteForm { reasons, confidence });
    }
    change.cannot_say = args.cannot_say;
    if args.always || args.only_if.is_some() {
        change.only_if =
            Some(args.only_if.as_ref().map(|words| questions::condition_named(project, words)).transpose()?);
    }
    if !(args.rename.is_empty() && args.set_levels.is_empty() && args.define.is_empty()) {
        let mut levels = match args.set_levels.as_slice() {
            [] => questions::levels_named(&question, question.scale.levels()),
            names => questions::levels_named(&question, names),
        };
        for (level, name) in levels.iter_mut().zip(questions::names_after(&question, &args.rename)?) {
            if args.set_levels.is_empty() {
                level.name = name;
            }
        }
        dissensus_editing::define_levels(&question.name, &mut levels, &args.define)?;
        change.levels = Some(levels);
    }
    if change == QuestionChange::default() {
        bail!(
            "nothing is given to change: for a new question name its --levels or a --template; of a question that is there --prompt, \
             --help-text, --low, --high, --define, --rename, --set-levels, --only-if, --always, --reason, --no-reasons, --confidence or --cannot-say"
        );
    }
    questions::edit(project, question.id, &change)?;
    print_question(&session, &question.name, "Changed the question", args.output.json)
}

/// Prints the current state of a question, and closes the project.
fn print_question(session: &Session, name: &str, what: &str, json: bool) -> Result<()> {
    let info = info::read(&session.project)?;
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

/// Describes the condition of a question: ", asked only if rude is 4 or 5".
fn condition_words(question: &QuestionInfo, all: &[QuestionInfo]) -> String {
    let Some(only_if) = &question.only_if else { return String::new() };
    let Some(other) = all.iter().find(|other| other.id == only_if.question) else { return String::new() };
    let names: Vec<&str> = only_if.levels.iter().filter_map(|level| other.scale.name_of(*level)).collect();
    let verb = if other.scale.has_options() { "has" } else { "is" };
    format!(", asked only if {} {verb} {}", other.name, names.join(" or "))
}

/// Lines with the explanations of a question and its edits.
fn explained(question: &QuestionInfo) -> Vec<String> {
    let mut lines = Vec::new();
    let help = &question.help;
    if !help.text.is_empty() {
        lines.push(format!("help: {}", help.text.replace('\n', " ")));
    }
    if !help.low.is_empty() || !help.high.is_empty() {
        lines.push(format!("from \"{}\" to \"{}\"", help.low, help.high));
    }
    let defined =
        question.scale.levels().iter().zip(&question.definitions).filter(|(_, what)| !what.is_empty());
    lines.extend(defined.map(|(level, what)| format!("{level}: {}", what.replace('\n', " "))));
    let of = question.labels + question.cannot_say_answers;
    if question.cannot_say_answers > 0 {
        let share = f64::from(question.cannot_say_answers) / f64::from(of);
        lines.push(format!(
            "cannot say: {} of {} ({:.1} %)",
            question.cannot_say_answers,
            count(u64::from(of), "answer"),
            100.0 * share
        ));
    } else if question.cannot_say {
        lines.push("offers to say that one cannot say".to_owned());
    }
    if let Some(last) = question.edits.edits.last() {
        let part = |part: &QuestionPart| match part {
            QuestionPart::Text => "its text",
            QuestionPart::Help => "its help",
            QuestionPart::LevelNames => "names or definitions of its levels",
            QuestionPart::Levels => "its levels",
            QuestionPart::CannotSay => "whether \"cannot say\" is offered",
        };
        let what = last.parts.iter().map(part).collect::<Vec<_>>().join(", ");
        let before = count(u64::from(question.edits.labels_before), "label");
        lines.push(format!(
            "edited {}, last {what} at {}; {before} from before that",
            count(question.edits.edits.len() as u64, "time"),
            local_time(last.at),
        ));
    }
    lines
}

fn scale_words(scale: &Scale) -> String {
    format!("{} ({})", scale.kind(), scale.levels().join(", "))
}

/// Describes what the model of a question estimated, and what it cannot estimate.
fn estimation_words(found: Option<&Estimation>) -> String {
    let Some(found) = found else {
        return "no model is fitted yet (dissensus models train)".to_owned();
    };
    let severities = found.annotator_sd.map(|sd| format!(", of severities {sd:.2}")).unwrap_or_default();
    let settled = if found.converged { "" } else { ", not settled" };
    let rounds = count(u64::from(found.rounds), "round");
    let mut words = format!(
        "model: standard deviation of texts beyond their embeddings {:.2}{severities} (logits), log-likelihood {:.1}, {rounds}{settled}",
        found.text_sd, found.log_likelihood
    );
    for limit in found.limit_texts.iter().chain(&found.group_slopes) {
        words.push_str("\n  ");
        words.push_str(limit);
    }
    words
}

pub(crate) fn info(args: &Reading) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let info = info::read(&session.project)?;
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
    let disk = disk_encryption::of(&session.project);
    if args.output.json {
        return output::json(&ProjectDocument::new(info, estimated, disk));
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
    if let Some(notice) = &info.readable_notice {
        note(notice);
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
        for line in explained(question) {
            output::line(&format!("  {line}"))?;
        }
        match question.options.len() {
            0 => output::line(&format!("  {}", estimation_words(estimation.as_ref())))?,
            parts => {
                let what = if question.scale.form().marks_words() { "types" } else { "options" };
                output::line(&format!("  a model is fitted for {fitted} of {parts} {what}"))?;
            }
        }
    }
    if info.labels_after_shown > 0 {
        output::line(&super::care::after_shown(info.labels_after_shown))?;
    }
    for attribute in &info.attributes {
        output::line(&format!("attribute {}: {}", attribute.name, attribute.values.join(", ")))?;
    }
    let encoding = &info.encoding;
    let encoder = encoding.version.as_deref().unwrap_or("none yet");
    output::line(&format!("embeddings: {} of {} ({encoder})", encoding.encoded, encoding.total))?;
    output::line(&disk.sentence)
}
