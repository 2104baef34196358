//! `group-slopes`: slopes of groups on simulated projects.

use crate::args::GroupSlopes;
use crate::output;
use anyhow::Result;
use dissensus_bench::{self as bench, GroupSlopesBench};

pub(crate) fn run(args: &GroupSlopes) -> Result<()> {
    let found = bench::group_slopes();
    if args.output.json { output::json(&found) } else { print(&found) }
}

fn print(found: &GroupSlopesBench) -> Result<()> {
    let rows = found.differing.iter().map(|one| {
        vec![
            one.levels.to_string(),
            one.difference.to_string(),
            one.own_sd.to_string(),
            format!("{} of {}", one.used, one.projects),
            one.right_one_alone.to_string(),
            format!("{:.4}", one.gain_nats),
            format!("{:.3}", one.gap_error_without),
            format!("{:.3}", one.gap_error),
        ]
    });
    let header = [
        "levels",
        "difference",
        "own sd",
        "used",
        "right one alone",
        "gain, nats a label",
        "error of gaps without",
        "with",
    ];
    output::line(&output::table(&header, rows.collect(), &[0, 1, 2, 3, 4, 5, 6, 7]))?;
    let rows = found.intervals.iter().map(|one| {
        vec![one.difference.to_string(), one.own_sd.to_string(), format!("{} of {}", one.held, one.intervals)]
    });
    let header = ["difference", "own sd", "intervals of 90 % that hold it"];
    output::line(&output::table(&header, rows.collect(), &[0, 1, 2]))?;
    let rows = found.alike.iter().map(|one| {
        let labelled_by = if one.one_of_each { "one of each group" } else { "anybody" };
        vec![one.own_sd.to_string(), labelled_by.to_owned(), format!("{} of {}", one.used, one.projects)]
    });
    let header = ["own sd", "a text is labelled by", "used though groups do not differ"];
    output::line(&output::table(&header, rows.collect(), &[0, 2]))
}
