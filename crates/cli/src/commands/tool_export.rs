//! `export --format`: labels for another tool, and what its format cannot hold.

use super::export_words::{left_out_line, told_apart_note};
use super::{count, note};
use crate::args::{Export, LeaveOutArg};
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_workbench::{
    Loss, LossReason, Pseudonymised, Session, ToolExport, ToolExportChoices, ToolFormat, WorkbenchError,
};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn export(session: &Session, args: &Export, format: ToolFormat, file: &Path) -> Result<()> {
    let choices = ToolExportChoices {
        question: args.question.clone(),
        leave_out_failed: args.leave_out.contains(&LeaveOutArg::Failed),
        pseudonyms: args.pseudonyms.then_some(Pseudonymised { notes: args.notes }),
    };
    // What cannot be written needs no telling.
    format.check_name(file).map_err(WorkbenchError::from)?;
    let bar = Bar::new("rows");
    let ready = session.exchange.for_tool(format, &choices, &bar);
    drop(bar);
    let ready = ready?;
    if !args.dry_run {
        // Before it is written; and what a script reads says that it is.
        losses(&ready).iter().for_each(|line| note(line));
        let bar = Bar::new("texts");
        let written = ready.write(file, args.force, &bar);
        drop(bar);
        written?;
    }
    if args.pseudonyms {
        told_apart_note(ready.exported().told_apart);
    }
    if args.json {
        return output::json(&told(&ready, args, file));
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
    if choices.leave_out_failed {
        left_out_line(exported.left_out_failed)?;
    }
    if args.dry_run { output::line("Nothing was written (--dry-run).") } else { Ok(()) }
}

/// What is lost, a line each.
fn losses(ready: &ToolExport) -> Vec<String> {
    let title = ready.format().title();
    let how = |reason| if reason == LossReason::OtherQuestions { " (--question)" } else { "" };
    let line = |loss: &Loss| format!("not in {title}: {}{}", loss.message(), how(loss.reason));
    ready.losses().iter().map(line).collect()
}

fn told(ready: &ToolExport, args: &Export, file: &Path) -> Value {
    let losses = ready
        .losses()
        .iter()
        .map(|loss| json!({ "reason": loss.reason.name(), "count": loss.count, "message": loss.message() }));
    let exported = ready.exported();
    let (texts, people) = ready.texts_and_people();
    let mut told = json!({
        "file": file,
        "format": ready.format().name(),
        "written": !args.dry_run,
        "question": ready.question(),
        "labels": exported.answers,
        "texts": texts,
        "people": people,
        "losses": losses.collect::<Vec<_>>(),
    });
    if args.pseudonyms {
        told["suppressed"] = exported.suppressed.into();
        told["told_apart"] = exported.told_apart.into();
    }
    if args.leave_out.contains(&LeaveOutArg::Failed) {
        told["left_out_failed"] = exported.left_out_failed.into();
    }
    told
}

/// The formats there are.
pub(super) fn list(as_json: bool) -> Result<()> {
    if as_json {
        let one = |format: &ToolFormat| {
            let holds: Vec<&str> = format.holds().iter().map(|reason| reason.name()).collect();
            json!({ "name": format.name(), "title": format.title(), "ending": format.ending(), "holds": holds })
        };
        return output::json(&ToolFormat::all().iter().map(one).collect::<Vec<_>>());
    }
    for format in ToolFormat::all() {
        output::line(&format!("{:13} .{:6} {}", format.name(), format.ending(), format.title()))?;
        let holds: Vec<&str> = format.holds().iter().map(|reason| reason.name()).collect();
        if !holds.is_empty() {
            output::line(&format!("{:22}beside levels: {}", "", holds.join(", ")))?;
        }
    }
    Ok(())
}
