//! `panel`: verdicts of real panels on held-out texts.

use crate::args;
use crate::output;
use anyhow::Result;
use dissensus_bench::{self as bench, PanelBench, PanelChoices, PanelScores};
use dissensus_project::home::Home;

pub(crate) fn run(args: args::Panel) -> Result<()> {
    let choices = PanelChoices {
        file: args.file,
        encoder: args.encoder,
        members: args.members as usize,
        panels: args.panels as usize,
        seeds: args.seeds,
    };
    let found = bench::panel(&Home::of_user(None)?, &choices, &crate::say)?;
    if args.output.json { output::json(&found) } else { print(&found) }
}

fn print(found: &PanelBench) -> Result<()> {
    for seed in &found.seeds {
        output::line(&format!(
            "Seed {}: {} panels of {} on {} texts whose labels no model has seen",
            seed.seed, seed.panels, found.members, seed.texts
        ))?;
        let more = |more: Option<[f64; 3]>| {
            more.map_or_else(String::new, |[mean, low, high]| format!("{mean:+.4} [{low:+.4}, {high:+.4}]"))
        };
        let row = |one: &PanelScores| {
            let mut cells = vec![one.rule.clone(), one.model.to_owned()];
            cells.extend(
                [one.log_loss, one.brier, one.accuracy, one.sure].map(|figure| format!("{figure:.4}")),
            );
            cells.extend([more(one.log_loss_more), more(one.brier_more)]);
            cells
        };
        let header = [
            "rule",
            "predicted by",
            "log loss",
            "Brier",
            "right",
            "how sure",
            "log loss more (90 %)",
            "Brier more (90 %)",
        ];
        let rows = seed.scores.iter().map(row).collect();
        output::line(&output::table(&header, rows, &[2, 3, 4, 5, 6, 7]))?;
    }
    Ok(())
}
