//! `predict`: predictions of all annotators on all texts.

use crate::args::Predict;
use crate::output;
use anyhow::Result;
use dissensus_bench::{self as bench, PredictBench};

pub(crate) fn run(args: &Predict) -> Result<()> {
    let found = bench::predict(args.large);
    if args.output.json { output::json(&found) } else { print(&found) }
}

fn print(found: &PredictBench) -> Result<()> {
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
