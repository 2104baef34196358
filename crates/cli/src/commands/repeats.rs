//! `repeats`: how often people agree with themselves.

use super::{count, open_to_read};
use crate::args::Repeats;
use crate::output::{self, three};
use anyhow::Result;
use dissensus_workbench::ceiling_note;
use dissensus_workbench::view::{RepeatReport, RepeatsOfAnnotator};

pub(crate) fn repeats(args: &Repeats) -> Result<()> {
    let session = open_to_read(&args.project)?;
    let question = session.project.question(args.question.as_deref())?;
    let report = session.analysis.repeats(question.id)?;
    if args.json {
        return output::json(&report);
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
        output::line(&format!("{answers} of a later occasion without an earlier one left out"))?;
    }
    if report.labels_themselves > 0 {
        let answers = count(report.labels_themselves.into(), "answer");
        output::line(&format!(
            "{answers} of a later occasion left out that are labels themselves: they were imported again without an occasion"
        ))?;
    }
    people(&report, args.top)
}

fn people(report: &RepeatReport, top: usize) -> Result<()> {
    if report.annotators.is_empty() {
        return Ok(());
    }
    output::line("")?;
    let row = |a: &RepeatsOfAnnotator| {
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
