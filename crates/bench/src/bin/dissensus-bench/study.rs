//! `study`: a study with many annotators.

use crate::args::Study;
use crate::output;
use anyhow::Result;
use dissensus_bench::{self as bench, StudyBench, StudySize};

pub(crate) fn run(args: &Study) -> Result<()> {
    let size = StudySize { people: args.people, texts: args.texts };
    let found = bench::study(size, &crate::say)?;
    if args.output.json { output::json(&found) } else { print(&found) }
}

fn print(found: &StudyBench) -> Result<()> {
    output::line(&format!(
        "{} people with {} texts each, {} texts in the project, {} labels taken in",
        found.people, found.texts_each, found.texts, found.labels
    ))?;
    let row = |what: &str, seconds: f64| vec![what.to_owned(), format!("{seconds:.3}")];
    let rows = vec![
        row("draw the plan and write all packets", found.hand_out_seconds),
        row("open a packet until its first text is shown (median)", found.open_seconds),
        row("hand one in (median)", found.hand_in_seconds),
        row("take in all", found.merge_seconds),
        row("take in all once more", found.merge_again_seconds),
    ];
    output::line(&output::table(&["", "seconds"], rows, &[1]))?;
    output::line(&format!("What one person hands in has {:.0} kB (median)", found.hand_in_bytes / 1000.0))?;
    match found.peak_mib {
        Some(peak) => output::line(&format!("Peak memory of the process over all steps: {peak:.0} MiB")),
        None => Ok(()),
    }
}
