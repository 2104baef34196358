//! `data export --format`: files for another tool, and what its format cannot represent.

use super::export_words::{left_out_line, note_on_names, print_left_blank};
use super::{count, note};
use crate::args::{Export, LeaveOutArg};
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_app::session::Session;
use dissensus_exchange::{Loss, LossReason, ToolFormat};
use dissensus_project::error::ProjectError;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::{Pseudonymised, ToolExport, ToolExportChoices};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// What `export --format --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct ToolFile<'a> {
    /// The file.
    file: &'a Path,
    /// Its format.
    format: &'a str,
    /// Number of labels in the file.
    labels: u64,
    /// With `--leave-out failed`: number of labels omitted because their annotators missed a pass mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out_failed: Option<u64>,
    /// With `--pseudonyms`: one sentence for each attribute with values left blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_blank: Option<&'a [String]>,
    /// What the format cannot represent.
    losses: Vec<LostThings>,
    /// Number of annotators in the file.
    people: usize,
    /// The question, if the file is about a single one.
    question: Option<&'a str>,
    /// With `--pseudonyms`: number of attribute values left blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressed: Option<u64>,
    /// Number of texts in the file.
    texts: usize,
    /// With `--pseudonyms`: number of annotators whose combined attributes still match only a few others.
    #[serde(skip_serializing_if = "Option::is_none")]
    identifiable: Option<u64>,
    /// Whether the file was written; false with `--dry-run`.
    written: bool,
}

/// Items that a format cannot represent, for one reason.
#[derive(Serialize, JsonSchema)]
struct LostThings {
    /// Number of items.
    count: u64,
    /// Description in a sentence.
    message: String,
    /// Name of the reason.
    reason: &'static str,
}

/// A format that `export --list-formats --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct ListedFormat {
    /// Extension of its files.
    ending: &'static str,
    /// What it can represent in addition to levels, by names of losses.
    holds: Vec<&'static str>,
    /// Its name on the command line.
    name: &'static str,
    /// Display name.
    title: &'static str,
}

pub(super) fn export(session: &Session, args: &Export, format: ToolFormat, file: &Path) -> Result<()> {
    let choices = ToolExportChoices {
        question: args.question.clone(),
        leave_out_failed: args.leave_out.contains(&LeaveOutArg::Failed),
        pseudonyms: args.pseudonyms.then_some(Pseudonymised { notes: args.notes }),
    };
    // An invalid file name fails before anything is read.
    format.check_name(file).map_err(ProjectError::from)?;
    let bar = Bar::new("rows");
    let ready = exchange::for_tool(&session.exchange, format, &choices, &bar);
    drop(bar);
    let ready = ready?;
    if !args.dry_run {
        // Reports losses before the file is written; the JSON output states whether it was.
        losses(&ready).iter().for_each(|line| note(line));
        let bar = Bar::new("texts");
        let written = ready.write(file, args.force, &bar);
        drop(bar);
        written?;
    }
    if args.pseudonyms {
        note_on_names(ready.exported().identifiable);
    }
    if args.output.json {
        return output::json(&tool_file(&ready, args, file));
    }
    let exported = ready.exported();
    let (texts, people) = ready.texts_and_people();
    let what =
        [count(exported.answers, "label"), count(texts as u64, "text"), count(people as u64, "annotator")];
    let [labels, texts, people] = what;
    if args.dry_run {
        losses(&ready).iter().try_for_each(|line| output::line(line))?;
        output::line(&format!("{} would have {labels} on {texts} by {people}", file.display()))?;
    } else {
        output::line(&format!("Wrote {labels} on {texts} by {people} to {}", file.display()))?;
    }
    if args.pseudonyms {
        print_left_blank(&exported.left_blank)?;
    }
    if choices.leave_out_failed {
        left_out_line(exported.left_out_failed)?;
    }
    if args.dry_run { output::line("Nothing was written (--dry-run).") } else { Ok(()) }
}

/// Describes the losses, one per line.
fn losses(ready: &ToolExport) -> Vec<String> {
    let title = ready.format().title();
    let how = |reason| if reason == LossReason::OtherQuestions { " (--question)" } else { "" };
    let line = |loss: &Loss| format!("not in {title}: {}{}", loss.message(), how(loss.reason));
    ready.losses().iter().map(line).collect()
}

fn tool_file<'a>(ready: &'a ToolExport, args: &Export, file: &'a Path) -> ToolFile<'a> {
    let loss =
        |loss: &Loss| LostThings { count: loss.count, message: loss.message(), reason: loss.reason.name() };
    let exported = ready.exported();
    let (texts, people) = ready.texts_and_people();
    ToolFile {
        file,
        format: ready.format().name(),
        labels: exported.answers,
        left_out_failed: args.leave_out.contains(&LeaveOutArg::Failed).then_some(exported.left_out_failed),
        left_blank: args.pseudonyms.then_some(&exported.left_blank),
        losses: ready.losses().iter().map(loss).collect(),
        people,
        question: ready.question(),
        suppressed: args.pseudonyms.then_some(exported.suppressed),
        texts,
        identifiable: args.pseudonyms.then_some(exported.identifiable),
        written: !args.dry_run,
    }
}

/// Prints the available formats.
pub(super) fn list(as_json: bool) -> Result<()> {
    if as_json {
        let one = |format: &ToolFormat| ListedFormat {
            ending: format.ending(),
            holds: format.holds().iter().map(|reason| reason.name()).collect(),
            name: format.name(),
            title: format.title(),
        };
        return output::json(&ToolFormat::all().iter().map(one).collect::<Vec<_>>());
    }
    for format in ToolFormat::all() {
        output::line(&format!("{:13} .{:6} {}", format.name(), format.ending(), format.title()))?;
        let holds: Vec<&str> = format.holds().iter().map(|reason| reason.name()).collect();
        if !holds.is_empty() {
            output::line(&format!("{:22}in addition to levels: {}", "", holds.join(", ")))?;
        }
    }
    Ok(())
}
