//! `disagreement`: measures of disagreement, scored on the labels of held-out annotators.

use crate::args;
use crate::output;
use anyhow::Result;
use dissensus_bench::{self as bench, DisagreementBench, MeasureQuality};
use dissensus_project::home::Home;

pub(crate) fn run(args: args::Disagreement) -> Result<()> {
    let found =
        bench::disagreement(&Home::of_user(None)?, &args.file, args.encoder, args.divisions, &crate::say)?;
    if args.output.json { output::json(&found) } else { print(&found) }
}

fn print(found: &DisagreementBench) -> Result<()> {
    output::line(&format!(
        "{} labels on {} texts, means over {} divisions; the other half of each text's people | texts without a label",
        found.labels, found.texts, found.divisions
    ))?;
    output::line(&format!(
        "Two camps among the other half: {:.0} % of all texts. Weight of a text's labels in the default order: {:.0} %",
        100.0 * found.camps_of_all,
        100.0 * found.label_weight
    ))?;
    output::line(&format!(
        "The default order of all texts, worked out anew: median {:.2} ms, 99th percentile {:.2} ms",
        found.order_ms, found.order_p99_ms
    ))?;
    let row = |measure: &MeasureQuality| {
        let mut cells = vec![measure.measure.clone()];
        for quality in [measure.other_half, measure.unlabelled] {
            cells.push(format!("{:.3}", quality.spearman));
            cells.push(format!("{:.2}", quality.lift));
            cells.push(format!("{:.3}", quality.auroc));
            cells.push(format!("{:.2}", quality.camps));
        }
        cells
    };
    let header = [
        "measure",
        "Spearman",
        "lift of 50",
        "AUROC",
        "camps in 50",
        "Spearman",
        "lift of 50",
        "AUROC",
        "camps in 50",
    ];
    let rows = found.measures.iter().map(row).collect();
    output::line(&output::table(&header, rows, &[1, 2, 3, 4, 5, 6, 7, 8]))
}
