//! Evaluates all models on a CSV of labels and a NumPy file of embeddings, over several seeds.
//!
//! ```text
//! cargo run --release --example bars -- LABELS.csv EMBEDDINGS.npy (ordinal|binary|choice) \
//!     (by-text:0.7|column) [LEVEL|-] [SEEDS] [MODELS|-] [final|inner]
//! ```
//!
//! Rows of the embeddings are texts in the order of their first row in the CSV. LEVEL (counted from 0)
//! scores an ordinal question as binary; `-` leaves it ordinal. MODELS are names separated by commas.
//! Unknown columns of the CSV are attributes of the annotators. `inner` never reads the scored texts: it
//! divides the training texts once more (by text) or scores the official validation texts (column), for
//! choices.

#![allow(clippy::print_stdout, clippy::print_stderr)] // an example talks to its terminal

mod read;

use anyhow::{Context, Result, ensure};
use dissensus_domain::{Split, TargetKind};
use dissensus_selection::evaluation::{SplitColumns, SplitSpec, evaluate};
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{FitOptions, ModelKind, Target, TrainingData};
use read::{Labels, read_npy};
use std::collections::BTreeMap;
use std::time::Instant;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    ensure!(args.len() >= 5, "usage: bars LABELS.csv EMBEDDINGS.npy SCALE SPLIT [LEVEL|-] [SEEDS]");
    let embeddings = read_npy(&args[2])?;
    let labels = Labels::read(&args[1])?;
    ensure!(
        embeddings.texts == labels.splits.len(),
        "{} embeddings, {} texts",
        embeddings.texts,
        labels.splits.len()
    );
    let kind: TargetKind = args[3].parse()?;
    let target = Target { kind, levels: labels.levels };
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &labels.observations,
        annotators: labels.annotators,
        target,
        attributes: &labels.attributes,
    };
    let split: SplitSpec = args[4].parse()?;
    let columns = SplitColumns { parts: &labels.splits, ..SplitColumns::default() };
    let level = args.get(5).filter(|l| *l != "-").map(|l| l.parse()).transpose()?;
    let seeds: u64 = args.get(6).map_or(Ok(1), |s| s.parse())?;
    let kinds: Vec<ModelKind> = match args.get(7).filter(|m| *m != "-") {
        None => ModelKind::ALL.to_vec(),
        Some(names) => names.split(',').map(str::parse).collect::<Result<_, _>>()?,
    };
    let inner = args.get(8).is_some_and(|which| which == "inner");
    let mut totals: BTreeMap<String, (BTreeMap<String, f64>, usize)> = BTreeMap::new();
    for seed in 0..seeds {
        let start = Instant::now();
        let options = FitOptions { seed, ..Default::default() };
        let results = if inner {
            inside(&data, split, columns, &kinds, level, &options)?
        } else {
            evaluate(&data, split, columns, &kinds, level, &options, &Silent)?
        };
        for result in results {
            let json = serde_json::to_value(&result.scores)?;
            let total = totals.entry(result.model).or_default();
            total.1 += 1;
            for (key, value) in json.as_object().context("scores are an object")? {
                *total.0.entry(key.clone()).or_default() += value.as_f64().unwrap_or(f64::NAN);
            }
        }
        eprintln!("seed {seed}: {:.1} s", start.elapsed().as_secs_f64());
    }
    println!("{:28} {}", "", kinds.iter().map(|k| format!("{:>12}", k.name())).collect::<Vec<_>>().join(" "));
    let keys: Vec<String> = totals.values().next().context("no model")?.0.keys().cloned().collect();
    for key in keys {
        print!("{key:28}");
        for kind in &kinds {
            let (sums, n) = &totals[kind.name()];
            print!(" {:>12.4}", sums[&key] / *n as f64);
        }
        println!();
    }
    Ok(())
}

/// The same question about training texts: the scored ones are excluded.
fn inside(
    data: &TrainingData<'_>,
    split: SplitSpec,
    columns: SplitColumns<'_>,
    kinds: &[ModelKind],
    level: Option<u16>,
    options: &FitOptions,
) -> Result<Vec<dissensus_selection::evaluation::Evaluation>> {
    if split == SplitSpec::Column {
        let moved = |part: &Option<Split>| match part {
            Some(Split::Validation) => Some(Split::Test),
            Some(Split::Train) => Some(Split::Train),
            _ => None,
        };
        let parts: Vec<Option<Split>> = columns.parts.iter().map(moved).collect();
        let columns = SplitColumns { parts: &parts, ..columns };
        return Ok(evaluate(data, split, columns, kinds, level, options, &Silent)?);
    }
    let division = split.divide(data, columns, options.seed, 0.0)?;
    let teaching = TrainingData { observations: &division.train, ..*data };
    let again = FitOptions { seed: options.seed + 1000, ..options.clone() };
    Ok(evaluate(&teaching, split, columns, kinds, level, &again, &Silent)?)
}
