//! Import: a first pass that changes nothing, then a write in one transaction.

use super::Exchange;
use super::preview::{preview_of, preview_with_problem};
use super::reading::{choices_of, listed_readings, reading_from};
use super::stored_columns::StoredColumns;
use super::write::Writing;
use crate::error::TransferError;
use crate::exchange::plan;
use crate::exchange::reading;
use dissensus_api::{ColumnChoices, ImportChoices, ImportPreview, ImportReport};
use dissensus_domain::JobKind;
use dissensus_exchange::{Source, complete};
use dissensus_labelling::feed;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Activity, Progress, Silent};
use dissensus_project::log::go_on;
use std::path::Path;
use std::sync::Arc;

/// Guesses the roles of the columns of a file and how its times are written; `choices` determine its form,
/// and the column of its labels.
pub fn guess_columns(
    cx: &Exchange,
    path: &Path,
    choices: &ImportChoices,
) -> Result<ColumnChoices, ProjectError> {
    let source = cx.opened.open(path, choices)?;
    let named = choices.columns.as_ref().map(reading_from).unwrap_or_default();
    Ok(choices_of(&complete(&source, &named)?))
}

/// Previews the import of a file. Nothing is written.
///
/// # Errors
/// The file cannot be read at all, or the open project is a task packet. Columns that do not fit and
/// labels that make no scale are returned in [`ImportPreview::problem`], so that they can be chosen
/// differently.
pub fn preview(cx: &Exchange, path: &Path, choices: &ImportChoices) -> Result<ImportPreview, ProjectError> {
    preview_opened(cx, &cx.opened.open(path, choices)?, choices)
}

/// Previews an import like [`preview`] without choices, with the columns that were chosen for
/// the last file with the same ones, if any.
pub fn preview_as_last_time(cx: &Exchange, path: &Path) -> Result<ImportPreview, ProjectError> {
    let plain = cx.opened.open(path, &ImportChoices::default())?;
    let columns = StoredColumns::new(&cx.context.home, &plain).last();
    let as_last_time = columns.is_some();
    let preview = preview_opened(cx, &plain, &ImportChoices { columns, ..ImportChoices::default() })?;
    Ok(ImportPreview { as_last_time, ..preview })
}

/// Clears the cached file when its import was abandoned, and with it the unpacked copy.
pub fn forget_opened(cx: &Exchange) {
    cx.opened.forget();
}

fn preview_opened(
    cx: &Exchange,
    plain: &Source,
    choices: &ImportChoices,
) -> Result<ImportPreview, ProjectError> {
    cx.context.whole_project()?;
    let plain = tagged(plain, choices);
    let read = match reading::read(cx, &plain, choices) {
        Ok(read) => read,
        Err(error @ ProjectError::Store(_)) => return Err(error),
        // Unprocessed, with the problem.
        Err(error) => {
            let guess = ImportChoices { columns: None, ..choices.clone() };
            let read = reading::read(cx, &plain, &guess)?;
            let chosen = choices.columns.clone().unwrap_or_default();
            return preview_with_problem(&read, chosen, choices, &error);
        }
    };
    let columns = choices_of(&read.reading);
    let shown = read.clone();
    match plan::plan(cx, read, choices, &Silent) {
        Ok(plan) => Ok(preview_of(&plan)),
        Err(error @ ProjectError::Store(_)) => Err(error),
        Err(error) => preview_with_problem(&shown, columns, choices, &error),
    }
}

/// Imports a file: all of it or, with `skip_bad`, its good rows; or nothing if there is an error.
///
/// The writer's thread shares `progress`. Without it, this is a job of the project, after which texts are
/// encoded and models fitted in the background; and columns that differ from the guess are stored for the
/// next file with the same ones.
///
/// # Errors
/// The file or its columns, bad rows without `skip_bad`, a full disk, cancellation, or another import that
/// runs as a job. Nothing was imported then.
pub fn import(
    cx: &Exchange,
    path: &Path,
    choices: &ImportChoices,
    progress: Option<&Arc<dyn Progress>>,
) -> Result<ImportReport, ProjectError> {
    let context = &cx.context;
    let import_with = |progress: &Arc<dyn Progress>| {
        context.whole_project()?;
        let plain = cx.opened.open(path, choices)?;
        Ok((import_source(cx, &plain, choices, progress)?, plain))
    };
    if let Some(progress) = progress {
        return import_with(progress).map(|(report, _)| report);
    }
    let _reserved = context.reservations.reserve(Activity::Import)?;
    let title = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let report = context.as_job(JobKind::Import, &title, |job| {
        let progress: Arc<dyn Progress> = Arc::clone(job) as Arc<dyn Progress>;
        let (report, plain) = import_with(&progress)?;
        go_on("keeping the columns", store_columns(cx, &plain, choices));
        Ok(report)
    })?;
    cx.background.start();
    Ok(report)
}

fn import_source(
    cx: &Exchange,
    plain: &Source,
    choices: &ImportChoices,
    progress: &Arc<dyn Progress>,
) -> Result<ImportReport, ProjectError> {
    let context = &cx.context;
    let tagged = tagged(plain, choices);
    let read = match choices.columns {
        Some(_) => reading::read_as_chosen(&tagged, choices)?,
        None => reading::read(cx, &tagged, choices)?,
    };
    if read.undecided {
        return Err(TransferError::SeveralReadings {
            path: plain.path().to_owned(),
            listed: listed_readings(&read.listed()),
        }
        .into());
    }
    let plan = plan::plan(cx, read, choices, progress.as_ref())?;
    if plan.scan.problem_count > 0 && !choices.skip_bad {
        return Err(plan.bad_rows(None));
    }
    let writing = Writing::new(plan)?;
    let watching = Arc::clone(progress);
    let report = context.store.write(move |tx| writing.run(tx, watching.as_ref()))?;
    context.flush_to_file();
    cx.opened.forget();
    // The import is on disk: later errors must not make it fail.
    context.reload();
    go_on("passing over the events of an import", feed::skip(&cx.labelling));
    context.listeners.send(&Event::Project);
    Ok(report)
}

/// Stores columns for the next file with the same ones, if the user chose them.
fn store_columns(cx: &Exchange, plain: &Source, choices: &ImportChoices) -> Result<(), ProjectError> {
    let kept = StoredColumns::new(&cx.context.home, plain);
    let guessed = reading::recognised(cx, plain, None, &[])?.readings.into_iter().next();
    let guessed = guessed.map(|ranked| choices_of(&ranked.reading)).unwrap_or_default();
    // The joined file will be another one the next time.
    let columns = choices.columns.clone().map(|columns| ColumnChoices { join: None, ..columns });
    kept.store(columns.as_ref().unwrap_or(&guessed), &guessed)
}

/// Returns the file with the tags of another column, if the label is that column of words.
fn tagged(plain: &Source, choices: &ImportChoices) -> Source {
    let label = choices.columns.as_ref().and_then(|columns| columns.label.as_deref());
    let other = label.filter(|label| !plain.columns().iter().any(|column| column == label));
    other.and_then(|label| plain.with_tags(label)).unwrap_or_else(|| plain.clone())
}
