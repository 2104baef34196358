//! The contents of an export, determined while its dialog is open, and the export itself.

use super::Exchange;
use super::choices::{Exported, Pseudonymised};
use super::tool_export::{Collected, ToolExport, ToolExportChoices};
use crate::exchange::tool_export;
use dissensus_api::{ExportContents, ExportFormat, ExportLoss, ExportRequest};
use dissensus_domain::JobKind;
use dissensus_exchange::{ExchangeError, LossReason, ToolFormat};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Follow};
use std::path::Path;

/// Every format of another program that labels can be exported to, in the order of the list.
pub fn export_formats() -> Vec<ExportFormat> {
    let one = |format: &ToolFormat| ExportFormat {
        name: format.name().to_owned(),
        title: format.title().to_owned(),
        ending: format.ending().to_owned(),
        one_question: !format.holds().contains(&LossReason::OtherQuestions),
        notes: format.holds().contains(&LossReason::Notes),
    };
    ToolFormat::all().iter().map(one).collect()
}

/// Determines the contents of a file, and which of the labels its format cannot represent. Nothing is
/// written. Only the latest request runs: an earlier one is cancelled.
///
/// # Errors
/// No such format or question, a damaged project, or cancellation.
pub fn export_contents(cx: &Exchange, request: &ExportRequest) -> Result<ExportContents, ProjectError> {
    let asked = cx.looks.ask();
    let choices = choices_of(request);
    let Some(name) = request.format.as_deref() else {
        let Collected { labels, exported } = tool_export::collected(cx, &choices, &asked)?;
        let (texts, people) = (labels.texts.len(), labels.people.len());
        return Ok(contents(texts, people, exported));
    };
    Ok(contents_of(&tool_export::for_tool(cx, format_named(name)?, &choices, &asked)?, request))
}

/// Cancels the request for the contents of a file.
pub fn stop_export_contents(cx: &Exchange) {
    cx.looks.stop();
}

/// Writes labels for another program, and returns what the file contains and what it does not.
///
/// # Errors
/// The same as [`tool_export::for_tool`](crate::exchange::tool_export::for_tool) and
/// [`ToolExport::write`]; no such format; another export that runs as a job.
pub fn export_for_tool<'a>(
    cx: &Exchange,
    path: &Path,
    request: &ExportRequest,
    replace: bool,
    follow: impl Into<Follow<'a>>,
) -> Result<ExportContents, ProjectError> {
    let format = format_named(request.format.as_deref().unwrap_or_default())?;
    format.check_name(path)?;
    let title = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let written = cx.context.run_alone(Activity::Export, follow, JobKind::Export, &title, |progress| {
        let ready = tool_export::for_tool(cx, format, &choices_of(request), progress)?;
        ready.write(path, replace, progress)?;
        Ok(contents_of(&ready, request))
    });
    written.map_err(ProjectError::all_or_nothing)
}

fn choices_of(request: &ExportRequest) -> ToolExportChoices {
    ToolExportChoices {
        question: request.question.clone(),
        leave_out_failed: false,
        pseudonyms: request.pseudonyms.then_some(Pseudonymised { notes: request.notes }),
    }
}

fn format_named(name: &str) -> Result<ToolFormat, ExchangeError> {
    ToolFormat::named(name).ok_or_else(|| {
        let formats = ToolFormat::all().iter().map(|format| format.name().to_owned()).collect();
        ExchangeError::NoSuchFormat { name: name.to_owned(), formats }
    })
}

fn contents_of(ready: &ToolExport, request: &ExportRequest) -> ExportContents {
    let (texts, people) = ready.texts_and_people();
    let losses = ready.losses().iter().map(|loss| ExportLoss {
        reason: loss.reason.name().to_owned(),
        count: number(loss.count),
        message: loss.message(),
    });
    let mut exported = ready.exported().clone();
    // Without attributes in the format, no combination of them identifies an annotator.
    if !ready.format().holds().contains(&LossReason::Attributes) {
        (exported.suppressed, exported.identifiable) = (0, 0);
        exported.left_blank.clear();
    }
    ExportContents {
        // Some formats have a fixed name for the question.
        question: request.question.clone().or_else(|| ready.question().map(str::to_owned)),
        losses: losses.collect(),
        ..contents(texts, people, exported)
    }
}

fn number(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn contents(texts: usize, people: usize, exported: Exported) -> ExportContents {
    ExportContents {
        question: None,
        texts: number(texts as u64),
        people: number(people as u64),
        answers: number(exported.answers),
        losses: Vec::new(),
        suppressed: number(exported.suppressed),
        left_blank: exported.left_blank,
        identifiable: number(exported.identifiable),
    }
}
