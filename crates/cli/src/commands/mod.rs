//! One file per topic: reads the arguments, runs the use case, prints the result.

pub(crate) mod annotators;
pub(crate) mod backups;
pub(crate) mod bundle;
pub(crate) mod care;
pub(crate) mod checks;
pub(crate) mod collect;
pub(crate) mod consent;
mod disagreement_document;
pub(crate) mod discussion;
pub(crate) mod embed;
pub(crate) mod encryption;
mod evaluation;
pub(crate) mod explain;
mod explain_document;
mod export_words;
pub(crate) mod files;
mod given_answers;
pub(crate) mod group_comparison;
pub(crate) mod guideline;
pub(crate) mod history;
mod import_choices;
pub(crate) mod labels;
pub(crate) mod language;
mod live_model;
pub(crate) mod mask;
pub(crate) mod models;
mod option_evaluation;
pub(crate) mod overview;
pub(crate) mod panel;
pub(crate) mod people;
pub(crate) mod plan;
pub(crate) mod practice;
mod prediction_tables;
pub(crate) mod predictions;
pub(crate) mod project;
mod project_document;
pub(crate) mod question_correlation;
pub(crate) mod reliability;
pub(crate) mod removal;
pub(crate) mod repeats;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod serve;
mod set_predictions;
pub(crate) mod slips;
mod span_evaluation;
mod span_predictions;
pub(crate) mod study;
mod summary;
pub(crate) mod texts;
mod tool_export;
pub(crate) mod updates;
pub(crate) mod who_differs;
mod word_print;
pub(crate) mod words;

use crate::args::{DeviceArg, EncoderArgs, LongTextsArg, PoolingArg, PrecisionArg};
use crate::output::note;
use crate::progress::LateBar;
use anyhow::Result;
use dissensus_app::session::Session;
use dissensus_editing::info;
use dissensus_encoder::{DeviceChoice, LongTexts, Pooling, Precision, PrecisionChoice, Prompt};
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::Progress;
use dissensus_project::words::counted as count;
use dissensus_training::encoding::{EncoderChoice, EncoderSwitch};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Codes of errors that prevent writing to a project, but not reading it.
const WRITING_FORBIDDEN: [&str; 3] = ["project-locked", "project-read-only", "project-folder-read-only"];

/// Whether the user stopped the command.
pub(crate) fn is_stopped(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ProjectError>().is_some_and(|error| error.code() == "cancelled")
}

/// Notes on standard error that a project has switched to the embeddings of another encoder.
fn print_switch(switch: Option<EncoderSwitch>) {
    if let Some(EncoderSwitch { from, to }) = switch {
        note(&format!("the project now uses {to}; before it used {from}"));
    }
}

fn home() -> Result<Home> {
    Ok(Home::of_user(None)?)
}

/// Opens a project for writing.
fn open(project: &Path) -> Result<Session> {
    Ok(opening_notes(Session::open_reporting(project, &home()?, &upgrade_bar())?))
}

/// The progress of a file of an earlier format that is upgraded.
fn upgrade_bar() -> Arc<dyn Progress> {
    Arc::new(LateBar::new("bytes"))
}

/// Notes on standard error where the journal of another file was moved, a service synchronises the folder, or
/// it is on a network share.
fn opening_notes(session: Session) -> Session {
    let (journal, sync) = (info::journal_notice(&session.project), info::sync_notice(&session.project));
    let network = info::network_notice(&session.project);
    [journal, sync, network].iter().flatten().for_each(|notice| note(notice));
    session
}

/// Opens a project for writing; retries for up to `wait` while it is open elsewhere.
fn open_in(project: &Path, wait: Duration) -> Result<Session> {
    let until = Instant::now() + wait;
    loop {
        match open(project) {
            Err(error) if is_locked(&error) && Instant::now() < until => {
                // Other commands hold a project only for some milliseconds.
                std::thread::sleep(
                    Duration::from_millis(20).min(until.saturating_duration_since(Instant::now())),
                );
            }
            other => return other,
        }
    }
}

fn is_locked(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ProjectError>().is_some_and(|error| error.code() == "project-locked")
}

/// Opens a project for reading, even while a window has it open.
fn open_to_read(project: &Path) -> Result<Session> {
    Ok(Session::open_to_read(project, &home()?)?)
}

/// Opens a project for writing if possible, else for reading: storing the results of a model command
/// (embeddings, heads, runs) is useful, but no reason to fail while a window has the project open.
fn open_or_read(project: &Path) -> Result<Session> {
    match Session::open_reporting(project, &home()?, &upgrade_bar()) {
        Err(error) if WRITING_FORBIDDEN.contains(&error.code()) => open_to_read(project),
        other => Ok(opening_notes(other?)),
    }
}

fn encoder_choice(args: &EncoderArgs) -> EncoderChoice {
    EncoderChoice {
        encoder: args.encoder.clone(),
        pooling: args.pooling.map(|pooling| match pooling {
            PoolingArg::Mean => Pooling::Mean,
            PoolingArg::Cls => Pooling::Cls,
            PoolingArg::Last => Pooling::Last,
            PoolingArg::Max => Pooling::Max,
            PoolingArg::Mean2 => Pooling::Mean2,
            PoolingArg::Max2 => Pooling::Max2,
            PoolingArg::Pooler => Pooling::Pooler,
        }),
        device: match args.device {
            DeviceArg::Auto => DeviceChoice::Auto,
            DeviceArg::Cpu => DeviceChoice::Cpu,
            DeviceArg::Cuda => DeviceChoice::Cuda,
            DeviceArg::Metal => DeviceChoice::Metal,
        },
        precision: args.precision.map(|precision| match precision {
            PrecisionArg::Fp32 => PrecisionChoice::Exactly(Precision::Fp32),
            PrecisionArg::Fast => PrecisionChoice::Fast,
        }),
        long_texts: args.long_texts.map(|long_texts| match long_texts {
            LongTextsArg::Average => LongTexts::Average,
            LongTextsArg::Truncate => LongTexts::Truncate,
        }),
        prompt: args.prompt.clone().map(Prompt::Text).or_else(|| args.prompt_name.clone().map(Prompt::Named)),
    }
}

/// Formats a number of annotators: "262 annotators (3 without a label yet)".
fn annotators(n: u32, without_labels: u32) -> String {
    let all = count(u64::from(n), "annotator");
    match without_labels {
        0 => all,
        without => format!("{all} ({without} without a label yet)"),
    }
}

/// Formats an answer.
fn answer_name(question: &dissensus_domain::Question, answer: &dissensus_domain::Answer) -> String {
    question.scale.name_of_answer(answer).map_or_else(|| "?".to_owned(), std::borrow::Cow::into_owned)
}
