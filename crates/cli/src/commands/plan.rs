//! `study plan`: how many annotators and labels a study needs.

use super::{count, open_to_read};
use crate::args::Plan;
use crate::output;
use crate::progress::Bar;
use anyhow::{Result, bail};
use dissensus_analysis::PlanChoices;
use dissensus_analysis::plan;
use dissensus_api::{OpenText, PlanReport, PlannedNumber};
use dissensus_editing::questions;

pub(crate) fn plan(args: &Plan) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    if args.interval_width.is_some() && !question.scale.is_ordered() {
        bail!(
            "the levels of {} have no order, so a text has no mean level and no interval of it: plan with --reliability alone",
            question.name
        );
    }
    let choices = PlanChoices {
        reliability: args.reliability,
        interval_width: args.interval_width,
        cost_per_label: args.cost_per_label,
        seconds_per_label: args.seconds_per_label,
        top: args.top,
    };
    let bar = Bar::new("resamples");
    let report = plan::make(&session.analysis, question.id, choices, &bar);
    drop(bar);
    let report = report?;
    if args.output.json {
        return output::json(&report);
    }
    output::line(&format!(
        "{}: {} of {} by {}",
        question.name,
        count(report.labels.into(), "label"),
        count(report.texts.into(), "text"),
        count(report.annotators.into(), "annotator")
    ))?;
    if let Some(needs) = &report.needs {
        return output::line(needs);
    }
    for line in lines(&report) {
        output::line(&line)?;
    }
    if report.open_texts.is_empty() {
        return Ok(());
    }
    output::line("\nNearest to their end")?;
    let width = |t: &OpenText| t.width.map_or_else(|| "–".to_owned(), |width| format!("{width:.2}"));
    let row = |t: &OpenText| vec![t.text_id.clone(), t.labels.to_string(), width(t), t.missing.to_string()];
    let rows = report.open_texts.iter().map(row).collect();
    output::line(&output::table(&["text_id", "labels", "width", "missing"], rows, &[1, 2, 3]))
}

fn lines(report: &PlanReport) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(shares) = &report.shares {
        lines.push(format!(
            "Why labels differ: {:.0} % the text, {:.0} % the person, {:.0} % neither",
            100.0 * shares.text,
            100.0 * shares.annotator,
            100.0 * shares.residual
        ));
    }
    if let (Some(labels), Some(reliability)) = (report.labels_per_text_now, report.reliability_now) {
        let width = report.width_now.map_or_else(String::new, |w| format!(", an interval {w:.2} wide"));
        lines.push(format!("Now: {labels:.1} labels a text, reliability {reliability:.2}{width}"));
    }
    let limit = report.limit;
    lines.push(format!(
        "For reliability {:.2} of a text's mean: {} annotators a text",
        report.reliability,
        shown(report.for_reliability, limit)
    ));
    if let (Some(width), Some(number)) = (report.interval_width, report.for_width) {
        lines.push(format!("For an interval {width} wide: {} annotators a text", shown(number, limit)));
    }
    lines.push(format!(
        "For reliability {:.2} of a person's severity: {} labels a person",
        report.reliability,
        shown(report.labels_per_person, limit)
    ));
    if let (Some(all), Some(missing)) = (report.labels_in_all, report.labels_missing) {
        let cost = match (report.cost_in_all, report.cost_missing) {
            (Some(all), Some(missing)) => format!("; cost {all:.2}, of which {missing:.2} to come"),
            _ => String::new(),
        };
        let hours = |seconds: f64| format!("{:.1} h", seconds / 3600.0);
        let time = match (report.seconds_in_all, report.seconds_missing, report.seconds_per_label) {
            (Some(all), Some(missing), Some(each)) => {
                format!("; at {each:.1} s a label {}, of which {} to come", hours(all), hours(missing))
            }
            _ => String::new(),
        };
        lines.push(format!("In all {}, {missing} of them missing{cost}{time}", count(all.into(), "label")));
        lines.push(format!(
            "Enough labels already: {} of {}, {} of {}{}",
            report.texts_done,
            count(report.texts.into(), "text"),
            report.people_done,
            count(report.annotators.into(), "person").replace("persons", "people"),
            if report.done { "; the study is done" } else { "" }
        ));
    }
    lines.extend(report.remark.clone());
    lines
}

/// Formats a number with its interval: "10 (95 %: 9 to 12)".
fn shown(number: PlannedNumber, limit: u32) -> String {
    let one = |n: Option<u32>| n.map_or_else(|| format!("over {limit}"), |n| n.to_string());
    format!("{} (95 %: {} to {})", one(number.value), one(number.low), one(number.high))
}
