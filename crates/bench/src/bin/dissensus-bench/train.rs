//! `train`: our training steps compared with PyTorch's.

use crate::args;
use crate::output::{self, decimals};
use anyhow::Result;
use dissensus_bench::{self as bench, StepTime, TrainBench, TrainChoices};
use dissensus_project::home::Home;

pub(crate) fn run(args: args::Train) -> Result<()> {
    let choices = TrainChoices {
        encoder: args.encoder,
        batch: args.batch,
        tokens: args.tokens,
        steps: args.steps,
        rounds: args.rounds,
        threads: args.threads,
        peers: args.peers,
    };
    let found = bench::train(&Home::of_user(None)?, &crate::program()?, &choices, &crate::say)?;
    if args.output.json { output::json(&found) } else { print(&found) }
}

fn print(found: &TrainBench) -> Result<()> {
    output::line(&format!(
        "Steps on {} texts of {} tokens, cpu, {} threads for both; median of {} steps, best of {} rounds in turns",
        found.batch, found.tokens, found.threads, found.steps, found.rounds
    ))?;
    let row = |step: &StepTime| {
        vec![
            step.policy.to_owned(),
            format!("{:.1}", step.dissensus_ms),
            step.pytorch_ms.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.1}")),
            decimals(step.over_pytorch, 3),
        ]
    };
    let header = ["policy", "dissensus ms", "PyTorch ms", "time over PyTorch's"];
    output::line(&output::table(&header, found.policies.iter().map(row).collect(), &[1, 2, 3]))?;
    let missing = found.missing.as_ref();
    missing.map_or(Ok(()), |why| output::line(&format!("Not measured: PyTorch ({why})")))
}
