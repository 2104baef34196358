//! Learning curves of new annotators on a CSV of labels and a NumPy file of embeddings, mean over seeds.
//!
//! ```text
//! cargo run --release --example cold -- LABELS.csv EMBEDDINGS.npy (ordinal|binary|choice) \
//!     (LEVEL|-) SEEDS [MODELS] [TEXT_SHARE]
//! ```
//!
//! LEVEL (counted from 0) scores an ordinal question as binary. With TEXT_SHARE that share of the texts is
//! never trained on. Every line prints by how much each model's log loss exceeds that of the last one, seed
//! by seed: mean and standard error.

#![allow(clippy::print_stdout, clippy::print_stderr)] // an example talks to its terminal

mod read;

use anyhow::{Result, ensure};
use dissensus_selection::evaluation::{ColdStart, learning_curve};
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{FitOptions, ModelKind, Target, TrainingData};
use read::{Labels, read_npy};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    ensure!(
        args.len() >= 6,
        "usage: cold LABELS.csv EMBEDDINGS.npy SCALE LEVEL|- SEEDS [MODELS] [TEXT_SHARE]"
    );
    let (labels, embeddings) = (Labels::read(&args[1])?, read_npy(&args[2])?);
    ensure!(embeddings.texts == labels.splits.len(), "one row for each text");
    let target = Target { kind: args[3].parse()?, levels: labels.levels };
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &labels.observations,
        annotators: labels.annotators,
        target,
        attributes: &labels.attributes,
    };
    let at_least = if args[4] == "-" { None } else { Some(args[4].parse()?) };
    let kinds: Vec<ModelKind> = args
        .get(6)
        .map_or("shared,sep-heads,multilevel", String::as_str)
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let by_text_too = args.get(7).map(|share| share.parse()).transpose()?;
    let spec = ColdStart { at_least, by_text_too, ..ColdStart::default() };
    let seeds: u64 = args[5].parse()?;
    let mut curves = Vec::new();
    for seed in 0..seeds {
        let options = FitOptions { seed, ..FitOptions::default() };
        let curve = learning_curve(&data, &kinds, &spec, Default::default(), &options, &Silent)?;
        eprintln!(
            "seed {seed}: {} annotators, {} labels on {} texts",
            curve.annotators, curve.n_labels, curve.n_texts
        );
        curves.push(curve);
    }
    let n = seeds as f64;
    for (k, kind) in kinds.iter().enumerate() {
        for (i, labels) in spec.labels.iter().enumerate() {
            let at = |k: usize, seed: usize| &curves[seed].points[k * spec.labels.len() + i];
            let mean = |f: &dyn Fn(usize) -> f64| (0..curves.len()).map(f).sum::<f64>() / n;
            let above = |s: usize| at(k, s).log_loss - at(kinds.len() - 1, s).log_loss;
            let excess = mean(&above);
            let error = (mean(&|s| (above(s) - excess).powi(2)) / (n - 1.0).max(1.0)).sqrt();
            println!(
                "{:12} {labels:>3} labels: log loss {:.4}, accuracy {:.4}, above the last model {excess:+.4} +- {error:.4}",
                kind.name(),
                mean(&|s| at(k, s).log_loss),
                mean(&|s| at(k, s).accuracy),
            );
        }
    }
    Ok(())
}
