//! `bench`: figures of this machine.

mod disagreement;
mod encode;
mod large;
mod panel;
mod study;
mod train;

use crate::args::BenchWhat;
use crate::output;
use anyhow::{Context, Result};
use dissensus_bench::{
    self as bench, ImportBench, ImportShapesBench, LiveBench, LiveSize, PredictBench, ShapeTime, StudySize,
};
use std::io::Write;
use std::path::PathBuf;

pub(crate) fn run(what: BenchWhat) -> Result<()> {
    match what {
        BenchWhat::Encode(args) => encode::run(args),
        BenchWhat::Train(args) => train::run(args),
        BenchWhat::Disagreement(args) => disagreement::run(args),
        BenchWhat::Panel(args) => panel::run(args),
        BenchWhat::Large(args) => large::run(&args),
        BenchWhat::LargeStep { step, folder, file } => large::step(step, &folder, &file),
        BenchWhat::Worker => encode::worker(),
        BenchWhat::Import { file, peers, runs, json } => {
            let found = bench::import(file.as_deref(), peers, runs)?;
            if json { output::json(&found) } else { imported(&found) }
        }
        BenchWhat::ImportShapes { labels, runs, json } => {
            let found = bench::import_shapes(labels, runs, &say)?;
            if json { output::json(&found) } else { imported_shapes(&found) }
        }
        BenchWhat::Live { texts, annotators, levels, options, clicks, json } => {
            let found = bench::live(LiveSize { texts, annotators, levels, options, clicks })?;
            if json { output::json(&found) } else { clicked(&found) }
        }
        BenchWhat::Study { people, texts, json } => study::run(StudySize { people, texts }, json),
        BenchWhat::Predict { large, json } => {
            let found = bench::predict(large);
            if json { output::json(&found) } else { predicted(&found) }
        }
    }
}

/// This program, of which our engines are started.
fn program() -> Result<PathBuf> {
    std::env::current_exe().context("this program cannot find itself to start its engines")
}

/// Progress, on standard error.
fn say(line: &str) {
    // Nobody can be told that standard error is closed.
    let _ = writeln!(std::io::stderr().lock(), "{}", crate::output::visible(line));
}

fn imported(found: &ImportBench) -> Result<()> {
    output::line(&format!(
        "Imported {} labels in {:.3} s ({:.0} a second; median of {})",
        found.labels, found.seconds, found.labels_per_second, found.runs
    ))?;
    if let (Some(peer), Some(ratio)) = (found.peer_seconds, found.ratio) {
        output::line(&format!(
            "Python with csv and sqlite3: {peer:.3} s; we take {:.2} of its time",
            1.0 / ratio
        ))?;
    }
    Ok(())
}

fn imported_shapes(found: &ImportShapesBench) -> Result<()> {
    let row = |shape: &ShapeTime| {
        vec![
            shape.shape.clone(),
            format!("{:.1}", shape.bytes as f64 / 1e6),
            format!("{:.2}", shape.seconds),
            format!("{:.2}", shape.ratio),
            shape.peak_mib.map_or_else(|| "–".to_owned(), |mib| format!("{mib:.0}")),
        ]
    };
    output::line(&format!("{} labels, median of {}", found.labels, found.runs))?;
    let header = ["shape", "MB", "seconds", "over the long form", "peak MiB"];
    output::line(&output::table(&header, found.shapes.iter().map(row).collect(), &[1, 2, 3, 4]))
}

fn clicked(found: &LiveBench) -> Result<()> {
    output::line(&format!(
        "{} labels into {} texts x {} annotators x {}: on disk, refitted, ranking up to date",
        found.clicks,
        found.texts,
        found.annotators,
        found
            .options
            .map_or_else(|| format!("{} levels", found.levels), |options| format!("{options} options"))
    ))?;
    let consistency = found.discrimination_sd.map_or_else(
        || "annotators have no discrimination of their own".to_owned(),
        |sd| format!("annotators have discriminations of their own (sd of the logarithms {sd:.2})"),
    );
    output::line(&format!("Fitted in {:.1} s; {consistency}", found.fit_seconds))?;
    let row = |what: &str, median: f64, p99: f64| {
        vec![what.to_owned(), format!("{median:.2}"), format!("{p99:.2}")]
    };
    let rows = vec![
        row("a label, without the disk's sync", found.median_ms, found.p99_ms),
        row("the disk's sync", found.sync_median_ms, found.sync_p99_ms),
        row("of it: recording and learning", found.learn_median_ms, found.learn_p99_ms),
        row("of it: ranking all texts", found.ranking_median_ms, found.ranking_p99_ms),
    ];
    output::line(&output::table(&["", "median ms", "99th percentile ms"], rows, &[1, 2]))
}

fn predicted(found: &PredictBench) -> Result<()> {
    let row = |run: &bench::PredictTime| {
        vec![
            run.texts.to_string(),
            run.annotators.to_string(),
            run.levels.to_string(),
            run.texts_timed.to_string(),
            format!("{:.3}", run.seconds),
            format!("{:.1}", run.distributions_per_second / 1e6),
        ]
    };
    let header = ["texts", "annotators", "levels", "texts timed", "seconds", "million distributions/s"];
    let rows = found.runs.iter().map(row).collect();
    output::line(&output::table(&header, rows, &[0, 1, 2, 3, 4, 5]))?;
    match found.peak_mib {
        Some(peak) => output::line(&format!("Peak memory of the process: {peak:.0} MiB")),
        None => Ok(()),
    }
}
