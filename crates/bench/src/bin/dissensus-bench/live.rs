//! `live`: latency of one label.

use crate::args::Live;
use crate::output;
use anyhow::Result;
use dissensus_bench::{self as bench, LiveBench, LiveSize};

pub(crate) fn run(args: &Live) -> Result<()> {
    let Live { texts, annotators, levels, options, clicks, .. } = *args;
    let found = bench::live(LiveSize { texts, annotators, levels, options, clicks })?;
    if args.output.json { output::json(&found) } else { print(&found) }
}

fn print(found: &LiveBench) -> Result<()> {
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
