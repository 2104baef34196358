//! `analyse repeats`: how often annotators repeat their answers on re-annotation.

use super::{count, encoder_choice, open, open_or_read, open_to_read, print_switch};
use crate::args::{RemovedOccasion, Repeats};
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::StableShareReport;
use dissensus_analysis::repeats;
use dissensus_analysis::stable_share;
use dissensus_api::{ReannotationReport, ReannotationsOfAnnotator};
use dissensus_app::session::Session;
use dissensus_domain::QuestionId;
use dissensus_editing::questions;
use dissensus_project::context::ceiling_note;
use schemars::JsonSchema;
use serde::Serialize;

/// What `repeats --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct ReannotationDocument<'a> {
    #[serde(flatten)]
    report: &'a ReannotationReport,
    /// With `--stable-share`: how much of the difference between annotators is their own stable view.
    #[serde(skip_serializing_if = "Option::is_none")]
    stable_share: Option<&'a StableShareReport>,
}

/// What `repeats --remove --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct ReannotationsRemoved {
    /// The question.
    question: String,
    /// Number of answers of later annotation rounds that were removed.
    removed: u32,
}

pub(crate) fn repeats(args: &Repeats) -> Result<()> {
    if let Some(occasion) = args.remove {
        return remove(args, occasion);
    }
    let session =
        if args.stable_share { open_or_read(&args.project.path)? } else { open_to_read(&args.project.path)? };
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    let report = repeats::report(&session.analysis, question.id)?;
    let stable = match args.stable_share {
        true => Some(stable_share(&session, args, question.id)?),
        false => None,
    };
    if args.output.json {
        return output::json(&ReannotationDocument { report: &report, stable_share: stable.as_ref() });
    }
    match (&report.overall, &report.needs) {
        (Some(overall), _) => {
            output::line(&format!(
                "{}: {} of {} say the same",
                question.name,
                overall.same,
                count(overall.repeats.into(), "repeated answer"),
            ))?;
            output::line(&ceiling_note(overall))?;
        }
        (None, needs) => output::line(needs.as_deref().unwrap_or_default())?,
    }
    if report.unpaired > 0 {
        let answers = count(report.unpaired.into(), "answer");
        output::line(&format!("{answers} of a later annotation round without an earlier one left out"))?;
    }
    if report.cannot_say > 0 {
        let answers = count(report.cannot_say.into(), "repeated answer");
        output::line(&format!("{answers} left out where the person could not say, then or before"))?;
    }
    if report.labels_themselves > 0 {
        let answers = count(report.labels_themselves.into(), "answer");
        output::line(&format!(
            "{answers} of a later annotation round left out that are labels themselves: they were imported again without a round"
        ))?;
    }
    if let Some(stable) = stable {
        output::line(&stable.words)?;
    }
    people(&report, args.top)
}

/// Fits the live model first, which writes to the project as `disagreement` does.
fn stable_share(session: &Session, args: &Repeats, question: QuestionId) -> Result<StableShareReport> {
    let bar = Bar::new("texts");
    let ready = session
        .encoding
        .ensure_encoded(&encoder_choice(&args.encoder), &bar)
        .and_then(|switch| session.live.fit(question, &bar).map(|_| switch));
    drop(bar);
    print_switch(ready?);
    Ok(stable_share::measure(&session.analysis, question)?)
}

/// Removes the answers of later annotation rounds.
fn remove(args: &Repeats, occasion: RemovedOccasion) -> Result<()> {
    let session = open(&args.project.path)?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    let (one, of) = match occasion {
        RemovedOccasion::All => (None, "later annotation rounds".to_owned()),
        RemovedOccasion::One(one) => (Some(one), format!("round {one}")),
    };
    let removed = repeats::remove(&session.analysis, question.id, one)?;
    if args.output.json {
        return output::json(&ReannotationsRemoved { question: question.name, removed });
    }
    output::line(&format!(
        "{}: {} of {of} removed; no label was changed, and importing them again with --occasion brings them back",
        question.name,
        count(removed.into(), "answer")
    ))
}

fn people(report: &ReannotationReport, top: usize) -> Result<()> {
    if report.annotators.is_empty() {
        return Ok(());
    }
    output::line("")?;
    let row = |a: &ReannotationsOfAnnotator| {
        let interval = a.agreement.map_or_else(String::new, |s| format!("{:.3} to {:.3}", s.low, s.high));
        vec![
            a.name.clone(),
            a.repeats.to_string(),
            a.same.to_string(),
            three(a.agreement.map(|s| s.share)),
            interval,
        ]
    };
    let header = ["annotator", "repeats", "same", "share", "95 %"];
    output::line(&output::table(
        &header,
        report.annotators.iter().take(top).map(row).collect(),
        &[1, 2, 3, 4],
    ))
}
