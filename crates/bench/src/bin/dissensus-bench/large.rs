//! `large`: a large project, step by step.

use crate::args;
use crate::output;
use anyhow::Result;
use dissensus_bench::{self as bench, LabellingTimes, LargeBench, LargeSize, LargeStep, StepTimes};
use std::path::Path;

pub(crate) fn run(args: &args::Large) -> Result<()> {
    let size = LargeSize { labels: args.labels, texts: args.texts, annotators: args.annotators };
    let found = bench::large(&crate::program()?, args.file.as_deref(), size, &crate::say)?;
    if args.output.json { output::json(&found) } else { print(&found) }
}

/// Runs one step in this process, which does nothing else.
pub(crate) fn step(step: LargeStep, folder: &Path, file: &Path) -> Result<()> {
    output::json(&bench::large_step(step, folder, file)?)
}

fn print(found: &LargeBench) -> Result<()> {
    output::line(&format!(
        "{} labels, {} texts, {} annotators; bars are for a million labels",
        found.labels, found.texts, found.annotators
    ))?;
    let row = |times: &StepTimes| {
        let bar = |bar: Option<f64>| bar.map_or_else(String::new, |bar| format!("{bar:.0}"));
        vec![
            times.step.title().to_owned(),
            format!("{:.2}", times.seconds),
            bar(times.step.bar_seconds()),
            times.peak_mib.map_or_else(|| "–".to_owned(), |mib| format!("{mib:.0}")),
            bar(times.step.bar_mib()),
        ]
    };
    let header = ["step", "seconds", "bar", "peak MiB", "bar"];
    output::line(&output::table(&header, found.steps.iter().map(row).collect(), &[1, 2, 3, 4]))?;
    let row = |(step, times): (LargeStep, &LabellingTimes)| {
        vec![
            step.title().to_owned(),
            format!("{:.1}{}", times.first_ms, if times.first_during_fit { "" } else { " (after the fit)" }),
            format!("{:.1} of {}", times.during_fit_max_ms, times.during_fit),
            format!("{:.1}", times.fit_seconds),
            format!("{:.1}", times.live_median_ms),
            format!("{:.1}", times.live_p99_ms),
            format!("{:.1}", times.ranking_ms),
        ]
    };
    let labelled = found.steps.iter().filter_map(|times| Some((times.step, times.labelling.as_ref()?)));
    let header = [
        "labels after",
        "first, ms",
        "slowest while fitted, ms",
        "fitted after, s",
        "then median, ms",
        "99th percentile, ms",
        "ranking, ms",
    ];
    output::line(&output::table(&header, labelled.map(row).collect(), &[1, 2, 3, 4, 5, 6]))?;
    output::line("A label counts until it is on disk and the next text is there; bar of the first one: 50 ms")
}
