//! `data import`, `data export` and `project copy`.

use super::export_words::{left_out_line, note_on_names, print_left_blank};
use super::import_choices::choices;
use super::{count, encryption, open, open_or_read, open_to_read, summary, tool_export};
use crate::args::{Copy, DecisionsArg, Export, Import, LeaveOutArg, SpansArg};
use crate::language::translate;
use crate::output;
use crate::progress::Bar;
use anyhow::{Result, bail};
use dissensus_api::{
    ColumnUse, ImportAccount, ImportNotice, ImportPerson, ImportPreview, ImportQuestion, ImportReading,
    ImportReport,
};
use dissensus_editing::CopyChoices;
use dissensus_editing::copy;
use dissensus_project::jobs::Progress;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::{DecisionLayer, ExportChoices, Exported, Pseudonymised};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of columns, questions or annotators listed.
const LISTED: usize = 12;

/// What `export --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct ExportWritten<'a> {
    /// The file that was written.
    file: &'a Path,
    /// With `--pseudonyms`: one sentence for each attribute with values left blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_blank: Option<Vec<String>>,
    /// Number of labels omitted because CoNLL cannot represent them.
    left_out: u64,
    /// With `--leave-out failed`: number of labels omitted because their annotators missed a pass mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out_failed: Option<u64>,
    /// Number of labels in the file (with `--decisions only`: decisions).
    rows: u64,
    /// Number of further rows, without a label: texts that somebody skipped, flagged or noted something on.
    rows_without_label: u64,
    /// With `--pseudonyms`: number of attribute values left blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressed: Option<u64>,
    /// With `--pseudonyms`: number of annotators whose combined attributes still match only a few others.
    #[serde(skip_serializing_if = "Option::is_none")]
    identifiable: Option<u64>,
}

pub(crate) fn import(mut args: Import) -> Result<()> {
    let readable = encryption::readable(&args.passphrase, std::slice::from_ref(&args.file))?;
    if let [file] = readable.paths()
        && *file != args.file
    {
        if args.skip_bad {
            bail!(
                "--skip-bad writes bad rows next to the file, where they would not be encrypted: decrypt it first with `dissensus project decrypt`"
            );
        }
        args.file.clone_from(file);
    }
    let session = if args.dry_run { open_to_read(&args.project.path)? } else { open(&args.project.path)? };
    // From here on a signal asks the work to stop; without a bar it would end the process at once.
    let bar: Arc<dyn Progress> = Arc::new(Bar::new("bytes"));
    let (choices, undecided) = choices(&session, &args)?;
    if args.dry_run {
        drop(bar);
        let mut preview = exchange::preview(&session.exchange, &args.file, &choices)?;
        preview.undecided |= undecided;
        if args.output.json { output::json(&preview) } else { show(&preview) }?;
        return would_fail(&preview, args.skip_bad);
    }
    let report = exchange::import(&session.exchange, &args.file, &choices, Some(&bar));
    drop(bar);
    let report = report?;
    if args.output.json { output::json(&report) } else { print_import(&report) }
}

/// Fails if the import would fail, so that scripts can check first.
fn would_fail(preview: &ImportPreview, skip_bad: bool) -> Result<()> {
    if preview.undecided {
        bail!("the file can be read in several ways: choose one with --reading N, or with its options");
    }
    if preview.problem.is_some() {
        bail!("as chosen, the import would fail");
    }
    if preview.bad_row_count > 0 && !skip_bad {
        bail!(
            "the import would fail: {} of {} cannot be imported; with --skip-bad the others are",
            preview.bad_row_count,
            count(u64::from(preview.total_rows), "row")
        );
    }
    Ok(())
}

fn print_import(report: &ImportReport) -> Result<()> {
    let added = [
        count(u64::from(report.texts), "text"),
        count(u64::from(report.annotators), "annotator"),
        count(u64::from(report.labels), "label"),
    ];
    let question = report.question.as_ref().map_or_else(String::new, |q| format!(" for the question {q}"));
    output::line(&format!("Imported {}{question}", added.join(", ")))?;
    if report.format.of_tool {
        output::line(&format!("Read as {}", report.format.title))?;
    }
    match report.asked.as_slice() {
        [] | [_] => {
            if let Some(scale) = &report.scale {
                output::line(&format!("Scale: {} ({})", scale.kind(), scale.levels().join(", ")))?;
            }
        }
        several => questions(several)?,
    }
    for remark in &report.remarks {
        output::line(remark)?;
    }
    if report.repeats > 0 {
        output::line(&format!(
            "{} of a second or later annotation round, stored apart from the labels",
            count(u64::from(report.repeats), "answer")
        ))?;
    }
    if report.repeated_rows > 0 {
        output::line(&format!(
            "{} repeated labels that were known already",
            count(u64::from(report.repeated_rows), "row")
        ))?;
    }
    notices(&report.notices)?;
    if report.empty_labels > 0 {
        output::line(&format!("{} had no label", count(u64::from(report.empty_labels), "row")))?;
    }
    if let Some(file) = &report.rejected_file {
        output::line(&format!("Left out {}: see {file}", count(u64::from(report.rejected_rows), "bad row")))?;
    }
    account(&report.account)?;
    uses(&report.uses)?;
    people(&report.people)
}

/// Prints the questions that the labels answer, each with its levels.
fn questions(asked: &[ImportQuestion]) -> Result<()> {
    for question in asked {
        let scale = &question.scale;
        let levels = scale.levels().iter().zip(&question.level_counts);
        let levels = levels.map(|(level, n)| format!("{level}: {n}")).collect::<Vec<_>>().join(", ");
        output::line(&format!("question   {} ({}; {levels})", question.name, scale.kind()))?;
    }
    Ok(())
}

/// Prints what happens to the rows; each is in exactly one of the counts.
fn account(account: &ImportAccount) -> Result<()> {
    let counts = [
        (account.read, "read"),
        (account.repeated, "known already"),
        (account.changed, "with other metadata of a known text"),
        (account.without_label, "without a label"),
        (account.dropped, "left out"),
    ];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    let counts: Vec<String> = counts.collect();
    output::line(&format!("{}: {}", count(u64::from(account.rows), "row"), counts.join(", ")))?;
    for dropped in &account.reasons {
        let rows = count(u64::from(dropped.rows), "row");
        output::line(&format!("  left out, {rows} from row {}: {}", dropped.first_row, dropped.reason))?;
    }
    Ok(())
}

/// Prints the role of each column, with columns of the same role on one line.
fn uses(uses: &[ColumnUse]) -> Result<()> {
    let mut by_use: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in uses {
        match by_use.iter_mut().find(|(known, _)| *known == one.used_as) {
            Some((_, columns)) => columns.push(&one.column),
            None => by_use.push((&one.used_as, vec![&one.column])),
        }
    }
    for (used_as, columns) in by_use.iter().take(LISTED) {
        let more = columns.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let columns = columns.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
        output::line(&format!("column     {columns}{more}: {used_as}"))?;
    }
    if by_use.len() > LISTED {
        output::line(&format!("column     and {} more (--json lists all)", by_use.len() - LISTED))?;
    }
    Ok(())
}

fn people(people: &[ImportPerson]) -> Result<()> {
    if people.is_empty() {
        return Ok(());
    }
    let few = people.iter().take(LISTED).map(|person| format!("{}: {}", person.annotator, person.labels));
    let more = people.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more (--json lists them)") } else { String::new() };
    output::line(&format!("labels     {}{more}", few.collect::<Vec<_>>().join(", ")))
}

/// Prints the possible readings of a table, with options to copy.
fn readings(readings: &[ImportReading], shown: Option<u32>) -> Result<()> {
    for (nth, reading) in (1_u32..).zip(readings) {
        let mark = if shown == Some(nth - 1) { " (shown)" } else { "" };
        output::line(&format!("reading {nth}  {}{mark}", reading.title))?;
        for reason in &reading.reasons {
            output::line(&format!("           {reason}"))?;
        }
        output::line(&format!("           {}", reading.options))?;
    }
    Ok(())
}

/// Prints notices about the labels, each with its first positions.
fn notices(notices: &[ImportNotice]) -> Result<()> {
    for notice in notices {
        output::line(&notice.message)?;
        for place in &notice.places {
            output::line(&format!(
                "  row {}: {} on {}: {} counts, not {}",
                place.row, place.annotator, place.text_id, place.counts, place.instead_of
            ))?;
        }
        let more = u64::from(notice.count).saturating_sub(notice.places.len() as u64);
        if more > 0 && !notice.places.is_empty() {
            output::line(&format!("  and {more} more"))?;
        }
    }
    Ok(())
}

fn show(preview: &ImportPreview) -> Result<()> {
    if let Some(problem) = &preview.problem {
        output::line(&format!("Cannot be imported as chosen: {}", problem.message))?;
    }
    output::field("format", &format!("{} ({})", preview.format.title, preview.format.name))?;
    let columns = &preview.columns;
    let roles = [
        ("text id", &columns.text_id),
        ("text", &columns.text),
        ("annotator", &columns.annotator),
        ("label", &columns.label),
        ("start", &columns.span_start),
        ("end", &columns.span_end),
        ("type", &columns.span_type),
        ("split", &columns.split),
        ("group", &columns.group),
        ("time", &columns.time),
        ("occasion", &columns.occasion),
        ("note", &columns.note),
    ];
    for (role, column) in roles {
        if let Some(column) = column {
            output::field(role, column)?;
        }
    }
    if !columns.attributes.is_empty() {
        output::field("attributes", &columns.attributes.join(", "))?;
    }
    if !preview.columns.answers.is_empty() || !preview.columns.lists.is_empty() {
        uses(&preview.uses)?;
    }
    questions(&preview.asked)?;
    let rows = [
        count(u64::from(preview.total_rows), "row"),
        count(u64::from(preview.new_texts), "new text"),
        count(u64::from(preview.new_annotators), "new annotator"),
        count(u64::from(preview.new_labels), "new label"),
        count(u64::from(preview.repeated_rows), "repeated row"),
        count(u64::from(preview.bad_row_count), "bad row"),
    ];
    output::line(&rows.map(|row| translate(&row).into_owned()).join(", "))?;
    if preview.repeats > 0 {
        let answers = count(u64::from(preview.repeats), "answer");
        output::line(&format!(
            "{answers} of a second or later annotation round, stored apart from the labels"
        ))?;
    }
    for bad in preview.bad_rows.iter().take(20) {
        let column = bad.column.as_ref().map_or_else(String::new, |column| format!(", column \"{column}\""));
        output::line(&format!("row {} (line {}){column}: {}", bad.row, bad.line, bad.message))?;
    }
    for remark in &preview.remarks {
        output::line(remark)?;
    }
    notices(&preview.notices)?;
    account(&preview.account)?;
    people(&preview.people)?;
    if preview.readings.len() > 1 {
        readings(&preview.readings, preview.shown)?;
    }
    output::line("Nothing was changed (--dry-run).")
}

pub(crate) fn export(args: &Export) -> Result<()> {
    if args.list_formats {
        return tool_export::list(args.output.json);
    }
    let (Some(project), Some(file)) = (&args.project, &args.file) else {
        bail!("name a project and the file to write");
    };
    let summed_up = summary::summed_up(args.rows);
    if summed_up.is_none() && (args.predicted || args.aggregate.is_some()) {
        bail!("--predicted and --aggregate go with --rows texts or --rows people");
    }
    if args.encoder.encoder.is_some() && !args.predicted {
        bail!("--encoder goes with --predicted: without it nothing is encoded");
    }
    // Newly assigned pseudonyms are stored in the project, and so are new embeddings.
    let writes = args.pseudonyms || args.predicted;
    let session = if writes { open_or_read(project)? } else { open_to_read(project)? };
    if let Some(of) = summed_up {
        return summary::export(&session, args, of, file);
    }
    if let Some(format) = args.format {
        return tool_export::export(&session, args, format, file);
    }
    let bar = Bar::new("rows");
    let choices = ExportChoices {
        pseudonyms: args.pseudonyms.then_some(Pseudonymised { notes: args.notes }),
        question: args.question.clone(),
        replace: args.force,
        dataset: args.hugging_face,
        span_rows: args.spans == SpansArg::Rows,
        leave_out_overlaps: args.leave_out_overlaps,
        decisions: args.decisions.map(|decisions| match decisions {
            DecisionsArg::Columns => DecisionLayer::Columns,
            DecisionsArg::Only => DecisionLayer::Only,
        }),
        leave_out_failed: args.leave_out.contains(&LeaveOutArg::Failed),
        wordings: args.wordings,
    };
    let written = exchange::export(&session.exchange, file, &choices, &bar);
    drop(bar);
    let Exported {
        answers: rows,
        unanswered,
        left_out,
        left_out_failed,
        suppressed,
        left_blank,
        identifiable,
    } = written?;
    if args.pseudonyms {
        note_on_names(identifiable);
    }
    if args.output.json {
        return output::json(&ExportWritten {
            file,
            left_blank: args.pseudonyms.then_some(left_blank),
            left_out,
            left_out_failed: choices.leave_out_failed.then_some(left_out_failed),
            rows,
            rows_without_label: unanswered,
            suppressed: args.pseudonyms.then_some(suppressed),
            identifiable: args.pseudonyms.then_some(identifiable),
        });
    }
    let what = if args.decisions == Some(DecisionsArg::Only) { "decision" } else { "label" };
    output::line(&format!("Wrote {} to {}", count(rows, what), file.display()))?;
    if unanswered > 0 {
        output::line(&format!(
            "And {} without a label: texts that somebody skipped, flagged or noted something on (columns marks and note)",
            count(unanswered, "row")
        ))?;
    }
    if args.pseudonyms {
        output::line(&format!(
            "With pseudonyms: no ids, names, times or columns that came with texts{}. What texts themselves say stays",
            if args.notes { "" } else { ", and no notes" },
        ))?;
        print_left_blank(&left_blank)?;
    }
    if choices.leave_out_failed {
        left_out_line(left_out_failed)?;
    }
    if left_out > 0 {
        output::line(&format!(
            "Left out {}: CoNLL holds no spans that overlap, or begin or end with white space",
            count(left_out, "label")
        ))?;
    }
    Ok(())
}

pub(crate) fn copy(args: &Copy) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let passphrase = encryption::to_encrypt(&args.encryption)?;
    let bar = Bar::new("bytes");
    let choices = CopyChoices { replace: args.force, runs: args.runs, passphrase: passphrase.as_ref() };
    let report = copy::save_copy(&session.project, &args.copy, choices, &bar);
    drop(bar);
    let report = report?;
    if args.output.json {
        return output::json(&report);
    }
    output::line(&format!("Copied the project to {}", args.copy.display()))?;
    if let Some(runs) = &report.runs {
        output::line(&format!("Copied the files of its runs to {runs}"))?;
    }
    if let Some(left) = &report.runs_left {
        output::line(&format!(
            "Not copied: {left}, the files of its runs (tuned encoders and checkpoints); give --runs to copy them too"
        ))?;
    }
    Ok(())
}
