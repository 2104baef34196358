//! Trains models on a large simulation and reports seconds and the peak memory of the process.
//!
//! `cargo run --release --example scale -- MODELS ANNOTATORS [TEXTS] [LABELS] [LEVELS] [DIM]`
//!
//! MODELS are names separated by commas; 100,000 texts, 30 labels per annotator, 2 levels and 384 numbers
//! by default.

#![allow(clippy::print_stdout, clippy::print_stderr)] // an example talks to its terminal

use anyhow::{Context, Result};
use dissensus_selection::fit::fit;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::synthetic::{Simulation, simulate};
use dissensus_stats::data::{FitOptions, ModelError, ModelKind, TrainingData};
use std::time::Instant;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize, usual: usize| args.get(at).map_or(Ok(usual), |n| n.parse());
    let models = args.get(1).context("usage: scale MODELS ANNOTATORS [TEXTS] [LABELS] [LEVELS] [DIM]")?;
    let (annotators, texts, each) = (number(2, 17_110)?, number(3, 100_000)?, number(4, 30)?);
    let sim = simulate(texts, annotators, number(5, 2)?, number(6, 384)?, each, 0);
    eprintln!("simulated, {}", memory());
    for name in models.split(',') {
        let kind: ModelKind = name.parse()?;
        let (seconds, likelihood) = train(kind, &sim)?;
        let labels = sim.observations.len();
        println!(
            "{name:12} {annotators:>6} annotators {:>7} labels: {:7.1} s, {:.3} ms a label, mean log-likelihood {:.4}, {}",
            labels,
            seconds,
            1e3 * seconds / labels as f64,
            likelihood,
            memory()
        );
    }
    Ok(())
}

/// Trains a model; returns the seconds, and the mean log-likelihood of a label it was fitted on.
fn train(kind: ModelKind, sim: &Simulation) -> Result<(f64, f64), ModelError> {
    let data = TrainingData {
        embeddings: &sim.embeddings,
        observations: &sim.observations,
        annotators: sim.annotators,
        target: sim.target,
        attributes: &[],
    };
    let start = Instant::now();
    let model = fit(kind, &data, &FitOptions::default(), &Silent)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut p = vec![0.0; model.levels()];
    let mut sum = 0.0;
    for o in &sim.observations {
        model.predict(o.text, o.annotator, &mut p);
        sum += f64::from(p[usize::from(o.level)]).ln();
    }
    Ok((seconds, sum / sim.observations.len().max(1) as f64))
}

/// Peak resident set of this process so far, if the system reports it.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    peak.map_or("memory not known here".to_owned(), |kb| format!("peak memory {}", kb.trim()))
}
