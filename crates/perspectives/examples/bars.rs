//! Evaluates all models on a CSV of labels and a NumPy file of embeddings, over several seeds.
//!
//! `cargo run --release --example bars -- LABELS.csv EMBEDDINGS.npy (ordinal|binary|choice) (by-text:0.7|column) [LEVEL] [SEEDS]`
//!
//! Rows of the embeddings are texts in order of their first row in the CSV. LEVEL (counted from 0) scores an ordinal
//! question as binary; `-` leaves it ordinal.

#![allow(clippy::print_stdout, clippy::print_stderr)] // an example talks to its terminal

use anyhow::{Context, Result, ensure};
use dissensus_domain::{ScaleKind, Split};
use dissensus_perspectives::{
    Embeddings, FitOptions, ModelKind, Observation, Silent, SplitSpec, Target, TrainingData, evaluate,
};
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
    let kind: ScaleKind = args[3].parse()?;
    let target = Target { kind, levels: labels.levels };
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &labels.observations,
        annotators: labels.annotators,
        target,
        attributes: &[],
    };
    let split = if args[4] == "column" {
        SplitSpec::Assigned(labels.splits.clone())
    } else {
        SplitSpec::by_text_from(&args[4])?
    };
    let level = args.get(5).filter(|l| *l != "-").map(|l| l.parse()).transpose()?;
    let seeds: u64 = args.get(6).map_or(Ok(1), |s| s.parse())?;
    let mut totals: BTreeMap<String, (BTreeMap<String, f64>, usize)> = BTreeMap::new();
    for seed in 0..seeds {
        let start = Instant::now();
        let options = FitOptions { seed, ..Default::default() };
        for result in evaluate(&data, &split, &ModelKind::ALL, level, &options, &mut Silent)? {
            let json = serde_json::to_value(&result.scores)?;
            let total = totals.entry(result.model).or_default();
            total.1 += 1;
            for (key, value) in json.as_object().context("scores are an object")? {
                *total.0.entry(key.clone()).or_default() += value.as_f64().unwrap_or(f64::NAN);
            }
        }
        eprintln!("seed {seed}: {:.1} s", start.elapsed().as_secs_f64());
    }
    let keys: Vec<String> = totals.values().next().context("no model")?.0.keys().cloned().collect();
    for key in keys {
        print!("{key:28}");
        for kind in ModelKind::ALL {
            let (sums, n) = &totals[kind.name()];
            print!(" {:>12.4}", sums[&key] / *n as f64);
        }
        println!();
    }
    Ok(())
}

struct Labels {
    observations: Vec<Observation>,
    splits: Vec<Option<Split>>,
    annotators: usize,
    levels: usize,
}

impl Labels {
    fn read(path: &str) -> Result<Self> {
        let mut reader = csv::Reader::from_path(path).with_context(|| path.to_owned())?;
        let headers = reader.headers()?.clone();
        let column = |name: &str| headers.iter().position(|h| h == name);
        let need = |name: &str| column(name).with_context(|| format!("no column {name}"));
        let (text, annotator, label) = (need("text_id")?, need("annotator_id")?, need("label")?);
        let split = column("split");
        let (mut texts, mut people) = (BTreeMap::new(), BTreeMap::new());
        let mut values = Vec::new();
        let mut splits = Vec::new();
        let mut observations = Vec::new();
        let mut current = BTreeMap::new();
        for row in reader.records() {
            let row = row?;
            let next = texts.len() as u32;
            let t = *texts.entry(row[text].to_owned()).or_insert(next);
            if t == next {
                splits.push(split.and_then(|s| Split::from_name(&row[s])));
            }
            let next = people.len() as u32;
            let a = *people.entry(row[annotator].to_owned()).or_insert(next);
            let value: i64 = row[label].parse()?;
            // Somebody who judged a text twice: the later label counts.
            let at = *current.entry((t, a)).or_insert(observations.len());
            if at == observations.len() {
                values.push(value);
                observations.push(Observation { text: t, annotator: a, level: 0 });
            }
            values[at] = value;
        }
        let low = values.iter().min().context("no labels")?;
        for (o, v) in observations.iter_mut().zip(&values) {
            o.level = u16::try_from(v - low)?;
        }
        let levels = observations.iter().map(|o| usize::from(o.level)).max().unwrap_or(0) + 1;
        Ok(Self { observations, splits, annotators: people.len(), levels })
    }
}

/// Reads a little-endian single-precision C-ordered matrix.
fn read_npy(path: &str) -> Result<Embeddings> {
    let bytes = std::fs::read(path).with_context(|| path.to_owned())?;
    ensure!(bytes.starts_with(b"\x93NUMPY\x01"), "{path} is no NumPy file of version 1");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length])?;
    ensure!(header.contains("'<f4'") && header.contains("False"), "{path}: {header}");
    let shape = header.split('(').nth(1).and_then(|s| s.split(')').next()).context("no shape")?;
    let dim: usize = shape.split(',').nth(1).context("not a matrix")?.trim().parse()?;
    let rows =
        bytes[10 + length..].chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    Ok(Embeddings::new(dim, rows)?)
}
