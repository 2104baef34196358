//! `live-spans`: latency of one answer about spans.

use crate::args::LiveSpans;
use crate::output;
use anyhow::Result;
use dissensus_bench::{self as bench, LiveSpansTime};

pub(crate) fn run(args: &LiveSpans) -> Result<()> {
    let found = bench::live_spans()?;
    if args.output.json { output::json(&found) } else { print(&found) }
}

fn print(found: &[LiveSpansTime]) -> Result<()> {
    let row = |size: &LiveSpansTime| {
        vec![
            size.people.to_string(),
            size.answers_each.to_string(),
            format!("{:.1}", size.median_ms),
            format!("{:.1}", size.p99_ms),
        ]
    };
    let header = ["people", "answers each", "median ms", "99th percentile ms"];
    output::line(&output::table(&header, found.iter().map(row).collect(), &[0, 1, 2, 3]))
}
