//! `import` and `import-shapes`: labels imported per second.

use crate::args::{Import, ImportShapes};
use crate::output;
use anyhow::Result;
use dissensus_bench::{self as bench, ImportBench, ImportShapesBench, ShapeTime};

pub(crate) fn run(args: &Import) -> Result<()> {
    let found = bench::import(args.file.as_deref(), args.peers, args.runs)?;
    if args.output.json { output::json(&found) } else { print(&found) }
}

pub(crate) fn run_shapes(args: &ImportShapes) -> Result<()> {
    let found = bench::import_shapes(args.labels, args.runs, &crate::say)?;
    if args.output.json { output::json(&found) } else { print_shapes(&found) }
}

fn print(found: &ImportBench) -> Result<()> {
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

fn print_shapes(found: &ImportShapesBench) -> Result<()> {
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
